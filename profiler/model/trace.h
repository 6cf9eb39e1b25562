// trace.h - the immutable trace that everything after collection reads.
//
//   for (kymo::model::EventIndex i = 0; i < trace.event_count(); ++i) {
//     const kymo::model::Track& track = trace.tracks()[trace.track()[i]];
//     Print(track.id, trace.EventName(i), trace.end()[i] - trace.start()[i]);
//   }
//
// Events stand as columns (a structure of arrays). The events of a track follow
// one another, in start order, parents before children:
//
//   | track          0              1      2
//   | events   [ 0 1 2 3 4 ][ 5 6 7 8 ][ 9 ... ]
//   |                        ^ track_begin(1)
//   |                                   ^ track_begin(2)
//
// The children of a range do not overlap in time, and neither do events without
// a parent. The events within a range follow it, so one pass from left to right
// is a walk of the tree. Asynchronous events are the exception: they have no
// parent and no children, and they may overlap. ValidateTrace states every
// invariant as code.
//
// Units:     times are nanoseconds since the epoch. An open range ends where
//   the recording ended and has kEventOpen.
// Threads:   a Trace is immutable; any number of threads may read it.
// Ownership: spans and views live as long as the trace.
#ifndef KYMO_PROFILER_MODEL_TRACE_H_
#define KYMO_PROFILER_MODEL_TRACE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
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

// The mutable form; normalisation and tests fill it, MakeTrace closes it.
struct TraceData {
  TimeNs start_ns = 0;  // the recording's window
  TimeNs end_ns = 0;
  StringTable strings;
  std::vector<Process> processes;  // by pid, then start
  std::vector<Track> tracks;       // by pid, kind, device, id
  // tracks.size() + 1 entries: events of track t are [t, t + 1).
  std::vector<EventIndex> track_begin = {0};

  // Columns, one entry per event.
  Column<TimeNs> start;
  Column<TimeNs> end;  // >= start
  Column<NameId> name;
  Column<TrackIndex> track;
  Column<EventIndex> parent;  // kNoEvent, or an earlier one of the track
  Column<DetailIndex> detail;
  Column<ActivityType> type;
  Column<RecordScope> scope;
  Column<uint8_t> flags;  // EventFlag bits

  std::vector<Detail> details;
  RareDetails rare_details;
  std::vector<Arg> args;
  std::vector<CounterSample> counters;  // by track, name, time
  Column<MemoryRecord> memory;          // by track, time
  // Sums of heap records that are not in `memory`. Null: all are there.
  std::shared_ptr<const FoldedMemory> folded_memory;
  // The average distance of samples, in bytes: a sample of n bytes stands for
  // 1 / (1 - exp(-n / interval)) allocations of its kind. 0 = every allocation
  // has its record.
  double memory_sample_interval = 0;
  std::vector<AllocationCounts> allocation_counts;  // by track
  // How long threads ran and waited. Null: nobody recorded it.
  std::shared_ptr<const ThreadStates> thread_states;
  StackTable stacks;
  std::vector<StackSample> samples;  // by track, time
  // Older samples, which only sums count (sample_weights.h); by track, stack.
  std::vector<SampleSum> sample_sums;
  DurationNs sampling_period_ns = 0;
  std::vector<Metadata> metadata;  // by key
  LossLedger ledger;
};

// The last one of this pid, in a list sorted by pid. Null: there is none.
const Process* FindProcess(std::span<const Process> processes,
                           int64_t pid) noexcept;

// Half of Kymo includes this. So what no inner loop calls is in trace.cc: this
// class took one second of each source's compile time.
class Trace {
 public:
  explicit Trace(TraceData data);
  Trace(Trace&&) noexcept;
  Trace& operator=(Trace&&) noexcept;
  ~Trace();

  TimeNs start_ns() const noexcept { return data_.start_ns; }
  TimeNs end_ns() const noexcept { return data_.end_ns; }

  // Names.
  std::string_view Name(NameId id) const { return data_.strings.Get(id); }
  std::string_view EventName(EventIndex event) const {
    return Name(data_.name[event]);
  }
  const StringTable& strings() const noexcept { return data_.strings; }

  std::span<const Process> processes() const noexcept;
  // What was said of it last. Null: nothing.
  const Process* FindProcess(int64_t pid) const noexcept;
  std::span<const Track> tracks() const noexcept {
    return ViewOf(data_.tracks);
  }
  EventIndex track_begin(TrackIndex track) const {
    return data_.track_begin[track];
  }
  EventIndex track_end(TrackIndex track) const {
    return data_.track_begin[track + 1];
  }

  // Columns.
  size_t event_count() const noexcept { return data_.start.size(); }
  std::span<const TimeNs> start() const noexcept { return ViewOf(data_.start); }
  std::span<const TimeNs> end() const noexcept { return ViewOf(data_.end); }
  std::span<const NameId> name() const noexcept { return ViewOf(data_.name); }
  std::span<const TrackIndex> track() const noexcept {
    return ViewOf(data_.track);
  }
  std::span<const EventIndex> parent() const noexcept {
    return ViewOf(data_.parent);
  }
  std::span<const ActivityType> type() const noexcept {
    return ViewOf(data_.type);
  }
  std::span<const RecordScope> scope() const noexcept {
    return ViewOf(data_.scope);
  }
  std::span<const uint8_t> flags() const noexcept {
    return ViewOf(data_.flags);
  }

  // Null when the event has none.
  const Detail* detail(EventIndex event) const {
    const DetailIndex index = data_.detail[event];
    return index == kNoDetail ? nullptr : &data_.details[index];
  }
  const RareDetail& rare(const Detail& detail) const {
    return data_.rare_details.Get(detail);
  }
  // Empty when the event has none.
  std::span<const Arg> args(EventIndex event) const;

  std::span<const CounterSample> counters() const noexcept;
  std::span<const MemoryRecord> memory() const noexcept;
  // Sums of heap records that are not in memory(). Null: all are there.
  const FoldedMemory* folded_memory() const noexcept {
    return data_.folded_memory.get();
  }
  double memory_sample_interval() const noexcept {
    return data_.memory_sample_interval;
  }
  std::span<const AllocationCounts> allocation_counts() const noexcept;
  // How long threads ran and waited. Null: nobody recorded it.
  const ThreadStates* thread_states() const noexcept {
    return data_.thread_states.get();
  }
  const StackTable& stacks() const noexcept { return data_.stacks; }
  std::span<const StackSample> samples() const noexcept;
  // Older samples, which are not in samples().
  std::span<const SampleSum> sample_sums() const noexcept;
  bool has_samples() const noexcept {
    return !data_.samples.empty() || !data_.sample_sums.empty();
  }
  DurationNs sampling_period_ns() const noexcept {
    return data_.sampling_period_ns;
  }
  std::span<const Metadata> metadata() const noexcept;
  const LossLedger& ledger() const noexcept { return data_.ledger; }

  // For ValidateTrace and for tools that count bytes.
  const TraceData& data() const noexcept { return data_; }

  // Makes a changed trace of this one: everything that it lent becomes invalid.
  TraceData Release() &&;

 private:
  // To make a span of a container, the compiler looks at a dozen concepts.
  template <typename Values>
  static std::span<const typename Values::value_type> ViewOf(
      const Values& values) noexcept {
    return {values.data(), values.size()};
  }

  TraceData data_;
};

// Checks every invariant that this header states. The first violation is an
// kInternal error that names event, column and rule. Linear.
absl::Status ValidateTrace(const Trace& trace);

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_TRACE_H_
