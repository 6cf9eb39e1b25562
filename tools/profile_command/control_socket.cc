#include "tools/profile_command/control_socket.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "profiler/processes/process_list.h"

namespace kymo::tools {
namespace {

constexpr char kOk[] = "ok ";
constexpr char kError[] = "error ";
constexpr size_t kMaxAnswerBytes = 16 * 1024;
constexpr int kWaitSeconds = 120;

struct Address {
  sockaddr_un name = {};
  socklen_t size = 0;
};

// A NUL at the front: the abstract name space.
Address AddressOf(pid_t pid) {
  Address address;
  address.name.sun_family = AF_UNIX;
  const int text =
      snprintf(address.name.sun_path + 1, sizeof(address.name.sun_path) - 1,
               "kymo-profile/%d", static_cast<int>(pid));
  address.size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text);
  return address;
}

const sockaddr* Pointer(const Address& address) {
  return reinterpret_cast<const sockaddr*>(&address.name);
}

// Who is at the other end; process 0 of nobody if the kernel does not say.
ucred PeerOf(int fd) {
  ucred peer = {};
  socklen_t size = sizeof(peer);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) return peer;
  return {.pid = 0, .uid = static_cast<uid_t>(-1), .gid = 0};
}

bool IsOwnerOrRoot(uid_t user) { return user == 0 || user == geteuid(); }

// 0 at the end of the chain.
pid_t ParentOf(pid_t pid) {
  const auto process = processes::ReadProcess(pid);
  return process ? process->parent : 0;
}

std::string ReadAnswer(int fd) {
  std::string answer;
  char buffer[1024];
  while (answer.size() < kMaxAnswerBytes) {
    const ssize_t got = TEMP_FAILURE_RETRY(read(fd, buffer, sizeof(buffer)));
    if (got <= 0) break;
    answer.append(buffer, static_cast<size_t>(got));
  }
  return answer;
}

absl::StatusOr<std::string> Parse(std::string_view answer) {
  if (answer.starts_with(kOk)) {
    return std::string(answer.substr(strlen(kOk)));
  }
  if (answer.starts_with(kError)) {
    answer.remove_prefix(strlen(kError));
    return absl::FailedPreconditionError(std::string(answer));
  }
  return absl::UnavailableError("the command ended without an answer");
}

// kNotFound if no command listens there. Anybody may take the name of another
// process's socket, so the kernel is asked who listens.
absl::StatusOr<std::string> Ask(pid_t pid, int fd) {
  const Address address = AddressOf(pid);
  if (connect(fd, Pointer(address), address.size) != 0) {
    return absl::NotFoundError("");
  }
  const ucred peer = PeerOf(fd);
  if (peer.pid != pid) return absl::NotFoundError("");
  if (geteuid() != 0 && !IsOwnerOrRoot(peer.uid)) {
    return absl::PermissionDeniedError(absl::StrCat(
        "could not ask for a dump: process ", pid, " belongs to user ",
        peer.uid, "; try it as that user or as root"));
  }
  const timeval wait = {kWaitSeconds, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
  return Parse(ReadAnswer(fd));
}

}  // namespace

void ControlSocket::Request::Answer(
    const absl::StatusOr<std::string>& answer) const {
  const std::string text =
      answer.ok() ? kOk + *answer
                  : kError + std::string(answer.status().message());
  static_cast<void>(!send(client_.get(), text.data(), text.size(),
                          MSG_NOSIGNAL | MSG_DONTWAIT));
}

absl::StatusOr<ControlSocket> ControlSocket::Listen() {
  OwnedDescriptor made(
      socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.is_open()) {
    return absl::ErrnoToStatus(errno, "could not make a socket");
  }
  ControlSocket control(std::move(made));
  const int fd = control.socket_.get();
  const Address address = AddressOf(getpid());
  if (bind(fd, Pointer(address), address.size) != 0 || listen(fd, 4) != 0) {
    return absl::ErrnoToStatus(errno, "could not listen for --dump");
  }
  return control;
}

std::optional<ControlSocket::Request> ControlSocket::Accept() const {
  OwnedDescriptor client(
      accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!client.is_open()) return std::nullopt;
  const bool may_ask = IsOwnerOrRoot(PeerOf(client.get()).uid);
  Request request(std::move(client));
  if (!may_ask) {
    request.Answer(absl::PermissionDeniedError(
        "only the user who started this command may ask for a dump"));
    return std::nullopt;
  }
  return request;
}

absl::StatusOr<std::string> AskForDump(pid_t pid) {
  for (pid_t asked = pid; asked > 0; asked = ParentOf(asked)) {
    const OwnedDescriptor made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!made.is_open()) {
      return absl::ErrnoToStatus(errno, "could not make a socket");
    }
    const absl::StatusOr<std::string> answer = Ask(asked, made.get());
    if (!absl::IsNotFound(answer.status())) return answer;
  }
  return absl::NotFoundError(absl::StrCat(
      "could not ask for a dump: process ", pid,
      " is not recorded with --flight_recorder; try starting it with "
      "kymo profile --flight_recorder=30s"));
}

}  // namespace kymo::tools
