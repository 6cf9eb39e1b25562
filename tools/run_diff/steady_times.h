// steady_times.h - what ranges took, without what disturbed them.
//
//   RunAmounts amounts;
//   AddSteadyTimes(trace, {}, amounts);
//   amounts[{RunTable::kSteady, "matmul"}]   // microseconds
//
// On a machine that does other work, a few calls of an operation take very
// long, and its sum says more of its neighbours than of the program. So
//
// - times in which another thread had the CPU do not count, as far as the
//   recording has them (activity off_cpu);
// - the slowest quarter of an operation's calls counts as much as the mean of
//   the others. Of three calls or fewer all count.
//
// What is left is the program's as long as fewer than a quarter of the calls
// are disturbed. What slows only a few calls down is in the sum alone.
//
// Cost: a number for each event; sorts the calls of each name.
#ifndef KYMO_TOOLS_RUN_DIFF_STEADY_TIMES_H_
#define KYMO_TOOLS_RUN_DIFF_STEADY_TIMES_H_

#include <cstdint>
#include <span>

#include "profiler/model/trace.h"
#include "tools/run_diff/run_key.h"

namespace kymo::tools {

// Self times by name: of ranges of threads, without asynchronous ones and
// frames of Python (kPythonFunction). `counted`: one entry for each event, not
// 0 if it counts; empty: all do.
void AddSteadyTimes(const model::Trace& trace, std::span<const uint8_t> counted,
                    RunAmounts& amounts);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_RUN_DIFF_STEADY_TIMES_H_
