// heap_curve.h - a curve over time that is thinned while it grows.
//
//   HeapCurve curve;
//   for (each change, by time) curve.Add(time_ns, live_bytes);
//   heap.live = curve.Points();
//
// The first kMostPoints points are all kept. Beyond that, time is cut into
// slots of equal length, and each slot keeps its least, its greatest and its
// last point. When there are kMostSlots slots, two neighbours become one. So a
// curve has at least kMostSlots / 2 slots from its first to its last point. The
// very first point, the last one and the extremes are always kept.
//
// Cost: constant time per point; memory for kMostSlots slots.
#ifndef KYMO_BACKENDS_STREAM_DECODE_HEAP_CURVE_H_
#define KYMO_BACKENDS_STREAM_DECODE_HEAP_CURVE_H_

#include <cstddef>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/folded_memory.h"

namespace kymo::stream {

class HeapCurve {
 public:
  static constexpr size_t kMostPoints = 20'000;
  static constexpr size_t kMostSlots = 8'192;

  // REQUIRES: no point before was later.
  void Add(TimeNs time_ns, int64_t bytes) {
    if (slots_.empty() || time_ns >= slot_end_ns_) [[unlikely]] {
      return AddToNext({time_ns, bytes});
    }
    Extend(slots_.back(), {time_ns, bytes});
  }

  // By time; points of one time in the order in which they were added.
  std::vector<model::FoldedPoint> Points() const;

 private:
  struct Slot {
    int64_t number = 0;  // its time from the first point on, in slot lengths
    model::FoldedPoint least, greatest, last;
    bool least_is_first = true;  // the least point came before the greatest
  };

  static void Extend(Slot& slot, const model::FoldedPoint& point) {
    if (point.bytes < slot.least.bytes) {
      slot.least = point;
      slot.least_is_first = false;
    }
    if (point.bytes > slot.greatest.bytes) {
      slot.greatest = point;
      slot.least_is_first = true;
    }
    slot.last = point;
  }

  void AddToNext(const model::FoldedPoint& point);
  void AddToSlot(const model::FoldedPoint& point);
  void DoubleSlots();

  std::vector<model::FoldedPoint> all_;  // while there are few
  std::vector<Slot> slots_;              // afterwards
  model::FoldedPoint first_;             // of all, once there are slots
  DurationNs slot_ns_ = 1;
  TimeNs slot_end_ns_ = 0;  // of the last slot
};

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_DECODE_HEAP_CURVE_H_
