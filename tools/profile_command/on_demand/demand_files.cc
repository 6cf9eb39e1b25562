#include "tools/profile_command/on_demand/demand_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "profiler/base/mapped/regular_file.h"
#include "profiler/base/owned_descriptor.h"
#include "profiler/base/time.h"
#include "profiler/base/whole_io.h"
#include "profiler/on_demand/config.h"
#include "profiler/on_demand/endpoint.h"
#include "profiler/processes/process_list.h"
#include "profiler/record/host/door_protocol.h"

namespace kymo::tools {
namespace {

// The numbers in the names of abstract sockets.
std::vector<pid_t> PidsBehind(const char* prefix) {
  std::vector<pid_t> pids;
  for (const std::string& name : on_demand::NamesWith(prefix, "")) {
    const pid_t pid = PidBehind(prefix, name);
    if (pid != 0) pids.push_back(pid);
  }
  return pids;
}

}  // namespace

absl::StatusOr<std::string> MakeTraceFolder() {
  std::string path =
      absl::StrCat(on_demand::kTraceFolder, "/kymo-on-demand-XXXXXX");
  if (mkdtemp(path.data()) == nullptr ||
      (geteuid() == 0 && chmod(path.c_str(), 01733) != 0)) {
    return absl::ErrnoToStatus(errno, absl::StrCat("could not make ", path));
  }
  return path;
}

absl::Status CopyTrace(const std::string& from, uid_t user,
                       const std::string& to) {
  const OwnedDescriptor in(
      open(from.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat about;
  if (!in.is_open() || fstat(in.get(), &about) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("could not read ", from));
  }
  if (!S_ISREG(about.st_mode) || about.st_uid != user) {
    return absl::PermissionDeniedError(
        absl::StrCat(from, " is not a file of the program's user"));
  }
  const OwnedDescriptor out(
      open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!out.is_open()) {
    return absl::ErrnoToStatus(errno, absl::StrCat("could not make ", to));
  }
  for (int64_t left = about.st_size; left > 0;) {
    const ssize_t count =
        sendfile(out.get(), in.get(), nullptr, static_cast<size_t>(left));
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) {
      return absl::DataLossError(
          absl::StrCat(from, " became shorter while it was copied"));
    }
    if (count < 0) {
      return absl::ErrnoToStatus(errno, absl::StrCat("could not write ", to));
    }
    left -= count;
  }
  return absl::OkStatus();
}

bool EndsWithBrace(const std::string& path) {
  struct stat about = {};
  const OwnedDescriptor file = OpenRegularFile(path, &about);
  char end[64];
  const auto size =
      std::min<uint64_t>(static_cast<uint64_t>(about.st_size), sizeof(end));
  if (!file.is_open() ||
      !ReadWhole(file.get(), static_cast<uint64_t>(about.st_size) - size, end,
                 size)) {
    return false;
  }
  const std::string_view text(end, size);
  const size_t last = text.find_last_not_of(" \n\r\t");
  return last != text.npos && text[last] == '}';
}

std::string TraceNameOf(const std::string& program) {
  std::string name = program;
  std::erase(name, ')');
  for (char& c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '.' &&
        c != '_') {
      c = '-';
    }
  }
  // "train (1234)" has become "train--1234".
  if (const size_t twice = name.rfind("--"); twice != name.npos) {
    name.erase(twice, 1);
  }
  return absl::StrCat(name, ".json");
}

pid_t PidBehind(std::string_view prefix, std::string_view name) {
  pid_t pid = 0;
  if (!name.starts_with(prefix)) return pid;
  name.remove_prefix(prefix.size());
  std::from_chars(name.data(), name.data() + name.size(), pid);
  return pid;
}

std::vector<pid_t> ProcessesWithDoorAlone(const std::vector<pid_t>& only) {
  const std::vector<pid_t> registered = PidsBehind(on_demand::kKymoPrefix);
  std::vector<pid_t> pids = PidsBehind(record::kDoorPrefix);
  std::erase_if(pids, [&](pid_t pid) {
    const auto user = processes::UserOf(pid);
    return !user || (geteuid() != 0 && *user != geteuid()) ||
           std::ranges::count(registered, pid) > 0 ||
           (!only.empty() && std::ranges::count(only, pid) == 0);
  });
  // Each host of a process has a door.
  std::ranges::sort(pids);
  pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
  return pids;
}

std::pair<ino_t, int64_t> StampOf(const std::string& path) {
  struct stat file = {};
  if (stat(path.c_str(), &file) != 0) return {};
  return {file.st_ino,
          file.st_ctim.tv_sec * kNsPerSecond + file.st_ctim.tv_nsec};
}

std::string AttachedText(int wait_status, bool has_trace) {
  if (wait_status == 0) return "";
  if (WIFSIGNALED(wait_status)) {
    return "the recording of the programs with an open door was ended by a "
           "signal";
  }
  return has_trace ? "the trace of the programs with an open door lacks "
                     "something, as said above"
                   : "the programs with an open door were not recorded, as "
                     "said above";
}

bool HasOpen(pid_t pid, const struct stat& file) {
  const std::string folder = absl::StrCat("/proc/", pid, "/fd");
  for (const int fd : processes::NumbersIn(folder)) {
    struct stat about;
    if (stat(absl::StrCat(folder, "/", fd).c_str(), &about) == 0 &&
        about.st_dev == file.st_dev && about.st_ino == file.st_ino) {
      return true;
    }
  }
  return false;
}

pid_t OwnerOfSocket(const std::string& name) {
  std::ifstream sockets("/proc/net/unix");
  std::string link;
  for (std::string line; std::getline(sockets, line);) {
    // "...: 00000002 ... 01 INODE @NAME@"
    const std::vector<std::string> words =
        absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.size() == 8 && words[7] == absl::StrCat("@", name, "@")) {
      link = absl::StrCat("socket:[", words[6], "]");
    }
  }
  if (link.empty()) return 0;
  for (const processes::ProcessInfo& process : processes::ListProcesses()) {
    const std::string folder = absl::StrCat("/proc/", process.pid, "/fd");
    for (const int fd : processes::NumbersIn(folder)) {
      std::error_code error;
      if (std::filesystem::read_symlink(absl::StrCat(folder, "/", fd), error) ==
          link) {
        return process.pid;
      }
    }
  }
  return 0;
}

}  // namespace kymo::tools
