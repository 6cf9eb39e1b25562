// first_screen.h - what a user sees when the target has ended: what it used,
// what took most, and what is missing.
//
//   python3: 0.420 s, 0.240 s of CPU, 1 process, 1 thread; 240 samples
//
//   Function                     Self CPU %   Self CPU  ...  Module
//   ---------------------------  ----------  ---------  ...  --------------
//   _PyEval_EvalFrameDefault         18.75%   45.000ms  ...  libpython3.so
//   ...
//   and 85 more
//
//   Finding: _PyEval_EvalFrameDefault took 19 % of the CPU time (45.0 ms); ...
//
//   Lost: 24 (9 %) stacks whose unwinding stopped early
//
// The lines break between words. The whole tables, in PyTorch's form, are in
// key_averages.txt.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_FIRST_SCREEN_H_
#define KYMO_TOOLS_PROFILE_COMMAND_FIRST_SCREEN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/analysis/memory/lazy_profiles.h"
#include "profiler/analysis/waits.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"
#include "profiler/report/sample_table.h"
#include "profiler/report/table.h"
#include "tools/profile_command/screen.h"

namespace kymo::tools {

// What stands where a trace fills no table: that there is nothing, or where the
// values of its counters are. `older_values` are those it does not have.
std::string WithoutTables(const model::Trace& trace, uint64_t older_values);

struct RunFacts {
  std::string target;
  int64_t target_pid = 0;
  DurationNs wall_ns = 0;
  DurationNs cpu_ns = 0;  // of the target and all that it waited for
  int wait_status = 0;    // as of wait()
  // The target ran already: what ended the recording; empty: its time was over.
  // Then the trace says how much CPU time was used.
  std::optional<std::string> attach_end = std::nullopt;
  // The processes that ran when the target ended, or began before the end of
  // the recording, sorted, some twice: all of the machine that are not older
  // than the target. A process of another namespace of numbers may have the
  // number of an older one.
  std::vector<int> ran_at_end;
  // Whether a process that the target started is still there. Null: nobody
  // asks, as after the recording of programs that ran already.
  bool (*still_runs)(int64_t pid) = nullptr;
  // Short waits for page faults have no stacks, and all others have.
  bool hides_page_faults = false;
};

struct ScreenTables {
  std::vector<report::TableRow> ranges;
  report::SampleTable functions;
  std::string memory;         // report::MemoryReport
  std::string memory_note;    // in its place
  int64_t allocations = 0;    // of the heaps
  uint64_t older_events = 0;  // that the trace does not have, but the ranges
  uint64_t older_values = 0;  // of counters, that the trace does not have
  bool has_threads = false;   // the trace has thread times
  size_t wait_tables = 0;     // where it waited, for which locks
  // As report::RangeWaitTable: ranges that may have waited, if any did.
  std::vector<analysis::RangeSplit> range_waits;
  std::string sort_by = "self_cpu_time_total";
  std::string use_device;             // of the ranges; empty: none
  bool profile_memory = false;        // show what ranges allocated
  std::vector<std::string> findings;  // titles; see FindingsToShow
};

// Errors: those of report::ShownRows.
absl::StatusOr<std::string> FirstScreen(const model::Trace& trace,
                                        const ScreenTables& tables,
                                        const RunFacts& facts,
                                        const ScreenOptions& options);

// The titles of the findings that a screen has room for: at most three. Losses
// have lines of their own.
std::vector<std::string> FindingsToShow(
    const model::Trace& trace, const analysis::LazyMemoryProfiles& memory);

// How many tables FirstScreen shows.
size_t TableCount(const ScreenTables& tables);

// The losses that change the answer, a line each, with what helps. The others
// are in key_averages.txt.
std::vector<std::string> LossesThatMatter(const model::Trace& trace);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_FIRST_SCREEN_H_
