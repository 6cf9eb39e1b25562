#include "tools/profile_command/deliver.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "importers/load/recorded_options.h"
#include "profiler/analysis/averages/duplicates.h"
#include "profiler/analysis/flops.h"
#include "profiler/analysis/memory/memory_profile.h"
#include "profiler/base/status_macros.h"
#include "profiler/events/averages/event_table.h"
#include "profiler/events/averages/trace_averages.h"
#include "profiler/report/ledger_text.h"
#include "profiler/report/memory_report.h"
#include "profiler/report/sample_table.h"
#include "profiler/report/table.h"
#include "profiler/report/thread_tables.h"
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

// PyTorch's table of averages, grouped as the command asks, and its rows.
absl::StatusOr<std::string> AveragesTable(
    const model::Trace& trace, const ProfileCommand& command,
    const report::TableOptions& table_options, ScreenTables& screen) {
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
  screen.ranges = EventTableRows(averages);
  // The report on memory says it better.
  std::erase_if(screen.ranges, [](const report::TableRow& row) {
    return row.key == "[memory]" || row.key == "[OutOfMemory]";
  });
  screen.use_device = device;
  KYMO_ASSIGN_OR_RETURN(std::string text, averages.table(table_options));
  for (const std::string& warning : estimate.warnings) {
    absl::StrAppend(&text, "note: ", warning, "\n");
  }
  return text;
}

absl::StatusOr<std::string> SamplesTable(const report::SampleTable& table,
                                         const model::Trace& trace,
                                         const ProfileCommand& command) {
  report::SampleTableOptions options;
  options.sort_by = report::SampleSortKey(SortKey(trace, command));
  options.row_limit = command.row_limit;
  return report::FormatSampleTable(table, options);
}

// A build has hundreds of processes; the screen shows no more of their heaps.
constexpr size_t kMostHeaps = 10;

// The memory of those that were largest at their peak, after a line about all.
std::string LargestHeaps(const model::Trace& trace,
                         std::vector<analysis::MemoryProfile> profiles) {
  int64_t allocations = 0;
  int64_t allocated_bytes = 0;
  for (const analysis::MemoryProfile& profile : profiles) {
    allocations += profile.totals.allocations;
    allocated_bytes += profile.totals.allocated_bytes;
  }
  const std::string all = absl::StrCat(
      "Memory of ", profiles.size(), " heaps and the like: ", allocations,
      " allocations of ", report::FormatMemory(allocated_bytes), ". The ",
      kMostHeaps,
      " with the largest peaks follow; key_averages.txt has all.\n\n");
  std::stable_sort(
      profiles.begin(), profiles.end(),
      [](const auto& a, const auto& b) { return a.peak.bytes > b.peak.bytes; });
  profiles.resize(kMostHeaps);
  return all + report::MemoryReport(trace, profiles, {});
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
  return SamplesTable(report::MakeSampleTable(trace), trace, command);
}

absl::StatusOr<RunTables> MakeTables(const model::Trace& trace,
                                     const ProfileCommand& command) {
  RunTables tables;
  ScreenTables& screen = tables.screen;
  screen.sort_by = SortKey(trace, command);
  screen.profile_memory = command.profile_memory;
  report::TableOptions options;
  options.sort_by = screen.sort_by;
  options.row_limit = command.row_limit;
  KYMO_ASSIGN_OR_RETURN(std::string text,
                        AveragesTable(trace, command, options, screen));
  screen.functions = report::MakeSampleTable(trace);
  KYMO_ASSIGN_OR_RETURN(const std::string samples,
                        SamplesTable(screen.functions, trace, command));
  if (!text.empty() && !samples.empty()) text += '\n';
  text += samples;
  const std::string threads = report::ThreadsText(trace, command.row_limit);
  screen.has_threads = !threads.empty();
  if (!text.empty() && !threads.empty()) text += '\n';
  text += threads;
  if (command.profile_memory) {
    std::vector<analysis::MemoryProfile> profiles =
        analysis::ProfileMemory(trace);
    for (const analysis::MemoryProfile& profile : profiles) {
      if (profile.pool.source == model::MemorySource::kHeap) {
        screen.allocations += profile.totals.allocations;
      }
    }
    const std::string memory = report::MemoryReport(trace, profiles, {});
    screen.memory = profiles.size() <= kMostHeaps
                        ? memory
                        : LargestHeaps(trace, std::move(profiles));
    if (!text.empty() && !memory.empty()) text += '\n';
    text += memory;
  }
  if (text.empty()) text = kNothingRecorded;
  tables.text = text + report::LedgerText(trace.ledger());
  return tables;
}

absl::Status WriteFiles(const model::Trace& trace, const std::string& tables,
                        const ProfileCommand& command,
                        const ExporterRegistry& exporters, OutputDirectory& out,
                        ProgressLine& progress, ExportNotes& notes) {
  absl::Status first = WriteTables(tables, out);
  const ExportRequest request = {
      .exporters = ExportersOf(command),
      .gzip = command.gzip,
      .max_bytes = command.max_size,
      .max_file_bytes = command.max_file_bytes,
      .settings = command.settings,
      .after_error = AfterError::kGoOn,
      .progress = [&](const std::string& exporter, double done) {
        progress.Show("writing " + exporter, done);
      }};
  first.Update(ExportFiles(request, trace, exporters, out, notes));
  const std::string of_files = report::LedgerText(notes.ledger);
  if (!of_files.empty()) first.Update(WriteTables(tables + of_files, out));
  return first;
}

absl::Status ExportSums(const analysis::WindowSums& sums,
                        const ProfileCommand& command,
                        const ExporterRegistry& exporters, OutputDirectory& out,
                        ExportNotes& notes) {
  const ExportRequest request = {.exporters = ExportersOf(command),
                                 .gzip = command.gzip,
                                 .max_bytes = command.max_size,
                                 .settings = command.settings,
                                 .after_error = AfterError::kGoOn};
  return ExportFilesOfSums(request, sums, exporters, out, notes);
}

}  // namespace kymo::tools
