// short_slices.h - the short slices that a file has no room for.
//
//   ShortSlices slices = {.shorter_than_ns = 2'000'000};
//   ... count the slices, and leave out those that are shorter ...
//   if (slices.left_out > 0) {
//     notices.push_back(name + ": " + TextOf(slices, "slices of waits"));
//   }
#ifndef KYMO_EXPORTERS_TIMELINE_SHORT_SLICES_H_
#define KYMO_EXPORTERS_TIMELINE_SHORT_SLICES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "profiler/base/time.h"

namespace kymo::timeline {

struct ShortSlices {
  DurationNs shorter_than_ns = 0;  // those are left out; 0: none
  uint64_t all = 0;
  uint64_t left_out = 0;
};

// "7 slices of waits are left out, because ...". `what` is a plural.
std::string TextOf(const ShortSlices& slices, std::string_view what);

}  // namespace kymo::timeline

#endif  // KYMO_EXPORTERS_TIMELINE_SHORT_SLICES_H_
