#include "exporters/html/shown_part.h"

#include <algorithm>
#include <bit>

namespace kymo::html {

size_t ShownPart::ClassOf(DurationNs ns) {
  const auto value = static_cast<uint64_t>(std::max<DurationNs>(ns, 0));
  if (value < kSteps) return value;
  const int power = std::bit_width(value) - 1;  // 4 to 62
  return static_cast<size_t>(power - 3) * kSteps +
         (value >> (power - 4) & (kSteps - 1));
}

void ShownPart::Decide() {
  uint64_t shown = 0;
  cut_ = counts_.size();
  while (cut_ > 0 && shown + counts_[cut_ - 1] <= most_) {
    shown += counts_[--cut_];
  }
  if (cut_ == 0) {
    cut_shown_ = counts_[0];
    return;
  }
  --cut_;
  cut_shown_ = most_ - shown;
  for (size_t i = 0; i <= cut_; ++i) left_out_ += counts_[i];
  left_out_ -= cut_shown_;
}

bool ShownPart::Shows(DurationNs ns) {
  const size_t item_class = ClassOf(ns);
  if (item_class != cut_) return item_class > cut_;
  cut_spread_ += cut_shown_;
  if (cut_spread_ < counts_[cut_]) return false;
  cut_spread_ -= counts_[cut_];
  return true;
}

DurationNs ShownPart::least_ns() const {
  if (left_out_ == 0) return 0;
  const size_t next = cut_ + 1;  // some of class `cut_` are left out
  if (next < kSteps) return static_cast<DurationNs>(next);
  const size_t power = next / kSteps + 3;
  return static_cast<DurationNs>((kSteps + next % kSteps) << (power - 4));
}

}  // namespace kymo::html
