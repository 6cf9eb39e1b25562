#include "tools/deliver/sum_windows.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/model/trace.h"
#include "profiler/normalize/normalize.h"

namespace kymo::tools {
namespace {

using analysis::WindowSums;

std::vector<std::string> NotesOn(const WindowSums& sums,
                                 const TraceWindows& windows, size_t count) {
  std::vector<std::string> notes = {absl::StrCat(
      "read in ", count, " windows: ", sums.event_count(), " events")};
  for (std::string& note : windows.Notes()) notes.push_back(std::move(note));
  if (sums.paths_left_out() != 0) {
    notes.push_back(absl::StrCat("more than ", WindowSums::kMostPaths,
                                 " different stacks: ", sums.paths_left_out(),
                                 " calls count for the stack around them"));
  }
  return notes;
}

}  // namespace

absl::StatusOr<SummedWindows> SumWindows(TraceWindows& windows) {
  SummedWindows result;
  size_t count = 0;
  for (; !windows.is_done(); ++count) {
    KYMO_ASSIGN_OR_RETURN(TraceWindow window, windows.Next());
    std::vector<model::TraceShard> shards;
    shards.push_back(std::move(window.shard));
    KYMO_ASSIGN_OR_RETURN(
        const model::Trace trace,
        Normalize(std::move(shards),
                  {.start_ns = window.start_ns, .end_ns = window.end_ns}));
    result.sums.Add(trace, window.is_last);
  }
  result.notes = NotesOn(result.sums, windows, count);
  return result;
}

}  // namespace kymo::tools
