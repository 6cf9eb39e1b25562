// program_starts.h - when an exec replaced the program of a process, as far as
// memory records tell.
//
//   for (const ProgramStart& start : ProgramStarts(trace)) {
//     Write(start.pid, start.time_ns);
//   }
//
// An exec ends all blocks of a heap: their partner is the first allocation of
// the next program (profiler/normalize/allocations.h). A trace has no other
// record of the time. A file needs it, so that its reader ends the same blocks.
//
// Cost: two passes over the records; one if no exec ended a block.
#ifndef KYMO_PROFILER_ANALYSIS_MEMORY_PROGRAM_STARTS_H_
#define KYMO_PROFILER_ANALYSIS_MEMORY_PROGRAM_STARTS_H_

#include <compare>
#include <cstdint>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

struct ProgramStart {
  int64_t pid = 0;
  // From then on, records are of this program; earlier ones are of another.
  TimeNs time_ns = 0;

  friend auto operator<=>(const ProgramStart&, const ProgramStart&) = default;
};

// Ascending: the start of each process, and of each later program of it. A
// process that kept its program is left out.
std::vector<ProgramStart> ProgramStarts(const model::Trace& trace);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_MEMORY_PROGRAM_STARTS_H_
