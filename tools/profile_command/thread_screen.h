// thread_screen.h - the part of the first screen about threads, and what they
// waited for.
//
//   1.20 of 2 CPUs used; 5 threads were idle for 40 % of their time; when not
//   idle, they were on a CPU for 17 %, runnable for 2 %, blocked for 81 %:
//   61 % lock, 20 % read
//
//   Program  Processes   CPU %    On CPU  Runnable   Blocked
//   -------  ---------  ------  --------  --------  --------
//   cc1              6  91.20%    2.110s   8.100ms   0.012ms
//
//   Waited in      For    Wait %       Wait  Waits    Longest
//   -------------  -----  ------  ---------  -----  ---------
//   Cache::Get     lock   74.53%     1.210s   4120  310.000us
//
//   Lock                   Wait  Waits    Longest  Mostly in   Mostly held in
//   ----------------  ---------  -----  ---------  ----------  --------------
//   0x5581               1.210s   4120  310.000us  Cache::Get  Cache::Sweep
//
//   Thread      TID       Wall     On CPU   Runnable    Blocked  ...
//   --------  -----  ---------  ---------  ---------  ---------  ...
//   worker     4712     2.310s     1.100s    8.100ms     1.202s  ...
#ifndef KYMO_TOOLS_PROFILE_COMMAND_THREAD_SCREEN_H_
#define KYMO_TOOLS_PROFILE_COMMAND_THREAD_SCREEN_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "profiler/base/time.h"
#include "profiler/model/trace.h"
#include "tools/profile_command/screen.h"

namespace kymo::tools {

// All are empty if the trace has nothing for them. profiler/analysis/waits.h
// says which waits are idle. The tables leave these out.

// The program ran for `wall_ns`. Without a newline, of any width.
std::string ThreadsLine(const model::Trace& trace, DurationNs wall_ns);

// The limit of CPU time, and in how many of its periods it stopped threads.
// Without a newline, of any width.
std::string CpuLimitLine(const model::Trace& trace,
                         std::string_view whose = "the container");

// The CPU time of all threads: by the kernel's records of switches, or else by
// the samples.
DurationNs RecordedCpuNs(const model::Trace& trace);

// Says which processes outlived the recording, and how to record them. A
// program that goes to the background leaves such a one behind. Empty if there
// is none, or if nobody saw processes end, as without perf events. Only those
// that nobody saw end are asked about, if they are among `ran_at_end`. If
// none of these runs any more, it says which they are. Numbers are sorted. The
// target is in /proc then, since nobody has waited for it, and is left out.
std::string StillRunning(const model::Trace& trace, std::string_view target,
                         int64_t target_pid, std::span<const int> ran_at_end,
                         bool (*still_runs)(int64_t pid));

// Says so if the kinds of a tenth of the waits or more are unknown, and why.
std::string UnknownWaits(const model::Trace& trace, bool hides_page_faults);

// The kernel counted `cpu_ns` for the program. Says so, and why, if the threads
// have much less.
std::string CpuWithoutThread(const model::Trace& trace, DurationNs cpu_ns);

// Empty if only one program ran, too.
std::string ProgramsTable(const model::Trace& trace,
                          const ScreenOptions& options);
std::string WaitsTable(const model::Trace& trace, const ScreenOptions& options);
std::string LocksTable(const model::Trace& trace, const ScreenOptions& options);
std::string ThreadsTable(const model::Trace& trace,
                         const ScreenOptions& options);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_THREAD_SCREEN_H_
