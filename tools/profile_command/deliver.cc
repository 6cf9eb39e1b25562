#include "tools/profile_command/deliver.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "importers/load/recorded_options.h"
#include "profiler/analysis/averages/counter_values.h"
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
#include "profiler/report/wait_tables.h"
#include "profiler/session/distributed_info.h"
#include "profiler/text/json_text.h"
#include "profiler/text/text_cells.h"
#include "tools/command_line/say.h"
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

// The same of a recording whose trace is not whole.
absl::StatusOr<std::string> SumsTable(const analysis::WindowSums& sums,
                                      const report::TableOptions& options,
                                      ScreenTables& screen) {
  screen.ranges = report::TableRows(sums.Averages());
  screen.older_events = sums.ledger().Get(model::Loss::kEventsOverwritten);
  screen.older_values = sums.ledger().Get(model::Loss::kCounterValuesSummed);
  return report::FormatTable(screen.ranges, options);
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

bool HasSeveralProcesses(const std::vector<analysis::MemoryProfile>& profiles) {
  return std::ranges::any_of(profiles, [&](const auto& profile) {
    return profile.pool.pid != profiles.front().pool.pid;
  });
}

// The memory of those that were largest at their peak, after a line about all.
// Of a shell and what it starts, the shell is hardly ever in question.
std::string LargestHeaps(const model::Trace& trace,
                         const std::vector<analysis::MemoryProfile>& profiles) {
  int64_t allocations = 0;
  int64_t allocated_bytes = 0;
  for (const analysis::MemoryProfile& profile : profiles) {
    allocations += profile.totals.allocations;
    allocated_bytes += profile.totals.allocated_bytes;
  }
  const std::string all = absl::StrCat(
      "Memory of ", profiles.size(), " heaps and the like: ", allocations,
      " allocations of ", report::FormatBytes(allocated_bytes),
      profiles.size() <= kMostHeaps
          ? ". The one with the largest peak comes first.\n\n"
          : absl::StrCat(". The ", kMostHeaps,
                         " with the largest peaks follow; key_averages.txt has "
                         "all.\n\n"));
  std::vector<const analysis::MemoryProfile*> by_peak;
  for (const analysis::MemoryProfile& profile : profiles) {
    by_peak.push_back(&profile);
  }
  std::ranges::stable_sort(by_peak, std::greater(), [](const auto* profile) {
    return profile->peak.bytes;
  });
  by_peak.resize(std::min(kMostHeaps, by_peak.size()));
  std::vector<analysis::MemoryProfile> largest;
  for (const auto* const profile : by_peak) largest.push_back(*profile);
  return all + report::MemoryReport(trace, largest, {});
}

// When the part begins that timelines show. Other sessions' counters, such as
// those of the machine, are there from the start.
TimeNs BeginOfNewest(const model::Trace& trace,
                     const analysis::WindowSums& sums) {
  TimeNs begin_ns = trace.end_ns();
  for (const TimeNs start_ns : trace.start()) {
    begin_ns = std::min(begin_ns, start_ns);
  }
  analysis::ForEachCounter(
      trace, [&](std::span<const model::CounterSample> samples) {
        if (!sums.HasEarlierValues(samples.front())) return;
        begin_ns = std::min(begin_ns, samples.front().time_ns);
      });
  return begin_ns;
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

std::vector<std::pair<std::string, std::string>> RunMetadata(
    const ProfileCommand& command, const std::string& device) {
  const auto json = [](const std::string& text) {
    std::string quoted;
    json::AppendJsonString(quoted, text);
    return quoted;
  };
  std::vector<std::pair<std::string, std::string>> metadata = {
      {"kymo_command", json(absl::StrJoin(command.target, " "))}};
  if (!device.empty() && device != "cuda") {
    metadata.emplace_back("use_device", json(device));
  }
  const DistributedInfo info = FindDistributedInfo(getenv);
  for (const std::string& warning : info.warnings) Say(warning);
  if (info.is_distributed()) {
    metadata.emplace_back("distributedInfo", info.ToJson());
  }
  return metadata;
}

std::vector<std::string> NamesOfFiles(const ProfileCommand& command,
                                      const ExporterRegistry& exporters) {
  std::vector<std::string> names = {kTablesFile};
  for (const std::string& exporter : ExportersOf(command)) {
    const TraceExporter* const found = exporters.Find(exporter);
    if (found == nullptr) continue;
    const std::vector<std::string>& files = found->info().files;
    names.insert(names.end(), files.begin(), files.end());
  }
  return names;
}

absl::Status WriteTables(const std::string& tables, OutputDirectory& out) {
  KYMO_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSink> sink,
                        out.Open(kTablesFile));
  KYMO_RETURN_IF_ERROR(sink->Append(tables));
  return sink->Commit();
}

absl::StatusOr<std::string> SamplesTable(const model::Trace& trace,
                                         const ProfileCommand& command) {
  return SamplesTable(report::MakeSampleTable(trace), trace, command);
}

absl::StatusOr<RunTables> MakeTables(
    const model::Trace& trace, const ProfileCommand& command,
    const analysis::WindowSums* sums,
    const analysis::LazyMemoryProfiles* shared) {
  const analysis::LazyMemoryProfiles memory_profiles(trace, shared);
  RunTables tables;
  ScreenTables& screen = tables.screen;
  screen.sort_by = SortKey(trace, command);
  screen.profile_memory = command.profile_memory;
  report::TableOptions options;
  options.sort_by = screen.sort_by;
  options.row_limit = command.row_limit;
  KYMO_ASSIGN_OR_RETURN(std::string text,
                        sums != nullptr
                            ? SumsTable(*sums, options, screen)
                            : AveragesTable(trace, command, options, screen));
  screen.functions = report::MakeSampleTable(trace);
  KYMO_ASSIGN_OR_RETURN(const std::string samples,
                        SamplesTable(screen.functions, trace, command));
  if (!text.empty() && !samples.empty()) text += '\n';
  text += samples;
  const std::string programs = report::ProgramsText(trace, command.row_limit);
  if (!text.empty() && !programs.empty()) text += '\n';
  text += programs;
  const std::string threads = report::ThreadsText(trace, command.row_limit);
  screen.has_threads = !threads.empty();
  if (!text.empty() && !threads.empty()) text += '\n';
  text += threads;
  const std::string waits = report::WaitsText(trace, command.row_limit);
  if (!waits.empty()) {
    screen.wait_tables = analysis::WaitsByLock(trace).empty() ? 1 : 2;
  }
  screen.range_waits = analysis::SplitRanges(trace);
  // Of a recording whose trace is not whole, times would be too short.
  if (sums == nullptr && !command.quiet) {
    screen.findings = FindingsToShow(trace, memory_profiles);
  }
  if (!text.empty() && !waits.empty()) text += '\n';
  text += waits;
  const std::vector<analysis::MemoryProfile>* const memory =
      command.profile_memory ? &memory_profiles.Get() : nullptr;
  if (text.empty() && (memory == nullptr || memory->empty())) {
    text = WithoutTables(trace, screen.older_values) + "\n";
  }
  if (memory != nullptr) {
    if (!text.empty()) text += '\n';
    if (memory->empty()) {
      screen.memory_note =
          "Memory: no allocation was recorded. The program made none, or its "
          "heap could not be watched.";
      text += screen.memory_note + "\n";
    } else {
      const std::string report = report::MemoryReport(trace, *memory, {});
      screen.memory =
          HasSeveralProcesses(*memory) || memory->size() > kMostHeaps
              ? LargestHeaps(trace, *memory)
              : report;
      text += report;
    }
    for (const analysis::MemoryProfile& profile : *memory) {
      if (profile.pool.source == model::MemorySource::kHeap) {
        screen.allocations += profile.totals.allocations;
      }
    }
  }
  tables.text = text + report::LedgerText(sums != nullptr ? sums->ledger()
                                                          : trace.ledger());
  return tables;
}

absl::Status WriteFiles(const model::Trace& trace,
                        const std::function<std::string()>& tables,
                        const ProfileCommand& command,
                        const ExporterRegistry& exporters, OutputDirectory& out,
                        ProgressLine& progress, ExportNotes& notes,
                        const RunSums& sums) {
  std::string text;
  absl::Status status_of_tables;
  const ExportRequest request = {
      .exporters = ExportersOf(command),
      .gzip = command.gzip,
      .max_bytes = command.max_size,
      .keeps_ranges = command.ranks,  // the job reads it
      .max_file_bytes = command.max_file_bytes,
      .settings = command.settings,
      .sums = sums.recording,
      .job = sums.job,
      .memory = sums.memory,
      .ranks = sums.ranks,
      .beside =
          [&] {
            text = tables();
            status_of_tables = WriteTables(text, out);
          },
      .progress =
          [&](const std::string& exporter, double done) {
            progress.Show("writing " + exporter, done);
          }};
  absl::Status status = ExportFiles(request, trace, exporters, out, notes);
  const std::string of_files = report::LedgerText(notes.ledger);
  // Beside others, there may have been no room.
  if (!of_files.empty() || !status_of_tables.ok()) {
    status_of_tables = WriteTables(text + of_files, out);
  }
  if (status.ok() || status_of_tables.ok()) {
    status.Update(status_of_tables);
    return status;
  }
  return absl::Status(status.code(), absl::StrCat(status.message(), "; ",
                                                  status_of_tables.message()));
}

std::string AboutNewest(const model::Trace& trace,
                        const analysis::WindowSums& sums,
                        const ProfileCommand& command) {
  const uint64_t older_values =
      sums.ledger().Get(model::Loss::kCounterValuesSummed);
  std::vector<std::string> whole;
  std::vector<std::string> missing;
  if (sums.event_count() != 0 || older_values == 0) {
    whole.push_back(absl::StrCat("tables and stacks of ranges have all ",
                                 sums.event_count(), " events"));
    missing.push_back(absl::StrCat(
        sums.ledger().Get(model::Loss::kEventsOverwritten), " older events"));
  }
  if (older_values != 0) {
    whole.emplace_back("summary.json counts all values of counters");
    missing.push_back(absl::StrCat(older_values, " older values of counters"));
  }
  std::string text = absl::StrCat(
      "a long recording: ", absl::StrJoin(whole, ", and "),
      "; timelines have the newest, and reach ",
      absl::StrFormat("%.1f s",
                      1e-9 * (trace.end_ns() - BeginOfNewest(trace, sums))),
      " back, without ", absl::StrJoin(missing, " and "),
      ". For more, raise --cpu_max_disk and --cpu_max_memory; for all, use "
      "--cpu_keep_raw");
  if (command.group_by_input_shape || command.group_by_stack_n > 0) {
    text += "; the rows are by name, because other groups need all events";
  }
  if (sums.paths_left_out() != 0) {
    absl::StrAppend(
        &text, "; there are too many different stacks: ", sums.paths_left_out(),
        " calls count for the stack around them");
  }
  return text;
}

absl::Status ExportSums(const analysis::WindowSums& sums,
                        const ProfileCommand& command,
                        const ExporterRegistry& exporters, OutputDirectory& out,
                        ExportNotes& notes) {
  const ExportRequest request = {.exporters = ExportersOf(command),
                                 .gzip = command.gzip,
                                 .max_bytes = command.max_size,
                                 .settings = command.settings};
  return ExportFilesOfSums(request, sums, exporters, out, notes);
}

}  // namespace kymo::tools
