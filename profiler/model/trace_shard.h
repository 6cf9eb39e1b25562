// trace_shard.h - what one backend (or importer) pours out.
//
// A shard has its own tables; ids are valid inside it only. Normalisation
// (profiler/normalize) merges shards into one immutable Trace: it maps names,
// joins the tracks of one thread, works out parents and closes open ranges.
//
// Threads: none; a shard is filled by one thread at a time. Different tracks of
//   one shard may be filled by different threads once they exist, as long as
//   the shared tables (strings, details, args) are left alone.
#ifndef KYMO_PROFILER_MODEL_TRACE_SHARD_H_
#define KYMO_PROFILER_MODEL_TRACE_SHARD_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "profiler/base/column.h"
#include "profiler/base/time.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/records.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/string_table.h"

namespace kymo::model {

// Events as columns of equal length.
struct EventColumns {
  Column<TimeNs> start_ns;
  // 0 = still open when the recording ended; with kEventOpen, how long an open
  // range can have been so.
  Column<TimeNs> end_ns;
  Column<NameId> name;
  Column<ActivityType> type;
  Column<RecordScope> scope;
  Column<uint8_t> flags;  // EventFlag bits
  // How many ranges of this source were open around the event; empty when the
  // source does not know: nesting then comes from the times.
  Column<uint32_t> depth;
  // Either empty or one per event, kNoDetail for most.
  Column<DetailIndex> detail;

  size_t size() const noexcept { return start_ns.size(); }
};

// The events of one thread or stream from one source, in the order of their
// start (ties: parents first).
struct TrackEvents : EventColumns {
  TrackIndex track = 0;  // into TraceShard::tracks
};

// Such events of several tracks, one behind the other. Where the tracks stand
// in the order of the trace (pid, kind, device, id) and nothing else has
// events, these very columns become the trace's.
struct EventBlock : EventColumns {
  struct Part {
    TrackIndex track = 0;  // into TraceShard::tracks
    size_t end = 0;        // the next part begins here
  };
  std::vector<Part> parts;
};

struct TraceShard {
  StringTable strings;
  std::vector<Process> processes;
  std::vector<Track> tracks;
  std::vector<TrackEvents> events;
  EventBlock block;
  std::vector<Detail> details;
  std::vector<Arg> args;
  std::vector<CounterSample> counters;
  Column<MemoryRecord> memory;
  double memory_sample_interval = 0;  // see TraceData
  std::vector<AllocationCounts> allocation_counts;
  StackTable stacks;
  std::vector<StackSample> samples;
  DurationNs sampling_period_ns = 0;  // asked for; 0 = no sampling
  std::vector<Metadata> metadata;
  LossLedger ledger;
};

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_TRACE_SHARD_H_
