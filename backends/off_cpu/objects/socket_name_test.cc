#include "backends/off_cpu/objects/socket_name.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace kymo::off_cpu {
namespace {

uint64_t InodeOf(int fd) {
  struct stat status = {};
  EXPECT_EQ(fstat(fd, &status), 0);
  return status.st_ino;
}

SocketName NameOf(int fd) {
  return NameSocket(getpid(), static_cast<uint64_t>(fd), InodeOf(fd));
}

// Its own port, in network order.
sockaddr_in Bind(int socket) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(bind(socket, any, sizeof(address)), 0);
  socklen_t size = sizeof(address);
  EXPECT_EQ(getsockname(socket, any, &size), 0);
  return address;
}

std::string TextOf(const sockaddr_in& address) {
  return "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

std::string Table(const char* protocol) {
  std::ostringstream text;
  text << std::ifstream(std::string("/proc/self/net/") + protocol).rdbuf();
  return text.str();
}

TEST(SocketNameTest, TcpHasItsPeerOrWhereItListens) {
  const int server = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = Bind(server);
  ASSERT_EQ(listen(server, 1), 0);
  const int client = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(connect(client, reinterpret_cast<const sockaddr*>(&address),
                    sizeof(address)),
            0);
  const std::string text = TextOf(address);
  EXPECT_EQ(NameOf(client).text, "tcp " + text);
  EXPECT_EQ(NameOf(server).text, "tcp listening on " + text);
  // As the kernel's tables have them.
  EXPECT_EQ(FindInTable("tcp", Table("tcp"), InodeOf(client)), "tcp " + text);
  EXPECT_EQ(FindInTable("tcp", Table("tcp"), InodeOf(server)),
            "tcp listening on " + text);
  EXPECT_EQ(FindInTable("tcp", Table("tcp"), 1), "");
  close(client);
  close(server);
}

// Nobody accepts, so that the kernel answers one connection and no more.
TEST(SocketNameTest, TcpHasThePeerThatDoesNotAnswer) {
  const int server = socket(AF_INET, SOCK_STREAM, 0);
  const sockaddr_in address = Bind(server);
  const auto* const any = reinterpret_cast<const sockaddr*>(&address);
  ASSERT_EQ(listen(server, 0), 0);
  const int first = socket(AF_INET, SOCK_STREAM, 0);
  ASSERT_EQ(connect(first, any, sizeof(address)), 0);
  pollfd ready = {.fd = server, .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&ready, 1, /*timeout=*/-1), 1);
  const int second = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  ASSERT_EQ(connect(second, any, sizeof(address)), -1);
  ASSERT_EQ(errno, EINPROGRESS);
  EXPECT_EQ(NameOf(second).text, "tcp " + TextOf(address));
  EXPECT_FALSE(NameOf(second).is_connected);
  close(second);
  close(first);
  close(server);
}

TEST(SocketNameTest, UdpHasItsPeerIfItIsConnected) {
  const int server = socket(AF_INET, SOCK_DGRAM, 0);
  const sockaddr_in address = Bind(server);
  const int client = socket(AF_INET, SOCK_DGRAM, 0);
  EXPECT_EQ(NameOf(client).text, "udp");
  ASSERT_EQ(connect(client, reinterpret_cast<const sockaddr*>(&address),
                    sizeof(address)),
            0);
  EXPECT_EQ(NameOf(client).text, "udp " + TextOf(address));
  EXPECT_EQ(NameOf(server).text, "udp on " + TextOf(address));
  close(client);
  close(server);
}

TEST(SocketNameTest, UnixHasItsPathAndWhoConnected) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  // Relative, because a path has 108 bytes at most.
  ASSERT_EQ(chdir(getenv("TEST_TMPDIR")), 0);
  std::strcpy(address.sun_path, "name.sock");
  unlink(address.sun_path);
  const auto* const any = reinterpret_cast<const sockaddr*>(&address);
  const int server = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(server, any, sizeof(address)), 0);
  ASSERT_EQ(listen(server, 1), 0);
  const int client = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(connect(client, any, sizeof(address)), 0);
  const int accepted = accept(server, nullptr, nullptr);
  EXPECT_EQ(NameOf(client).text, "unix name.sock");
  EXPECT_EQ(NameOf(server).text, "unix listening on name.sock");
  const std::string from = NameOf(accepted).text;
  EXPECT_TRUE(from.starts_with("unix name.sock from ")) << from;
  EXPECT_TRUE(from.ends_with("(" + std::to_string(getpid()) + ")")) << from;
  EXPECT_EQ(FindInTable("unix", Table("unix"), InodeOf(server)),
            "unix listening on name.sock");
  // Where sock_diag is permitted.
  if (const uint64_t peer = NameOf(client).peer_inode; peer != 0) {
    EXPECT_EQ(peer, InodeOf(accepted));
  }
  close(accepted);
  close(client);
  close(server);
}

TEST(SocketNameTest, PairsAreUnixAndAreEachOthersPeers) {
  int pair[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  EXPECT_EQ(NameOf(pair[0]).text, "unix");
  if (const uint64_t peer = NameOf(pair[0]).peer_inode; peer != 0) {
    EXPECT_EQ(peer, InodeOf(pair[1]));
  }
  close(pair[0]);
  close(pair[1]);
}

// The number may be another file's by now.
TEST(SocketNameTest, OnlyTheSocketWithThatInodeCounts) {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  EXPECT_EQ(
      NameSocket(getpid(), static_cast<uint64_t>(socket), InodeOf(socket) + 1)
          .text,
      "");
  close(socket);
}

// Formats: proc(5), unix(7).
TEST(SocketNameTest, TablesOfOtherProtocolsAreRead) {
  EXPECT_EQ(
      FindInTable("tcp6",
                  "  sl  local_address remote_address st ...\n"
                  "   0: 00000000000000000000000001000000:0050 "
                  "00000000000000000000000001000000:D431 01 00000000:00000000 "
                  "00:00000000 00000000     0        0 4711 1 x 20 4\n",
                  4711),
      "tcp [::1]:54321");
  EXPECT_EQ(FindInTable("unix",
                        "Num RefCount Protocol Flags Type St Inode Path\n"
                        "0000: 00000003 00000000 00000000 0001 03 4711 @x/y\n",
                        4711),
            "unix @x/y");
  EXPECT_EQ(FindInTable("tcp", "no table", 4711), "");
}

}  // namespace
}  // namespace kymo::off_cpu
