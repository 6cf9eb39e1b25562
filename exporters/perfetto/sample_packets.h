// sample_packets.h - the packets of the sampling profiler, in two forms.
//
//   slices    a track "samples" below each sampled thread, with functions as
//             nested slices (exporters/timeline/flame_slices.h); any reader
//             shows them; short ones can be left out
//   samples   a PerfSample each, with thread and call stack; the viewer makes
//             flame graphs of any selected time from them
//
// Threads: call Write from one thread at a time; it works on all cores.
#ifndef KYMO_EXPORTERS_PERFETTO_SAMPLE_PACKETS_H_
#define KYMO_EXPORTERS_PERFETTO_SAMPLE_PACKETS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "exporters/perfetto/track_table.h"
#include "exporters/timeline/ordered_output.h"
#include "exporters/timeline/short_slices.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::perfetto {

class SamplePackets {
 public:
  // Adds a track for each sampled thread. Times are written relative to
  // `base_ns`. `trace` and `tracks` must outlive this object.
  SamplePackets(const model::Trace& trace, TrackTable& tracks, TimeNs base_ns);

  // About the number of items that Write gives to `output`, for progress.
  size_t item_count() const { return 2 * trace_.samples().size(); }
  // Leaves out slices as `short_ones` says, and counts them there.
  absl::Status Write(timeline::OrderedOutput& output,
                     timeline::ShortSlices& short_ones) const;

 private:
  absl::Status WriteSlices(timeline::OrderedOutput& output,
                           timeline::ShortSlices& short_ones) const;
  absl::Status WriteSamples(timeline::OrderedOutput& output) const;

  const model::Trace& trace_;
  const TrackTable& tracks_;
  const TimeNs base_ns_;
  std::vector<uint64_t> uuids_;  // by track; 0 if it has no samples
};

}  // namespace kymo::perfetto

#endif  // KYMO_EXPORTERS_PERFETTO_SAMPLE_PACKETS_H_
