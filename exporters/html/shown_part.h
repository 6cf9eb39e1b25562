// shown_part.h - which items of too many a page shows: the longest ones.
//
//   ShownPart part(1'000'000);
//   for (const DurationNs ns : durations) part.Count(ns);
//   part.Decide();
//   for (const DurationNs ns : durations) if (part.Shows(ns)) Write(ns);
//   part.left_out(), part.least_ns()   // "1,234 ranges shorter than 300 ns"
//
// All items of least_ns and more are shown. Those that are shorter by up to a
// sixteenth are shown in part, spread evenly. Shorter ones are left out.
//
// Threads: one at a time. Cost: constant for each item. The result depends on
// the items alone.
#ifndef KYMO_EXPORTERS_HTML_SHOWN_PART_H_
#define KYMO_EXPORTERS_HTML_SHOWN_PART_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "profiler/base/time.h"

namespace kymo::html {

class ShownPart {
 public:
  explicit ShownPart(uint64_t most) : most_(most) {}

  void Count(DurationNs ns) { ++counts_[ClassOf(ns)]; }
  // Call it between the last Count and the first Shows.
  void Decide();
  // Call it once for each item that was counted, in any order.
  bool Shows(DurationNs ns);

  uint64_t left_out() const { return left_out_; }
  // Items of this length and more are all shown.
  DurationNs least_ns() const;

 private:
  // Classes are 16 to each power of two; below 16 ns each length has its own.
  static constexpr size_t kSteps = 16;
  static size_t ClassOf(DurationNs ns);

  const uint64_t most_;
  std::array<uint64_t, 61 * kSteps> counts_ = {};
  size_t cut_ = 0;           // the class of which only a part is shown
  uint64_t cut_shown_ = 0;   // so many of it
  uint64_t cut_spread_ = 0;  // what is shown of it so far, in fractions
  uint64_t left_out_ = 0;
};

}  // namespace kymo::html

#endif  // KYMO_EXPORTERS_HTML_SHOWN_PART_H_
