// fold_ranges.h - a smaller trace with the same sums: short ranges folded.
//
//   RangeFolder folder(trace, Foldable::kPlain);
//   if (folder.Plan(trace.event_count() / 2) < trace.event_count()) {
//     const FoldedTrace folded = folder.Make();
//     folded.trace, folded.ranges   // 9,876,543 ranges are shown as fewer
//   }
//
//   before   [parent                                ]
//             a b a b a b  [long]  [c   ] a [c   ] a
//                                   a a      a
//   after    [parent                                ]
//             [a  ][b  ]   [long]  [c        ][a ]
//                                   [a  ]
//
// Short neighbours become one range for each name, with all that is within
// them. It has the flag kEventFolded, the number of ranges in
// RareDetail::calls, and the sum of their lengths. These ranges follow each
// other from the first start on. So calls, times and self times by name and by
// path stay exact; the times of single ranges are lost. Ranges stay if they are
// among the longest, or if they are open or have marks within them.
//
// kPlain folds what has nothing but a name. kAny also folds ranges with details
// (inputs, arguments, stacks, correlation), which are lost then.
//
// Nothing is folded across a report of memory, so the memory of each name stays
// exact. Records of the heap do not count here, because they are too many: who
// shows the folded trace leaves them out. Samples stay where they are. A sample
// within folded ranges may thus be in one of another name, or beside them;
// their parent is the same. So is the step of a range within a step's range. If
// the step is on another thread, a range that ran near the step's end may count
// in a neighbouring step.
//
// The result depends on nothing but the arguments. Cost: linear in the events,
// but for neighbours that have little in common: n log n.
#ifndef KYMO_EXPORTERS_TIMELINE_FOLD_RANGES_H_
#define KYMO_EXPORTERS_TIMELINE_FOLD_RANGES_H_

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::timeline {

enum class Foldable { kPlain, kAny };

struct FoldedTrace {
  model::Trace trace;
  uint64_t ranges = 0;           // that are shown as one with others
  uint64_t without_details = 0;  // those of them that had details
};

class RangeFolder {
 public:
  // `trace` must outlive it.
  RangeFolder(const model::Trace& trace, Foldable what);

  // Returns how many events are left if at most `keep` are wanted. More stay if
  // they cannot be folded.
  size_t Plan(size_t keep);
  // What was planned last.
  FoldedTrace Make() const;

 private:
  static constexpr uint32_t kRoot = ~uint32_t{0};

  // A range that stands for others.
  struct Sum {
    model::NameId name{};
    model::ActivityType type{};
    model::RecordScope scope{};
    uint32_t parent = kRoot;  // position in the group
    uint32_t calls = 0;
    DurationNs total_ns = 0;
    TimeNs start_ns = 0;
  };
  // Neighbours that are folded: the events [begin, end).
  struct Group {
    model::EventIndex begin = 0;
    model::EventIndex end = 0;
    size_t first_sum = 0;
    uint32_t sums = 0;
  };
  // Neighbours that have little in common. What is within them is only tried
  // if it is much less.
  struct Failed {
    model::EventIndex end = 0;
    model::EventIndex parent = 0;
    size_t events = 0;
  };
  // A range of the group at hand, before it has its place.
  struct Node {
    Sum sum;
    uint32_t first_child = kRoot;
    uint32_t last_child = kRoot;
    uint32_t next = kRoot;
  };

  DurationNs Length(model::EventIndex i) const {
    return trace_.end()[i] - trace_.start()[i];
  }
  bool IsShort(model::EventIndex i) const {
    return below_[i] != 0 && below_[i] <= most_in_group_ &&
           Length(i) <= longest_folded_ns_;
  }
  bool HasNothingButCalls(model::EventIndex i) const;
  void CountBelow(Foldable what);
  void FindLongest(size_t count);
  TimeNs NextReportNs(model::EventIndex event);
  model::EventIndex TryGroup(model::EventIndex begin);
  bool FoldGroup(model::EventIndex begin, model::EventIndex end);
  void AddToTree(model::EventIndex begin, model::EventIndex event);
  void PlaceTree(TimeNs start_ns);

  const model::Trace& trace_;
  // By event: how many events it and all within it are. 0: cannot be folded.
  std::vector<uint32_t> below_;
  DurationNs longest_folded_ns_ = 0;
  size_t most_in_group_ = 0;
  size_t report_ = 0;  // the next record that is not of the heap
  size_t left_ = 0;    // events
  std::vector<Group> groups_;
  std::vector<Sum> sums_;  // of each group in the order of their starts
  std::vector<Failed> failed_;
  // Of the group at hand.
  std::vector<Node> tree_;
  std::vector<uint32_t> node_of_;  // by event from its begin on
  uint32_t first_root_ = kRoot;
  uint32_t last_root_ = kRoot;
  absl::flat_hash_map<std::tuple<uint32_t, uint32_t, uint8_t, uint8_t>,
                      uint32_t>
      found_;  // by parent, name, type and scope
};

inline FoldedTrace FoldShortRanges(const model::Trace& trace, size_t keep,
                                   Foldable what = Foldable::kPlain) {
  RangeFolder folder(trace, what);
  folder.Plan(keep);
  return folder.Make();
}

}  // namespace kymo::timeline

#endif  // KYMO_EXPORTERS_TIMELINE_FOLD_RANGES_H_
