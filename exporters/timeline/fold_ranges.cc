#include "exporters/timeline/fold_ranges.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "profiler/model/trace_slice.h"

namespace kymo::timeline {
namespace {

using model::EventIndex;
using model::MemorySource;
using model::Trace;
using model::TrackIndex;

class Folder {
 public:
  Folder(const Trace& trace, size_t keep)
      : trace_(trace), keep_(trace.event_count(), 1) {
    const size_t events = trace.event_count();
    // Half of the events that stay are the longest, half stand for others.
    most_in_group_ =
        std::max<size_t>(2 * events / std::max<size_t>(keep, 1), 2);
    FindLeaves();
    FindLongest(events - std::min(events, keep / 2));
  }

  FoldedTrace Run() {
    for (EventIndex i = 0; i < trace_.event_count();) {
      const EventIndex begin = i;
      const TimeNs end_ns = NextReportNs(begin);
      while (i < trace_.event_count() && IsShort(i) &&
             trace_.parent()[i] == trace_.parent()[begin] &&
             trace_.track()[i] == trace_.track()[begin] &&
             trace_.end()[i] < end_ns && i - begin < most_in_group_) {
        ++i;
      }
      if (i == begin) {
        ++i;
      } else {
        FoldGroup(begin, i);
      }
    }
    return {Patched(), folded_};
  }

 private:
  // A range that stands for others.
  struct Sum {
    EventIndex first = 0;
    uint32_t calls = 0;
    DurationNs total_ns = 0;
    TimeNs start_ns = 0;
  };

  DurationNs Length(EventIndex i) const {
    return trace_.end()[i] - trace_.start()[i];
  }
  bool IsShort(EventIndex i) const {
    return is_leaf_[i] && Length(i) <= longest_folded_ns_;
  }

  // When memory was next reported on the event's track, from its start on. A
  // range that moved there would be charged for it.
  TimeNs NextReportNs(EventIndex event) {
    const auto memory = trace_.memory();
    const auto place = [](TrackIndex track, TimeNs time_ns) {
      return std::pair(track, time_ns);
    };
    const auto from = place(trace_.track()[event], trace_.start()[event]);
    while (report_ < memory.size() &&
           (memory[report_].source == MemorySource::kHeap ||
            place(memory[report_].track, memory[report_].time_ns) < from)) {
      ++report_;
    }
    return report_ < memory.size() && memory[report_].track == from.first
               ? memory[report_].time_ns
               : std::numeric_limits<TimeNs>::max();
  }

  void FindLeaves() {
    is_leaf_.resize(trace_.event_count());
    for (EventIndex i = 0; i < trace_.event_count(); ++i) {
      is_leaf_[i] =
          trace_.flags()[i] == 0 && trace_.data().detail[i] == model::kNoDetail;
    }
    for (EventIndex i = 0; i < trace_.event_count(); ++i) {
      const EventIndex parent = trace_.parent()[i];
      if (parent != model::kNoEvent) is_leaf_[parent] = false;
    }
  }

  // The `count` shortest ranges may be folded.
  void FindLongest(size_t count) {
    std::vector<DurationNs> lengths;
    for (EventIndex i = 0; i < trace_.event_count(); ++i) {
      if (is_leaf_[i]) lengths.push_back(Length(i));
    }
    longest_folded_ns_ = std::numeric_limits<DurationNs>::max();
    if (count >= lengths.size()) return;
    const auto last = lengths.begin() + static_cast<ptrdiff_t>(count);
    std::nth_element(lengths.begin(), last, lengths.end());
    longest_folded_ns_ = *last;
  }

  // Events [begin, end) are short neighbours.
  void FoldGroup(EventIndex begin, EventIndex end) {
    group_.clear();
    sum_of_.clear();
    for (EventIndex i = begin; i < end; ++i) {
      const auto [it, is_new] = sum_of_.try_emplace(
          {Index(trace_.name()[i]), static_cast<uint8_t>(trace_.type()[i]),
           static_cast<uint8_t>(trace_.scope()[i])},
          group_.size());
      if (is_new) group_.push_back({.first = i});
      Sum& sum = group_[it->second];
      ++sum.calls;
      sum.total_ns += Length(i);
    }
    // Names that hardly repeat are not worth the loss of their times.
    if (2 * group_.size() > end - begin) return;
    folded_ += end - begin;
    std::fill(keep_.begin() + begin, keep_.begin() + end, 0);
    TimeNs start_ns = trace_.start()[begin];
    for (Sum& sum : group_) {
      keep_[sum.first] = 1;
      sum.start_ns = start_ns;
      start_ns += sum.total_ns;
      sums_.push_back(sum);
    }
  }

  Trace Patched() const {
    model::TraceData data =
        model::SelectEvents(trace_, keep_,
                            std::vector<bool>(trace_.tracks().size(), true),
                            [](TrackIndex, TimeNs) { return true; })
            .Release();
    EventIndex to = 0;
    auto sum = sums_.begin();
    for (EventIndex i = 0; i < trace_.event_count() && sum != sums_.end();
         ++i) {
      if (keep_[i] == 0) continue;
      if (sum->first == i) {
        data.start[to] = sum->start_ns;
        data.end[to] = sum->start_ns + sum->total_ns;
        data.flags[to] |= model::kEventFolded;
        data.detail[to] = static_cast<model::DetailIndex>(data.details.size());
        data.rare_details.Set(data.details.emplace_back(),
                              {.calls = sum->calls});
        ++sum;
      }
      ++to;
    }
    return Trace(std::move(data));
  }

  const Trace& trace_;
  std::vector<uint8_t> keep_;  // by event
  std::vector<bool> is_leaf_;  // and has nothing but a name
  DurationNs longest_folded_ns_ = 0;
  size_t most_in_group_ = 0;
  size_t report_ = 0;  // the next record that is not of the heap
  uint64_t folded_ = 0;
  std::vector<Sum> sums_;  // in the order of their first events
  // Of the group at hand, by name, type and scope.
  std::vector<Sum> group_;
  absl::flat_hash_map<std::tuple<uint32_t, uint8_t, uint8_t>, size_t> sum_of_;
};

}  // namespace

FoldedTrace FoldShortRanges(const Trace& trace, size_t keep) {
  return Folder(trace, keep).Run();
}

}  // namespace kymo::timeline
