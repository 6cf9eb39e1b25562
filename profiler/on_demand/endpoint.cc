#include "profiler/on_demand/endpoint.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/descriptor.h"
#include "profiler/base/owned_descriptor.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/on_demand/messages.h"

namespace kymo::on_demand {
namespace {

const sockaddr* Pointer(const Address& address) {
  return reinterpret_cast<const sockaddr*>(&address.name);
}

int MakeSocket() {
  return AboveStandardStreams(
      socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

bool IsOtherFile(const Address& address) {
  struct stat file = {};
  return lstat(address.name.sun_path, &file) == 0 && !S_ISSOCK(file.st_mode);
}

// A file whose socket is gone stays, and nobody can bind it.
bool IsLeftOver(const Address& address) {
  // The kernel refuses to connect to a file that is no socket, too.
  if (IsOtherFile(address)) return false;
  const OwnedDescriptor probe(MakeSocket());
  return connect(probe.get(), Pointer(address), address.size) != 0 &&
         errno == ECONNREFUSED;
}

// Of the last field of a line of /proc/net/unix: "@NAME@", where '@' is a NUL.
std::string AbstractName(const std::string& line) {
  const size_t at = line.rfind(" @");
  if (at == line.npos) return "";
  std::string name = line.substr(at + 2);
  if (name.ends_with('@')) name.pop_back();
  return name;
}

// Keeps two processes from finding the same left-over file: one would remove
// the socket that the other has just made. Waits for a second at most, as any
// reader of the folder can hold the lock.
OwnedDescriptor LockFolder(const std::string& folder) {
  OwnedDescriptor locked(
      open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  constexpr int kMostTries = 1000;
  for (int i = 0; i < kMostTries; ++i) {
    if (flock(locked.get(), LOCK_EX | LOCK_NB) == 0) break;
    if (errno != EWOULDBLOCK) break;
    usleep(1000);
  }
  return locked;
}

// An ordinary user cannot find out whether another user's socket is in use.
absl::Status SocketOfAnother(const char* path, uid_t user) {
  return absl::PermissionDeniedError(absl::StrCat(
      "the socket '", path, "' belongs to user ", user,
      ": if no process of that user listens there any more, remove it; or set ",
      kSocketFolderVariable,
      " to a folder of your own, for the programs, too"));
}

}  // namespace

bool Address::operator==(const Address& other) const {
  return size == other.size && memcmp(&name, &other.name, size) == 0;
}

std::string SocketFolder() {
  const char* const folder = secure_getenv(kSocketFolderVariable);
  return folder == nullptr ? "" : folder;
}

absl::StatusOr<Address> AddressOf(std::string_view name,
                                  const std::string& folder) {
  Address address;
  address.name.sun_family = AF_UNIX;
  // The NUL at the end belongs to an abstract name, too.
  std::string path = folder.empty() ? std::string(1, '\0') : folder + "/";
  path.append(name);
  path.push_back('\0');
  if (path.size() > sizeof(address.name.sun_path)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the name ", folder, "/", ToAbsl(name),
                     " is too long for a socket: set ", kSocketFolderVariable,
                     " to a shorter one"));
  }
  memcpy(address.name.sun_path, path.data(), path.size());
  address.size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  return address;
}

std::string NameOf(const Address& address) {
  const size_t start = offsetof(sockaddr_un, sun_path);
  if (address.size <= start) return "";
  std::string name(address.name.sun_path, address.size - start);
  if (name.ends_with('\0')) name.pop_back();
  if (name.starts_with('\0')) return name.substr(1);
  return name.substr(name.rfind('/') + 1);
}

std::vector<std::string> NamesWith(std::string_view prefix,
                                   const std::string& folder) {
  std::vector<std::string> names;
  if (folder.empty()) {
    std::ifstream sockets("/proc/net/unix");
    for (std::string line; std::getline(sockets, line);) {
      names.push_back(AbstractName(line));
    }
  } else {
    std::error_code error;
    for (const auto& entry :
         std::filesystem::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename();
      const auto address = AddressOf(name, folder);
      if (entry.is_socket(error) && address.ok() && !IsLeftOver(*address)) {
        names.push_back(name);
      }
    }
  }
  std::erase_if(names, [&](const std::string& name) {
    return !name.starts_with(prefix);
  });
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

absl::StatusOr<Endpoint> Endpoint::Bind(std::string_view name,
                                        const std::string& folder) {
  KYMO_ASSIGN_OR_RETURN(const Address address, AddressOf(name, folder));
  Endpoint made{record::KeptDescriptor(MakeSocket())};
  if (!made.socket_.is_set()) {
    return absl::ErrnoToStatus(errno, "could not make a socket");
  }
  const OwnedDescriptor lock =
      folder.empty() ? OwnedDescriptor() : LockFolder(folder);
  // Before it has its name: what comes sooner than the option has no sender.
  const int on = 1;
  int error = 0;
  if (setsockopt(made.fd(), SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) != 0 ||
      bind(made.fd(), Pointer(address), address.size) != 0) {
    error = errno;
  }
  if (error == EADDRINUSE && !folder.empty() && IsLeftOver(address)) {
    unlink(address.name.sun_path);
    error = bind(made.fd(), Pointer(address), address.size) == 0 ? 0 : errno;
  }
  if (error == EADDRINUSE) {
    if (!folder.empty() && IsOtherFile(address)) {
      return absl::FailedPreconditionError(
          absl::StrCat("'", address.name.sun_path, "' is no socket: set ",
                       kSocketFolderVariable, " to another folder"));
    }
    struct stat file = {};
    if (!folder.empty() && stat(address.name.sun_path, &file) == 0 &&
        file.st_uid != geteuid()) {
      return SocketOfAnother(address.name.sun_path, file.st_uid);
    }
    return absl::AlreadyExistsError(
        absl::StrCat("another process has the name ", ToAbsl(name)));
  }
  if (error != 0) {
    return absl::ErrnoToStatus(
        error, absl::StrCat("could not bind the name ", ToAbsl(name),
                            folder.empty() ? "" : " in ", folder));
  }
  if (!folder.empty()) made.path_ = address.name.sun_path;
  return made;
}

Endpoint::~Endpoint() {
  if (!path_.empty()) unlink(path_.c_str());
  socket_.Close();
}

absl::Status Endpoint::Send(const Address& to, std::string_view bytes) const {
  const ssize_t sent =
      sendto(fd(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
             Pointer(to), to.size);
  if (sent >= 0) return absl::OkStatus();
  const int error = errno;
  if (error == ECONNREFUSED || error == ENOENT || error == EAGAIN) {
    return absl::UnavailableError(std::generic_category().message(error));
  }
  return absl::ErrnoToStatus(error, "could not send");
}

std::optional<Datagram> Endpoint::Receive() const {
  Datagram datagram;
  datagram.bytes.resize(kHeaderBytes + kMostBodyBytes + 1);
  iovec text = {.iov_base = datagram.bytes.data(),
                .iov_len = datagram.bytes.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))] = {};
  msghdr message = {};
  message.msg_name = &datagram.sender.name;
  message.msg_namelen = sizeof(datagram.sender.name);
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  const ssize_t size = TEMP_FAILURE_RETRY(
      recvmsg(fd(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC));
  if (size < 0) return std::nullopt;
  datagram.bytes.resize(static_cast<size_t>(size));
  // A name of 108 bytes is said to have one more, for which there is no room.
  datagram.sender.size =
      std::min<socklen_t>(message.msg_namelen, sizeof(datagram.sender.name));
  const cmsghdr* const header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_level == SOL_SOCKET &&
      header->cmsg_type == SCM_CREDENTIALS) {
    ucred who;
    memcpy(&who, CMSG_DATA(header), sizeof(who));
    datagram.pid = who.pid;
    datagram.user = who.uid;
  }
  return datagram;
}

void Endpoint::Close() {
  path_.clear();
  socket_.Close();
}

}  // namespace kymo::on_demand
