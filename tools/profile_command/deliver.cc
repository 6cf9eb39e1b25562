#include "tools/profile_command/deliver.h"

#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "importers/load/recorded_options.h"
#include "profiler/analysis/averages/duplicates.h"
#include "profiler/analysis/flops.h"
#include "profiler/analysis/memory/memory_profile.h"
#include "profiler/base/clock.h"
#include "profiler/base/status_macros.h"
#include "profiler/events/averages/trace_averages.h"
#include "profiler/report/ledger_text.h"
#include "profiler/report/memory_report.h"
#include "profiler/report/sample_table.h"
#include "profiler/report/table.h"
#include "profiler/text/text_cells.h"
#include "tools/deliver/export_files.h"

namespace kymo::tools {
namespace {

constexpr char kDefaultSort[] = "self_cpu_time_total";
constexpr char kDeviceSort[] = "self_device_time_total";

std::string SortKey(const model::Trace& trace, const ProfileCommand& command) {
  if (!command.sort_by.empty()) return command.sort_by;
  return RecordedOptionsOf(trace).use_device.empty() ? kDefaultSort
                                                     : kDeviceSort;
}

// Shows "kymo: writing trace.json 43%" on a terminal, once writing takes a
// while.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted)
      : wanted_(wanted && isatty(STDERR_FILENO)), start_ns_(MonotonicNs()) {}
  ~ProgressLine() {
    if (shown_) fprintf(stderr, "\r\033[K");
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Update(const std::string& what, double done) {
    const int64_t now_ns = MonotonicNs();
    if (!wanted_ || now_ns - start_ns_ < kNsPerSecond / 2 ||
        now_ns - last_ns_ < kNsPerSecond / 10) {
      return;
    }
    last_ns_ = now_ns;
    shown_ = true;
    fprintf(stderr, "\r\033[Kkymo: writing %s %.0f%%", what.c_str(),
            100 * done);
    fflush(stderr);
  }

 private:
  const bool wanted_;
  const int64_t start_ns_;
  int64_t last_ns_ = 0;
  bool shown_ = false;
};

// PyTorch's table of averages, grouped as the command asks.
absl::StatusOr<std::string> AveragesTable(
    const model::Trace& trace, const ProfileCommand& command,
    const report::TableOptions& table_options) {
  TraceEventsOptions options = {.profile_memory = command.profile_memory,
                                .with_flops = command.with_flops,
                                .duplicates = analysis::DuplicatesOf(trace)};
  const std::string device = RecordedOptionsOf(trace).use_device;
  if (!device.empty()) options.use_device = device;
  FlopsEstimate estimate;
  if (command.with_flops) {
    estimate = EstimateFlops(trace, FlopsRegistry::Process());
    options.flops = [&](model::EventIndex event) {
      return estimate.flops[event];
    };
  }
  KYMO_ASSIGN_OR_RETURN(
      const EventAverages averages,
      AveragesOfTrace(
          trace, options,
          {.group_by_input_shape = command.group_by_input_shape,
           .group_by_stack_n = static_cast<size_t>(command.group_by_stack_n)}));
  KYMO_ASSIGN_OR_RETURN(std::string text, averages.table(table_options));
  for (const std::string& warning : estimate.warnings) {
    absl::StrAppend(&text, "note: ", warning, "\n");
  }
  return text;
}

// The summary is always written.
std::vector<std::string> ExportersOf(const ProfileCommand& command) {
  std::vector<std::string> names = command.exporters;
  names.emplace_back("summary");
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

absl::Status WriteTables(const std::string& tables, OutputDirectory& out) {
  KYMO_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSink> sink,
                        out.Open("key_averages.txt"));
  KYMO_RETURN_IF_ERROR(sink->Append(tables));
  return sink->Commit();
}

absl::StatusOr<std::string> SamplesTable(const model::Trace& trace,
                                         const ProfileCommand& command) {
  report::SampleTableOptions options;
  options.sort_by = report::SampleSortKey(SortKey(trace, command));
  options.row_limit = command.row_limit;
  return report::FormatSampleTable(report::MakeSampleTable(trace), options);
}

namespace {

constexpr int kShortRows = 20;
constexpr size_t kShortPools = 10;
constexpr size_t kAllPools = std::numeric_limits<size_t>::max();

// The `most` pools that were largest at their peak, after a line about all.
std::string MemoryText(const model::Trace& trace, size_t most) {
  std::vector<analysis::MemoryProfile> profiles =
      analysis::ProfileMemory(trace);
  if (profiles.size() <= most) {
    return report::MemoryReport(trace, profiles, {});
  }
  int64_t allocations = 0;
  int64_t allocated_bytes = 0;
  for (const analysis::MemoryProfile& profile : profiles) {
    allocations += profile.totals.allocations;
    allocated_bytes += profile.totals.allocated_bytes;
  }
  const std::string all = absl::StrCat(
      "Memory of ", profiles.size(), " heaps and the like: ", allocations,
      " allocations of ", report::FormatMemory(allocated_bytes), ". The ", most,
      " with the largest peaks follow; key_averages.txt has all.\n\n");
  std::stable_sort(
      profiles.begin(), profiles.end(),
      [](const auto& a, const auto& b) { return a.peak.bytes > b.peak.bytes; });
  profiles.resize(most);
  return all + report::MemoryReport(trace, profiles, {});
}

absl::StatusOr<std::string> TablesOf(const model::Trace& trace,
                                     const ProfileCommand& command,
                                     size_t most_pools) {
  report::TableOptions options;
  options.sort_by = SortKey(trace, command);
  options.row_limit = command.row_limit;
  KYMO_ASSIGN_OR_RETURN(std::string text,
                        AveragesTable(trace, command, options));
  KYMO_ASSIGN_OR_RETURN(const std::string samples,
                        SamplesTable(trace, command));
  if (!text.empty() && !samples.empty()) text += '\n';
  text += samples;
  if (command.profile_memory) {
    const std::string memory = MemoryText(trace, most_pools);
    if (!text.empty() && !memory.empty()) text += '\n';
    text += memory;
  }
  if (text.empty()) {
    text = "Nothing was recorded: no annotated range ran, and no sample hit.\n";
  }
  return text + report::LedgerText(trace.ledger());
}

}  // namespace

absl::StatusOr<std::string> Tables(const model::Trace& trace,
                                   const ProfileCommand& command) {
  return TablesOf(trace, command, kAllPools);
}

absl::StatusOr<std::string> ShortTables(const model::Trace& trace,
                                        const ProfileCommand& command) {
  ProfileCommand shorter = command;
  if (shorter.row_limit < 0 || shorter.row_limit > kShortRows) {
    shorter.row_limit = kShortRows;
  }
  return TablesOf(trace, shorter, kShortPools);
}

absl::Status WriteFiles(const model::Trace& trace, const std::string& tables,
                        const ProfileCommand& command,
                        const ExporterRegistry& exporters, OutputDirectory& out,
                        std::vector<std::string>& notices) {
  absl::Status first = WriteTables(tables, out);
  ProgressLine progress(!command.quiet);
  const ExportRequest request = {
      .exporters = ExportersOf(command),
      .gzip = command.gzip,
      .max_file_bytes = command.max_file_bytes,
      .settings = command.settings,
      .after_error = AfterError::kGoOn,
      .progress = [&](const std::string& exporter, double done) {
        progress.Update(exporter, done);
      }};
  first.Update(ExportFiles(request, trace, exporters, out, notices));
  return first;
}

absl::Status ExportSums(const analysis::WindowSums& sums,
                        const ProfileCommand& command,
                        const ExporterRegistry& exporters,
                        OutputDirectory& out) {
  const ExportRequest request = {.exporters = ExportersOf(command),
                                 .gzip = command.gzip,
                                 .settings = command.settings,
                                 .after_error = AfterError::kGoOn};
  return ExportFilesOfSums(request, sums, exporters, out);
}

}  // namespace kymo::tools
