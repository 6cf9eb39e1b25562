// wait_groups.h - adds up waits by stack and kind.
//
//   WaitGroups groups;
//   groups.Add(model::kNoTrack, wait, is_idle);   // a Wait or a WaitSum
//   for (const WaitGroup& group : groups.Sorted()) Print(group.stack);
//
// Threads: none.
#ifndef KYMO_PROFILER_ANALYSIS_WAIT_GROUPS_H_
#define KYMO_PROFILER_ANALYSIS_WAIT_GROUPS_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "profiler/analysis/waits.h"
#include "profiler/base/time.h"
#include "profiler/model/records.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/waits.h"

namespace kymo::analysis {

inline uint64_t CountOf(const model::Wait&) { return 1; }
inline uint64_t CountOf(const model::WaitSum& sum) { return sum.count; }
inline DurationNs LongestOf(const model::Wait& wait) {
  return wait.duration_ns;
}
inline DurationNs LongestOf(const model::WaitSum& sum) {
  return sum.longest_ns;
}
inline model::StackId WakerOf(const model::Wait& wait) {
  return wait.waker_stack;
}
inline model::StackId WakerOf(const model::WaitSum&) {
  return model::kEmptyStack;
}

// Adds a wait, or a sum of them, to a group or to a lock.
template <typename Into, typename W>
void AddTo(Into& into, const W& wait) {
  into.count += CountOf(wait);
  into.duration_ns += wait.duration_ns;
  into.longest_ns = std::max(into.longest_ns, LongestOf(wait));
}

class WaitGroups {
 public:
  // `track`: kNoTrack, if waits of several threads are one group.
  template <typename W>
  void Add(model::TrackIndex track, const W& wait, bool is_idle) {
    Add(track, wait, is_idle, wait.stack);
  }
  // By another stack than where the thread waited.
  template <typename W>
  void Add(model::TrackIndex track, const W& wait, bool is_idle,
           model::StackId stack) {
    auto& [group, wakers] = groups_[{track, wait.kind, stack, is_idle}];
    group.track = track;
    group.kind = wait.kind;
    group.stack = stack;
    group.is_idle = is_idle;
    AddTo(group, wait);
    if (WakerOf(wait) != model::kEmptyStack) {
      wakers[WakerOf(wait)] += wait.duration_ns;
    }
  }

  std::vector<WaitGroup> Sorted() const {
    std::vector<WaitGroup> sorted;
    for (const auto& [key, entry] : groups_) {
      const auto& [group, wakers] = entry;
      sorted.push_back(group);
      if (wakers.empty()) continue;
      sorted.back().waker_stack =
          std::ranges::max_element(wakers, {}, [](const auto& waker) {
            return waker.second;
          })->first;
    }
    std::ranges::stable_sort(sorted,
                             [](const WaitGroup& a, const WaitGroup& b) {
                               return std::tuple(a.track, -a.duration_ns) <
                                      std::tuple(b.track, -b.duration_ns);
                             });
    return sorted;
  }

 private:
  struct Entry {
    WaitGroup group;
    std::map<model::StackId, DurationNs> wakers;  // by stack
  };
  using Key =
      std::tuple<model::TrackIndex, model::WaitKind, model::StackId, bool>;
  std::map<Key, Entry> groups_;
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_WAIT_GROUPS_H_
