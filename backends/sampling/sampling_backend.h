// sampling_backend.h - samples where an unannotated program spends its CPU
// time.
//
// The collector samples its child from outside. For every 1/hz second of CPU
// time of a thread, the kernel hands over the thread's registers and the top of
// its stack (perf_event_open). The collector unwinds them at once with the
// modules' call frame information and keeps a few bytes. After the run it looks
// up names, inlined functions and lines, once per place. Where perf_event_open
// is not permitted, CPU timers of the target's threads (target_timer.h) fill a
// ring in shared memory instead, mostly with stacks that are unwound already.
//
// Its settings are declared in sampling_settings.cc.
//
// On Linux x86-64. The process of a session is sampled by perf events only.
#ifndef KYMO_BACKENDS_SAMPLING_SAMPLING_BACKEND_H_
#define KYMO_BACKENDS_SAMPLING_SAMPLING_BACKEND_H_

#include <memory>

#include "profiler/plugin/activity_backend.h"

namespace kymo {

std::unique_ptr<ActivityBackend> NewSamplingBackend();

}  // namespace kymo

#endif  // KYMO_BACKENDS_SAMPLING_SAMPLING_BACKEND_H_
