// trace_shard.h - the output of one backend or importer.
//
// A shard has its own tables; ids are valid inside it only. Normalisation
// (profiler/normalize) merges shards into one immutable Trace: it maps names,
// joins the tracks of one thread, works out parents and closes open ranges.
//
// Threads: one thread at a time fills a shard. Exception: once the tracks
//   exist, several threads may fill different tracks, as long as none of them
//   touches the shared tables (strings, details, args).
#ifndef KYMO_PROFILER_MODEL_TRACE_SHARD_H_
#define KYMO_PROFILER_MODEL_TRACE_SHARD_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "profiler/base/column.h"
#include "profiler/base/time.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/rare_details.h"
#include "profiler/model/records.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/string_table.h"

namespace kymo::model {

struct FoldedMemory;  // folded_memory.h
struct ThreadStates;  // thread_states.h

// Events as columns of equal length.
struct EventColumns {
  Column<TimeNs> start_ns;
  // 0 = still open when the recording ended. With kEventOpen: the latest time
  // until which the range can have been open.
  Column<TimeNs> end_ns;
  Column<NameId> name;
  Column<ActivityType> type;
  Column<RecordScope> scope;
  Column<uint8_t> flags;  // EventFlag bits
  // How many ranges of this source were open around the event. Empty if the
  // source does not know: the times then decide the nesting.
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

// The events of several tracks, one track after the other. Its columns become
// the trace's without a copy if two things are true: the tracks are in the
// trace's order (pid, kind, device, id), and nothing else has events.
struct EventBlock : EventColumns {
  struct Part {
    TrackIndex track = 0;  // into TraceShard::tracks
    size_t end = 0;        // where the next part begins
  };
  std::vector<Part> parts;
};

struct TraceShard {
  StringTable strings;
  std::vector<Process> processes;
  std::vector<Track> tracks;
  // By track, when its thread ended; 0: it runs, or nobody saw its end. Empty:
  // the source knows of no ends.
  std::vector<TimeNs> thread_ends;
  std::vector<TrackEvents> events;
  EventBlock block;
  std::vector<Detail> details;
  RareDetails rare_details;
  std::vector<Arg> args;
  std::vector<CounterSample> counters;
  Column<MemoryRecord> memory;
  std::shared_ptr<FoldedMemory> folded_memory;  // see TraceData
  double memory_sample_interval = 0;            // see TraceData
  std::vector<AllocationCounts> allocation_counts;
  // Here a track may have several entries: lives, one after the other.
  std::shared_ptr<ThreadStates> thread_states;
  StackTable stacks;
  std::vector<StackSample> samples;
  std::vector<SampleSum> sample_sums;  // in any order
  DurationNs sampling_period_ns = 0;   // as requested; 0 = no sampling
  std::vector<Metadata> metadata;
  LossLedger ledger;
};

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_TRACE_SHARD_H_
