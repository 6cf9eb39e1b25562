#include "exporters/timeline/short_slices.h"

#include "absl/strings/str_cat.h"
#include "profiler/base/strings.h"

namespace kymo::timeline {
namespace {

constexpr char kWhy[] = "to stay within --max_size; 0 shows each of them";

std::string Text(DurationNs ns) {
  return ns < 10 * kNsPerMs ? absl::StrCat(ns / kNsPerUs, " us")
                            : absl::StrCat(ns / kNsPerMs, " ms");
}

}  // namespace

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
