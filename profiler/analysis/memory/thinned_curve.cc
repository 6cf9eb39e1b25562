#include "profiler/analysis/memory/thinned_curve.h"

#include <algorithm>

namespace kymo::analysis {

ThinnedCurve::ThinnedCurve(int64_t begin, int64_t end, size_t max_points)
    : begin_(begin),
      slot_length_((end - begin) / static_cast<int64_t>(max_points / 3) + 1),
      max_points_(max_points) {}

void ThinnedCurve::Add(const CurvePoint& point) {
  if (!slots_.empty()) return AddToSlot(point);
  all_.push_back(point);
  if (all_.size() <= max_points_) return;
  slots_.resize(max_points_ / 3);
  for (const CurvePoint& kept : all_) AddToSlot(kept);
  all_ = {};
}

void ThinnedCurve::AddToSlot(const CurvePoint& point) {
  const int64_t index =
      std::clamp<int64_t>((point.time - begin_) / slot_length_, 0,
                          static_cast<int64_t>(slots_.size()) - 1);
  Slot& slot = slots_[static_cast<size_t>(index)];
  if (!slot.is_used) {
    slot = {true, point, point, point};
    return;
  }
  const auto replaces = [&](const CurvePoint& old) {
    return point.value == old.value && point < old;
  };
  if (point.value < slot.least.value || replaces(slot.least)) {
    slot.least = point;
  }
  if (point.value > slot.greatest.value || replaces(slot.greatest)) {
    slot.greatest = point;
  }
  if (slot.last < point) slot.last = point;
}

std::vector<CurvePoint> ThinnedCurve::Points() const {
  std::vector<CurvePoint> points = all_;
  for (const Slot& slot : slots_) {
    if (!slot.is_used) continue;
    points.insert(points.end(), {slot.least, slot.greatest, slot.last});
  }
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

}  // namespace kymo::analysis
