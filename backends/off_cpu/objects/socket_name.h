// socket_name.h - what a socket of another process is connected to.
//
//   const SocketName name = NameSocket(pid, 7, inode);
//   name.text       // "tcp 10.0.0.7:5432", "unix /run/x.sock"
//
// The kernel gives this process a second descriptor of the socket for some
// microseconds (pidfd_getfd(2), Linux 5.6), where it permits ptrace(2). If it
// does not, the tables in /proc/PID/net are read.
//
// Threads: any. 10 us; the tables take as long as the machine has sockets.
#ifndef KYMO_BACKENDS_OFF_CPU_OBJECTS_SOCKET_NAME_H_
#define KYMO_BACKENDS_OFF_CPU_OBJECTS_SOCKET_NAME_H_

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace kymo::off_cpu {

struct SocketName {
  // Empty: not known. Else one of
  //   tcp PEER, tcp listening on ADDRESS, tcp; the same of udp
  //   unix PATH, unix PATH from NAME (PID), unix listening on PATH, unix
  //   netlink, packet, ...
  std::string text;
  bool is_connected = false;  // so the text stays as it is
  // Of unix: the socket at the other end, if it can be known; else 0.
  uint64_t peer_inode = 0;
};

// Descriptor `number` of the process, if it is the socket with that inode.
SocketName NameSocket(int64_t pid, uint64_t number, uint64_t inode);

// --- its parts, for tests ---

// "10.0.0.7:5432", "[::1]:80", "/run/x.sock", "@abstract"; empty if it has no
// name.
std::string AddressText(const sockaddr_storage& address, socklen_t size);

// Of the row of a file of /proc/PID/net, "tcp" or "tcp6", "udp", "udp6",
// "unix", that has the inode; else empty.
std::string FindInTable(std::string_view protocol, std::string_view table,
                        uint64_t inode);

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_OBJECTS_SOCKET_NAME_H_
