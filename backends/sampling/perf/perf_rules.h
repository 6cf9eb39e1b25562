// perf_rules.h - why perf events are refused, and what helps.
//
//   if (fd < 0) Say(PerfRefusal(errno, ReadPerfRules()));
//
// Threads: any.
#ifndef KYMO_BACKENDS_SAMPLING_PERF_PERF_RULES_H_
#define KYMO_BACKENDS_SAMPLING_PERF_PERF_RULES_H_

#include <string>

namespace kymo::sampling {

// What may refuse perf events to this process.
struct PerfRules {
  int paranoid = 2;  // kernel.perf_event_paranoid; the kernel's default
  // A seccomp filter is on, as in most containers.
  bool has_filter = false;
  bool is_root = false;
};
PerfRules ReadPerfRules();

// What refused perf_event_open with `error`, and what helps:
//
//   "perf_event_paranoid is 3; run `sysctl kernel.perf_event_paranoid=1` ..."
//
// The kernel itself refuses with EACCES: perf_event_open(2). The filters of
// container engines refuse with EPERM or ENOSYS before it looks at anything.
std::string PerfRefusal(int error, const PerfRules& rules);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PERF_PERF_RULES_H_
