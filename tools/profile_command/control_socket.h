// control_socket.h - what the owner of a running command can ask it for.
//
//   ControlSocket socket = *ControlSocket::Listen();         // the command
//   if (auto request = socket.Accept()) request->Answer(Dump());
//
//   KYMO_ASSIGN_OR_RETURN(std::string path, AskForDump(pid));  // another one
//
// An abstract socket, named after the command's process id: no file that could
// stay behind, and none whose rights could be wrong. Both ends ask the kernel
// who the other one is; only the same user, and root, is answered.
//
// Protocol: the client connects; the server says "ok " or "error ", a text, and
// closes. There is nothing else to ask for.
//
// Threads: one at a time.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_CONTROL_SOCKET_H_
#define KYMO_TOOLS_PROFILE_COMMAND_CONTROL_SOCKET_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace kymo::tools {

class ControlSocket {
 public:
  // Somebody waits for an answer; without one they hear that there is none.
  class Request {
   public:
    explicit Request(int fd) : fd_(fd) {}
    Request(Request&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Request& operator=(Request&&) = delete;
    ~Request();

    // Never blocks: who does not listen gets nothing.
    void Answer(const absl::StatusOr<std::string>& answer) const;

   private:
    int fd_;
  };

  // Of this process.
  static absl::StatusOr<ControlSocket> Listen();
  ControlSocket(ControlSocket&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)) {}
  ControlSocket& operator=(ControlSocket&&) = delete;
  ~ControlSocket();

  // The next request of the owner's, if there is one; never blocks.
  std::optional<Request> Accept() const;

 private:
  explicit ControlSocket(int fd) : fd_(fd) {}

  int fd_;
};

// Asks the command that is process `pid`, or from which it descends, and waits
// for its answer: the path that it has written. kNotFound when none of them
// listens, kPermissionDenied when it is somebody else's.
absl::StatusOr<std::string> AskForDump(pid_t pid);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_CONTROL_SOCKET_H_
