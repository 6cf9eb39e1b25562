// run_exporter.h - calls exporters. An export that runs out of memory becomes
// an error.
//
//   KYMO_ASSIGN_OR_RETURN(
//       const SplitFiles files,
//       RunExporter(*exporter, trace, options, /*max_file_bytes=*/0, out));
//
// Errors: those of the exporter. When memory runs out, the error is
//   kResourceExhausted and names the file that was being written; files that
//   the exporter had finished are removed.
#ifndef KYMO_PROFILER_PLUGIN_RUN_EXPORTER_H_
#define KYMO_PROFILER_PLUGIN_RUN_EXPORTER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/sink.h"
#include "profiler/plugin/split_export.h"
#include "profiler/plugin/trace_exporter.h"

namespace kymo {

// Exports the trace. A timeline whose file would have more than
// `max_file_bytes` is split as split_export.h says; 0: files of any size.
absl::StatusOr<SplitFiles> RunExporter(const TraceExporter& exporter,
                                       const model::Trace& trace,
                                       const ExportOptions& options,
                                       int64_t max_file_bytes,
                                       OutputDirectory& out);

// Exports the sums of a recording that is larger than memory and returns the
// names of the files.
absl::StatusOr<std::vector<std::string>> RunExporterOnSums(
    const TraceExporter& exporter, const analysis::WindowSums& sums,
    const ExportOptions& options, OutputDirectory& out);

// The same for the writing of one file without an exporter. Returns write()'s
// status, or the error that memory ran out for the file `path`.
absl::Status WriteWithinMemory(const std::string& path,
                               const std::function<absl::Status()>& write);

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_RUN_EXPORTER_H_
