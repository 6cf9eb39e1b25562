// sample_bias.h - says where the samples of perf events mislead.
//
//   store.Collect(shard);
//   // kSamplesBiased, kSamplesAtSwitches
//   NoteBias(shard, until_ns, rare_switches_ns);
//
// These are events of one process. Events of all processes have neither fault
// (perf_events.h); the session changes to them where it may (bias_watch.h), or
// takes fewer samples (perf/rate_watch.h).
//
// Short threads: perf events sample a thread after each full period of its CPU
// time, so never in its first period. Where most threads are short, as in a
// shell script, the functions that run first are missing. A thread with n
// samples misplaces at most one of them, so threads with 10 or more do not
// count.
//
// Switches: perf events program the CPU's timer whenever a thread begins or
// ceases to run. A program that switches often spends much of its time there,
// in the kernel's finish_task_switch (docs/overhead.md).
//
// Threads: none.
#ifndef KYMO_BACKENDS_SAMPLING_SAMPLE_BIAS_H_
#define KYMO_BACKENDS_SAMPLING_SAMPLE_BIAS_H_

#include <cstddef>

#include "profiler/base/time.h"
#include "profiler/model/trace_shard.h"

namespace kymo::sampling {

// A thread with fewer samples is short.
inline constexpr size_t kSamplesOfLongThread = 10;

// Adds to the ledger of the shard, which has its samples and their names. It
// notes short threads if they have more than 5 % of the samples, and switches
// if they have more than 10 %. Samples from `until_ns` on are right. They still
// tell which threads are short. Switches are not noted if there are samples
// from `rare_switches_ns` on: the session did already what helps.
void NoteBias(model::TraceShard& shard, TimeNs until_ns,
              TimeNs rare_switches_ns);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_SAMPLE_BIAS_H_
