// counter_packets.h - the packets of the program's counters and of memory in
// use.
//
// The tracks of the program's counters stand below the thread that set them.
// The tracks of memory in use (exporters/timeline/memory_counters.h) stand
// below the process and count bytes.
//
// Threads: call Write from one thread at a time; it works on all cores.
#ifndef KYMO_EXPORTERS_PERFETTO_COUNTER_PACKETS_H_
#define KYMO_EXPORTERS_PERFETTO_COUNTER_PACKETS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "exporters/perfetto/track_table.h"
#include "exporters/timeline/memory_counters.h"
#include "exporters/timeline/ordered_output.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::perfetto {

class CounterPackets {
 public:
  // Adds a track for each counter. Times are written relative to `base_ns`.
  // `trace` must outlive this object.
  CounterPackets(const model::Trace& trace, TrackTable& tracks, TimeNs base_ns);

  // The number of items that Write gives to `output`, for progress.
  size_t item_count() const;
  absl::Status Write(timeline::OrderedOutput& output) const;

 private:
  // Consecutive samples of one name and thread.
  struct Run {
    size_t begin;
    uint64_t uuid;
  };

  const model::Trace& trace_;
  const TimeNs base_ns_;
  std::vector<Run> runs_;  // together they cover trace.counters()
  const std::vector<timeline::MemoryCounter> memory_;
  std::vector<uint64_t> memory_uuids_;
};

}  // namespace kymo::perfetto

#endif  // KYMO_EXPORTERS_PERFETTO_COUNTER_PACKETS_H_
