// counter_packets.h - counters of the program and of its memory.
//
// The program's counters stand below the thread that set them; memory in use
// (timeline/memory_counters.h) below the process, in bytes.
//
// Threads: one at a time; the work is done in parallel.
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
  // Times are written relative to `base_ns`. Adds a track per counter. `trace`
  // must outlive the object.
  CounterPackets(const model::Trace& trace, TrackTable& tracks, TimeNs base_ns);

  // For progress: what Write gives to its output.
  size_t item_count() const;
  absl::Status Write(timeline::OrderedOutput& output) const;

 private:
  // Samples of one name and thread.
  struct Run {
    size_t begin;
    uint64_t uuid;
  };

  const model::Trace& trace_;
  const TimeNs base_ns_;
  std::vector<Run> runs_;  // cover trace.counters()
  const std::vector<timeline::MemoryCounter> memory_;
  std::vector<uint64_t> memory_uuids_;
};

}  // namespace kymo::perfetto

#endif  // KYMO_EXPORTERS_PERFETTO_COUNTER_PACKETS_H_
