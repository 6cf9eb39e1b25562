// sampling_backend.h - where the CPU time of an unannotated program goes.
//
// The collector samples its child from outside: every 1/hz second of CPU time
// that a thread uses, the kernel hands over the thread's registers and the top
// of its stack (perf_event_open). They are unwound at once by the modules' call
// frame information and kept as a few bytes; names, inlined functions and lines
// are looked up once per place after the run. Where perf_event_open is not
// permitted, per-thread CPU-time timers inside the target (target_timer.h) fill
// a ring in shared memory instead, and the rest is the same.
//
// Settings (SessionOptions::settings):
//   sampler      auto (default), perf or timer
//   unwind       dwarf (default) or fp: by frame pointers, in the kernel
//   stack_bytes  of the stack copied with each sample, 16384
//
// Only for TargetKind::kChildProcess, on Linux x86-64.
#ifndef KYMO_BACKENDS_SAMPLING_SAMPLING_BACKEND_H_
#define KYMO_BACKENDS_SAMPLING_SAMPLING_BACKEND_H_

#include <memory>

#include "profiler/plugin/activity_backend.h"

namespace kymo {

std::unique_ptr<ActivityBackend> NewSamplingBackend();

}  // namespace kymo

#endif  // KYMO_BACKENDS_SAMPLING_SAMPLING_BACKEND_H_
