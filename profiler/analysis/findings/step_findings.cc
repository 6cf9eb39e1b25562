#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/findings/families.h"
#include "profiler/analysis/findings/finding_text.h"
#include "profiler/analysis/steps.h"
#include "profiler/analysis/waits.h"
#include "profiler/text/text_cells.h"

namespace kymo::analysis {
namespace {

using model::EventIndex;
using model::NameId;
using model::Trace;
using model::TrackIndex;

// The median of fewer steps is no measure of a usual one.
constexpr size_t kLeastSteps = 5;
// A step that takes half as much again as the median. Steps with equal work
// stay within a tenth or two of each other.
constexpr double kSlowFactor = 1.5;
// What makes up less than a quarter of the additional time does not explain it.
constexpr DurationNs kExplains = 4;

struct StepTimes {
  const ProcessSteps& process;
  std::vector<DurationNs> ns;  // by step
  DurationNs median_ns = 0;
  size_t slow_count = 0;
  DurationNs excess_ns = 0;  // of slow steps, over the median
  size_t slowest = 0;

  bool IsSlow(size_t step) const {
    return static_cast<double>(ns[step]) >
           kSlowFactor * static_cast<double>(median_ns);
  }
  size_t usual_count() const { return ns.size() - slow_count; }
};

StepTimes TimesOf(const Trace& trace, const ProcessSteps& process) {
  StepTimes times{.process = process, .ns = {}};
  // Until its range ends. Between that and the next step, other work may come,
  // or steps that were not recorded.
  for (const Step& step : process.steps) {
    times.ns.push_back(trace.end()[step.event] - step.begin_ns);
  }
  std::vector<DurationNs> sorted = times.ns;
  const auto middle = sorted.begin() + static_cast<int64_t>(sorted.size()) / 2;
  std::nth_element(sorted.begin(), middle, sorted.end());
  times.median_ns = *middle;
  for (size_t i = 0; i < times.ns.size(); ++i) {
    if (times.ns[i] > times.ns[times.slowest]) times.slowest = i;
    if (!times.IsSlow(i)) continue;
    ++times.slow_count;
    times.excess_ns += times.ns[i] - times.median_ns;
  }
  return times;
}

// The self time of ranges by name: in the slowest step, and in usual ones.
struct NameTimes {
  std::vector<DurationNs> slowest_ns;  // by NameId
  std::vector<DurationNs> usual_ns;
};

class NameTimesOfSteps {
 public:
  NameTimesOfSteps(const Trace& trace, const StepTimes& times)
      : trace_(trace), times_(times), step_name_(model::kEmptyName) {
    const size_t names = trace.strings().size();
    sums_.slowest_ns.resize(names);
    sums_.usual_ns.resize(names);
    is_step_.resize(names);
    for (uint32_t id = 0; id < names; ++id) {
      is_step_[id] = StepNumber(trace.Name(NameId{id})).has_value();
    }
    step_name_ = trace.name()[times.process.steps.front().event];
  }

  // All steps count under this name.
  NameId step_name() const { return step_name_; }

  NameTimes Run() {
    for (TrackIndex t = 0; t < trace_.tracks().size(); ++t) {
      const model::Track& track = trace_.tracks()[t];
      if (track.kind == model::TrackKind::kThread &&
          track.pid == times_.process.pid) {
        AddTrack(t);
      }
    }
    return std::move(sums_);
  }

 private:
  // Where the time of an event counts that began in this step, or between it
  // and the next one. Null: nowhere.
  std::vector<DurationNs>* SumsOf(std::optional<size_t> step, TimeNs begin_ns) {
    if (!step) return nullptr;
    const Step& in = times_.process.steps[*step];
    if (begin_ns > in.begin_ns + times_.ns[*step]) return nullptr;
    if (*step == times_.slowest) return &sums_.slowest_ns;
    return times_.IsSlow(*step) ? nullptr : &sums_.usual_ns;
  }

  void AddTrack(TrackIndex track) {
    const std::vector<Step>& steps = times_.process.steps;
    const EventIndex begin = trace_.track_begin(track);
    std::vector<std::vector<DurationNs>*> sums_of;  // by event of the track
    std::optional<size_t> step;
    for (EventIndex i = begin; i < trace_.track_end(track); ++i) {
      const TimeNs start_ns = trace_.start()[i];
      while ((step ? *step + 1 : 0) < steps.size() &&
             steps[step ? *step + 1 : 0].begin_ns <= start_ns) {
        step = step ? *step + 1 : 0;
      }
      std::vector<DurationNs>* const sums = SumsOf(step, start_ns);
      sums_of.push_back(sums);
      if (!model::IsRange(trace_.flags()[i])) continue;
      const DurationNs ns = trace_.end()[i] - start_ns;
      if (sums != nullptr) (*sums)[NameOf(i)] += ns;
      const EventIndex parent = trace_.parent()[i];
      if (parent == model::kNoEvent) continue;
      std::vector<DurationNs>* const around = sums_of[parent - begin];
      if (around != nullptr) (*around)[NameOf(parent)] -= ns;
    }
  }

  size_t NameOf(EventIndex event) const {
    const NameId name = trace_.name()[event];
    return Index(is_step_[Index(name)] ? step_name_ : name);
  }

  const Trace& trace_;
  const StepTimes& times_;
  NameId step_name_;
  std::vector<bool> is_step_;  // by NameId
  NameTimes sums_;
};

// "; Load took 80.0 ms more than usual in it", or nothing.
std::string DifferenceText(const Trace& trace, const StepTimes& times) {
  const DurationNs least_ns =
      (times.ns[times.slowest] - times.median_ns) / kExplains;
  NameTimesOfSteps of_steps(trace, times);
  const NameTimes sums = of_steps.Run();
  const auto usual = static_cast<DurationNs>(times.usual_count());
  DurationNs most_ns = 0;
  NameId most = model::kEmptyName;
  for (uint32_t id = 0; id < sums.slowest_ns.size(); ++id) {
    const DurationNs more_ns = sums.slowest_ns[id] - sums.usual_ns[id] / usual;
    if (more_ns <= most_ns) continue;
    most_ns = more_ns;
    most = NameId{id};
  }
  if (most_ns == 0 || most_ns < least_ns) return "";
  if (most == of_steps.step_name()) {
    return absl::StrCat("; in it, ", TimeText(most_ns),
                        " more than usual passed outside of the ranges of "
                        "its thread");
  }
  return absl::StrCat("; in it, ", NameText(trace.Name(most)), " took ",
                      TimeText(most_ns), " more than usual");
}

// "; its thread waited for 80.0 ms more than usual", or nothing.
std::string WaitText(const Trace& trace, const StepTimes& times) {
  const std::vector<DurationNs> waits = WaitTimesOfRanges(trace);
  if (waits.empty() ||
      waits[times.process.steps[times.slowest].event] == kNoWaitTime) {
    return "";
  }
  DurationNs usual_ns = 0;
  for (size_t i = 0; i < times.ns.size(); ++i) {
    if (times.IsSlow(i)) continue;
    usual_ns += std::max<DurationNs>(waits[times.process.steps[i].event], 0);
  }
  const DurationNs more_ns =
      waits[times.process.steps[times.slowest].event] -
      usual_ns / static_cast<DurationNs>(times.usual_count());
  if (more_ns <= 0 ||
      more_ns < (times.ns[times.slowest] - times.median_ns) / kExplains) {
    return "";
  }
  return absl::StrCat("; its thread waited for ", TimeText(more_ns),
                      " more than usual");
}

std::string Title(const Trace& trace, const StepTimes& times) {
  const Step& slowest = times.process.steps[times.slowest];
  const DurationNs ns = times.ns[times.slowest];
  std::string title =
      times.slow_count == 1
          ? absl::StrCat("Step ", slowest.number)
          : absl::StrCat(times.slow_count, " of ", times.ns.size(),
                         " steps took more than 1.5 times the median; the "
                         "slowest, step ",
                         slowest.number, ",");
  absl::StrAppend(&title, " took ", TimeText(ns));
  if (times.median_ns > 0) {
    absl::StrAppend(
        &title, ", ",
        report::FormatFixed(
            static_cast<double>(ns) / static_cast<double>(times.median_ns), 1),
        " times the median of ", TimeText(times.median_ns));
  }
  return title + DifferenceText(trace, times) + WaitText(trace, times);
}

}  // namespace

void AddStepFindings(const FindingRun& run, std::vector<Finding>& findings) {
  for (const ProcessSteps& process : FindSteps(run.trace)) {
    if (process.steps.size() < kLeastSteps) continue;
    const StepTimes times = TimesOf(run.trace, process);
    if (times.slow_count == 0 || !run.Matters(times.excess_ns)) continue;
    Finding finding = run.OfTime(FindingKind::kSlowSteps, times.excess_ns);
    finding.title = Title(run.trace, times);
    finding.next_step =
        times.slowest == 0
            ? "A first step also loads and warms up: leave it out with a "
              "schedule (wait, warmup), or look at what it does once"
            : "Compare it with the step before it in the timeline";
    const Step& slowest = process.steps[times.slowest];
    finding.evidence = {.kind = EvidenceKind::kInterval,
                        .name = std::string(run.trace.EventName(slowest.event)),
                        .track = run.trace.track()[slowest.event],
                        .begin_ns = slowest.begin_ns,
                        .duration_ns = times.ns[times.slowest]};
    findings.push_back(std::move(finding));
  }
}

}  // namespace kymo::analysis
