#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/averages/duplicates.h"
#include "profiler/analysis/averages/key_averages.h"
#include "profiler/analysis/device/launches.h"
#include "profiler/analysis/findings/families.h"
#include "profiler/analysis/findings/finding_text.h"
#include "profiler/analysis/steps.h"
#include "profiler/analysis/waits.h"
#include "profiler/model/event_calls.h"
#include "profiler/model/recorded_by.h"

namespace kymo::analysis {
namespace {

using model::EventIndex;
using model::NameId;
using model::Trace;

// What recording a range costs: docs/overhead.md.
constexpr DurationNs kRangeCostNs = 22;
// A range shorter than 20 times that is at least 5 % recording.
constexpr DurationNs kTinyNs = 20 * kRangeCostNs;
// A profiler that takes a hundredth of the run should be told of.
constexpr int64_t kLeastCostPart = 100;

// Which names an average is of, by NameId.
std::vector<bool> NamesOf(const Trace& trace, const KeyAverage& average) {
  std::vector<bool> is_of(trace.strings().size());
  const bool is_steps = average.name == kAllSteps;
  for (uint32_t id = 0; id < is_of.size(); ++id) {
    const std::string_view name = trace.Name(NameId{id});
    is_of[id] =
        name == average.name || (is_steps && StepNumber(name).has_value());
  }
  return is_of;
}

// The ranges of an average: the longest, and the ranges around them.
struct Places {
  EventIndex longest = model::kNoEvent;
  NameId around = model::kEmptyName;  // that most of the time was inside of
  DurationNs around_ns = 0;
  DurationNs all_ns = 0;
  DurationNs self_wait_ns = 0;  // its threads waited, outside of ranges in it
};

// `waits_ns`: WaitTimesOfRanges.
Places PlacesOf(const Trace& trace, const KeyAverage& average,
                const std::vector<DurationNs>& waits_ns) {
  const std::vector<bool> is_of = NamesOf(trace, average);
  Places places;
  DurationNs longest_ns = -1;
  std::map<NameId, DurationNs> by_around;
  NameId steps = model::kEmptyName;  // the name of one stands for all
  // By event: the nearest range around it that is not of the average.
  std::vector<EventIndex> outer(trace.event_count(), model::kNoEvent);
  for (EventIndex i = 0; i < trace.event_count(); ++i) {
    const DurationNs wait_ns =
        waits_ns.empty() ? 0 : std::max<DurationNs>(waits_ns[i], 0);
    const EventIndex parent = trace.parent()[i];
    if (parent != model::kNoEvent) {
      const bool is_inside = is_of[Index(trace.name()[parent])];
      outer[i] = is_inside ? outer[parent] : parent;
      if (is_inside) places.self_wait_ns -= wait_ns;
    }
    if (!is_of[Index(trace.name()[i])] || !model::IsRange(trace.flags()[i])) {
      continue;
    }
    places.self_wait_ns += wait_ns;
    const DurationNs ns = trace.end()[i] - trace.start()[i];
    const DurationNs call_ns = ns / model::Calls(trace, i);
    if (call_ns > longest_ns) {
      longest_ns = call_ns;
      places.longest = i;
    }
    // A recursive call is inside of the first call, which has its time.
    if (parent != model::kNoEvent && outer[i] != parent) continue;
    places.all_ns += ns;
    if (outer[i] == model::kNoEvent) continue;
    NameId around = trace.name()[outer[i]];
    if (StepNumber(trace.Name(around)).has_value()) {
      if (steps == model::kEmptyName) steps = around;
      around = steps;
    }
    by_around[around] += ns;
  }
  for (const auto& [name, ns] : by_around) {
    if (ns <= places.around_ns) continue;
    places.around = name;
    places.around_ns = ns;
  }
  return places;
}

Finding HotOperation(const FindingRun& run, const KeyAverage& average,
                     DurationNs all_ns,
                     const std::vector<DurationNs>& waits_ns) {
  const DurationNs self_ns = average.self_cpu_time_total_ns;
  const Places places = PlacesOf(run.trace, average, waits_ns);
  Finding finding = run.OfTime(FindingKind::kHotOperation, self_ns);
  finding.title = absl::StrCat(
      NameText(average.name), " took ",
      PercentText(static_cast<double>(self_ns), static_cast<double>(all_ns)),
      " of the time of all ranges (", TimeText(self_ns),
      "), without the ranges inside of it");
  // CPU samples would show little of it.
  const bool mostly_waits = places.self_wait_ns > self_ns / 2;
  if (mostly_waits) {
    absl::StrAppend(&finding.title, "; its thread waited for ",
                    PercentText(static_cast<double>(places.self_wait_ns),
                                static_cast<double>(self_ns)),
                    " of that time");
  }
  if (places.around != model::kEmptyName) {
    const std::string_view around = run.trace.Name(places.around);
    absl::StrAppend(
        &finding.title, "; ",
        PercentText(static_cast<double>(places.around_ns),
                    static_cast<double>(places.all_ns)),
        " of its time was inside of ",
        NameText(StepNumber(around).has_value() ? kAllSteps : around));
  }
  if (mostly_waits) {
    finding.next_step = "See in the tables of waits what it waited for";
  } else {
    finding.next_step =
        "Record CPU samples, or annotate its parts, to see what it does";
  }
  finding.evidence = run.OfEvent(
      places.longest == model::kNoEvent ? average.first_event : places.longest);
  return finding;
}

// Calls of a device's runtime wait for the device, which has its own findings.
bool IsOfHost(const Trace& trace, const KeyAverage& average) {
  return !average.is_device && !average.is_async &&
         !IsRuntimeCall(trace.type()[average.first_event]);
}

void AddHotOperations(const FindingRun& run,
                      const std::vector<KeyAverage>& averages,
                      std::vector<Finding>& findings) {
  DurationNs all_ns = 0;
  for (const KeyAverage& average : averages) {
    if (!average.is_device && !average.is_async) {
      all_ns += average.self_cpu_time_total_ns;
    }
  }
  const std::vector<DurationNs> waits_ns = WaitTimesOfRanges(run.trace);
  for (const KeyAverage& average : averages) {
    const DurationNs self_ns = average.self_cpu_time_total_ns;
    if (!IsOfHost(run.trace, average) || self_ns < all_ns / kHotPart ||
        !run.Matters(self_ns)) {
      continue;
    }
    findings.push_back(HotOperation(run, average, all_ns, waits_ns));
  }
}

void AddTinyRanges(const FindingRun& run,
                   const std::vector<KeyAverage>& averages,
                   std::vector<Finding>& findings) {
  for (const KeyAverage& average : averages) {
    if (average.is_device || average.is_async || average.count == 0) continue;
    const DurationNs cost_ns = average.count * kRangeCostNs;
    const DurationNs mean_ns = average.cpu_time_total_ns / average.count;
    if (mean_ns >= kTinyNs || cost_ns < kLeastNs ||
        cost_ns < run.wall_ns / kLeastCostPart) {
      continue;
    }
    Finding finding = run.OfTime(FindingKind::kTinyRanges, cost_ns);
    finding.title = absl::StrCat(
        CountText(average.count), " ranges ", NameText(average.name), " took ",
        TimeText(mean_ns), " each on average: Kymo records them at ",
        TimeText(kRangeCostNs), " each, in about ", TimeText(cost_ns));
    finding.next_step =
        "Annotate the loop around it instead, or leave the range out: CPU "
        "samples show its code as well";
    finding.evidence = {.kind = EvidenceKind::kRow,
                        .name = average.name,
                        .table = "key_averages"};
    findings.push_back(std::move(finding));
  }
}

bool HasDeviceEvents(const Trace& trace) {
  for (model::TrackIndex t = 0; t < trace.tracks().size(); ++t) {
    if (trace.tracks()[t].kind == model::TrackKind::kStream &&
        trace.track_begin(t) != trace.track_end(t)) {
      return true;
    }
  }
  return false;
}

}  // namespace

void AddRangeFindings(const FindingRun& run, std::vector<Finding>& findings) {
  const Trace& trace = run.trace;
  if (trace.event_count() == 0) return;
  const std::vector<KeyAverage> averages =
      KeyAverages(trace, DuplicatesOf(trace));
  // Samples say which function it is. Where a device works, the host's time is
  // mostly that of launching.
  if (!run.HasSamples() && !HasDeviceEvents(trace)) {
    AddHotOperations(run, averages, findings);
  }
  // PyTorch's own ranges cost something else.
  if (!model::IsOfPyTorch(trace)) AddTinyRanges(run, averages, findings);
}

}  // namespace kymo::analysis
