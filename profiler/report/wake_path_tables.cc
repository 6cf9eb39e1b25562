#include "profiler/report/wake_path_tables.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "profiler/analysis/open_events.h"
#include "profiler/analysis/wait_names.h"
#include "profiler/analysis/wake_path.h"
#include "profiler/base/time.h"
#include "profiler/model/records.h"

namespace kymo::report {
namespace {

using analysis::WakeCause;
using analysis::WakeStep;
using model::EventIndex;
using model::kNoEvent;
using model::StackSample;
using model::Trace;
using model::TrackIndex;

// A part of a step that has one name.
struct NamedPart {
  TrackIndex track = 0;
  TimeNs start_ns = 0;
  DurationNs duration_ns = 0;
  std::string_view cause;
  std::string name;
};

class PartMaker {
 public:
  explicit PartMaker(const Trace& trace) : trace_(trace), places_(trace) {}

  std::vector<NamedPart> Run() {
    for (const WakeStep& step : analysis::FindWakePath(trace_)) {
      track_ = step.track;
      if (step.cause == WakeCause::kOnCpu) {
        AddRanges(step.start_ns, step.end_ns);
      } else {
        const bool is_runnable = step.cause == WakeCause::kRunnable;
        Add(step.start_ns, step.duration_ns(),
            is_runnable ? "runnable" : NameOf(step.wait->kind),
            is_runnable ? "" : places_.Of(step.wait->stack));
      }
    }
    return std::move(parts_);
  }

 private:
  void Add(TimeNs start_ns, DurationNs duration_ns, std::string_view cause,
           std::string name) {
    if (duration_ns <= 0) return;
    parts_.push_back({track_, start_ns, duration_ns, cause, std::move(name)});
  }

  // [start_ns, end_ns), in which the thread ran, by its innermost ranges.
  void AddRanges(TimeNs start_ns, TimeNs end_ns) {
    EventIndex next = trace_.track_begin(track_);
    const EventIndex end = trace_.track_end(track_);
    // The events of a track are in the order of their starts.
    const auto starts = std::span(trace_.start()).subspan(next, end - next);
    next += static_cast<EventIndex>(std::ranges::upper_bound(starts, start_ns) -
                                    starts.begin());
    EventIndex open =
        analysis::OpenEvents(trace_, track_, start_ns).InnermostAt(start_ns);
    const auto advance = [&](TimeNs until_ns) {
      for (; open != kNoEvent && trace_.end()[open] <= until_ns;
           open = trace_.parent()[open]) {
        AddRange(open, start_ns, trace_.end()[open]);
        start_ns = std::max(start_ns, trace_.end()[open]);
      }
      AddRange(open, start_ns, until_ns);
      start_ns = std::max(start_ns, until_ns);
    };
    for (; next < end && trace_.start()[next] < end_ns; ++next) {
      if (!model::IsRange(trace_.flags()[next])) continue;
      advance(trace_.start()[next]);
      open = next;
    }
    advance(end_ns);
  }

  void AddRange(EventIndex range, TimeNs start_ns, TimeNs end_ns) {
    if (end_ns <= start_ns) return;
    if (range == kNoEvent) {
      AddSampled(start_ns, end_ns);
    } else {
      Add(start_ns, end_ns - start_ns, "on CPU",
          std::string(trace_.EventName(range)));
    }
  }

  // Each function in which samples are has its share of the time.
  void AddSampled(TimeNs start_ns, TimeNs end_ns) {
    const auto key = [](const StackSample& sample) {
      return std::pair(sample.track, sample.time_ns);
    };
    const auto samples = trace_.samples();
    auto sample =
        std::ranges::lower_bound(samples, std::pair(track_, start_ns), {}, key);
    std::map<std::string, int64_t> counts;
    int64_t left = 0;
    for (; sample != samples.end() && key(*sample) < std::pair(track_, end_ns);
         ++sample) {
      ++counts[places_.Of(sample->stack)];
      ++left;
    }
    if (left == 0) {
      Add(start_ns, end_ns - start_ns, "on CPU", "[no sample]");
      return;
    }
    DurationNs left_ns = end_ns - start_ns;
    for (const auto& [name, count] : counts) {
      const DurationNs part_ns = static_cast<DurationNs>(
          static_cast<double>(left_ns) * static_cast<double>(count) /
          static_cast<double>(left));
      // The last one has what rounding left.
      const DurationNs ns = count == left ? left_ns : part_ns;
      Add(start_ns, ns, "on CPU", name);
      start_ns += ns;
      left_ns -= ns;
      left -= count;
    }
  }

  const Trace& trace_;
  analysis::WaitPlaces places_;
  TrackIndex track_ = 0;  // of the step
  std::vector<NamedPart> parts_;
};

struct Sum {
  DurationNs ns = 0;
  int64_t count = 0;

  Sum& operator+=(const Sum& other) {
    ns += other.ns;
    count += other.count;
    return *this;
  }
};

// By thread, cause and name. Texts are of the parts.
using Key = std::tuple<TrackIndex, std::string_view, std::string_view>;
using Sums = std::map<Key, Sum>;

// Names with less than a hundredth of the path become one for each thread and
// cause.
Sums JoinSmall(const Sums& sums, DurationNs path_ns) {
  const auto is_small = [&](const Sum& sum) { return sum.ns < path_ns / 100; };
  std::map<std::pair<TrackIndex, std::string_view>, int64_t> small;
  for (const auto& [key, sum] : sums) {
    if (is_small(sum)) ++small[{std::get<0>(key), std::get<1>(key)}];
  }
  Sums joined;
  for (const auto& [key, sum] : sums) {
    const auto& [track, cause, name] = key;
    const bool joins = is_small(sum) && small.at({track, cause}) > 1;
    joined[{track, cause, joins ? "[other]" : name}] += sum;
  }
  return joined;
}

double PathShare(DurationNs part, DurationNs whole) {
  return whole == 0 ? 0
                    : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

ValueTable WakePathTable(const Trace& trace) {
  ValueTable table{.columns = {{"process", "Process", Unit::kCount},
                               {"thread", "Thread", Unit::kCount},
                               {"thread_name", "Thread name", Unit::kText},
                               {"thread_share", "Thread %", Unit::kShare},
                               {"cause", "Cause", Unit::kText},
                               {"name", "Name", Unit::kText},
                               {"share", "Path %", Unit::kShare},
                               {"path_ns", "On the path", Unit::kNs},
                               {"count", "# of parts", Unit::kCount}},
                   .rows = {}};
  const std::vector<NamedPart> parts = PartMaker(trace).Run();
  Sums sums;
  std::map<TrackIndex, DurationNs> by_thread;
  DurationNs path_ns = 0;
  for (const NamedPart& part : parts) {
    sums[{part.track, part.cause, part.name}] += {part.duration_ns, 1};
    by_thread[part.track] += part.duration_ns;
    path_ns += part.duration_ns;
  }
  sums = JoinSmall(sums, path_ns);
  std::vector<std::pair<Key, Sum>> sorted(sums.begin(), sums.end());
  std::ranges::stable_sort(sorted, {}, [&](const std::pair<Key, Sum>& row) {
    const TrackIndex track = std::get<TrackIndex>(row.first);
    return std::tuple(-by_thread[track], track, -row.second.ns);
  });
  for (const auto& [key, sum] : sorted) {
    const auto& [track, cause, name] = key;
    const model::Track& thread = trace.tracks()[track];
    table.rows.push_back(
        {thread.pid, thread.id, std::string(trace.Name(thread.name)),
         PathShare(by_thread[track], path_ns), std::string(cause),
         std::string(name), PathShare(sum.ns, path_ns), sum.ns, sum.count});
  }
  return table;
}

ValueTable WakePathStepTable(const Trace& trace) {
  ValueTable table{.columns = {{"start_ns", "Start", Unit::kNs},
                               {"process", "Process", Unit::kCount},
                               {"thread", "Thread", Unit::kCount},
                               {"thread_name", "Thread name", Unit::kText},
                               {"cause", "Cause", Unit::kText},
                               {"name", "Name", Unit::kText},
                               {"path_ns", "On the path", Unit::kNs}},
                   .rows = {}};
  for (NamedPart& part : PartMaker(trace).Run()) {
    const model::Track& thread = trace.tracks()[part.track];
    table.rows.push_back({part.start_ns - trace.start_ns(), thread.pid,
                          thread.id, std::string(trace.Name(thread.name)),
                          std::string(part.cause), std::move(part.name),
                          part.duration_ns});
  }
  return table;
}

}  // namespace kymo::report
