#include "exporters/timeline/short_slices.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "exporters/timeline/flame_slices.h"
#include "profiler/base/strings.h"
#include "profiler/model/thread_states.h"

namespace kymo::timeline {
namespace {

constexpr char kWhy[] = "to stay within --max_size; 0 shows each of them";

std::string Text(DurationNs ns) {
  return ns < 10 * kNsPerMs ? absl::StrCat(ns / kNsPerUs, " us")
                            : absl::StrCat(ns / kNsPerMs, " ms");
}

}  // namespace

bool HasWaits(const model::Trace& trace) {
  return trace.thread_states() != nullptr &&
         !trace.thread_states()->waits.empty();
}

DurationNs LeastFlameNs(const model::Trace& trace, size_t fold) {
  if (fold <= 1) return 0;
  return static_cast<DurationNs>(fold) * SlicePeriodNs(trace);
}

DurationNs LeastWaitNs(const model::Trace& trace, size_t fold) {
  if (fold <= 1 || !HasWaits(trace)) return 0;
  return static_cast<DurationNs>(fold) *
         std::max<DurationNs>(trace.thread_states()->min_wait_ns, kNsPerUs);
}

std::string TextOf(const ShortSlices& slices, std::string_view what) {
  // The limit may be far above the longest slice.
  if (slices.left_out == slices.all) {
    return absl::StrCat("all ", slices.all, " ", ToAbsl(what),
                        " are left out, ", kWhy);
  }
  return absl::StrCat(slices.left_out, " of ", slices.all, " ", ToAbsl(what),
                      " are left out, because they are shorter than ",
                      Text(slices.shorter_than_ns), ", ", kWhy);
}

}  // namespace kymo::timeline
