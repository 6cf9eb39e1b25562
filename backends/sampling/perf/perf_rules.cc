#include "backends/sampling/perf/perf_rules.h"

#include <errno.h>
#include <unistd.h>

#include <fstream>

#include "absl/strings/str_cat.h"

namespace kymo::sampling {

PerfRules ReadPerfRules() {
  PerfRules rules;
  std::ifstream paranoid("/proc/sys/kernel/perf_event_paranoid");
  int level = 0;
  if (paranoid >> level) rules.paranoid = level;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    // 2: a filter decides on each system call (proc(5)).
    if (line == "Seccomp:\t2") rules.has_filter = true;
  }
  rules.is_root = geteuid() == 0;
  return rules;
}

std::string PerfRefusal(int error, const PerfRules& rules) {
  if (rules.has_filter && (error == EPERM || error == ENOSYS)) {
    return "a seccomp filter forbids it, whatever perf_event_paranoid is; "
           "start the container with --cap-add=PERFMON, or with "
           "--security-opt=seccomp=unconfined";
  }
  if (error == ENOSYS || error == ENOENT || error == EOPNOTSUPP) {
    return "this kernel has no perf events of software clocks";
  }
  const std::string text =
      absl::StrCat("perf_event_paranoid is ", rules.paranoid, "; ");
  // A level that already permits it: a security module forbids it, for example.
  if (rules.paranoid <= 1) {
    return absl::StrCat(text,
                        "that permits it, so another rule of this machine "
                        "forbids it (a security module, a container)");
  }
  // The kernel does not ask root, so this is root of a container.
  return absl::StrCat(
      text, "run `sysctl kernel.perf_event_paranoid=1` ",
      rules.is_root
          ? "on the host, or start this container with --cap-add=PERFMON"
          : "as root, or give the command CAP_PERFMON");
}

}  // namespace kymo::sampling
