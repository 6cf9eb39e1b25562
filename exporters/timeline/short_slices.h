// short_slices.h - the short slices that a file has no room for.
//
//   ShortSlices slices = {.shorter_than_ns = LeastWaitNs(trace, form.fold)};
//   ... count the slices, and leave out those that are shorter ...
//   if (slices.left_out > 0) {
//     notices.push_back(name + ": " + TextOf(slices, "slices of waits"));
//   }
#ifndef KYMO_EXPORTERS_TIMELINE_SHORT_SLICES_H_
#define KYMO_EXPORTERS_TIMELINE_SHORT_SLICES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::timeline {

struct ShortSlices {
  DurationNs shorter_than_ns = 0;  // those are left out; 0: none
  uint64_t all = 0;
  uint64_t left_out = 0;
};

bool HasWaits(const model::Trace& trace);

// The shortest slices of flame charts, and of waits, that a file shows in which
// 1 / fold of what can be folded has room. 0: it shows all.
DurationNs LeastFlameNs(const model::Trace& trace, size_t fold);
DurationNs LeastWaitNs(const model::Trace& trace, size_t fold);

// "7 slices of waits are left out, because ...". `what` is a plural.
std::string TextOf(const ShortSlices& slices, std::string_view what);

}  // namespace kymo::timeline

#endif  // KYMO_EXPORTERS_TIMELINE_SHORT_SLICES_H_
