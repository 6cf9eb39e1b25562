#include "tools/deliver/sum_windows.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/model/records.h"
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

absl::StatusOr<model::Trace> TraceOf(TraceWindow window) {
  std::vector<model::TraceShard> shards;
  shards.push_back(std::move(window.shard));
  return Normalize(std::move(shards),
                   {.start_ns = window.start_ns, .end_ns = window.end_ns});
}

}  // namespace

absl::StatusOr<SummedWindows> SumWindows(TraceWindows& windows) {
  SummedWindows result;
  size_t count = 0;
  for (; !windows.is_done(); ++count) {
    KYMO_ASSIGN_OR_RETURN(TraceWindow window, windows.Next());
    const bool is_last = window.is_last;
    KYMO_ASSIGN_OR_RETURN(const model::Trace trace, TraceOf(std::move(window)));
    result.sums.Add(trace, is_last);
  }
  result.notes = NotesOn(result.sums, windows, count);
  return result;
}

absl::Status LiveSummer::Add(TraceWindow window, WindowLosses losses) {
  has_windows_ = true;
  if (!window.is_last) return AddNow(std::move(window), losses);
  last_ = {std::move(window), losses};
  return absl::OkStatus();
}

absl::Status LiveSummer::Finish(const model::Trace& trace) {
  absl::Status status;
  if (last_.has_value()) {
    for (const model::Process& process : trace.processes()) {
      last_->window.shard.processes.push_back(
          {.pid = process.pid, .end_ns = process.end_ns});
    }
    status = AddNow(std::move(last_->window), last_->losses);
    last_.reset();
  }
  sums_.SetNewest(trace);
  return status;
}

absl::Status LiveSummer::AddNow(TraceWindow window, WindowLosses losses) {
  const bool is_last = window.is_last;
  KYMO_ASSIGN_OR_RETURN(const model::Trace trace, TraceOf(std::move(window)));
  if (losses == WindowLosses::kCount) {
    sums_.Add(trace, is_last);
  } else {
    sums_.AddEvents(trace);
  }
  return absl::OkStatus();
}

}  // namespace kymo::tools
