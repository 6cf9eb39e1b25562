#include "profiler/events/event_tree.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/events/compensated_sum.h"

namespace kymo {
namespace {

using Events = std::vector<FunctionEvent>;

// --- Nesting ---------------------------------------------------------------

// The fields of an event that nesting needs, close together in memory.
struct Range {
  double start_us;
  double end_us;
  int64_t thread;
  int32_t node_id;
  size_t position;
};

std::vector<Range> NestingRanges(const Events& events) {
  std::vector<Range> ranges;
  ranges.reserve(events.size());
  for (size_t i = 0; i < events.size(); ++i) {
    const FunctionEvent& e = events[i];
    if (e.is_async || e.device_type != DeviceType::kCpu) continue;
    ranges.push_back(
        {e.time_range.start_us, e.time_range.end_us, e.thread, e.node_id, i});
  }
  return ranges;
}

// Lists often come in order, and checking is cheaper than sorting.
template <typename Before>
void SortStably(std::span<Range> ranges, Before before) {
  if (!std::is_sorted(ranges.begin(), ranges.end(), before)) {
    std::stable_sort(ranges.begin(), ranges.end(), before);
  }
}

absl::Status Link(Events& events, size_t parent, size_t child) {
  if (events[child].cpu_parent.has_value()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "There is already a CPU parent event for ", events[child].name));
  }
  events[child].cpu_parent = parent;
  events[parent].cpu_children.push_back(child);
  return absl::OkStatus();
}

absl::Status NestRun(Events& events, NestingOrder order, std::span<Range> run) {
  SortStably(run, [&](const Range& a, const Range& b) {
    if (a.start_us != b.start_us) return a.start_us < b.start_us;
    if (order == NestingOrder::kLongerFirst) return a.end_us > b.end_us;
    return events[a.position].id < events[b.position].id;
  });
  std::vector<const Range*> open;
  for (const Range& range : run) {
    while (!open.empty() && (range.start_us >= open.back()->end_us ||
                             range.end_us > open.back()->end_us)) {
      open.pop_back();
    }
    if (!open.empty()) {
      KYMO_RETURN_IF_ERROR(Link(events, open.back()->position, range.position));
    }
    open.push_back(&range);
  }
  return absl::OkStatus();
}

// Returns the positions of nested events, each after its parent.
absl::StatusOr<std::vector<size_t>> Nest(Events& events, NestingOrder nesting) {
  std::vector<Range> ranges = NestingRanges(events);
  SortStably(std::span(ranges), [](const Range& a, const Range& b) {
    return a.thread < b.thread;
  });
  const auto is_same_run = [](const Range& a, const Range& b) {
    return a.thread == b.thread && a.node_id == b.node_id;
  };
  for (size_t begin = 0; begin < ranges.size();) {
    size_t end = begin + 1;
    while (end < ranges.size() && is_same_run(ranges[begin], ranges[end])) {
      ++end;
    }
    KYMO_RETURN_IF_ERROR(NestRun(
        events, nesting, std::span(ranges).subspan(begin, end - begin)));
    begin = end;
  }
  std::vector<size_t> order;
  order.reserve(ranges.size());
  for (const Range& range : ranges) order.push_back(range.position);
  return order;
}

// --- Duplicates ------------------------------------------------------------

bool IsDuplicate(const Events& events, size_t position) {
  const std::optional<size_t> parent = events[position].cpu_parent;
  return parent.has_value() && events[*parent].cpu_children.size() == 1 &&
         events[*parent].name == events[position].name;
}

// Gives the top of a chain of duplicates the kernels of the last one, which is
// PyTorch's rule. PyTorch loses those of the others, because only the last one
// launches anything. A marker launches nothing: if the last one is a marker,
// the operations around it launched what no operation within it did.
void LiftKernels(Events& events, size_t top, size_t last) {
  FunctionEvent& to = events[top];
  std::vector<Kernel> kernels = std::move(events[last].kernels);
  if (events[last].is_marker) {
    for (size_t i = top; i != last; i = events[i].cpu_children.front()) {
      if (events[i].is_marker) continue;
      kernels.insert(kernels.end(), events[i].kernels.begin(),
                     events[i].kernels.end());
    }
  }
  to.kernels = std::move(kernels);
  to.is_marker = events[last].is_marker;
}

// Each chain of duplicates is walked once, from its top: the top takes the
// children and kernels of the last one. Returns which events are to go.
std::vector<bool> MergeDuplicates(Events& events) {
  std::vector<bool> is_duplicate(events.size());
  for (size_t i = 0; i < events.size(); ++i) {
    is_duplicate[i] = IsDuplicate(events, i);
  }
  for (size_t top = 0; top < events.size(); ++top) {
    if (is_duplicate[top]) continue;
    size_t last = top;
    while (events[last].cpu_children.size() == 1 &&
           is_duplicate[events[last].cpu_children.front()]) {
      last = events[last].cpu_children.front();
    }
    if (last == top) continue;
    LiftKernels(events, top, last);
    // Not a move onto itself: `last` is another event.
    events[top].cpu_children = std::move(events[last].cpu_children);
    for (const size_t child : events[top].cpu_children) {
      events[child].cpu_parent = top;
    }
  }
  return is_duplicate;
}

// Closes the gaps, in the events and in everything that names positions.
void Remove(const std::vector<bool>& is_gone, Events& events,
            std::vector<size_t>& order) {
  std::vector<size_t> moved_to(events.size());
  size_t count = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    moved_to[i] = count;
    if (is_gone[i]) continue;
    if (i != count) events[count] = std::move(events[i]);
    ++count;
  }
  if (count == events.size()) return;
  events.erase(events.begin() + static_cast<ptrdiff_t>(count), events.end());
  for (FunctionEvent& event : events) {
    if (event.cpu_parent) event.cpu_parent = moved_to[*event.cpu_parent];
    for (size_t& child : event.cpu_children) child = moved_to[child];
  }
  std::erase_if(order, [&](size_t position) { return is_gone[position]; });
  for (size_t& position : order) position = moved_to[position];
}

// --- Stacks of backward events ---------------------------------------------

constexpr size_t kNone = static_cast<size_t>(-1);

// Per event the nearest of itself and its ancestors that is a backward event.
std::vector<size_t> BackwardAncestors(const Events& events,
                                      const std::vector<size_t>& order) {
  const auto is_backward = [&](size_t i) {
    return events[i].scope == RecordScope::kBackwardFunction;
  };
  std::vector<size_t> ancestors(events.size(), kNone);
  for (size_t i = 0; i < events.size(); ++i) {
    if (is_backward(i)) ancestors[i] = i;
  }
  for (const size_t i : order) {  // parents come first
    if (ancestors[i] == kNone && events[i].cpu_parent) {
      ancestors[i] = ancestors[*events[i].cpu_parent];
    }
  }
  return ancestors;
}

absl::Status SetBackwardStacks(Events& events,
                               const std::vector<size_t>& order) {
  const std::vector<size_t> backward = BackwardAncestors(events, order);
  absl::flat_hash_map<std::pair<int64_t, int64_t>,
                      std::shared_ptr<const EventStack>>
      forward_stacks;  // by sequence number and thread
  for (size_t i = 0; i < events.size(); ++i) {
    const FunctionEvent& e = events[i];
    if (backward[i] != kNone || e.stack == nullptr) continue;
    forward_stacks.try_emplace({e.sequence_nr, e.thread}, e.stack);
  }
  const auto no_stack = std::make_shared<const EventStack>();
  for (size_t i = 0; i < events.size(); ++i) {
    if (backward[i] == kNone) continue;
    const FunctionEvent& root = events[backward[i]];
    if (!root.fwd_thread.has_value()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "Expected fwd_thread to be set for backward parent, but ", root.name,
          " has none"));
    }
    const auto found =
        forward_stacks.find({root.sequence_nr, *root.fwd_thread});
    events[i].stack = found != forward_stacks.end() ? found->second : no_stack;
  }
  return absl::OkStatus();
}

// --- Sums ------------------------------------------------------------------

ChildTotals SumChildren(const Events& events, const FunctionEvent& parent) {
  CompensatedSum cpu_time, device_time;
  ChildTotals totals;
  for (const size_t position : parent.cpu_children) {
    const FunctionEvent& child = events[position];
    cpu_time.Add(child.cpu_time_total());
    device_time.Add(child.device_time_total());
    totals.cpu_memory_bytes += child.cpu_memory_usage;
    totals.device_memory_bytes += child.device_memory_usage;
  }
  totals.cpu_time_us = cpu_time.Total();
  totals.device_time_us = device_time.Total();
  return totals;
}

}  // namespace

absl::Status BuildEventTree(Events& events, analysis::Duplicates duplicates,
                            NestingOrder nesting) {
  KYMO_ASSIGN_OR_RETURN(std::vector<size_t> order, Nest(events, nesting));
  if (duplicates == analysis::Duplicates::kMerge) {
    Remove(MergeDuplicates(events), events, order);
  }
  KYMO_RETURN_IF_ERROR(SetBackwardStacks(events, order));
  // Children first: their device times are part of their parents'.
  for (size_t i = order.size(); i-- > 0;) {
    FunctionEvent& event = events[order[i]];
    event.child_totals = SumChildren(events, event);
  }
  return absl::OkStatus();
}

}  // namespace kymo
