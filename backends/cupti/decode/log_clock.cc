#include "backends/cupti/decode/log_clock.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace kymo::cupti {

void LogClockConverter::Add(const AnchorRecord& anchor) {
  // A larger uncertainty cannot be measured; a broken log may say anything.
  constexpr uint64_t kMaxUncertainty = 1'000'000'000;
  error_ns_ = std::max(error_ns_, static_cast<int64_t>(std::min(
                                      anchor.uncertainty_ns, kMaxUncertainty)));
  if (anchor.clock == LogClock::kMonotonic) return;
  const uint64_t offset =
      anchor.monotonic_ns + epoch_offset_ns_ - anchor.log_ns;
  points_.push_back({anchor.log_ns, static_cast<int64_t>(offset)});
}

void LogClockConverter::Finish() {
  std::stable_sort(
      points_.begin(), points_.end(),
      [](const Point& a, const Point& b) { return a.log_ns < b.log_ns; });
  uint64_t change = 0;
  for (size_t i = 1; i < points_.size(); ++i) {
    const uint64_t a = static_cast<uint64_t>(points_[i - 1].offset_ns);
    const uint64_t b = static_cast<uint64_t>(points_[i].offset_ns);
    change = std::max(change, std::min(a - b, b - a));
  }
  error_ns_ += static_cast<int64_t>(std::min<uint64_t>(change, INT64_MAX / 2));
}

TimeNs LogClockConverter::Interpolate(uint64_t log_ns) {
  const auto is_at = [&](size_t i) {
    return points_[i].log_ns <= log_ns &&
           (i + 1 == points_.size() || log_ns < points_[i + 1].log_ns);
  };
  if (!is_at(at_)) {
    const auto after = std::upper_bound(
        points_.begin(), points_.end(), log_ns,
        [](uint64_t t, const Point& point) { return t < point.log_ns; });
    at_ = after == points_.begin() ? 0 : after - points_.begin() - 1;
  }
  const Point& a = points_[at_];
  uint64_t offset = static_cast<uint64_t>(a.offset_ns);
  if (log_ns > a.log_ns && at_ + 1 < points_.size()) {
    const Point& b = points_[at_ + 1];
    const double part = static_cast<double>(log_ns - a.log_ns) /
                        static_cast<double>(b.log_ns - a.log_ns);
    const double change =
        static_cast<double>(b.offset_ns) - static_cast<double>(a.offset_ns);
    offset += static_cast<uint64_t>(
        std::llround(std::clamp(part * change, -9e18, 9e18)));
  }
  return static_cast<TimeNs>(log_ns + offset);
}

}  // namespace kymo::cupti
