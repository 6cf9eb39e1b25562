#include "tools/deliver/export_files.h"

#include <algorithm>

#include "profiler/base/status_macros.h"
#include "profiler/plugin/run_exporter.h"
#include "profiler/plugin/trace_exporter.h"

namespace kymo::tools {
namespace {

// The part of the request's bytes that each exporter which obeys them gets.
uint64_t BytesOfEach(const ExportRequest& request,
                     const ExporterRegistry& exporters) {
  uint64_t obey = 0;
  for (const std::string& name : request.exporters) {
    if (exporters.Find(name)->info().takes_max_bytes) ++obey;
  }
  return request.max_bytes / std::max<uint64_t>(obey, 1);
}

// run(exporter, options) of each.
template <typename Run>
absl::Status ForEachExporter(const ExportRequest& request,
                             const ExporterRegistry& exporters,
                             ExportNotes& notes, Run run) {
  const uint64_t bytes_of_each = BytesOfEach(request, exporters);
  absl::Status first;
  for (const std::string& name : request.exporters) {
    const TraceExporter& exporter = *exporters.Find(name);
    ExportOptions options;
    options.gzip = request.gzip;
    options.settings = request.settings;
    options.before = request.before;
    options.job = request.job;
    options.notes = &notes;
    // Splitting keeps every event.
    const bool is_split =
        request.max_file_bytes != 0 && exporter.info().splits_by_step;
    if (!is_split && exporter.info().takes_max_bytes) {
      options.max_bytes = bytes_of_each;
    }
    if (request.progress) {
      options.progress = [&](double done) { request.progress(name, done); };
    }
    first.Update(run(exporter, options));
    if (!first.ok() && request.after_error == AfterError::kStop) break;
  }
  return first;
}

}  // namespace

absl::Status ExportFiles(const ExportRequest& request,
                         const model::Trace& trace,
                         const ExporterRegistry& exporters,
                         OutputDirectory& out, ExportNotes& notes) {
  return ForEachExporter(
      request, exporters, notes,
      [&](const TraceExporter& exporter,
          const ExportOptions& options) -> absl::Status {
        if (request.sums != nullptr && exporter.info().exports_sums) {
          return RunExporterOnSums(exporter, *request.sums, options, out)
              .status();
        }
        KYMO_ASSIGN_OR_RETURN(
            const SplitFiles files,
            RunExporter(exporter, trace, options, request.max_file_bytes, out));
        if (!files.notice.empty()) notes.notices.push_back(files.notice);
        return absl::OkStatus();
      });
}

absl::Status ExportFilesOfSums(const ExportRequest& request,
                               const analysis::WindowSums& sums,
                               const ExporterRegistry& exporters,
                               OutputDirectory& out, ExportNotes& notes) {
  return ForEachExporter(
      request, exporters, notes,
      [&](const TraceExporter& exporter,
          const ExportOptions& options) -> absl::Status {
        if (!exporter.info().exports_sums) return absl::OkStatus();
        return RunExporterOnSums(exporter, sums, options, out).status();
      });
}

}  // namespace kymo::tools
