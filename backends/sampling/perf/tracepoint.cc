#include "backends/sampling/perf/tracepoint.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <string>
#include <system_error>

#include "profiler/base/descriptor.h"

namespace kymo::sampling {
namespace {

constexpr char kFolder[] = "events/sched/sched_waking/";
static_assert(offsetof(WakeFields, woken_tid) == 24);
constexpr char kWokenTid[] = "field:pid_t pid;\toffset:24;\tsize:4;";
constexpr char kFlags[] =
    "field:unsigned char common_flags;\toffset:2;\tsize:1;";

// The kernel's only tracefs, without mounting it anywhere. -1: not permitted.
int OpenDetachedTracefs() {
  const int context = AboveStandardStreams(fsopen("tracefs", FSOPEN_CLOEXEC));
  if (context < 0) return -1;
  int root = -1;
  if (fsconfig(context, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) == 0) {
    root = AboveStandardStreams(fsmount(context, FSMOUNT_CLOEXEC, 0));
  }
  close(context);
  return root;
}

// Empty if it cannot be read.
std::string ReadFile(int root, const char* name) {
  const int fd = AboveStandardStreams(openat(
      root, (std::string(kFolder) + name).c_str(), O_RDONLY | O_CLOEXEC));
  if (fd < 0) return {};
  std::array<char, 4096> text;
  const ssize_t size = read(fd, text.data(), text.size());
  close(fd);
  return {text.data(), size < 0 ? 0 : static_cast<size_t>(size)};
}

std::optional<uint64_t> FindIn(int root) {
  const std::string format = ReadFile(root, "format");
  if (format.find(kWokenTid) == std::string::npos ||
      format.find(kFlags) == std::string::npos) {
    return std::nullopt;
  }
  const std::string text = ReadFile(root, "id");
  uint64_t id = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), id);
  if (read.ec != std::errc()) return std::nullopt;
  return id;
}

// Tracepoints have the numbers of threads in the first namespace only.
bool IsInFirstPidNamespace() {
  constexpr ino_t kFirst = 0xeffffffc;  // PROC_PID_INIT_INO of the kernel
  struct stat file;
  return stat("/proc/self/ns/pid", &file) == 0 && file.st_ino == kFirst;
}

}  // namespace

std::optional<uint64_t> FindWakeTracepoint() {
  if (!IsInFirstPidNamespace()) return std::nullopt;
  for (const bool is_mounted : {true, false}) {
    const int root = is_mounted
                         ? AboveStandardStreams(open("/sys/kernel/tracing",
                                                     O_RDONLY | O_CLOEXEC))
                         : OpenDetachedTracefs();
    if (root < 0) continue;
    const auto id = FindIn(root);
    close(root);
    if (id) return id;
  }
  return std::nullopt;
}

}  // namespace kymo::sampling
