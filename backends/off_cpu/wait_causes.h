// wait_causes.h - finds out why and where threads wait, and for whom: by
// looking at them, from the kernel's samples of switches and wakes, and from
// what hooks in the target tell.
//
//   WaitCauses causes(&stacks, &log);
//   causes.OnSample(sample);           // if there are samples
//   causes.OnWake(sample, wake, true);
//   causes.OnSwitch(record);           // in the order of time
//   causes.CauseOf(thread, call);      // if there are hooks in the target
//   causes.LookAtBlocked(clock, until_ns);  // every few milliseconds
//
// Looks miss waits that are shorter than the time between two of them, but for
// those in which a look happens to fall. Samples pause where threads leave
// a CPU more than 16,000 times a second.
//
// Threads: none. Borrows the store and the log.
#ifndef KYMO_BACKENDS_OFF_CPU_WAIT_CAUSES_H_
#define KYMO_BACKENDS_OFF_CPU_WAIT_CAUSES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/off_cpu/calls/wait_ring_reader.h"
#include "backends/off_cpu/descriptor_names.h"
#include "backends/off_cpu/look/blocked_look.h"
#include "backends/off_cpu/look/kernel_calls.h"
#include "backends/off_cpu/look_budget.h"
#include "backends/off_cpu/static_objects.h"
#include "backends/off_cpu/thread_clock.h"
#include "backends/off_cpu/wait_log.h"
#include "backends/sampling/perf_records.h"
#include "backends/sampling/stack_store.h"

namespace kymo::off_cpu {

class WaitCauses {
 public:
  WaitCauses(sampling::StackStore* stacks, WaitLog* log)
      : stacks_(stacks), log_(log), descriptors_(log), statics_(stacks, log) {}

  // Reads what samples need, before the first of them.
  void ExpectSamples();
  // The kernel took it just before the thread left its CPU.
  void OnSample(const sampling::SampleRecord& sample);
  // A thread was woken, as DecodeWake says. `is_known`: the waker is a thread
  // of the recording.
  void OnWake(const sampling::SampleRecord& sample,
              const sampling::WakeRecord& wake, bool is_known);
  // What a call of the thread waited for, as the hooks in the target tell.
  WaitCause CauseOf(const ThreadKey& thread, const NotedCall& call);
  // The same of a call for a condition that waited for the mutex.
  WaitCause MutexCauseOf(const ThreadKey& thread, const NotedCall& call);
  // Whether stacks of looks have functions that those of calls lack.
  bool IsPython(uint32_t pid) { return stacks_->IsPython(pid); }
  // Who made a call that ended a wait, and where.
  OtherThread WakerOf(const NotedCall& call);
  // Gives the wait that begins here the cause of the sample before.
  void OnSwitch(const sampling::SwitchRecord& record);

  // The thread was stopped from then on, and nobody could look at it.
  void OnStopped(const ThreadKey& thread, uint64_t since_ns);

  // Looks at threads that were blocked for 1 ms at `until_ns`, up to which the
  // clock knows: at those of which nothing is known yet, and at those that wait
  // for locks, to see who holds them. As many as the budget permits: the next
  // call goes on with the others.
  void LookAtBlocked(ThreadClock& clock, uint64_t until_ns);

  // Also at threads that were blocked for a shorter time: nothing else tells of
  // their waits.
  void LookAtShortWaits(bool does) { min_blocked_ns_ = does ? 0 : kNsPerMs; }
  bool looks_at_short_waits() const noexcept { return min_blocked_ns_ == 0; }

  // After the log's Collect, for names.
  StaticObjects& statics() noexcept { return statics_; }

  // No more looks come. Names what is not named yet.
  void Finish() { descriptors_.Finish(); }

 private:
  // Whether the thread was seen to wait.
  bool LookAt(const ThreadKey& thread);
  void TakeCause(const ThreadKey& thread);
  struct Again;
  // Of the thread that was just looked at.
  void LookAtHolder(Again look, const ThreadClock& clock);
  // The process of a lock's owner that is no thread of the process that waits;
  // 0: nobody knows it.
  uint32_t LostHolderPid(uint32_t pid, uint32_t owner,
                         const ThreadClock& clock);
  void SetStopped(WaitCause& cause);
  void SetCall(const ThreadKey& thread, const BlockedCall& call,
               const DescriptorUse& use, const ReadMemory& memory,
               WaitCause& cause);
  symbolize::RawStackId StackOf(uint32_t pid, const NotedCall& call);

  // A thread at a lock, to be looked at again: nobody had the lock, or somebody
  // else may have it later in the wait.
  struct Again {
    ThreadKey thread;
    uint64_t since_ns = 0;      // when it left its CPU
    uint64_t due_ns = 0;        // not before that
    int64_t times_on_cpu = -1;  // it is the same wait if it is still that
    int tries = 0;              // looks that are left if nobody has the lock
  };

  sampling::StackStore* const stacks_;
  WaitLog* const log_;
  DescriptorNames descriptors_;
  StaticObjects statics_;
  BlockedLook look_;
  BlockedLook holder_look_;
  std::vector<Again> again_;
  // Most waits end sooner. Looks at them would be at the cost of long ones.
  uint64_t min_blocked_ns_ = kNsPerMs;
  LookBudget budget_;
  std::unique_ptr<KernelCalls> kernel_calls_;
  absl::flat_hash_map<uint32_t, WaitCause> coming_;  // by tid
  // Of calls, by process and a hash of their addresses, as long as no process
  // maps other code.
  absl::flat_hash_map<std::pair<uint32_t, size_t>, symbolize::RawStackId>
      call_stacks_;
  uint64_t call_stacks_version_ = 0;
};

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_WAIT_CAUSES_H_
