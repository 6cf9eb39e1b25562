#include "importers/load/clock_line.h"

#include <algorithm>
#include <cstdlib>

namespace kymo {
namespace {

// How much rank 0's clock is ahead of the file's times at `point`.
int64_t AheadAt(const ClockPoint& point) {
  return point.mono_ns + point.offset_ns - point.time_ns;
}

// Clocks of machines drift apart by at most so much of the time: 500 ppm, which
// is as far as NTP slews a clock.
constexpr int64_t kDriftPart = 2'000;

// The first and the last measurement, without what is their uncertainty only:
// a line through both goes on before and after them.
struct Ends {
  ClockPoint first;
  ClockPoint last;

  explicit Ends(std::span<const ClockPoint> points)
      : first(points.front()), last(points.back()) {
    // If one difference is within both bounds, no drift was seen.
    const int64_t least = std::max(AheadAt(first) - first.bound_ns,
                                   AheadAt(last) - last.bound_ns);
    const int64_t most = std::min(AheadAt(first) + first.bound_ns,
                                  AheadAt(last) + last.bound_ns);
    if (least <= most) {
      const int64_t ahead = least + (most - least) / 2;
      first.offset_ns += ahead - AheadAt(first);
      last.offset_ns += ahead - AheadAt(last);
    }
    // No clock drifts by more. It jumped: then one of them has to do.
    const int64_t change = AheadAt(last) - AheadAt(first);
    if (std::abs(change) > std::abs(length_ns()) / kDriftPart) {
      if (first.bound_ns <= last.bound_ns) {
        last.offset_ns -= change;
      } else {
        first.offset_ns += change;
      }
    }
  }

  DurationNs length_ns() const { return last.time_ns - first.time_ns; }
};

}  // namespace

DurationNs JumpOf(std::span<const ClockPoint> points) {
  const ClockPoint& first = points.front();
  const ClockPoint& last = points.back();
  const DurationNs change = std::abs(last.offset_ns - first.offset_ns);
  const DurationNs drift = std::abs(last.mono_ns - first.mono_ns) / kDriftPart;
  return change > drift + first.bound_ns + last.bound_ns ? change : 0;
}

model::TimeMap MapToReference(std::span<const ClockPoint> points,
                              std::span<const ClockPoint> reference) {
  const Ends its(points);
  const Ends theirs(reference);
  // From times of rank 0's CLOCK_MONOTONIC.
  const auto to_reference = [&](int64_t rank_0_ns) {
    const TimeNs time = rank_0_ns - AheadAt(theirs.first);
    if (theirs.length_ns() <= 0) return time;
    const double part = static_cast<double>(time - theirs.first.time_ns) /
                        static_cast<double>(theirs.length_ns());
    return time - static_cast<DurationNs>(
                      part * static_cast<double>(AheadAt(theirs.last) -
                                                 AheadAt(theirs.first)));
  };
  model::TimeMap map = {
      .from_ns = its.first.time_ns,
      .to_ns = to_reference(its.first.time_ns + AheadAt(its.first))};
  const DurationNs length = its.length_ns();
  if (length > 0) {
    const TimeNs end = to_reference(its.last.time_ns + AheadAt(its.last));
    map.drift = static_cast<double>(end - map.to_ns - length) /
                static_cast<double>(length);
  }
  return map;
}

}  // namespace kymo
