// export_files.h - runs a command's exporters.
//
//   ExportRequest request = {.exporters = {"chrome", "stacks"}};
//   absl::Status status = ExportFiles(request, trace, exporters, out, notes);
//
// Every file is complete or absent. After an error it goes on with the other
// exporters; the errors are returned as one. Of a trace that is not large, they
// work side by side.
#ifndef KYMO_TOOLS_DELIVER_EXPORT_FILES_H_
#define KYMO_TOOLS_DELIVER_EXPORT_FILES_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "profiler/analysis/averages/window_sums.h"
#include "profiler/analysis/memory/lazy_profiles.h"
#include "profiler/analysis/ranks/lazy_job.h"
#include "profiler/analysis/ranks/rank_sums.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/registry.h"
#include "profiler/plugin/sink.h"
#include "profiler/plugin/trace_exporter.h"

namespace kymo::tools {

struct ExportRequest {
  std::vector<std::string> exporters;  // names that are registered
  // The one of them whose file is small and says what matters most: it is
  // written before the others, as the disk may become full, and again if these
  // leave something out.
  std::string first = "summary";
  bool gzip = false;
  // Of all files together; 0: any number. The exporters that obey it get equal
  // parts (PluginInfo::takes_max_bytes).
  uint64_t max_bytes = 0;
  bool keeps_ranges = false;  // as in ExportOptions
  // Of a timeline, which is then split and not bounded otherwise; 0: any
  // number.
  int64_t max_file_bytes = 0;
  std::map<std::string, std::string> settings;
  // Of all of a recording whose trace has the newest part. The exporters that
  // take sums get them. May be null.
  const analysis::WindowSums* sums = nullptr;
  // Of all ranks of a job whose trace has some of them. May be null.
  const analysis::RankSums* job = nullptr;
  // Of the trace, if others show them as well: made for the first who asks.
  // Null: the exporters share them with nobody.
  const analysis::LazyMemoryProfiles* memory = nullptr;
  // The same of the ranks of a job.
  const analysis::LazyJobOfRanks* ranks = nullptr;
  // What the exporters compare the trace with. May be null.
  const model::Trace* before = nullptr;
  // Called once, beside the exporters if they work side by side, else before
  // them. May be empty.
  std::function<void()> beside;
  // Called now and then with what an exporter has done, 0..1. May be empty.
  std::function<void(const std::string& exporter, double done)> progress;
};

// Adds to `notes` what the user should know about the files.
absl::Status ExportFiles(const ExportRequest& request,
                         const model::Trace& trace,
                         const ExporterRegistry& exporters,
                         OutputDirectory& out, ExportNotes& notes);

// The same for a recording that is larger than memory. Leaves out exporters
// that take no sums (PluginInfo::exports_sums).
absl::Status ExportFilesOfSums(const ExportRequest& request,
                               const analysis::WindowSums& sums,
                               const ExporterRegistry& exporters,
                               OutputDirectory& out, ExportNotes& notes);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_DELIVER_EXPORT_FILES_H_
