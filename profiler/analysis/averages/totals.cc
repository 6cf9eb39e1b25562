#include "profiler/analysis/averages/totals.h"

#include <algorithm>
#include <cstddef>

#include "profiler/base/parallel.h"
#include "profiler/model/records.h"
#include "profiler/model/sample_weights.h"

namespace kymo::analysis {
namespace {

using model::EventIndex;
using model::Trace;
using model::TrackIndex;

// All totals of one track except those of its samples.
TrackTotals EventTotals(const Trace& trace, TrackIndex track) {
  TrackTotals totals;
  TimeNs covered_until = trace.data().start_ns;
  bool is_first = true;
  for (EventIndex i = trace.track_begin(track); i < trace.track_end(track);
       ++i) {
    if (trace.flags()[i] & model::kEventInstant) {
      ++totals.instant_count;
      continue;
    }
    ++totals.range_count;
    if (trace.parent()[i] != model::kNoEvent ||
        (trace.flags()[i] & model::kEventAsync)) {
      continue;
    }
    const TimeNs begin =
        is_first ? trace.start()[i] : std::max(covered_until, trace.start()[i]);
    is_first = false;
    totals.top_level_ns += std::max<DurationNs>(0, trace.end()[i] - begin);
    covered_until = std::max(begin, trace.end()[i]);
  }
  return totals;
}

}  // namespace

Totals ComputeTotals(const Trace& trace) {
  Totals totals;
  totals.profiled_ns = trace.end_ns() - trace.start_ns();
  totals.counter_sample_count = static_cast<int64_t>(trace.counters().size());
  totals.tracks.resize(trace.tracks().size());
  ParallelForEach(totals.tracks.size(), [&](size_t t) {
    totals.tracks[t] = EventTotals(trace, static_cast<TrackIndex>(t));
  });
  ForEachSampleWeight(trace, [&](const model::SampleSum& sum) {
    TrackTotals& track = totals.tracks[sum.track];
    track.sample_count += static_cast<int64_t>(sum.count);
    track.sampled_ns += sum.weight_ns;
  });
  for (size_t t = 0; t < totals.tracks.size(); ++t) {
    const TrackTotals& track = totals.tracks[t];
    totals.range_count += track.range_count;
    totals.instant_count += track.instant_count;
    totals.sample_count += track.sample_count;
    totals.sampled_ns += track.sampled_ns;
    (trace.tracks()[t].kind == model::TrackKind::kThread
         ? totals.cpu_top_level_ns
         : totals.device_top_level_ns) += track.top_level_ns;
  }
  return totals;
}

}  // namespace kymo::analysis
