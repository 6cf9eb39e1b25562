#include "tools/report_command/analyses.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/critical_path.h"
#include "profiler/analysis/device/device_copies.h"
#include "profiler/analysis/device/device_idle.h"
#include "profiler/analysis/device/device_kernels.h"
#include "profiler/analysis/device/device_queue.h"
#include "profiler/analysis/device/device_times.h"
#include "profiler/analysis/device/launches.h"
#include "profiler/base/strings.h"
#include "profiler/report/device_tables.h"
#include "profiler/text/json_writer.h"

namespace kymo::tools {
namespace {

using analysis::Launches;
using model::Trace;

constexpr Analysis kAnalyses[] = {
    {"critical_path", "what the run waited for in the end, by cause and name",
     [](const Trace& trace) {
       return report::CriticalPathTable(
           trace, analysis::FindCriticalPath(trace, Launches(trace), {}));
     }},
    {"critical_path_steps", "the same, step by step in time",
     [](const Trace& trace) {
       return report::CriticalPathStepTable(
           trace, analysis::FindCriticalPath(trace, Launches(trace), {}));
     }},
    {"device_copies", "copies and sets by direction, with bandwidth",
     [](const Trace& trace) {
       return report::DeviceCopyTable(analysis::CopySums(trace));
     }},
    {"device_idle",
     "idle time of devices and streams by cause: host, launch, dependency",
     [](const Trace& trace) {
       return report::DeviceIdleTable(
           analysis::ComputeIdleTimes(trace, Launches(trace), {}));
     }},
    {"device_kernels", "kernels by name",
     [](const Trace& trace) {
       return report::DeviceKernelTable(trace, analysis::KernelSums(trace));
     }},
    {"device_operation_kernels", "which kernels each operation launched",
     [](const Trace& trace) {
       return report::DeviceOperationKernelTable(
           trace, analysis::OperationKernels(trace, Launches(trace)));
     }},
    {"device_operations", "device time by the operation that caused it",
     [](const Trace& trace) {
       return report::DeviceOperationTable(
           trace, analysis::OperationSums(trace, Launches(trace)));
     }},
    {"device_queue", "launches that waited for their stream, and how long",
     [](const Trace& trace) {
       return report::DeviceQueueTable(
           analysis::ComputeStreamQueues(trace, Launches(trace), {}));
     }},
    {"device_times",
     "how busy devices were: computing, communication, their overlap, idle",
     [](const Trace& trace) {
       return report::DeviceTimesTable(analysis::ComputeDeviceTimes(trace));
     }},
};

DataTable DataOf(const report::ValueTable& table, int row_limit) {
  std::vector<std::string> names;
  for (const report::ValueColumn& column : table.columns) {
    names.push_back(column.name);
  }
  DataTable data(std::move(names));
  int count = 0;
  for (const std::vector<report::Value>& row : table.rows) {
    if (count++ == row_limit) break;
    std::vector<DataValue> values;
    for (const report::Value& value : row) {
      values.push_back(
          std::visit([](const auto& held) { return DataValue(held); }, value));
    }
    data.AddRow(std::move(values));
  }
  return data;
}

std::string JsonText(const Trace& trace, std::span<const std::string> names,
                     int row_limit) {
  std::string text;
  json::JsonWriter json(text);
  json.BeginObject();
  for (const std::string& name : names) {
    json.Key(name);
    DataOf(FindAnalysis(name)->table(trace), row_limit).WriteJson(json);
  }
  json.EndObject();
  return text + "\n";
}

}  // namespace

std::span<const Analysis> Analyses() { return kAnalyses; }

const Analysis* FindAnalysis(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kAnalyses), std::end(kAnalyses),
                   [&](const Analysis& a) { return a.name == name; });
  return found == std::end(kAnalyses) ? nullptr : found;
}

std::string AnalysesText(const Trace& trace, std::span<const std::string> names,
                         TextFormat format,
                         const report::ValueTableOptions& options) {
  if (format == TextFormat::kJson) {
    return JsonText(trace, names, options.row_limit);
  }
  if (format == TextFormat::kCsv) {
    return DataOf(FindAnalysis(names[0])->table(trace), options.row_limit)
        .Csv();
  }
  std::string text;
  for (const std::string& name : names) {
    const Analysis& analysis = *FindAnalysis(name);
    const std::string table =
        report::FormatValueTable(analysis.table(trace), options);
    absl::StrAppend(&text, text.empty() ? "" : "\n", name, ": ",
                    ToAbsl(analysis.purpose), "\n",
                    table.empty() ? "(nothing)\n" : table);
  }
  return text;
}

}  // namespace kymo::tools
