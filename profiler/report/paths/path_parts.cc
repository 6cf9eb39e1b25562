#include "profiler/report/paths/path_parts.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "profiler/analysis/open_events.h"

namespace kymo::report {
namespace {

using model::EventIndex;
using model::kNoEvent;
using model::StackSample;
using model::TrackIndex;

struct PartSum {
  DurationNs ns = 0;
  int64_t count = 0;

  PartSum& operator+=(const PartSum& other) {
    ns += other.ns;
    count += other.count;
    return *this;
  }
};

// By track, cause and name. Texts are of the parts.
using PartKey = std::tuple<TrackIndex, std::string_view, std::string_view>;
using PartSums = std::map<PartKey, PartSum>;

// Names with less than a hundredth of the path become one for each track and
// cause.
PartSums JoinSmall(const PartSums& sums, DurationNs path_ns) {
  const auto is_small = [&](const PartSum& sum) {
    return sum.ns < path_ns / 100;
  };
  std::map<std::pair<TrackIndex, std::string_view>, int64_t> small;
  for (const auto& [key, sum] : sums) {
    if (is_small(sum)) ++small[{std::get<0>(key), std::get<1>(key)}];
  }
  PartSums joined;
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

void PathParts::Add(NamedPart part) {
  if (part.duration_ns > 0) list_.push_back(std::move(part));
}

void PathParts::AddRunning(TrackIndex track, TimeNs start_ns, TimeNs end_ns,
                           std::string_view cause) {
  const Running of = {track, cause};
  EventIndex next = trace_.track_begin(track);
  const EventIndex end = trace_.track_end(track);
  // The events of a track are in the order of their starts.
  const auto starts = std::span(trace_.start()).subspan(next, end - next);
  next += static_cast<EventIndex>(std::ranges::upper_bound(starts, start_ns) -
                                  starts.begin());
  EventIndex open =
      analysis::OpenEvents(trace_, track, start_ns).InnermostAt(start_ns);
  const auto advance = [&](TimeNs until_ns) {
    for (; open != kNoEvent && trace_.end()[open] <= until_ns;
         open = trace_.parent()[open]) {
      AddRange(of, open, start_ns, trace_.end()[open]);
      start_ns = std::max(start_ns, trace_.end()[open]);
    }
    AddRange(of, open, start_ns, until_ns);
    start_ns = std::max(start_ns, until_ns);
  };
  for (; next < end && trace_.start()[next] < end_ns; ++next) {
    if (!model::IsRange(trace_.flags()[next])) continue;
    advance(trace_.start()[next]);
    open = next;
  }
  advance(end_ns);
}

void PathParts::AddRange(const Running& of, EventIndex range, TimeNs start_ns,
                         TimeNs end_ns) {
  if (end_ns <= start_ns) return;
  if (range == kNoEvent) {
    AddSampled(of, start_ns, end_ns);
  } else {
    Add({of.track, start_ns, end_ns - start_ns, of.cause,
         std::string(trace_.EventName(range))});
  }
}

void PathParts::AddSampled(const Running& of, TimeNs start_ns, TimeNs end_ns) {
  const auto key = [](const StackSample& sample) {
    return std::pair(sample.track, sample.time_ns);
  };
  const auto samples = trace_.samples();
  auto sample =
      std::ranges::lower_bound(samples, std::pair(of.track, start_ns), {}, key);
  std::map<std::string, int64_t> counts;
  int64_t left = 0;
  for (; sample != samples.end() && key(*sample) < std::pair(of.track, end_ns);
       ++sample) {
    ++counts[places_.Of(sample->stack)];
    ++left;
  }
  if (left == 0) {
    Add({of.track, start_ns, end_ns - start_ns, of.cause, "[no sample]"});
    return;
  }
  DurationNs left_ns = end_ns - start_ns;
  for (const auto& [name, count] : counts) {
    const DurationNs part_ns = static_cast<DurationNs>(
        static_cast<double>(left_ns) * static_cast<double>(count) /
        static_cast<double>(left));
    // The last one has what rounding left.
    const DurationNs ns = count == left ? left_ns : part_ns;
    Add({of.track, start_ns, ns, of.cause, name});
    start_ns += ns;
    left_ns -= ns;
    left -= count;
  }
}

std::vector<PathRow> SumOfParts(const std::vector<NamedPart>& parts) {
  PartSums sums;
  std::map<TrackIndex, DurationNs> by_track;
  DurationNs path_ns = 0;
  for (const NamedPart& part : parts) {
    sums[{part.track, part.cause, part.name}] += {part.duration_ns, 1};
    by_track[part.track] += part.duration_ns;
    path_ns += part.duration_ns;
  }
  std::vector<PathRow> rows;
  for (const auto& [key, sum] : JoinSmall(sums, path_ns)) {
    const auto& [track, cause, name] = key;
    rows.push_back({.track = track,
                    .track_share = PathShare(by_track[track], path_ns),
                    .cause = cause,
                    .name = std::string(name),
                    .share = PathShare(sum.ns, path_ns),
                    .time_ns = sum.ns,
                    .count = sum.count});
  }
  std::ranges::stable_sort(rows, {}, [&](const PathRow& row) {
    return std::tuple(-by_track[row.track], row.track, -row.time_ns);
  });
  return rows;
}

}  // namespace kymo::report
