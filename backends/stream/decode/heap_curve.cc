#include "backends/stream/decode/heap_curve.h"

#include <algorithm>

namespace kymo::stream {

using model::FoldedPoint;

void HeapCurve::AddToNext(const FoldedPoint& point) {
  if (!slots_.empty()) return AddToSlot(point);
  all_.push_back(point);
  if (all_.size() <= kMostPoints) return;
  first_ = all_.front();
  // The slots' length for these points; later ones double it.
  while ((all_.back().time_ns - first_.time_ns) / slot_ns_ >=
         static_cast<int64_t>(kMostSlots)) {
    slot_ns_ *= 2;
  }
  for (const FoldedPoint& kept : all_) AddToSlot(kept);
  all_ = std::vector<FoldedPoint>();
}

void HeapCurve::AddToSlot(const FoldedPoint& point) {
  while ((point.time_ns - first_.time_ns) / slot_ns_ >=
         static_cast<int64_t>(kMostSlots)) {
    DoubleSlots();
  }
  const int64_t number = (point.time_ns - first_.time_ns) / slot_ns_;
  if (!slots_.empty() && slots_.back().number == number) {
    Extend(slots_.back(), point);
  } else {
    slots_.push_back({number, point, point, point});
  }
  slot_end_ns_ = first_.time_ns + (number + 1) * slot_ns_;
}

// Two neighbours become one slot.
void HeapCurve::DoubleSlots() {
  slot_ns_ *= 2;
  size_t kept = 0;
  for (const Slot& slot : slots_) {
    const int64_t number = slot.number / 2;
    if (kept == 0 || slots_[kept - 1].number != number) {
      slots_[kept] = slot;
      slots_[kept++].number = number;
      continue;
    }
    Slot& into = slots_[kept - 1];
    const FoldedPoint& first = slot.least_is_first ? slot.least : slot.greatest;
    Extend(into, first);
    Extend(into, slot.least_is_first ? slot.greatest : slot.least);
    Extend(into, slot.last);
  }
  slots_.resize(kept);
}

std::vector<FoldedPoint> HeapCurve::Points() const {
  std::vector<FoldedPoint> points = all_;
  const auto add = [&points](const FoldedPoint& point) {
    if (points.empty() || !(points.back() == point)) points.push_back(point);
  };
  if (!slots_.empty()) {
    points.reserve(3 * slots_.size() + 1);
    points.push_back(first_);
  }
  for (const Slot& slot : slots_) {
    add(slot.least_is_first ? slot.least : slot.greatest);
    add(slot.least_is_first ? slot.greatest : slot.least);
    add(slot.last);
  }
  points.shrink_to_fit();
  return points;
}

}  // namespace kymo::stream
