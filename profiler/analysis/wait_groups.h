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
#include <utility>
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
    auto& [group, wakers, objects] =
        groups_[{track, wait.kind, stack, is_idle}];
    group.track = track;
    group.kind = wait.kind;
    group.stack = stack;
    group.is_idle = is_idle;
    AddTo(group, wait);
    if (WakerOf(wait) != model::kEmptyStack) {
      wakers[WakerOf(wait)] += wait.duration_ns;
    }
    if (wait.object != 0 || wait.object_name != model::kEmptyName) {
      objects[{wait.object, wait.object_name}] += wait.duration_ns;
    }
  }

  std::vector<WaitGroup> Sorted() const {
    std::vector<WaitGroup> sorted;
    for (const auto& [key, entry] : groups_) {
      const auto& [group, wakers, objects] = entry;
      sorted.push_back(group);
      if (!wakers.empty()) sorted.back().waker_stack = Longest(wakers);
      if (objects.empty()) continue;
      std::tie(sorted.back().object, sorted.back().object_name) =
          Longest(objects);
      sorted.back().object_count = objects.size();
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
    std::map<std::pair<uint64_t, model::NameId>, DurationNs> objects;
  };
  // REQUIRES: there are some.
  template <typename Key>
  static Key Longest(const std::map<Key, DurationNs>& times) {
    return std::ranges::max_element(
               times, {}, [](const auto& entry) { return entry.second; })
        ->first;
  }
  using Key =
      std::tuple<model::TrackIndex, model::WaitKind, model::StackId, bool>;
  std::map<Key, Entry> groups_;
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_WAIT_GROUPS_H_
