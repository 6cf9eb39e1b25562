#include "exporters/summary/threads_section.h"

#include <cstddef>
#include <cstdint>
#include <span>

#include "profiler/model/lanes.h"
#include "profiler/model/thread_states.h"

namespace kymo {
namespace {

using json::JsonWriter;
using model::Trace;

// What is not known of a thread is not there.
void WriteThreadTimes(const model::ThreadTimes& times, JsonWriter& json) {
  json.Member("wall_ns", times.wall_ns);
  json.Member("on_cpu_ns", times.on_cpu_ns);
  json.Member("runnable_ns", times.runnable_ns);
  json.Member("blocked_ns", times.blocked_ns());
  json.Member("unknown_ns", times.unknown_ns);
  json.Member("open_wait_ns", times.open_wait_ns);
  json.Member("voluntary_switches",
              static_cast<int64_t>(times.voluntary_switches));
  json.Member("involuntary_switches",
              static_cast<int64_t>(times.involuntary_switches));
  const model::ThreadCounts& counts = times.counts;
  if (counts.has_faults) {
    json.Member("minor_faults", static_cast<int64_t>(counts.minor_faults));
    json.Member("major_faults", static_cast<int64_t>(counts.major_faults));
  }
  if (counts.has_io) {
    json.Member("read_calls", static_cast<int64_t>(counts.read_calls));
    json.Member("read_bytes", static_cast<int64_t>(counts.read_bytes));
    json.Member("write_calls", static_cast<int64_t>(counts.write_calls));
    json.Member("written_bytes", static_cast<int64_t>(counts.written_bytes));
    json.Member("disk_read_bytes",
                static_cast<int64_t>(counts.disk_read_bytes));
    json.Member("disk_written_bytes",
                static_cast<int64_t>(counts.disk_written_bytes));
  }
  json.Member("run_queue", model::NameOf(times.run_queue));
}

// Those of a thread or stream, whose lanes follow it.
analysis::TrackTotals WithLanes(const Trace& trace,
                                const analysis::Totals& totals, size_t track) {
  analysis::TrackTotals sum = totals.tracks[track];
  const auto tracks = trace.tracks();
  for (size_t t = track + 1;
       t < tracks.size() && model::IsLaneOf(tracks[t], tracks[track]); ++t) {
    const analysis::TrackTotals& lane = totals.tracks[t];
    sum.range_count += lane.range_count;
    sum.instant_count += lane.instant_count;
    sum.top_level_ns += lane.top_level_ns;
    sum.sample_count += lane.sample_count;
    sum.sampled_ns += lane.sampled_ns;
  }
  return sum;
}

}  // namespace

void WriteTracks(const Trace& trace, const analysis::Totals& totals,
                 model::TrackKind kind, JsonWriter& json) {
  const bool is_thread = kind == model::TrackKind::kThread;
  std::span<const model::ThreadTimes> times;  // of the tracks from here on
  if (trace.thread_states() != nullptr) times = trace.thread_states()->threads;
  json.Key(is_thread ? "threads" : "streams");
  json.BeginArray();
  for (size_t t = 0; t < trace.tracks().size(); ++t) {
    const model::Track& track = trace.tracks()[t];
    if (track.kind != kind) continue;
    if (t > 0 && model::IsLaneOf(track, trace.tracks()[t - 1])) continue;
    const analysis::TrackTotals sums = WithLanes(trace, totals, t);
    json.BeginObject();
    json.Member("pid", track.pid);
    if (!is_thread) json.Member("device", int64_t{track.device_index});
    json.Member(is_thread ? "tid" : "stream", track.id);
    json.Member("name", trace.Name(track.name));
    json.Member("ranges", sums.range_count);
    json.Member("instants", sums.instant_count);
    json.Member("top_level_ns", sums.top_level_ns);
    json.Member("samples", sums.sample_count);
    json.Member("sampled_ns", sums.sampled_ns);
    while (!times.empty() && times[0].track < t) times = times.subspan(1);
    if (!times.empty() && times[0].track == t) {
      WriteThreadTimes(times[0], json);
    }
    json.EndObject();
  }
  json.EndArray();
}

void WriteCpuLimit(const Trace& trace, JsonWriter& json) {
  const model::ThreadStates* const states = trace.thread_states();
  if (states == nullptr || states->cpu_limit.quota_ns == 0) return;
  const model::CpuLimit& limit = states->cpu_limit;
  json.Key("cpu_limit");
  json.BeginObject();
  json.Key("cpus");
  json.Double(limit.cpus());
  json.Member("quota_ns", limit.quota_ns);
  json.Member("period_ns", limit.period_ns);
  json.Member("periods", static_cast<int64_t>(limit.periods));
  json.Member("throttled_periods",
              static_cast<int64_t>(limit.throttled_periods));
  json.Member("throttled_ns", limit.throttled_ns);
  json.EndObject();
}

void WriteKymoCpu(const Trace& trace, JsonWriter& json) {
  const model::ThreadStates* const states = trace.thread_states();
  if (states == nullptr || states->kymo_cpu_ns == 0) return;
  json.Member("kymo_cpu_ns", states->kymo_cpu_ns);
}

}  // namespace kymo
