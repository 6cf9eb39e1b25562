#include "tools/report_command/sample_rows.h"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "profiler/base/status_macros.h"
#include "profiler/model/activity_type.h"

namespace kymo::tools {
namespace {

bool TakesSamples(const EventFilter& filter) {
  return filter.categories.empty() ||
         std::any_of(filter.categories.begin(), filter.categories.end(),
                     [](const std::string& category) {
                       return model::ParseActivityType(category) ==
                              model::ActivityType::kCpuSample;
                     });
}

std::string_view BaseName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// Those that none of the others started; the one that began first is first, or
// has the lowest number.
std::vector<const model::Process*> FirstProcesses(const model::Trace& trace) {
  std::vector<const model::Process*> first;
  for (const model::Process& process : trace.processes()) {
    if (process.parent_pid != process.pid &&
        trace.FindProcess(process.parent_pid) != nullptr) {
      continue;
    }
    first.push_back(&process);
  }
  std::ranges::stable_sort(first, {}, &model::Process::start_ns);
  return first;
}

// Whether the process runs a program of this file name.
bool IsFileOf(const model::Trace& trace, const model::Process& process,
              std::string_view file) {
  constexpr size_t kMostOfName = 15;  // the kernel keeps so many bytes
  const std::string_view name = trace.Name(process.name);
  const std::string_view line = trace.Name(process.command_line);
  return BaseName(line.substr(0, line.find(' '))) == file ||
         (!name.empty() && name == file.substr(0, kMostOfName));
}

}  // namespace

absl::StatusOr<report::SampleTable> ChosenSamples(const model::Trace& trace,
                                                  const EventFilter& filter) {
  if (!trace.has_samples() || !TakesSamples(filter)) {
    return report::SampleTable();
  }
  if (filter.empty()) return report::MakeSampleTable(trace);
  KYMO_ASSIGN_OR_RETURN(const model::Trace chosen, ChosenTrace(trace, filter));
  report::SampleTable samples = report::MakeSampleTable(chosen);
  if (filter.name.empty()) return samples;
  KYMO_ASSIGN_OR_RETURN(const std::function<bool(std::string_view)> fits,
                        NameTest(filter.name));
  std::erase_if(samples.rows, [&](const report::SampleTableRow& row) {
    return !fits(row.name);
  });
  return samples;
}

report::SampleTableOptions SampleOptions(const report::TableOptions& table) {
  report::SampleTableOptions options;
  options.sort_by = report::SampleSortKey(table.sort_by);
  options.row_limit = table.row_limit;
  options.max_name_column_width = table.max_name_column_width;
  options.time_unit = table.time_unit;
  return options;
}

absl::StatusOr<DataTable> SampleData(
    const report::SampleTable& samples,
    const report::SampleTableOptions& options) {
  KYMO_ASSIGN_OR_RETURN(const std::vector<report::SampleTableRow> rows,
                        report::ShownSampleRows(samples, options));
  DataTable data({"name", "module", "samples", "cpu_time_total_us",
                  "self_cpu_time_total_us"});
  for (const report::SampleTableRow& row : rows) {
    data.AddRow({row.name, row.module, row.sample_count, row.cpu_time_us,
                 row.self_cpu_time_us});
  }
  return data;
}

std::string MainModule(const model::Trace& trace,
                       const report::SampleTable& samples) {
  for (const model::Process* const process : FirstProcesses(trace)) {
    const auto row = std::ranges::find_if(
        samples.rows, [&](const report::SampleTableRow& row) {
          return !row.module.empty() &&
                 IsFileOf(trace, *process, BaseName(row.module));
        });
    if (row != samples.rows.end()) return row->module;
  }
  std::string main;  // of the only module with a main(), if there is one
  size_t mains = 0;
  for (const report::SampleTableRow& row : samples.rows) {
    const std::string_view file = BaseName(row.module);
    if (file.empty() || row.name != "main" || file.find(".so") != file.npos)
      continue;
    main = row.module;
    ++mains;
  }
  return mains == 1 ? main : "";
}

std::vector<report::TableRow> DiffRowsOf(const report::SampleTable& samples,
                                         std::string_view metric,
                                         std::string_view main_module,
                                         std::string_view shown_as) {
  std::vector<report::TableRow> rows;
  for (const report::SampleTableRow& sampled : samples.rows) {
    report::TableRow& row = rows.emplace_back();
    row.key = sampled.name;
    row.overload_name = !main_module.empty() && sampled.module == main_module
                            ? shown_as
                            : BaseName(sampled.module);
    row.count = metric == "cpu_time_total" ? sampled.sample_count
                                           : sampled.self_sample_count;
    row.cpu_time_total_us = sampled.cpu_time_us;
    row.self_cpu_time_total_us = sampled.self_cpu_time_us;
  }
  return rows;
}

}  // namespace kymo::tools
