// allocation_stack.h - the stack of an allocation for people: it shows who
// asked for memory, and leaves out how the allocator was reached.
//
//   analysis::AllocationFrames frames(trace);
//   std::vector<std::string> lines =
//       AllocationStack(trace, frames, record.stack, 5);
//   // {"Cache::Fill(int)  cache.cc:12", "main  app.cc:40"}
#ifndef KYMO_PROFILER_REPORT_ALLOCATION_STACK_H_
#define KYMO_PROFILER_REPORT_ALLOCATION_STACK_H_

#include <cstddef>
#include <string>
#include <vector>

#include "profiler/analysis/memory/allocation_frames.h"
#include "profiler/model/trace.h"

namespace kymo::report {

// At most `limit` frames, innermost first. The first one is the innermost of
// the program's own (analysis/memory/allocation_frames.h); if there is none,
// the innermost that is no allocation function; else the innermost. A frame
// without a known source line shows its module instead.
// `frames` is the trace's; one is enough for all its stacks.
std::vector<std::string> AllocationStack(const model::Trace& trace,
                                         analysis::AllocationFrames& frames,
                                         model::StackId stack, size_t limit);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_REPORT_ALLOCATION_STACK_H_
