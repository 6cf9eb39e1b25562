// thread_screen.h - the part of the first screen about waiting.
//
//   1.20 of 2 CPUs used; 5 threads were on a CPU for 30 % of their time,
//   runnable for 2 %, blocked for 68 %
//
//   Thread      TID       Wall     On CPU   Runnable    Blocked  ...
//   --------  -----  ---------  ---------  ---------  ---------  ...
//   worker     4712     2.310s     1.100s    8.100ms     1.202s  ...
#ifndef KYMO_TOOLS_PROFILE_COMMAND_THREAD_SCREEN_H_
#define KYMO_TOOLS_PROFILE_COMMAND_THREAD_SCREEN_H_

#include <string>

#include "profiler/base/time.h"
#include "profiler/model/trace.h"
#include "tools/profile_command/screen.h"

namespace kymo::tools {

// Both are empty if the trace has no thread times.

// The program ran for `wall_ns`. Without a newline, of any width.
std::string ThreadsLine(const model::Trace& trace, DurationNs wall_ns);
std::string ThreadsTable(const model::Trace& trace,
                         const ScreenOptions& options);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_THREAD_SCREEN_H_
