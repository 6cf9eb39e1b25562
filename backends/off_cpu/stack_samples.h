// stack_samples.h - the kernel's samples of switches and wakes, with stacks.
//
//   StackSamples samples(&clock, &causes);
//   samples.Open(pid, PerfTarget::kProgram);
//   samples.AddRings(rings);           // in the order of `ring` below
//   samples.Handle(record, type, ring);
//   samples.Bound(now_ns);             // every few milliseconds
//   samples.Disable();                 // then the last records, then End()
//
// Threads: none. Borrows the clock and the causes.
#ifndef KYMO_BACKENDS_OFF_CPU_STACK_SAMPLES_H_
#define KYMO_BACKENDS_OFF_CPU_STACK_SAMPLES_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/off_cpu/sample_budget.h"
#include "backends/off_cpu/thread_clock.h"
#include "backends/off_cpu/wait_causes.h"
#include "backends/sampling/perf_events.h"
#include "backends/sampling/perf_records.h"
#include "backends/sampling/perf_ring.h"

namespace kymo::off_cpu {

class StackSamples {
 public:
  StackSamples(const ThreadClock* clock, WaitCauses* causes)
      : clock_(clock), causes_(causes) {}

  // Opens what is permitted, which may be nothing. Of a program, that is
  // switches and wakes; of this process, switches.
  void Open(pid_t pid, sampling::PerfTarget target);
  void AddRings(std::vector<sampling::PerfRing*>& rings);
  // Null: not permitted.
  sampling::PerfEvents* switches() { return switches_.get(); }

  // `ring`: the number of it, from 0. False if the record is damaged.
  bool Handle(sampling::RecordBytes bytes, uint32_t type, size_t ring);
  // Pauses rings that gave too many (sample_budget.h), and resumes them.
  void Bound(uint64_t now_ns);
  void Disable();
  // Gives back the rings. A sample that was lost leaves a wait without a stack,
  // which is counted there (Loss::kWaitsWithoutStack).
  void End();

 private:
  struct Ring {
    sampling::PerfEvents* events = nullptr;
    size_t index = 0;  // of them
    SampleBudget budget;
    bool is_paused = false;
  };

  void AddRingsOf(sampling::PerfEvents& events);
  bool HandleSample(sampling::RecordBytes bytes,
                    const sampling::PerfEvents& events);

  const ThreadClock* const clock_;
  WaitCauses* const causes_;
  std::unique_ptr<sampling::PerfEvents> switches_;
  std::unique_ptr<sampling::PerfEvents> wakes_;
  std::vector<Ring> rings_;
};

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_STACK_SAMPLES_H_
