// perf_attributes.h - the attributes of our perf events.
//
//   perf_event_attr attr = SwitchAttributes(layout.sample_type());
//   const int fd = perf_event_open(&attr, ...);
//
// Unless said otherwise, events begin with the target's exec and are inherited
// by its threads and children. All tell the time in CLOCK_MONOTONIC. Kernels
// that do not know a feature refuse them (perf_events.h tries).
//
// Pure functions.
#ifndef KYMO_BACKENDS_SAMPLING_PERF_PERF_ATTRIBUTES_H_
#define KYMO_BACKENDS_SAMPLING_PERF_PERF_ATTRIBUTES_H_

#include <linux/perf_event.h>

#include <cstdint>

namespace kymo::sampling {

// What a sample has: perf_event_attr's fields of these names.
struct SampleParts {
  uint64_t sample_type = 0;
  uint64_t sample_regs_user = 0;
  uint32_t sample_stack_user = 0;
};

// Samples of CPU time. `kernel`: also while in the kernel.
perf_event_attr SampleAttributes(const SampleParts& parts, uint64_t period_ns,
                                 bool kernel);
// Makes of it an event of this process: it begins when it is opened, and
// threads inherit it, but no processes.
void WatchOwnThreads(perf_event_attr& attr);
// Makes of it an event of a thread that runs already: it begins when it is
// opened, and threads and processes inherit it.
void WatchRunningThread(perf_event_attr& attr);
// Makes of it an event that never records: its ring is for events of others.
void WatchNothing(perf_event_attr& attr);
// Makes of the event of a process one of all that a CPU runs.
void WatchAllProcesses(perf_event_attr& attr);

// Makes each sample wake up who waits for the event.
void WakeAtEachSample(perf_event_attr& attr);

// No samples, but a record of each switch.
perf_event_attr SwitchAttributes(uint64_t sample_type);

// A sample whenever a thread leaves its CPU.
perf_event_attr SwitchStackAttributes(const SampleParts& parts);

// A sample of whoever wakes a thread: tracepoint.h.
perf_event_attr WakeAttributes(const SampleParts& parts, uint64_t tracepoint);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PERF_PERF_ATTRIBUTES_H_
