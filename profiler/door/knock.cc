#include "profiler/door/knock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/processes/process_list.h"

namespace kymo::door {
namespace {

using record::DoorAnswer;
using record::DoorMessage;
using record::DoorRequest;

std::string NameOf(pid_t pid) {
  const auto process = processes::ReadProcess(pid);
  return absl::StrCat(process ? process->name : "process", " (", pid, ")");
}

std::string NetworkOf(const std::string& process) {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/" + process + "/ns/net", error)
      .string();
}

OwnedDescriptor MakeSocket() {
  return OwnedDescriptor(
      socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

// A socket among the names of the process's network. Those of another one than
// this program's are reached from within, which root may do.
absl::StatusOr<OwnedDescriptor> MakeSocketFor(pid_t pid) {
  OwnedDescriptor made;
  int error = 0;
  const std::string network = NetworkOf(std::to_string(pid));
  // If it cannot be read, Connect finds what there is.
  if (network.empty() || network == NetworkOf("self")) {
    made = MakeSocket();
    error = errno;
  } else {
    const OwnedDescriptor there(open(
        absl::StrCat("/proc/", pid, "/ns/net").c_str(), O_RDONLY | O_CLOEXEC));
    // A thread that enters it takes no other along.
    std::thread([&] {
      if (setns(there.get(), CLONE_NEWNET) != 0) {
        error = errno;
        return;
      }
      made = MakeSocket();
      error = errno;
    }).join();
  }
  if (made.is_open()) return made;
  // Most such processes have no door.
  if (error == EPERM) {
    return absl::NotFoundError(absl::StrCat(
        NameOf(pid),
        " is in a container with a network of its own, and only root reaches "
        "a door there: run the command as root, or in the container"));
  }
  return absl::ErrnoToStatus(error, "could not make a socket");
}

// Whether the process listens there, as its user or as root.
bool IsDoorOf(pid_t pid, int socket) {
  ucred peer = {};
  socklen_t size = sizeof(peer);
  struct stat about;
  // It may have given up root since. With PR_SET_DUMPABLE, root has its folder.
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         peer.pid == pid &&
         stat(absl::StrCat("/proc/", pid).c_str(), &about) == 0 &&
         (peer.uid == 0 || peer.uid == about.st_uid ||
          peer.uid == processes::UserOf(pid));
}

absl::Status Refusal(const std::string& name, const DoorMessage& answer) {
  switch (answer.answer) {
    case DoorAnswer::kYes:
      return absl::OkStatus();
    case DoorAnswer::kOtherVersion:
      return absl::FailedPreconditionError(absl::StrCat(
          name,
          " carries another version of Kymo: build it with this one, or "
          "use the command of that version"));
    case DoorAnswer::kNotPermitted:
      return absl::PermissionDeniedError(
          absl::StrCat(name, " lets only its own user and root in"));
    case DoorAnswer::kRecorded:
      return absl::FailedPreconditionError(
          absl::StrCat(name, " is being recorded already, by another command"));
    case DoorAnswer::kOwnSession:
      return absl::FailedPreconditionError(
          absl::StrCat(name,
                       " is being recorded already, by itself: try again when "
                       "its session is over"));
    case DoorAnswer::kStartedByKymo:
      return absl::FailedPreconditionError(absl::StrCat(
          name,
          " was started by `kymo`, which records it: to attach to it, "
          "start it without"));
    case DoorAnswer::kPrivateMemory:
      return absl::FailedPreconditionError(absl::StrCat(
          name,
          " has recorded itself, or files may not be large (ulimit -f), "
          "so its records are in memory of its own: start it with "
          "KYMO_ATTACH=1 and without such a limit"));
    case DoorAnswer::kNoMemory:
      return absl::ResourceExhaustedError(
          absl::StrCat(name, " has no memory for records: ",
                       std::generic_category().message(answer.error)));
    case DoorAnswer::kNotUnderstood:
      break;
  }
  return absl::InternalError(
      absl::StrCat(name, " did not understand this command"));
}

// The first descriptor that came along, if any. There is room for a second one,
// as control data is aligned: it is closed.
OwnedDescriptor Received(msghdr& message) {
  OwnedDescriptor first;
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET ||
      header->cmsg_type != SCM_RIGHTS) {
    return first;
  }
  for (size_t at = CMSG_LEN(0); at + sizeof(int) <= header->cmsg_len;
       at += sizeof(int)) {
    int fd = -1;
    memcpy(&fd, CMSG_DATA(header) + (at - CMSG_LEN(0)), sizeof(fd));
    OwnedDescriptor came(fd);
    if (!first.is_open()) first = std::move(came);
  }
  return first;
}

}  // namespace

// kUnavailable if the program has ended, or closed the connection.
absl::StatusOr<DoorMessage> OpenDoor::Ask(const DoorMessage& message,
                                          OwnedDescriptor* received) {
  const absl::Status ended =
      absl::UnavailableError(absl::StrCat(name_, " has ended"));
  // Whoever is not permitted has been answered by now.
  if (send(socket_.get(), &message, sizeof(message),
           MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
      errno != EPIPE && errno != ECONNRESET) {
    return ended;
  }
  pollfd waits = {.fd = socket_.get(), .events = POLLIN, .revents = 0};
  const int count =
      TEMP_FAILURE_RETRY(poll(&waits, 1, 2 * record::kDoorWaitMs));
  if (count == 0) {
    return absl::DeadlineExceededError(
        absl::StrCat(name_, " does not answer: it may be stopped"));
  }
  DoorMessage answer;
  iovec text = {.iov_base = &answer, .iov_len = sizeof(answer)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header = {};
  header.msg_iov = &text;
  header.msg_iovlen = 1;
  const auto receive = [&] {
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    return recvmsg(socket_.get(), &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  };
  ssize_t got = receive();
  // It closed without reading; its answer comes behind that error.
  if (got < 0 && errno == ECONNRESET) got = receive();
  if (got <= 0) return ended;
  OwnedDescriptor came = Received(header);
  if (received != nullptr) *received = std::move(came);
  if (got < 16 || answer.magic != record::kDoorMagic) {
    return absl::InternalError(
        absl::StrCat(name_, " answered with something that is no answer"));
  }
  if (answer.protocol != record::kDoorProtocol || got != sizeof(answer)) {
    answer.answer = DoorAnswer::kOtherVersion;
  }
  return answer;
}

absl::StatusOr<std::shared_ptr<OpenDoor>> OpenDoor::Claim(
    pid_t pid, std::string name, OwnedDescriptor socket) {
  std::shared_ptr<OpenDoor> door(
      new OpenDoor(pid, std::move(name), std::move(socket)));
  KYMO_ASSIGN_OR_RETURN(
      const DoorMessage answer,
      door->Ask({.request = DoorRequest::kClaim}, &door->arena_));
  KYMO_RETURN_IF_ERROR(Refusal(door->name_, answer));
  const int seals = fcntl(door->arena_.get(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    return absl::InternalError(
        absl::StrCat(door->name_, " gave memory that it could take away"));
  }
  door->watches_heap_ = answer.watches_heap != 0;
  return door;
}

absl::Status OpenDoor::Begin(const Wishes& wishes) {
  KYMO_ASSIGN_OR_RETURN(
      const DoorMessage answer,
      Ask({.request = DoorRequest::kBegin,
           .record_flags = wishes.record_flags,
           .heap_sample_interval = wishes.heap_sample_interval,
           .chunk_bytes = wishes.chunk_bytes},
          nullptr));
  return Refusal(name_, answer);
}

absl::Status OpenDoor::End() {
  const absl::StatusOr<DoorMessage> answer =
      Ask({.request = DoorRequest::kEnd}, nullptr);
  if (absl::IsUnavailable(answer.status())) return absl::OkStatus();
  KYMO_RETURN_IF_ERROR(answer.status());
  return Refusal(name_, *answer);
}

absl::StatusOr<std::vector<std::shared_ptr<OpenDoor>>> Knock(
    pid_t pid, std::vector<std::string>* refusals) {
  std::vector<std::shared_ptr<OpenDoor>> doors;
  std::vector<absl::Status> refused;
  const pid_t inner = processes::InnerNumberOf(pid, pid);
  const std::string name = NameOf(pid);
  for (int index = 0; inner != 0 && index < record::kMostDoors; ++index) {
    KYMO_ASSIGN_OR_RETURN(OwnedDescriptor socket, MakeSocketFor(pid));
    const record::DoorAddress address = record::AddressOfDoor(inner, index);
    if (connect(socket.get(), address.pointer(), address.size) != 0) {
      if (errno == ECONNREFUSED) break;
      return absl::UnavailableError(absl::StrCat(
          name, " does not answer: ", std::generic_category().message(errno)));
    }
    // Containers can share a network, and have the same numbers of processes.
    if (!IsDoorOf(pid, socket.get())) continue;
    auto door = OpenDoor::Claim(pid, name, std::move(socket));
    if (door.ok()) {
      doors.push_back(*std::move(door));
    } else {
      refused.push_back(door.status());
    }
  }
  if (!doors.empty()) {
    for (size_t i = 0; refusals != nullptr && i < refused.size(); ++i) {
      refusals->push_back(absl::StrCat("a part of ", refused[i].message()));
    }
    return doors;
  }
  if (!refused.empty()) return refused.front();
  return absl::NotFoundError(
      absl::StrCat(name, " has no open door: start it with KYMO_ATTACH=1"));
}

}  // namespace kymo::door
