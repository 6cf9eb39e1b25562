// page_limits.h - how much of a trace a page has at most.
//
//   PageLimits limits;               // what a browser shows well
//   limits = limits.Part(4);         // a quarter
#ifndef KYMO_EXPORTERS_HTML_PAGE_LIMITS_H_
#define KYMO_EXPORTERS_HTML_PAGE_LIMITS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kymo::html {

struct PageLimits {
  uint64_t ranges = 1'100'000;  // and marks
  uint64_t details = 400'000;   // ranges with arguments and stacks
  uint64_t samples = 500'000;
  uint64_t waits = 300'000;
  size_t text_bytes = 16'384;  // of one name

  PageLimits Part(uint64_t divisor) const {
    return {.ranges = ranges / divisor,
            .details = details / divisor,
            .samples = samples / divisor,
            .waits = waits / divisor,
            .text_bytes = std::max<size_t>(text_bytes / divisor, 128)};
  }
};

}  // namespace kymo::html

#endif  // KYMO_EXPORTERS_HTML_PAGE_LIMITS_H_
