// memory_timeline.h - PyTorch's export_memory_timeline, and the exporter
// `memory_timeline`.
//
//   KYMO_RETURN_IF_ERROR(ExportMemoryTimeline(trace, "memory.html"));
//   KYMO_RETURN_IF_ERROR(
//       ExportMemoryTimeline(trace, "gpu.raw.json.gz", "cuda:0"));
//
// The form follows from the end of the path, as in PyTorch:
//
//   .html        a page that draws it (timeline_page.h)
//   raw.json.gz  events, compressed (timeline_json.h: raw)
//   .gz          rows, compressed   (timeline_json.h: timeline)
//   other        rows
//
// profiler/analysis/memory/timeline/memory_timeline.h says which records
// count, and where the categories come from.
//
// Errors: kInvalidArgument if `device` is no device's name; errors of files
// (profiler/plugin/sink.h). No incomplete file is left.
#ifndef KYMO_EXPORTERS_MEMORY_TIMELINE_MEMORY_TIMELINE_H_
#define KYMO_EXPORTERS_MEMORY_TIMELINE_MEMORY_TIMELINE_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/trace_exporter.h"

namespace kymo {

// `device` as "cpu" or "cuda:0".
absl::Status ExportMemoryTimeline(const model::Trace& trace,
                                  const std::string& path,
                                  std::string_view device = "cpu");

// Writes memory_timeline.html. The setting memory_timeline_form=json writes
// memory_timeline.json instead (.json.gz with options.gzip), and raw writes
// memory_timeline.raw.json.gz. The setting memory_timeline_device=NAME chooses
// the device.
std::unique_ptr<TraceExporter> NewMemoryTimelineExporter();

}  // namespace kymo

#endif  // KYMO_EXPORTERS_MEMORY_TIMELINE_MEMORY_TIMELINE_H_
