// memory_report.h - memory profiles as text for people.
//
//   const auto profiles = analysis::ProfileMemory(trace);
//   std::string text = report::MemoryReport(trace, profiles, {});
//
//   Memory of xz (process 10), heap
//     Allocated                    3    6.00 KiB
//     Freed                        2    5.00 KiB
//     Alive at the end             1    1.00 KiB
//     Temporary                    1    2.00 KiB  (33.33% of allocations)
//     Peak                              4.00 KiB  at 1.500ms
//     Peak by function
//         3.00 KiB   75.00%  1 block  encode
//     Peak by stack
//         3.00 KiB   75.00%  1 block
//             encode  xz.cc:12
//             main  xz.cc:40
//     Peak by operation
//         3.00 KiB   75.00%  1 block  compress
//     Not freed when the recording ended (leaks, and what was still in use)
//         1.00 KiB  100.00%  1 block
//             leaky  xz.cc:20
//             main  xz.cc:40
//     Steps                    growth  allocations    allocated
//       first, #3            3.00 KiB            1     3.00 KiB
//
// Stacks are shown innermost frame first, from the first function on that is no
// allocation function. Times count from the trace's start.
#ifndef KYMO_PROFILER_REPORT_MEMORY_REPORT_H_
#define KYMO_PROFILER_REPORT_MEMORY_REPORT_H_

#include <cstddef>
#include <span>
#include <string>

#include "profiler/analysis/memory/memory_profile.h"
#include "profiler/model/trace.h"

namespace kymo::report {

struct MemoryReportOptions {
  size_t group_limit = 10;  // rows of a list of stacks or operations
  size_t frame_limit = 5;   // of a stack
};

// One section for each profile; empty if there is none. `profiles` must be made
// of `trace`.
std::string MemoryReport(const model::Trace& trace,
                         std::span<const analysis::MemoryProfile> profiles,
                         const MemoryReportOptions& options);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_REPORT_MEMORY_REPORT_H_
