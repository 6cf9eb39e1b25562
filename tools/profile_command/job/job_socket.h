// job_socket.h - TCP between the commands of a job, with a limit of time.
//
//   KYMO_ASSIGN_OR_RETURN(OwnedDescriptor socket,
//                         ConnectTo({"node3", 21000}, deadline));
//   if (!SendAll(socket.get(), &number, sizeof(number), deadline)) return;
//   if (!ReceiveAll(socket.get(), &number, sizeof(number), deadline)) return;
//
// Nothing waits beyond its deadline. Numbers go as they lie in memory, lowest
// byte first on all machines that Kymo knows.
//
// Threads: one call at a time for each socket.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_JOB_JOB_SOCKET_H_
#define KYMO_TOOLS_PROFILE_COMMAND_JOB_JOB_SOCKET_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/base/owned_descriptor.h"

namespace kymo::tools {

using Deadline = std::chrono::steady_clock::time_point;
inline Deadline In(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

struct Endpoint {
  std::string host;  // a name or an address
  uint16_t port = 0;
};

// Listens on the first port that is free; on any if `ports` is empty. Sets
// `port`. `is_local`: for this machine only.
absl::StatusOr<OwnedDescriptor> ListenOn(const std::vector<uint16_t>& ports,
                                         bool is_local, uint16_t& port);

absl::StatusOr<OwnedDescriptor> ConnectTo(const Endpoint& endpoint,
                                          Deadline deadline);

// The next connection that waits there. Not open: there is none.
OwnedDescriptor AcceptFrom(int listener);

// The addresses by which other machines may reach this one; of this machine
// last.
std::vector<std::string> OwnAddresses(bool is_local);

// The address at the other end; empty: it is this machine.
std::string PeerAddress(int socket);

// Whether the socket can be read from before the deadline.
bool WaitReadable(int socket, Deadline deadline);

// False: not all went through before the deadline, or the other end is gone.
bool SendAll(int socket, const void* data, size_t bytes, Deadline deadline);
bool ReceiveAll(int socket, void* data, size_t bytes, Deadline deadline);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_JOB_JOB_SOCKET_H_
