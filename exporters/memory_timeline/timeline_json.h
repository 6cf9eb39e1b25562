// timeline_json.h - a memory timeline in the two JSON forms of PyTorch.
//
//   timeline  [[5, 9], [[0, 0, 0, 0, 0, 40, 0, 0, 0], [0, 0, ...]]]
//             the times in us, and for each time the bytes by category. A 0
//             comes first: the base line of a stacked chart.
//   raw       [[5000, 2, 40, 4], [9000, 4, -40, 4]]
//             time in ns, action, bytes, category
//
// The text is that of Python's json.dump, byte for byte. Times in us are cut
// off as profiler/analysis/memory/timeline/memory_timeline.h says.
#ifndef KYMO_EXPORTERS_MEMORY_TIMELINE_TIMELINE_JSON_H_
#define KYMO_EXPORTERS_MEMORY_TIMELINE_TIMELINE_JSON_H_

#include <span>

#include "absl/status/status.h"
#include "profiler/analysis/memory/timeline/memory_timeline.h"
#include "profiler/plugin/sink.h"

namespace kymo::memory_timeline {

// Both append to `sink` and do not commit it.
absl::Status WriteTimelineJson(
    std::span<const analysis::MemoryTimelineEvent> events, ByteSink& sink);
absl::Status WriteRawTimelineJson(
    std::span<const analysis::MemoryTimelineEvent> events, ByteSink& sink);

}  // namespace kymo::memory_timeline

#endif  // KYMO_EXPORTERS_MEMORY_TIMELINE_TIMELINE_JSON_H_
