#include "profiler/symbolize/jit/jit_files.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "profiler/symbolize/proc_maps.h"

namespace kymo::symbolize {
namespace {

// Symbolic links on the way stay below the root. O_NONBLOCK, because the path
// may be a FIFO.
int OpenBelow(int root, const std::string& path) {
  open_how how{};
  how.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(
      syscall(SYS_openat2, root, path.c_str(), &how, sizeof(how)));
}

// The path of the mapping that names a jitdump; empty if there is none. Some
// runtimes map it without the right to execute.
std::string FindMappedDump(const std::string& maps) {
  std::istringstream lines(maps);
  for (std::string line; std::getline(lines, line);) {
    const size_t path = line.find('/');
    if (path != std::string::npos && IsJitDumpName(line.substr(path))) {
      return line.substr(path);
    }
  }
  return {};
}

TimeNs ToNs(const timespec& time) {
  return int64_t{time.tv_sec} * kNsPerSecond + time.tv_nsec;
}

TimeNs Now(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return ToNs(now);
}

// When a process began, since the epoch; 0 if that is not known.
TimeNs StartOf(const std::string& stat) {
  constexpr int kField = 22;  // in ticks since the machine started
  // The name before may have blanks and parentheses.
  const size_t name_end = stat.find_last_of(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string field;
  for (int i = 2; i < kField; ++i) fields >> field;
  const TimeNs ticks = std::atoll(field.c_str());
  const long hz = sysconf(_SC_CLK_TCK);
  if (ticks <= 0 || hz <= 0) return 0;
  return ticks * (kNsPerSecond / hz) + Now(CLOCK_REALTIME) -
         Now(CLOCK_BOOTTIME);
}

// Files have the times of a coarser clock.
constexpr DurationNs kClockErrorNs = kNsPerSecond;

}  // namespace

bool IsJitDumpName(std::string_view path) {
  constexpr std::string_view kBegin = "jit-";
  constexpr std::string_view kEnd = ".dump";
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  if (!path.starts_with('/') || !name.starts_with(kBegin) ||
      !name.ends_with(kEnd) || name.size() <= kBegin.size() + kEnd.size()) {
    return false;
  }
  const std::string_view number =
      name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
  return std::ranges::all_of(number,
                             [](char c) { return c >= '0' && c <= '9'; });
}

bool IsFileOf(const struct stat& file, uid_t user, TimeNs start_ns) {
  return S_ISREG(file.st_mode) && file.st_uid == user && file.st_nlink <= 1 &&
         ToNs(file.st_mtim) >= start_ns - kClockErrorNs;
}

JitFiles JitFiles::Of(int64_t pid) {
  JitFiles files;
  files.user_ = geteuid();
  files.inner_pid_ = pid;
  const std::string process = "/proc/" + std::to_string(pid);
  std::istringstream status(ReadProcText(process + "/status"));
  for (std::string line; std::getline(status, line);) {
    unsigned real = 0, effective = 0;
    if (std::sscanf(line.c_str(), "Uid: %u %u", &real, &effective) == 2) {
      files.user_ = effective;
    }
    // The last number is that of the innermost namespace.
    if (line.starts_with("NSpid:")) {
      const size_t last = line.find_last_of(" \t");
      files.inner_pid_ = std::atoll(line.c_str() + last);
    }
  }
  files.start_ns_ = StartOf(ReadProcText(process + "/stat"));
  constexpr int kFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  files.root_ = OwnedDescriptor(open((process + "/root").c_str(), kFlags));
  if (!files.root_.is_open()) files.root_ = OwnedDescriptor(open("/", kFlags));
  files.mapped_dump_ = FindMappedDump(ReadProcText(process + "/maps"));
  return files;
}

OwnedDescriptor JitFiles::OpenPerfMap() const {
  return Open("/tmp/perf-" + std::to_string(inner_pid_) + ".map");
}

OwnedDescriptor JitFiles::OpenDump(const std::string& path) const {
  if (!path.empty()) return Open(path);
  if (!mapped_dump_.empty()) return Open(mapped_dump_);
  return Open("/tmp/jit-" + std::to_string(inner_pid_) + ".dump");
}

OwnedDescriptor JitFiles::Open(const std::string& path) const {
  OwnedDescriptor file(OpenBelow(root_.get(), path));
  struct stat status;
  const bool is_usable = file.is_open() && fstat(file.get(), &status) == 0 &&
                         IsFileOf(status, user_, start_ns_);
  return is_usable ? std::move(file) : OwnedDescriptor();
}

}  // namespace kymo::symbolize
