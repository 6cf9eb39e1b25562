#include "profiler/analysis/steps.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <map>
#include <system_error>
#include <utility>

namespace kymo::analysis {
namespace {

constexpr int64_t kNoStep = -1;

// The number of each name's step, by name; empty if no name is a step's.
std::vector<int64_t> StepNumbers(const model::Trace& trace) {
  std::vector<int64_t> numbers;
  for (uint32_t id = 0; id < trace.strings().size(); ++id) {
    const std::optional<int64_t> number =
        StepNumber(trace.Name(model::NameId{id}));
    if (!number) continue;
    numbers.resize(trace.strings().size(), kNoStep);
    numbers[id] = *number;
  }
  return numbers;
}

std::vector<Step> StepsOfTrack(const model::Trace& trace,
                               const std::vector<int64_t>& numbers,
                               model::TrackIndex track) {
  std::vector<Step> steps;
  for (model::EventIndex i = trace.track_begin(track);
       i < trace.track_end(track); ++i) {
    const int64_t number = numbers[Index(trace.name()[i])];
    if (number == kNoStep) continue;
    const TimeNs begin_ns = trace.start()[i];
    if (!steps.empty()) steps.back().end_ns = begin_ns;
    steps.push_back({number, begin_ns, trace.end_ns(), i});
  }
  return steps;
}

}  // namespace

std::optional<int64_t> StepNumber(std::string_view name) {
  if (!name.starts_with(kStepPrefix)) return std::nullopt;
  name.remove_prefix(kStepPrefix.size());
  int64_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [rest, error] = std::from_chars(name.data(), end, number);
  if (error != std::errc() || rest != end || number < 0) return std::nullopt;
  return number;
}

std::vector<ProcessSteps> FindSteps(const model::Trace& trace) {
  const std::vector<int64_t> numbers = StepNumbers(trace);
  if (numbers.empty()) return {};
  std::map<int64_t, std::vector<Step>> most;
  for (model::TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    if (trace.tracks()[t].kind != model::TrackKind::kThread) continue;
    std::vector<Step> steps = StepsOfTrack(trace, numbers, t);
    if (steps.empty()) continue;
    std::vector<Step>& of_process = most[trace.tracks()[t].pid];
    if (steps.size() > of_process.size()) of_process = std::move(steps);
  }
  std::vector<ProcessSteps> processes;
  for (auto& [pid, steps] : most) {
    processes.push_back({pid, std::move(steps)});
  }
  return processes;
}

}  // namespace kymo::analysis
