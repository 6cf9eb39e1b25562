#include "tools/report_command/sum_windows.h"

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
                                 const cpu::RawWindows& windows, size_t count) {
  std::vector<std::string> notes = {
      absl::StrCat("read in ", count, " windows: ", sums.event_count(),
                   " events; recursion counts as often as it happened")};
  if (!windows.is_complete()) {
    notes.emplace_back(
        "nobody ended this recording: the command was killed, or still runs");
  }
  if (windows.cut_bytes() != 0) {
    notes.push_back(absl::StrCat("the last ", windows.cut_bytes(),
                                 " bytes of the file are no whole chunk"));
  }
  if (sums.paths_left_out() != 0) {
    notes.push_back(absl::StrCat("more than ", WindowSums::kMostPaths,
                                 " different stacks: ", sums.paths_left_out(),
                                 " calls count for the stack around them"));
  }
  return notes;
}

}  // namespace

absl::StatusOr<SummedWindows> SumWindows(cpu::RawWindows& windows) {
  SummedWindows result;
  size_t count = 0;
  for (; !windows.is_done(); ++count) {
    KYMO_ASSIGN_OR_RETURN(cpu::RawWindow window, windows.Next());
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

stacks::Folded FoldPaths(const WindowSums& sums) {
  std::vector<std::string> lines;
  stacks::Folded folded;
  for (const WindowSums::Path& path : sums.paths()) {
    const std::string frame = stacks::FrameText(sums.PathName(path));
    lines.push_back(path.parent == WindowSums::kNoPath
                        ? frame
                        : absl::StrCat(lines[path.parent], ";", frame));
    if (path.self_ns > 0) folded[lines.back()] += path.self_ns;
  }
  return folded;
}

}  // namespace kymo::tools
