// control_socket.h - lets the owner of a running command ask it for a dump.
//
//   ControlSocket socket = *ControlSocket::Listen();         // the command
//   if (auto request = socket.Accept()) request->Answer(Dump());
//
//   KYMO_ASSIGN_OR_RETURN(std::string path, AskForDump(pid));  // another one
//
// An abstract socket, named after the command's process id. So no file can be
// left behind or have the wrong rights. Both ends ask the kernel who the other
// end is. Only the same user, and root, get an answer.
//
// Protocol: the client connects. The server sends "ok " or "error " and a text,
// and closes. There are no other requests.
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
#include "profiler/base/owned_descriptor.h"

namespace kymo::tools {

class ControlSocket {
 public:
  // A client that waits for an answer. If the request is destroyed without one,
  // the client gets an error.
  class Request {
   public:
    explicit Request(OwnedDescriptor client) : client_(std::move(client)) {}

    // Never blocks: a client that does not listen gets no answer.
    void Answer(const absl::StatusOr<std::string>& answer) const;

   private:
    OwnedDescriptor client_;
  };

  // Listens on the socket of this process.
  static absl::StatusOr<ControlSocket> Listen();

  // The owner's next request, if there is one; never blocks.
  std::optional<Request> Accept() const;

 private:
  explicit ControlSocket(OwnedDescriptor socket) : socket_(std::move(socket)) {}

  OwnedDescriptor socket_;
};

// Asks the command in process `pid`, or in one of its ancestors, and waits for
// its answer: the path of the file that it wrote. kNotFound if none of them
// listens, kPermissionDenied if the command belongs to another user.
absl::StatusOr<std::string> AskForDump(pid_t pid);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_CONTROL_SOCKET_H_
