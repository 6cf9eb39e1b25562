#include "importers/chrome/shard_maker.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

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

// By start, then the longer first. Sorts are stable, so equal ranges keep the
// order of the file.
bool IsBefore(const Range& a, const Range& b) {
  const auto end = [](const Range& r) { return r.is_open ? kOpenEnd : r.end; };
  return a.start != b.start ? a.start < b.start : end(a) > end(b);
}

class Maker {
 public:
  Maker(EventStore store, const FileMembers& members)
      : store_(std::move(store)), members_(members) {}

  ImportedTrace Run() {
    AddPairs();
    store_.JoinDetails();
    AddExactRows();
    RowTracks found = FindTracks(store_);
    track_of_row_ = std::move(found.of_row);
    is_samples_ = std::move(found.is_samples);
    store_.shard.tracks = std::move(found.tracks);
    store_.shard.processes = std::move(found.processes);
    FindBounds();
    FindShift();
    AddSamples();
    AddAllocationCounts();
    AddThreadTimes();
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
    store_.JoinDetails();
    for (PairedRange& pair : pairs) {
      Range& range = pair.range;
      if (range.detail == model::kNoDetail) {
        range.detail = pair.end_detail;
      } else if (pair.end_detail != model::kNoDetail) {
        range.detail = JoinArgs(range.detail, pair.end_detail);
      }
      ranges.push_back(range);
    }
    store_.ranges.push_back(std::move(ranges));
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
    for (const std::vector<Range>& block : store_.ranges) {
      for (const Range& range : block) {
        see(range.start, range.end);
        ends_at_zero_ = ends_at_zero_ ||
                        (!range.is_open && range.end == -members_.base_ns &&
                         !(range.flags & model::kEventInstant));
      }
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

  TimeNs Moved(TimeNs time) const {
    TimeNs moved = 0;
    if (__builtin_add_overflow(time, shift_, &moved)) return kOpenEnd - 1;
    return std::max<TimeNs>(moved, 0);
  }

  // Turns slices of flame charts into samples: they are no ranges of their
  // thread. If the file has the samples themselves, the slices only show them.
  void AddSamples() {
    const auto is_slice = [&](const Range& range) {
      return range.type == model::ActivityType::kCpuSample &&
             is_samples_[range.row] != 0;
    };
    std::map<RowIndex, std::vector<Range>> slices;
    for (std::vector<Range>& block : store_.ranges) {
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

  void AddAllocationCounts() {
    for (size_t i = 0; i < allocation_rows_.size(); ++i) {
      model::AllocationCounts counts = members_.exact.allocations()[i].counts;
      counts.track = track_of_row_[allocation_rows_[i]];
      store_.shard.allocation_counts.push_back(counts);
    }
  }

  void AddThreadTimes() {
    if (thread_rows_.empty()) return;
    auto states = std::make_shared<model::ThreadStates>();
    states->cpu_count = members_.exact.cpu_count();
    for (size_t i = 0; i < thread_rows_.size(); ++i) {
      model::ThreadTimes times = members_.exact.threads()[i].times;
      times.track = track_of_row_[thread_rows_[i]];
      states->threads.push_back(times);
    }
    store_.shard.thread_states = std::move(states);
  }

  void AddEvents() {
    std::vector<std::vector<Range>> by_track = Scatter();
    std::vector<size_t> unsorted(by_track.size());
    std::vector<model::TrackEvents> events(by_track.size());
    ParallelForEach(by_track.size(), [&](size_t t) {
      std::vector<Range> ranges = std::move(by_track[t]);
      for (size_t i = 1; i < ranges.size(); ++i) {
        unsorted[t] += ranges[i].start < ranges[i - 1].start;
      }
      if (!std::is_sorted(ranges.begin(), ranges.end(), IsBefore)) {
        std::stable_sort(ranges.begin(), ranges.end(), IsBefore);
      }
      events[t].track = static_cast<TrackIndex>(t);
      Fill(ranges, events[t]);
    });
    for (size_t t = 0; t < events.size(); ++t) {
      if (unsorted[t] != 0) {
        store_.findings.Add(Rule::kOutOfOrder, 0, unsorted[t]);
      }
      if (events[t].size() != 0) {
        store_.shard.events.push_back(std::move(events[t]));
      }
    }
  }

  // Frees the blocks as it reads them.
  std::vector<std::vector<Range>> Scatter() {
    std::vector<size_t> counts(store_.shard.tracks.size());
    for (const std::vector<Range>& block : store_.ranges) {
      for (const Range& range : block) ++counts[track_of_row_[range.row]];
    }
    std::vector<std::vector<Range>> by_track(counts.size());
    for (size_t t = 0; t < counts.size(); ++t) by_track[t].reserve(counts[t]);
    for (std::vector<Range>& block : store_.ranges) {
      for (const Range& range : block) {
        by_track[track_of_row_[range.row]].push_back(range);
      }
      block = {};
    }
    store_.ranges.clear();
    return by_track;
  }

  void Fill(const std::vector<Range>& ranges, model::TrackEvents& events) {
    const size_t n = ranges.size();
    events.start_ns.resize(n);
    events.end_ns.resize(n);
    events.name.resize(n);
    events.type.resize(n);
    events.scope.resize(n);
    events.flags.resize(n);
    const bool has_details = std::any_of(
        ranges.begin(), ranges.end(),
        [](const Range& range) { return range.detail != model::kNoDetail; });
    if (has_details) events.detail.resize(n);
    for (size_t i = 0; i < n; ++i) {
      const Range& range = ranges[i];
      events.start_ns[i] = Moved(range.start);
      events.end_ns[i] = range.is_open ? 0 : Moved(range.end);
      events.name[i] = range.name;
      events.type[i] = range.type;
      events.scope[i] = range.type == model::ActivityType::kUserAnnotation
                            ? RecordScope::kUserScope
                            : RecordScope::kFunction;
      events.flags[i] = range.flags;
      if (has_details) events.detail[i] = range.detail;
    }
  }

  void AddCounters() {
    for (const Counter& parsed : store_.counters) {
      if (IsDerived(parsed)) continue;
      model::CounterSample counter = parsed.sample;
      counter.track = track_of_row_[counter.track];
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
