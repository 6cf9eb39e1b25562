// split_export.h - files of bounded size: a long trace split at its steps.
//
//   KYMO_ASSIGN_OR_RETURN(
//       SplitFiles files,
//       ExportWithin(64 << 20, *chrome, trace, options, out));
//   // trace.steps_0-11.json, trace.steps_12-23.json, ...
//
// Where a file of the whole trace would have more bytes than allowed, the trace
// is split at the steps of the thread that has most of them: ranges
// "ProfilerStep#N", each of which lasts until the next one begins. Every file
// is complete on its own (model/trace_slice.h says what ranges around a split
// become) and has the metadata "kymo_part": the number of the part, of how
// many, its first and last step, and how many of its events stand in an earlier
// part too. What lies before the first step is in the first part.
//
// Nothing is cut: a single step that is too large, a trace without steps, and
// formats that cannot be split are written whole and said in `notice`.
//
// Errors: those of the exporter. Parts that were written before one are
//   removed.
// Cost: about three exports, of which one writes.
#ifndef KYMO_PROFILER_PLUGIN_SPLIT_EXPORT_H_
#define KYMO_PROFILER_PLUGIN_SPLIT_EXPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/sink.h"
#include "profiler/plugin/trace_exporter.h"

namespace kymo {

struct SplitFiles {
  std::vector<std::string> names;
  std::string notice;  // what could not be kept to, in words; empty: nothing
};

// Exporters whose info().splits_by_step is false write whole files.
// REQUIRES: max_file_bytes > 0.
absl::StatusOr<SplitFiles> ExportWithin(int64_t max_file_bytes,
                                        const TraceExporter& exporter,
                                        const model::Trace& trace,
                                        const ExportOptions& options,
                                        OutputDirectory& out);

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_SPLIT_EXPORT_H_
