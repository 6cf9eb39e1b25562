#include "importers/chrome/shard_maker.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "importers/chrome/event_block.h"
#include "importers/chrome/exact_records.h"
#include "importers/chrome/flame_samples.h"
#include "importers/chrome/range_pairs.h"
#include "importers/chrome/row_tracks.h"
#include "importers/chrome/thread_ids.h"
#include "profiler/base/parallel.h"
#include "profiler/model/recorded_by.h"
#include "profiler/model/thread_states.h"

namespace kymo::chrome_import {
namespace {

using model::kNoTrack;
using model::TrackIndex;

constexpr TimeNs kOpenEnd = std::numeric_limits<TimeNs>::max();

class Maker {
 public:
  Maker(EventStore store, const FileMembers& members)
      : store_(std::move(store)), members_(members) {}

  ImportedTrace Run() {
    AddPairs();
    AddExactRows();
    RowTracks found = FindTracks(store_);
    track_of_row_ = std::move(found.of_row);
    is_samples_ = std::move(found.is_samples);
    RemoveWaitSlices(found.is_waits);
    store_.shard.tracks = std::move(found.tracks);
    store_.shard.processes = std::move(found.processes);
    AddParents();
    FindBounds();
    FindShift();
    AddPrograms();
    AddSamples();
    AddSampleSums();
    AddAllocationCounts();
    AddThreadStates();
    AddEvents();
    AddCounters();
    AddMemory();
    for (FlowEnd& flow : store_.flows) flow.time = Moved(flow.time);
    FindThreadIds(store_.flows, track_of_row_, store_.shard);
    // Kymo's files carry the mark in their metadata.
    if (!members_.is_kymo && (members_.is_kineto || store_.has_pytorch_mark)) {
      model::MarkAsPyTorchs(store_.shard);
    }
    ImportedTrace trace;
    trace.start_ns = Moved(first_);
    trace.end_ns = Moved(last_);
    trace.findings = store_.findings.List();
    trace.shards.push_back(std::move(store_.shard));
    return trace;
  }

 private:
  // Adds ranges that came as two ends, with the details of both.
  void AddPairs() {
    if (store_.ends.empty()) return;
    std::vector<uint32_t> pids;
    for (const FileRow& row : store_.rows) pids.push_back(row.pid);
    std::vector<PairedRange> pairs =
        PairRanges(std::exchange(store_.ends, {}), pids, store_.findings,
                   store_.shard.ledger);
    std::vector<Range> ranges;
    for (PairedRange& pair : pairs) {
      Range& range = pair.range;
      if (range.detail == model::kNoDetail) {
        range.detail = pair.end_detail;
      } else if (pair.end_detail != model::kNoDetail) {
        range.detail = JoinArgs(range.detail, pair.end_detail);
      }
      ranges.push_back(range);
    }
    store_.AddRanges(ranges);
  }

  // Threads of which only these records tell.
  void AddExactRows() {
    for (const ExactRecords::Row& row : members_.exact.rows()) {
      exact_rows_.push_back(store_.AddRow(row.pid, row.tid));
    }
    for (const ExactRecords::Allocations& counts :
         members_.exact.allocations()) {
      allocation_rows_.push_back(store_.AddRow(counts.row.pid, counts.row.tid));
    }
    for (const ExactRecords::Thread& thread : members_.exact.threads()) {
      thread_rows_.push_back(store_.AddRow(thread.row.pid, thread.row.tid));
      const auto& creator = thread.creator;
      creator_rows_.push_back(
          creator ? std::optional(store_.AddRow(creator->pid, creator->tid))
                  : std::nullopt);
    }
    for (const ExactRecords::Row& row : members_.exact.wait_rows()) {
      wait_rows_.push_back(store_.AddRow(row.pid, row.tid));
    }
  }

  // Arguments of both ends. If both have one of a name, that of the end counts:
  // "Duration Events" in Chrome's Trace Event Format.
  model::DetailIndex JoinArgs(model::DetailIndex begin,
                              model::DetailIndex end) {
    model::TraceShard& shard = store_.shard;
    model::Detail joined = shard.details[begin];
    const auto args_begin = static_cast<uint32_t>(shard.args.size());
    const model::Detail at_end = shard.details[end];
    std::unordered_set<uint32_t> replaced;
    for (uint32_t e = at_end.args_begin; e < at_end.args_end; ++e) {
      replaced.insert(Index(shard.args[e].key));
    }
    for (uint32_t a = joined.args_begin; a < joined.args_end; ++a) {
      const model::Arg arg = shard.args[a];
      if (!replaced.contains(Index(arg.key))) shard.args.push_back(arg);
    }
    for (uint32_t a = at_end.args_begin; a < at_end.args_end; ++a) {
      shard.args.push_back(model::Arg(shard.args[a]));
    }
    joined.args_begin = args_begin;
    joined.args_end = static_cast<uint32_t>(shard.args.size());
    shard.details.push_back(joined);
    return static_cast<model::DetailIndex>(shard.details.size() - 1);
  }

  struct Bounds {
    TimeNs first = kOpenEnd;
    TimeNs last = std::numeric_limits<TimeNs>::min();
    bool ends_at_zero = false;
  };

  Bounds BoundsOf(const RangeBlock& block) const {
    Bounds bounds;
    const TimeNs zero = -members_.base_ns;
    for (const Range& range : block) {
      bounds.first = std::min(bounds.first, range.start);
      bounds.last = std::max(bounds.last, range.end);
      bounds.ends_at_zero |= range.end == zero && !range.is_open &&
                             !(range.flags & model::kEventInstant);
    }
    return bounds;
  }

  // Finds the file's first and last time, and whether a range ends at 0.
  void FindBounds() {
    bool has_any = store_.has_window;
    first_ = has_any ? store_.window_start : kOpenEnd;
    last_ = has_any ? store_.window_end : std::numeric_limits<TimeNs>::min();
    const auto see = [&](TimeNs start, TimeNs end) {
      has_any = true;
      first_ = std::min(first_, start);
      last_ = std::max(last_, end);
    };
    std::vector<Bounds> bounds(store_.ranges.size());
    ParallelForEach(bounds.size(),
                    [&](size_t i) { bounds[i] = BoundsOf(store_.ranges[i]); });
    for (const Bounds& of_block : bounds) {
      see(of_block.first, of_block.last);
      ends_at_zero_ = ends_at_zero_ || of_block.ends_at_zero;
    }
    for (const auto& counter : store_.counters) {
      see(counter.sample.time_ns, counter.sample.time_ns);
    }
    for (const auto& record : store_.memory) {
      see(record.time_ns, record.time_ns);
    }
    for (const auto& sample : members_.exact.samples()) {
      see(sample.time_ns, sample.time_ns);
    }
    for (const model::Wait& wait : members_.exact.waits().waits) {
      see(wait.begin_ns, wait.end_ns());
    }
    if (!has_any) first_ = last_ = -members_.base_ns;
  }

  // Decides what is added to the file's times.
  void FindShift() {
    shift_ = members_.base_ns;
    // Times beyond the range of an epoch are moved to where they fit.
    constexpr TimeNs kMost = kOpenEnd / 4;
    const bool is_beyond = last_ > kMost - std::clamp(shift_, -kMost, kMost);
    const bool is_early = first_ < -shift_ || ends_at_zero_;
    if (!is_beyond && !is_early) return;
    store_.findings.Add(Rule::kTimesShifted, 0);
    shift_ = first_ < -kMost ? kMost : kNsPerUs - first_;
  }

  TimeNs Moved(TimeNs time) const { return MovedBy(shift_, time); }

  // Turns slices of flame charts into samples: they are no ranges of their
  // thread. If the file has the samples themselves, the slices only show them.
  void AddSamples() {
    const bool has_sample_rows = std::any_of(
        is_samples_.begin(), is_samples_.end(), [](uint8_t is) { return is; });
    const auto is_slice = [&](const Range& range) {
      return range.type == model::ActivityType::kCpuSample &&
             is_samples_[range.row] != 0;
    };
    std::map<RowIndex, std::vector<Range>> slices;
    for (RangeBlock& block : store_.ranges) {
      if (!has_sample_rows) break;
      for (Range range : block) {
        if (!is_slice(range)) continue;
        range.end = Moved(range.is_open ? last_ : range.end);
        range.start = Moved(range.start);
        slices[range.row].push_back(range);
      }
      std::erase_if(block, is_slice);
    }
    if (members_.exact.has_samples()) {
      AddExactSamples();
      return;
    }
    for (auto& [row, of_row] : slices) {
      AddFlameSamples(std::move(of_row), track_of_row_[row], store_.shard);
    }
  }

  void AddExactSamples() {
    for (const ExactRecords::Sample& sample : members_.exact.samples()) {
      store_.shard.samples.push_back(
          {.track = track_of_row_[exact_rows_[sample.row]],
           .stack = sample.stack,
           .time_ns = Moved(sample.time_ns),
           .weight_ns = sample.weight_ns});
    }
  }

  void AddParents() {
    std::map<int64_t, int64_t> parents;
    for (const auto& [pid, parent] : members_.exact.parents()) {
      parents[pid] = parent;
    }
    for (model::Process& process : store_.shard.processes) {
      const auto parent = parents.find(process.pid);
      if (parent != parents.end()) process.parent_pid = parent->second;
    }
  }

  // Each program of a process is a description of that process.
  void AddPrograms() {
    std::map<int64_t, model::Process> processes;
    for (const model::Process& process : store_.shard.processes) {
      processes.emplace(process.pid, process);
    }
    for (const ExactRecords::Program& program : members_.exact.programs()) {
      const auto of_pid = processes.find(program.pid);
      if (of_pid == processes.end()) continue;
      model::Process described = of_pid->second;
      described.start_ns = Moved(program.start_ns);
      store_.shard.processes.push_back(described);
    }
  }

  void AddSampleSums() {
    for (model::SampleSum sum : members_.exact.sample_sums()) {
      sum.track = track_of_row_[wait_rows_[sum.track]];
      store_.shard.sample_sums.push_back(sum);
    }
  }

  void AddAllocationCounts() {
    for (size_t i = 0; i < allocation_rows_.size(); ++i) {
      model::AllocationCounts counts = members_.exact.allocations()[i].counts;
      counts.track = track_of_row_[allocation_rows_[i]];
      store_.shard.allocation_counts.push_back(counts);
    }
  }

  // Slices of waits are no ranges of their thread: they only show what the
  // exact records say.
  void RemoveWaitSlices(const std::vector<uint8_t>& is_waits) {
    if (!members_.is_kymo) return;
    for (auto& block : store_.ranges) {
      std::erase_if(block,
                    [&](const Range& range) { return is_waits[range.row]; });
    }
  }

  void AddThreadStates() {
    const ExactRecords::Waits& exact = members_.exact.waits();
    if (thread_rows_.empty() && exact.is_empty()) return;
    auto states = std::make_shared<model::ThreadStates>();
    states->cpu_count = members_.exact.cpu_count();
    states->cpu_limit = members_.exact.cpu_limit();
    states->kymo_cpu_ns = members_.exact.kymo_cpu_ns();
    for (size_t i = 0; i < thread_rows_.size(); ++i) {
      model::ThreadTimes times = members_.exact.threads()[i].times;
      times.track = track_of_row_[thread_rows_[i]];
      if (creator_rows_[i]) times.creator = track_of_row_[*creator_rows_[i]];
      // These count from the epoch, and the file may have another zero.
      if (shift_ != members_.base_ns) times.begin_ns = times.end_ns = 0;
      states->threads.push_back(times);
    }
    const auto track_of = [&](TrackIndex row) {
      return track_of_row_[wait_rows_[row]];
    };
    states->min_wait_ns = exact.min_wait_ns;
    for (model::Wait wait : exact.waits) {
      wait.track = track_of(wait.track);
      for (TrackIndex* const other : {&wait.waker, &wait.holder}) {
        if (*other != kNoTrack) *other = track_of(*other);
      }
      wait.begin_ns = Moved(wait.begin_ns);
      states->waits.push_back(wait);
    }
    for (model::WaitSum sum : exact.short_waits) {
      sum.track = track_of(sum.track);
      states->short_waits.push_back(sum);
    }
    store_.shard.thread_states = std::move(states);
  }

  void AddEvents() {
    uint64_t out_of_order = 0;
    store_.shard.block =
        MakeBlock(std::exchange(store_.ranges, {}), track_of_row_,
                  store_.shard.tracks, shift_, out_of_order);
    if (out_of_order != 0) {
      store_.findings.Add(Rule::kOutOfOrder, 0, out_of_order);
    }
  }

  // In Chrome's format, a counter is its process's, whichever thread sets it:
  // the thread of its first value gets it. Kymo's are their threads'.
  void AddCounters() {
    std::map<std::pair<uint32_t, model::NameId>, RowIndex> first_rows;
    for (Counter& parsed : store_.counters) {
      model::CounterSample& counter = parsed.sample;
      if (members_.is_kymo && parsed.name_without_id != model::kEmptyName) {
        counter.name = parsed.name_without_id;
      }
      if (IsDerived(parsed)) continue;
      RowIndex row = counter.track;
      if (!members_.is_kymo) {
        row = first_rows.try_emplace({store_.rows[row].pid, counter.name}, row)
                  .first->second;
      }
      counter.track = track_of_row_[row];
      counter.time_ns = Moved(counter.time_ns);
      store_.shard.counters.push_back(counter);
    }
  }

  // If memory records are there, Kymo's counters of memory follow from them.
  // A program's own counters are no bytes.
  bool IsDerived(const Counter& counter) const {
    const std::string_view name = store_.shard.strings.Get(counter.sample.name);
    return members_.is_kymo && counter.is_bytes &&
           name.starts_with("Memory: ") &&
           !(members_.lacks_heap_records && name == "Memory: heap");
  }

  void AddMemory() {
    for (model::MemoryRecord& record : store_.memory) {
      record.track = track_of_row_[record.track];
      record.time_ns = Moved(record.time_ns);
      record.stack = members_.exact.Stack(Index(record.stack));
    }
    store_.shard.memory = std::move(store_.memory);
  }

  EventStore store_;
  const FileMembers& members_;
  std::vector<TrackIndex> track_of_row_;
  std::vector<uint8_t> is_samples_;  // by row
  std::vector<RowIndex> exact_rows_;
  std::vector<RowIndex> allocation_rows_;
  std::vector<RowIndex> thread_rows_;
  std::vector<std::optional<RowIndex>> creator_rows_;  // by thread row
  std::vector<RowIndex> wait_rows_;
  TimeNs first_ = 0;
  TimeNs last_ = 0;
  bool ends_at_zero_ = false;
  TimeNs shift_ = 0;
};

}  // namespace

ImportedTrace MakeTrace(EventStore store, const FileMembers& members) {
  return Maker(std::move(store), members).Run();
}

}  // namespace kymo::chrome_import
