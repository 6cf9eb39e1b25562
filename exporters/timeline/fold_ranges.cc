#include "exporters/timeline/fold_ranges.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "profiler/model/event_calls.h"
#include "profiler/model/trace_slice.h"

namespace kymo::timeline {

using model::EventIndex;
using model::MemorySource;
using model::TrackIndex;

RangeFolder::RangeFolder(const model::Trace& trace, Foldable what)
    : trace_(trace), left_(trace.event_count()) {
  CountBelow(what);
}

size_t RangeFolder::Plan(size_t keep) {
  const size_t events = trace_.event_count();
  // Half of the events that stay are the longest, half stand for others.
  most_in_group_ = std::max<size_t>(2 * events / std::max<size_t>(keep, 1), 2);
  FindLongest(events - std::min(events, keep / 2));
  report_ = 0;
  left_ = events;
  groups_.clear();
  sums_.clear();
  failed_.clear();
  for (EventIndex i = 0; i < events;) i = TryGroup(i);
  return left_;
}

bool RangeFolder::HasNothingButCalls(EventIndex i) const {
  const model::Detail* const detail = trace_.detail(i);
  if (detail == nullptr) return true;
  model::Detail rest = *detail;
  model::RareDetail rare = trace_.rare(rest);
  rare.calls = 1;
  rest.rare = model::kNoRare;
  return rare == model::RareDetail() && rest.args_begin == rest.args_end &&
         rest.correlation_id == 0 && rest.sequence_nr == -1 &&
         rest.overload_name == model::kEmptyName &&
         rest.inputs == model::kEmptyName && rest.stack == model::kEmptyStack;
}

void RangeFolder::CountBelow(Foldable what) {
  const auto count = static_cast<EventIndex>(trace_.event_count());
  const auto flags = trace_.flags();
  const auto parent = trace_.parent();
  below_.resize(count);
  bool has_async = false;
  for (EventIndex i = 0; i < count; ++i) {
    has_async |= (flags[i] & model::kEventAsync) != 0;
    below_[i] = (flags[i] & ~model::kEventFolded) == 0 &&
                (what == Foldable::kAny || HasNothingButCalls(i));
  }
  // The last event within each one. Asynchronous events may stand among them.
  std::vector<EventIndex> last(has_async ? count : 0);
  for (EventIndex i = count; i-- > 0;) {
    if (has_async) {
      last[i] = std::max(last[i], i);
      if (last[i] - i + 1 != below_[i]) below_[i] = 0;
    }
    const EventIndex around = parent[i];
    if (around == model::kNoEvent) continue;
    if (has_async) last[around] = std::max(last[around], last[i]);
    if (below_[i] == 0) {
      below_[around] = 0;
    } else if (below_[around] != 0) {
      below_[around] += below_[i];
    }
  }
}

// The `count` shortest ranges may be folded.
void RangeFolder::FindLongest(size_t count) {
  constexpr DurationNs kLongest = std::numeric_limits<uint32_t>::max();
  std::vector<uint32_t> lengths;
  lengths.reserve(below_.size());
  for (EventIndex i = 0; i < below_.size(); ++i) {
    if (below_[i] == 0) continue;
    lengths.push_back(static_cast<uint32_t>(std::min(Length(i), kLongest)));
  }
  longest_folded_ns_ = std::numeric_limits<DurationNs>::max();
  if (count >= lengths.size()) return;
  const auto last = lengths.begin() + static_cast<ptrdiff_t>(count);
  std::nth_element(lengths.begin(), last, lengths.end());
  longest_folded_ns_ = *last;
}

// When memory was next reported on the event's track, from its start on. A
// range that moved there would be charged for it.
TimeNs RangeFolder::NextReportNs(EventIndex event) {
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

// Returns the event to go on with.
EventIndex RangeFolder::TryGroup(EventIndex begin) {
  while (!failed_.empty() && failed_.back().end <= begin) failed_.pop_back();
  const EventIndex parent = trace_.parent()[begin];
  // Of neighbours that failed, those with nothing within them may do better.
  const bool is_again = !failed_.empty() && failed_.back().parent == parent;
  const auto is_wanted = [&](EventIndex i) {
    return IsShort(i) && (!is_again || below_[i] == 1);
  };
  if (!is_wanted(begin)) return begin + 1;
  const TimeNs end_ns = NextReportNs(begin);
  EventIndex end = begin;
  size_t roots = 0;
  while (end < below_.size() && is_wanted(end) &&
         trace_.parent()[end] == parent &&
         trace_.track()[end] == trace_.track()[begin] &&
         trace_.end()[end] < end_ns &&
         end - begin + below_[end] <= most_in_group_) {
    end += below_[end];
    ++roots;
  }
  if (roots == 0) return begin + 1;
  const size_t events = end - begin;
  constexpr size_t kFew = 64;
  const bool is_much = !is_again && !failed_.empty() &&
                       events > std::max(failed_.back().events / 2, kFew);
  if (!is_much && FoldGroup(begin, end)) return end;
  if (roots == events) return end;  // nothing is within them
  failed_.push_back({end, parent, is_much ? failed_.back().events : events});
  return begin + 1;
}

// False: names that hardly repeat are not worth the loss of their times.
bool RangeFolder::FoldGroup(EventIndex begin, EventIndex end) {
  tree_.clear();
  node_of_.clear();
  found_.clear();
  first_root_ = last_root_ = kRoot;
  for (EventIndex i = begin; i < end; ++i) AddToTree(begin, i);
  if (2 * tree_.size() > end - begin) return false;
  left_ -= end - begin - tree_.size();
  groups_.push_back(
      {begin, end, sums_.size(), static_cast<uint32_t>(tree_.size())});
  PlaceTree(trace_.start()[begin]);
  return true;
}

void RangeFolder::AddToTree(EventIndex begin, EventIndex event) {
  const EventIndex around = trace_.parent()[event];
  const uint32_t parent = around == model::kNoEvent || around < begin
                              ? kRoot
                              : node_of_[around - begin];
  const auto [it, is_new] =
      found_.try_emplace({parent, Index(trace_.name()[event]),
                          static_cast<uint8_t>(trace_.type()[event]),
                          static_cast<uint8_t>(trace_.scope()[event])},
                         static_cast<uint32_t>(tree_.size()));
  const uint32_t node = it->second;
  if (is_new) {
    tree_.push_back({.sum = {.name = trace_.name()[event],
                             .type = trace_.type()[event],
                             .scope = trace_.scope()[event]}});
    uint32_t& first = parent == kRoot ? first_root_ : tree_[parent].first_child;
    uint32_t& last = parent == kRoot ? last_root_ : tree_[parent].last_child;
    (last == kRoot ? first : tree_[last].next) = node;
    last = node;
  }
  tree_[node].sum.calls += model::Calls(trace_, event);
  tree_[node].sum.total_ns += Length(event);
  node_of_.push_back(node);
}

// Adds the tree to sums_: siblings follow each other, and the first child
// begins with its parent.
void RangeFolder::PlaceTree(TimeNs start_ns) {
  const size_t first = sums_.size();
  struct Open {
    uint32_t next = kRoot;  // the next sibling
    uint32_t parent = kRoot;
    TimeNs start_ns = 0;  // its
  };
  std::vector<Open> open = {{.next = first_root_, .start_ns = start_ns}};
  while (!open.empty()) {
    Open& here = open.back();
    if (here.next == kRoot) {
      open.pop_back();
      continue;
    }
    const Node& node = tree_[here.next];
    const auto at = static_cast<uint32_t>(sums_.size() - first);
    sums_.push_back(node.sum);
    sums_.back().parent = here.parent;
    sums_.back().start_ns = here.start_ns;
    here.next = node.next;
    here.start_ns += node.sum.total_ns;
    if (node.first_child != kRoot) {
      open.push_back({node.first_child, at, sums_.back().start_ns});
    }
  }
}

FoldedTrace RangeFolder::Make() const {
  std::vector<uint8_t> keep(trace_.event_count(), 1);
  uint64_t ranges = 0;
  uint64_t without_details = 0;
  for (const Group& group : groups_) {
    // The first ones give their places.
    std::fill(keep.begin() + group.begin + group.sums, keep.begin() + group.end,
              0);
    for (EventIndex i = group.begin; i < group.end; ++i) {
      if ((trace_.flags()[i] & model::kEventFolded) != 0) continue;
      ++ranges;
      if (!HasNothingButCalls(i)) ++without_details;
    }
  }
  model::TraceData data =
      model::SelectEvents(trace_, keep,
                          std::vector<bool>(trace_.tracks().size(), true),
                          [](TrackIndex, TimeNs) { return true; })
          .Release();
  EventIndex removed = 0;
  for (const Group& group : groups_) {
    const EventIndex first = group.begin - removed;
    removed += group.end - group.begin - group.sums;
    const EventIndex outer = data.parent[first];
    for (uint32_t i = 0; i < group.sums; ++i) {
      const Sum& sum = sums_[group.first_sum + i];
      const EventIndex to = first + i;
      data.name[to] = sum.name;
      data.type[to] = sum.type;
      data.scope[to] = sum.scope;
      data.start[to] = sum.start_ns;
      data.end[to] = sum.start_ns + sum.total_ns;
      data.parent[to] = sum.parent == kRoot ? outer : first + sum.parent;
      data.flags[to] |= model::kEventFolded;
      if (data.detail[to] == model::kNoDetail) {
        data.detail[to] = static_cast<model::DetailIndex>(data.details.size());
        data.details.emplace_back();
      }
      model::Detail& detail = data.details[data.detail[to]];
      detail = {};
      data.rare_details.Set(detail, {.calls = sum.calls});
    }
  }
  return {model::Trace(std::move(data)), ranges, without_details};
}

}  // namespace kymo::timeline
