// perf_events.h - opens the kernel's sampling of a process, one event per CPU.
//
//   auto events = PerfEvents::Open(settings, pid);   // pid waits before exec
//   ... the target runs; every few milliseconds:
//   for (PerfRing& ring : (*events)->rings()) ring.Refresh();
//   (*events)->Disable();
//   const PerfTotals totals = (*events)->ReadTotals();
//
// The clock is the task's own CPU time: a tick is due each time that a thread
// has run for one period, on whatever CPUs. Sampling begins at the target's
// exec, and follows its threads and children. Each sample wakes up who waits
// for the descriptors, unless Python is left alone (Settings). Nothing else
// does.
//
// Instead of one process, all that runs on the machine can be sampled, if that
// is permitted (CAP_PERFMON, or perf_event_paranoid below 1). Then the reader
// sorts out what is not the target's, and times are those of the CPUs, with a
// sample at each period of a CPU that is not idle. Such an event stays as it is
// when a CPU goes from thread to thread, so switches cost nothing.
//
// A recording of switches has no samples; its records are small and many.
//
// Threads: one.
#ifndef KYMO_BACKENDS_SAMPLING_PERF_EVENTS_H_
#define KYMO_BACKENDS_SAMPLING_PERF_EVENTS_H_

#include <linux/perf_event.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/sampling/perf_ring.h"
#include "backends/sampling/sampling_settings.h"
#include "backends/sampling/usable_attributes.h"

namespace kymo::sampling {

// The parts of a program that this process is allowed to sample.
struct PerfAccess {
  bool kernel = false;  // samples while in the kernel too
};

// Tries to open on the calling process the event that Open would use. The error
// says what refused it and what the user can do.
absl::StatusOr<PerfAccess> ProbePerf(const Settings& settings);

struct PerfTotals {
  // The target's, with threads and children. Of all processes: the time that
  // passed, of each CPU.
  uint64_t cpu_time_ns = 0;
  bool knows_lost = false;  // kernels from 6.0 on count them exactly
  uint64_t lost_records = 0;
};

// The bytes of stack to copy with each sample, if the user leaves that to us:
// the most, if a ring holds some 30 of them, because the collector reads the
// rings every 5 ms. Else what the ring has room for, but at least 16 KiB.
uint32_t AutoStackBytes(size_t ring_bytes);

class PerfEvents {
 public:
  // Instead of a pid: all processes. Sampling begins at once.
  static constexpr pid_t kAllProcesses = -1;
  // Instead of a pid: nothing yet, as of PerfTarget::kRunningThreads.
  static constexpr pid_t kRunningThreads = 0;
  // The same, but threads do not give their events to processes that they make.
  static constexpr pid_t kOwnThreads = -2;

  static absl::StatusOr<std::unique_ptr<PerfEvents>> Open(
      const Settings& settings, pid_t pid);

  // No samples, but a record whenever a thread of the target gets a CPU or
  // leaves it (DecodeSwitch), and those about its threads' beginnings, ends and
  // names. An ordinary user may have it, too, unless perf_event_paranoid is
  // above 2. Recording begins at the target's exec.
  static absl::StatusOr<std::unique_ptr<PerfEvents>> OpenSwitches(
      pid_t pid, PerfTarget target = PerfTarget::kProgram);
  // Tries that on the calling process.
  static absl::Status ProbeSwitches();
  // A sample whenever a thread leaves its CPU, with the stacks of the kernel
  // and of the program. For those who may look into the kernel: root, or
  // perf_event_paranoid below 2.
  static absl::StatusOr<std::unique_ptr<PerfEvents>> OpenSwitchStacks(
      pid_t pid, PerfTarget target = PerfTarget::kProgram);
  // Whether that is permitted.
  static absl::Status ProbeSwitchStacks();
  // A sample of whoever wakes a thread, with the stack of the program
  // (DecodeWake): of each wake by the target's threads, and of each of the
  // target's threads. A wake that is both comes twice. For root only.
  static absl::StatusOr<std::unique_ptr<PerfEvents>> OpenWakes(pid_t pid);

  // Another thread gets the same events, with the same rings, and so do the
  // threads that it makes from now on. Takes a descriptor for each CPU.
  // kNotFound if the thread has ended, kPermissionDenied if it is somebody
  // else's.
  // REQUIRES: opened with kThreadOfThisProcess, for threads of this process, or
  // with kRunningThreads.
  absl::Status AlsoWatch(pid_t tid);
  // Takes back what AlsoWatch gave the thread.
  void Unwatch(pid_t tid);

  PerfEvents(const PerfEvents&) = delete;
  PerfEvents& operator=(const PerfEvents&) = delete;
  ~PerfEvents() { Close(); }

  std::span<PerfRing> rings() noexcept { return rings_; }
  RecordLayout layout() const noexcept { return layout_; }
  // Whether there are samples of time in the kernel, too.
  bool samples_kernel() const noexcept { return attr_.exclude_kernel == 0; }
  // One for each ring.
  const std::vector<int>& descriptors() const noexcept { return fds_; }
  const std::vector<int>& cpus() const noexcept { return cpus_; }

  // The records of a ring's CPU stop, and go on.
  void Pause(size_t ring) noexcept;
  void Resume(size_t ring) noexcept;
  // No record appears after it returns.
  void Disable() noexcept;
  PerfTotals ReadTotals() const noexcept;

 private:
  struct Mapping {
    void* address;
    size_t size_bytes;
  };

  PerfEvents() = default;
  // REQUIRES: settings.stack_bytes is a number.
  static absl::StatusOr<std::unique_ptr<PerfEvents>> OpenWith(
      const Settings& settings, pid_t pid);
  // With rings of at most so many bytes.
  static absl::StatusOr<std::unique_ptr<PerfEvents>> OpenSmall(
      const perf_event_attr& attr, pid_t pid, size_t largest_bytes);
  // The same of samples with stacks.
  static absl::StatusOr<std::unique_ptr<PerfEvents>> OpenStacks(
      const perf_event_attr& attr, RecordLayout layout, pid_t pid);
  // With rings of the largest of these sizes for which there is memory.
  absl::Status OpenWithLargestRings(const Settings& settings,
                                    const perf_event_attr& attr, pid_t pid,
                                    const std::vector<int>& cpus,
                                    size_t largest_bytes,
                                    size_t smallest_bytes);
  absl::Status OpenAll(const Settings& settings, const perf_event_attr& attr,
                       pid_t pid, const std::vector<int>& cpus);
  // False, with errno, if there is no memory for all.
  bool MapRings(size_t ring_bytes);
  void Close() noexcept;
  void ForRing(size_t ring, unsigned long request) noexcept;

  RecordLayout layout_;
  bool knows_lost_ = false;
  // fds_ are disabled events of Kymo's own thread, for their rings only.
  bool watches_nothing_ = false;
  std::vector<int> fds_;   // one for each ring
  std::vector<int> cpus_;  // of each
  perf_event_attr attr_ = {};
  struct ThreadEvent {
    int fd;
    size_t ring;
    pid_t tid;
  };
  std::vector<ThreadEvent> more_fds_;  // of AlsoWatch
  std::vector<Mapping> mappings_;
  std::vector<PerfRing> rings_;
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PERF_EVENTS_H_
