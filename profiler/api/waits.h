// waits.h - how long threads ran, and where they waited.
//
//   #include "kymo/profile.h"
//   #include "kymo/waits.h"
//
//   kymo::Profile profile({.activities = {"cpu", "off_cpu"}});
//   absl::Status status = profile.Start();
//   Work();
//   status.Update(profile.Stop());
//   if (!status.ok()) return status;
//   const auto states = profile.trace()->thread_states();  // null: no off_cpu
//   for (const kymo::model::ThreadTimes& thread : states->threads) {
//     Print(thread.on_cpu_ns, thread.runnable_ns, thread.blocked_ns());
//   }
//   for (const kymo::model::Wait& wait : states->waits) {
//     Print(NameOf(wait.kind), wait.duration_ns);
//   }
//   std::cout << kymo::report::ThreadsText(*profile.trace(), 10);
//   std::cout << kymo::report::WaitsText(*profile.trace(), 10);
//   std::cout << profile.key_averages().table({.sort_by = "wait_time_total"});
//
// The activity "off_cpu" records all threads of this process, whatever
// profile_all_threads says, and no children. The kernel must permit perf
// events; else there are the times of threads, but no waits, and a warning says
// why. The table above has Kymo's columns "On CPU", "Wait time" and "Wait %":
// what a range's threads waited while it was open.
//
// thread_states.h and waits.h of profiler/model describe the records. Those of
// profiler/analysis and profiler/report sum them up: by place, by lock and by
// range. docs/waiting.md explains the words.
//
// Units:   nanoseconds, of the trace's clock.
// Threads: any; a trace is immutable.
// Cost:    a thread of its own looks at the others every 5 ms. Each thread
//   takes a descriptor for each CPU, two of root. backends/off_cpu/README.md
//   has measurements.
#ifndef KYMO_PROFILER_API_WAITS_H_
#define KYMO_PROFILER_API_WAITS_H_

#include "profiler/analysis/wait_names.h"   // IWYU pragma: export
#include "profiler/analysis/waits.h"        // IWYU pragma: export
#include "profiler/model/thread_states.h"   // IWYU pragma: export
#include "profiler/model/waits.h"           // IWYU pragma: export
#include "profiler/report/thread_tables.h"  // IWYU pragma: export
#include "profiler/report/wait_tables.h"    // IWYU pragma: export

#endif  // KYMO_PROFILER_API_WAITS_H_
