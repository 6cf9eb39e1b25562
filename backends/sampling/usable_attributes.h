// usable_attributes.h - the attributes with which this process can open events.
//
//   auto attr = UsableSwitchAttributes(PerfTarget::kProgram);
//   if (!attr.ok()) return attr.status();      // why not, and what helps
//   const int fd = OpenEvent(*attr, pid, cpu);
//   if (fd < 0) return OpenError(errno, settings);
//
// Each function tries them on the calling process, and leaves out what its
// kernel does not know.
//
// Threads: any.
#ifndef KYMO_BACKENDS_SAMPLING_USABLE_ATTRIBUTES_H_
#define KYMO_BACKENDS_SAMPLING_USABLE_ATTRIBUTES_H_

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/sampling/perf/perf_attributes.h"
#include "backends/sampling/perf_records.h"
#include "backends/sampling/sampling_settings.h"
#include "profiler/base/owned_descriptor.h"

namespace kymo::sampling {

// Whom an event of switches watches.
enum class PerfTarget {
  // `pid` waits before its exec. Its threads and children are watched, too.
  kProgram,
  // `pid` is a thread of this process, which is watched at once, with threads
  // that it makes from now on. AlsoWatch adds others.
  kThreadOfThisProcess,
  // Nothing yet, whatever `pid` is. AlsoWatch adds threads of processes that
  // run; these are watched with threads and processes that they make from then
  // on.
  kRunningThreads,
  // All that the machine runs, whatever `pid` is.
  kAllProcesses,
};

RecordLayout LayoutOf(const Settings& settings);
SampleParts PartsOf(RecordLayout layout, uint32_t stack_bytes);

inline constexpr RecordLayout kSwitchStackLayout =
    RecordLayout::KernelCallchainRegistersAndStack();
// More than most stacks need. A user's rings hold few copies of that size.
inline constexpr uint32_t kRootSwitchStackBytes = 8192;
inline constexpr uint32_t kUserSwitchStackBytes = 4096;

// Samples of a program.
absl::StatusOr<perf_event_attr> UsableAttributes(const Settings& settings);
// Switches, and samples at these, of `target`. Events of kAllProcesses and of
// kRunningThreads are still those of a thread (perf_attributes.h).
absl::StatusOr<perf_event_attr> UsableSwitchAttributes(PerfTarget target);
absl::StatusOr<perf_event_attr> UsableSwitchStackAttributes(PerfTarget target);

// Opens the event on the calling process, and closes it again. Leaves out of it
// what this kernel does not know. 0, or the error.
int TryEvent(perf_event_attr& attr);
// The same, but `event` stays open.
int TryEvent(perf_event_attr& attr, OwnedDescriptor& event);
// A descriptor, or -1 with errno.
int OpenEvent(const perf_event_attr& attr, pid_t pid, int cpu) noexcept;
// What refused an event, and what helps.
absl::Status OpenError(int error, const Settings& settings);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_USABLE_ATTRIBUTES_H_
