// split_export.h - files of bounded size: a long trace split at its steps.
//
//   KYMO_ASSIGN_OR_RETURN(
//       SplitFiles files,
//       ExportWithin(64 << 20, *chrome, trace, options, out));
//   // trace.steps_0-11.json, trace.steps_12-23.json, ...
//
// If a file of the whole trace would be larger than allowed, the trace is split
// at the steps of the thread that has most of them. Steps are ranges
// "ProfilerStep#N", each of which lasts until the next one begins. Every file
// is complete on its own (profiler/model/trace_slice.h explains ranges around a
// split). Its metadata "kymo_part" has the number of the part, the number of
// parts, its first and last step, and how many of its events are in an earlier
// part too. The first part also has the events before the first step. All parts
// have the same "kymo_recording": who reads several of them together counts the
// losses of the recording once.
//
// Nothing is cut. A single step that is too large, a trace without steps, and
// formats that cannot be split are written whole; `notice` then says so.
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
  std::string notice;  // why a file is larger than allowed; empty: none is
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
