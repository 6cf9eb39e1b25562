#include "tools/run_diff/steady_times.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profiler/analysis/averages/duplicates.h"
#include "profiler/analysis/open_events.h"
#include "profiler/analysis/steps.h"
#include "profiler/base/time.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/records.h"
#include "profiler/model/thread_states.h"

namespace kymo::tools {
namespace {

using model::EventIndex;

// Durations without those of children.
std::vector<DurationNs> SelfTimes(const model::Trace& trace) {
  std::vector<DurationNs> self(trace.event_count());
  // A parent stands before its children.
  for (EventIndex i = 0; i < self.size(); ++i) {
    const DurationNs duration = trace.end()[i] - trace.start()[i];
    self[i] = duration;
    const EventIndex parent = trace.parent()[i];
    if (parent != model::kNoEvent) self[parent] -= duration;
  }
  return self;
}

// How long the thread was ready to run, and did not.
DurationNs RunnableOf(const model::Wait& wait) {
  if (wait.kind == model::WaitKind::kCpuBusy) return wait.duration_ns;
  return std::max<DurationNs>(0, wait.runnable_ns);
}

// A thread without a CPU begins and ends no range, so all of a wait is in one.
void TakeOutWaitsForCpus(const model::Trace& trace,
                         std::vector<DurationNs>& self) {
  if (trace.thread_states() == nullptr) return;
  std::optional<analysis::OpenEvents> open;
  model::TrackIndex track = model::kNoTrack;
  for (const model::Wait& wait : trace.thread_states()->waits) {
    if (wait.track != track) {
      track = wait.track;
      open.emplace(trace, track, wait.begin_ns);
    }
    EventIndex event = open->InnermostAt(wait.begin_ns);
    // Ranges are open at their ends, too.
    while (event != model::kNoEvent && trace.end()[event] <= wait.begin_ns) {
      event = trace.parent()[event];
    }
    if (event == model::kNoEvent) continue;
    self[event] = std::max<DurationNs>(0, self[event] - RunnableOf(wait));
  }
}

// Gives their times to the ranges around them, as the table has it. By event:
// 1 for a duplicate.
std::vector<uint8_t> MergeDuplicates(const model::Trace& trace,
                                     std::vector<DurationNs>& self) {
  if (analysis::DuplicatesOf(trace) == analysis::Duplicates::kKeep) {
    return std::vector<uint8_t>(self.size());
  }
  std::vector<uint8_t> is_duplicate = analysis::DuplicateRanges(trace);
  for (size_t i = self.size(); i-- > 0;) {
    if (is_duplicate[i] != 0) self[trace.parent()[i]] += self[i];
  }
  return is_duplicate;
}

bool IsCall(const model::Trace& trace, EventIndex event) {
  const uint8_t flags = trace.flags()[event];
  return model::IsRange(flags) && (flags & model::kEventRepeated) == 0 &&
         trace.tracks()[trace.track()[event]].kind !=
             model::TrackKind::kStream &&
         trace.type()[event] != model::ActivityType::kPythonFunction;
}

double SteadySum(std::vector<DurationNs>& calls) {
  const size_t kept = calls.size() - calls.size() / 4;
  std::ranges::nth_element(calls, calls.begin() + (kept - 1));
  const auto sum = static_cast<double>(
      std::accumulate(calls.begin(), calls.begin() + kept, DurationNs{0}));
  return sum * static_cast<double>(calls.size()) / static_cast<double>(kept);
}

}  // namespace

void AddSteadyTimes(const model::Trace& trace, std::span<const uint8_t> counted,
                    RunAmounts& amounts) {
  std::vector<DurationNs> self = SelfTimes(trace);
  TakeOutWaitsForCpus(trace, self);
  const std::vector<uint8_t> is_duplicate = MergeDuplicates(trace, self);
  std::unordered_map<model::NameId, std::vector<DurationNs>> by_name;
  for (EventIndex i = 0; i < self.size(); ++i) {
    if (!IsCall(trace, i) || (!counted.empty() && counted[i] == 0) ||
        is_duplicate[i] != 0) {
      continue;
    }
    by_name[trace.name()[i]].push_back(self[i]);
  }
  std::map<std::string, std::vector<DurationNs>> calls;  // steps as one
  for (auto& [id, times] : by_name) {
    const std::string_view name = trace.Name(id);
    std::vector<DurationNs>& all = calls[std::string(
        analysis::StepNumber(name) ? analysis::kAllSteps : name)];
    all.insert(all.end(), times.begin(), times.end());
  }
  for (auto& [name, times] : calls) {
    amounts[{RunTable::kSteady, name}] += SteadySum(times) / kNsPerUs;
  }
}

}  // namespace kymo::tools
