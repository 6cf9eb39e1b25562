// sample_packets.h - what the sampling profiler saw, in two forms.
//
//   slices    a track "samples" below each sampled thread: functions as nested
//             slices (timeline/flame_slices.h), in any reader
//   samples   a PerfSample each, with thread and call stack: the viewer makes
//             flame graphs of them, of any selected time
//
// Threads: one at a time; the work is done in parallel.
#ifndef KYMO_EXPORTERS_PERFETTO_SAMPLE_PACKETS_H_
#define KYMO_EXPORTERS_PERFETTO_SAMPLE_PACKETS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "exporters/perfetto/track_table.h"
#include "exporters/timeline/ordered_output.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::perfetto {

class SamplePackets {
 public:
  // Times are written relative to `base_ns`. Adds a track per sampled thread.
  // `trace` and `tracks` must outlive the object.
  SamplePackets(const model::Trace& trace, TrackTable& tracks, TimeNs base_ns);

  // For progress: about what Write gives to its output.
  size_t item_count() const { return 2 * trace_.samples().size(); }
  absl::Status Write(timeline::OrderedOutput& output) const;

 private:
  absl::Status WriteSlices(timeline::OrderedOutput& output) const;
  absl::Status WriteSamples(timeline::OrderedOutput& output) const;

  const model::Trace& trace_;
  const TrackTable& tracks_;
  const TimeNs base_ns_;
  std::vector<uint64_t> uuids_;  // by track; 0: not sampled
};

}  // namespace kymo::perfetto

#endif  // KYMO_EXPORTERS_PERFETTO_SAMPLE_PACKETS_H_
