// noted_calls.h - what the hooks in the target tell of its waits.
//
//   KYMO_RETURN_IF_ERROR(calls.Prepare(setup));   // before the target starts
//   calls.Read();               // every few milliseconds
//   ... log.OnWait(...)         // each wait up to `until_ns`
//   calls.Deliver(until_ns);
//   calls.End(ledger);
//
// A call is noted when it ends, which is after its waits. So the log holds
// waits for a while (wait_log.h).
//
// Threads: none. Borrows the others.
#ifndef KYMO_BACKENDS_OFF_CPU_CALLS_NOTED_CALLS_H_
#define KYMO_BACKENDS_OFF_CPU_CALLS_NOTED_CALLS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "backends/off_cpu/calls/noted_wakes.h"
#include "backends/off_cpu/calls/wait_ring_reader.h"
#include "backends/off_cpu/thread_clock.h"
#include "backends/off_cpu/wait_causes.h"
#include "backends/off_cpu/wait_log.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/plugin/target_setup.h"

namespace kymo::off_cpu {

class NotedCalls {
 public:
  NotedCalls(WaitCauses* causes, WaitLog* log, const ThreadClock* clock)
      : causes_(causes), log_(log), clock_(clock) {}

  absl::Status Prepare(TargetSetup& setup);
  // Without Prepare, these do nothing.
  void Read();
  // The ends of threads that Read has found since the last call.
  std::vector<NotedEnd> TakeEnds() { return std::exchange(ends_, {}); }
  // Gives the log all calls that have ended by then.
  void Deliver(uint64_t until_ns);
  // The thread has ended. Call it while the code of its process is known.
  void OnThreadEnd(uint32_t tid, uint64_t time_ns);
  // Delivers what is left, and adds what was lost to the ledger.
  void End(model::LossLedger& ledger);

 private:
  WaitCauses* const causes_;
  WaitLog* const log_;
  const ThreadClock* const clock_;  // knows the processes of threads
  std::unique_ptr<WaitRingReader> reader_;
  ThreadKey HolderOf(const NotedCall& call) const;
  std::optional<WakeOfWait> WakeOf(const NotedCall& call,
                                   const OffCpuTime& wait, bool is_first) const;

  std::vector<NotedCall> calls_;
  std::vector<NotedEnd> ends_;
  NotedWakes wakes_;
};

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_CALLS_NOTED_CALLS_H_
