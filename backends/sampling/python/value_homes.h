// value_homes.h - learns where a function keeps one of its variables.
//
//   ValueHomes homes;
//   homes.Find(frame, copy, kSure,
//              [&](uint64_t value) { return Score(value); });
//
// A compiler gives a variable of a long function a register, or a place in the
// function's part of the stack, and mostly leaves it there. Which one differs
// from build to build. So at first all places are tried, and the best value
// wins. Later only those places are tried where it mostly was.
//
// Old values stay about in other places. A place whose value changes as often
// as the variable does is the right one, so only changes count.
// Threads: none.
#ifndef KYMO_BACKENDS_SAMPLING_PYTHON_VALUE_HOMES_H_
#define KYMO_BACKENDS_SAMPLING_PYTHON_VALUE_HOMES_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "backends/sampling/unwind/registers.h"
#include "backends/sampling/unwind/stack_copy.h"
#include "backends/sampling/unwind/unwinder.h"

namespace kymo::sampling {

class ValueHomes {
 public:
  // After so many changes of the value, other places count as something else.
  static constexpr uint32_t kLearned = 64;
  // So often all places are tried, if the value changes less.
  static constexpr uint32_t kMostTries = 500;

  // The value that gets the highest score, if any gets more than 0. A value
  // that gets `sure` ends the search.
  template <typename Score>
  std::optional<uint64_t> Find(const WatchedFrame& frame, const StackCopy& copy,
                               size_t sure, Score&& score);
  // Whether a value in one of the places passes the check.
  template <typename Check>
  bool Has(const WatchedFrame& frame, const StackCopy& copy,
           Check&& is_it) const;
  bool is_learning() const noexcept {
    return total_ < kLearned && tries_ < kMostTries;
  }
  // The value in the best place, if that is where at least half of the finds
  // were, and enough of them.
  std::optional<uint64_t> Usual(const WatchedFrame& frame,
                                const StackCopy& copy) const;

 private:
  static constexpr size_t kSlots = 128;
  static constexpr size_t kHomes = kRegisterCount + kSlots;

  static std::optional<uint64_t> ValueAt(size_t home, const WatchedFrame& frame,
                                         const StackCopy& copy);
  bool IsTried(size_t home) const noexcept {
    return is_learning() || uint64_t{votes_[home]} * 20 >= total_;
  }
  // The variable has this value now.
  void Count(uint64_t value, const WatchedFrame& frame, const StackCopy& copy);

  std::array<uint32_t, kHomes> votes_{};
  std::array<uint64_t, kHomes> last_{};  // the value that counted last
  uint32_t total_ = 0;
  uint32_t tries_ = 0;  // while it learned
  uint64_t last_value_ = 0;
  size_t best_ = 0;
};

inline std::optional<uint64_t> ValueHomes::ValueAt(size_t home,
                                                   const WatchedFrame& frame,
                                                   const StackCopy& copy) {
  if (home < kRegisterCount) {
    // Calls keep these alone. The others are the callee's.
    const bool is_kept = home == 3 || home == kRbp || home >= 12;
    if (home == kRsp || home == kRip) return std::nullopt;
    if (frame.index != 0 && !is_kept) return std::nullopt;
    return frame.registers[home];
  }
  const uint64_t below = 8 * (home - kRegisterCount + 1);
  if (frame.end == 0 || frame.end - below < frame.registers[kRsp] ||
      frame.end < below) {
    return std::nullopt;
  }
  return copy.Read(frame.end - below);
}

inline void ValueHomes::Count(uint64_t value, const WatchedFrame& frame,
                              const StackCopy& copy) {
  if (value == last_value_) return;
  last_value_ = value;
  // Old votes fade, so that the sums stay small.
  if (total_ == 1'000'000) {
    total_ /= 2;
    for (uint32_t& votes : votes_) votes /= 2;
  }
  ++total_;
  for (size_t home = 0; home < kHomes; ++home) {
    if (!IsTried(home) || last_[home] == value) continue;
    if (ValueAt(home, frame, copy) != value) continue;
    last_[home] = value;
    if (++votes_[home] > votes_[best_]) best_ = home;
  }
}

template <typename Score>
std::optional<uint64_t> ValueHomes::Find(const WatchedFrame& frame,
                                         const StackCopy& copy, size_t sure,
                                         Score&& score) {
  if (is_learning()) ++tries_;
  std::optional<uint64_t> found;
  size_t best_score = 0;
  // The same value stands in several places.
  std::array<uint64_t, kHomes> seen;
  size_t seen_count = 0;
  const auto try_home = [&](size_t home) {
    const auto value = ValueAt(home, frame, copy);
    if (!value || std::find(seen.begin(), seen.begin() + seen_count, *value) !=
                      seen.begin() + seen_count) {
      return false;
    }
    seen[seen_count++] = *value;
    const size_t value_score = score(*value);
    if (value_score > best_score) {
      best_score = value_score;
      found = value;
    }
    return best_score >= sure;
  };
  if (!try_home(best_)) {
    for (size_t home = 0; home < kHomes; ++home) {
      if (IsTried(home) && home != best_ && try_home(home)) break;
    }
  }
  if (found) Count(*found, frame, copy);
  return found;
}

template <typename Check>
bool ValueHomes::Has(const WatchedFrame& frame, const StackCopy& copy,
                     Check&& is_it) const {
  for (size_t home = 0; home < kHomes; ++home) {
    if (!IsTried(home)) continue;
    const auto value = ValueAt(home, frame, copy);
    if (value && is_it(*value)) return true;
  }
  return false;
}

inline std::optional<uint64_t> ValueHomes::Usual(const WatchedFrame& frame,
                                                 const StackCopy& copy) const {
  if (total_ < kLearned || votes_[best_] * uint64_t{2} < total_) {
    return std::nullopt;
  }
  return ValueAt(best_, frame, copy);
}

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PYTHON_VALUE_HOMES_H_
