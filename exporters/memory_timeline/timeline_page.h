// timeline_page.h - a memory timeline as a page for a browser.
//
// One file that loads nothing else: a stacked area chart by category, made of
// the parts of report.html (exporters/html/page/memory_page.js). Pointing and
// the arrow keys show time and bytes, the wheel zooms, dragging moves, a double
// click shows all again. A table with all points is behind the picture.
//
// The page has at most 5000 points. Of a longer timeline it keeps points that
// show the extremes of the sum (profiler/analysis/memory/thinned_curve.h).
#ifndef KYMO_EXPORTERS_MEMORY_TIMELINE_TIMELINE_PAGE_H_
#define KYMO_EXPORTERS_MEMORY_TIMELINE_TIMELINE_PAGE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "profiler/analysis/memory/timeline/memory_timeline.h"
#include "profiler/base/time.h"
#include "profiler/model/folded_memory.h"
#include "profiler/plugin/sink.h"

namespace kymo::memory_timeline {

inline constexpr size_t kMaxPagePoints = 5'000;

struct TimelinePage {
  std::span<const analysis::MemoryTimelineEvent> events;
  // Not null: the page shows this instead of events. Of folded memory no
  // category is known.
  const model::FoldedMemory* folded = nullptr;
  std::string device;   // named as in profiler/analysis/memory/memory_device.h
  TimeNs start_ns = 0;  // of the time axis
  TimeNs end_ns = 0;
  int64_t max_reserved = 0;  // 0 = not known
};

// The script's data, as JSON:
//   {"device": "cpu", "end_us": 90, "max_allocated": 40, "max_reserved": 0,
//    "points": 2, "categories": ["PARAMETER", ...], "times_us": [5, 9],
//    "bytes": [[0, 0, 0, 0, 40, 0, 0, 0], ...]}
// Times count from start_ns; `points` is the number of points before thinning.
std::string TimelinePageData(const TimelinePage& page);

// Appends to `sink` and does not commit it.
absl::Status WriteTimelinePage(const TimelinePage& page, ByteSink& sink);

}  // namespace kymo::memory_timeline

#endif  // KYMO_EXPORTERS_MEMORY_TIMELINE_TIMELINE_PAGE_H_
