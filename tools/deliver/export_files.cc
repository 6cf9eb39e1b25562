#include "tools/deliver/export_files.h"

#include "profiler/base/status_macros.h"
#include "profiler/plugin/run_exporter.h"
#include "profiler/plugin/trace_exporter.h"

namespace kymo::tools {
namespace {

// run(exporter, options) of each.
template <typename Run>
absl::Status ForEachExporter(const ExportRequest& request,
                             const ExporterRegistry& exporters, Run run) {
  absl::Status first;
  for (const std::string& name : request.exporters) {
    ExportOptions options;
    options.gzip = request.gzip;
    options.settings = request.settings;
    if (request.progress) {
      options.progress = [&](double done) { request.progress(name, done); };
    }
    first.Update(run(*exporters.Find(name), options));
    if (!first.ok() && request.after_error == AfterError::kStop) break;
  }
  return first;
}

}  // namespace

absl::Status ExportFiles(const ExportRequest& request,
                         const model::Trace& trace,
                         const ExporterRegistry& exporters,
                         OutputDirectory& out,
                         std::vector<std::string>& notices) {
  return ForEachExporter(
      request, exporters,
      [&](const TraceExporter& exporter,
          const ExportOptions& options) -> absl::Status {
        KYMO_ASSIGN_OR_RETURN(
            const SplitFiles files,
            RunExporter(exporter, trace, options, request.max_file_bytes, out));
        if (!files.notice.empty()) notices.push_back(files.notice);
        return absl::OkStatus();
      });
}

absl::Status ExportFilesOfSums(const ExportRequest& request,
                               const analysis::WindowSums& sums,
                               const ExporterRegistry& exporters,
                               OutputDirectory& out) {
  return ForEachExporter(
      request, exporters,
      [&](const TraceExporter& exporter,
          const ExportOptions& options) -> absl::Status {
        if (!exporter.info().exports_sums) return absl::OkStatus();
        return RunExporterOnSums(exporter, sums, options, out).status();
      });
}

}  // namespace kymo::tools
