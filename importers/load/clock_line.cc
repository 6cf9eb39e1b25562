#include "importers/load/clock_line.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

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
std::pair<ClockPoint, ClockPoint> EndsOf(std::span<const ClockPoint> points) {
  ClockPoint first = points.front();
  ClockPoint last = points.back();
  // If one offset is within both bounds, no drift was seen.
  const int64_t least = std::max(first.offset_ns - first.bound_ns,
                                 last.offset_ns - last.bound_ns);
  const int64_t most = std::min(first.offset_ns + first.bound_ns,
                                last.offset_ns + last.bound_ns);
  if (least <= most) {
    first.offset_ns = last.offset_ns = least + (most - least) / 2;
  }
  // No clock drifts by more. It jumped, or its thread did not run between the
  // two looks that make a measurement: then one of them has to do.
  const int64_t change = AheadAt(last) - AheadAt(first);
  if (std::abs(change) > std::abs(last.time_ns - first.time_ns) / kDriftPart) {
    if (first.bound_ns <= last.bound_ns) {
      last.offset_ns -= change;
    } else {
      first.offset_ns += change;
    }
  }
  return {first, last};
}

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
  // Times of rank 0's CLOCK_MONOTONIC, and from there those of the reference.
  const auto [first, last] = EndsOf(points);
  const auto [reference_first, reference_last] = EndsOf(reference);
  const ClockPoint& its_first = reference_first;
  const ClockPoint& its_last = reference_last;
  const auto to_reference = [&](int64_t rank_0_ns) {
    const TimeNs time = rank_0_ns - AheadAt(its_first);
    const DurationNs length = its_last.time_ns - its_first.time_ns;
    if (length <= 0) return time;
    const double part = static_cast<double>(time - its_first.time_ns) /
                        static_cast<double>(length);
    return time - static_cast<DurationNs>(
                      part * static_cast<double>(AheadAt(its_last) -
                                                 AheadAt(its_first)));
  };
  model::TimeMap map = {.from_ns = first.time_ns,
                        .to_ns = to_reference(first.time_ns + AheadAt(first))};
  const DurationNs length = last.time_ns - first.time_ns;
  if (length > 0) {
    const TimeNs end = to_reference(last.time_ns + AheadAt(last));
    map.drift = static_cast<double>(end - map.to_ns - length) /
                static_cast<double>(length);
  }
  return map;
}

}  // namespace kymo
