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

std::vector<report::TableRow> DiffRowsOf(const report::SampleTable& samples) {
  std::vector<report::TableRow> rows;
  for (const report::SampleTableRow& sampled : samples.rows) {
    report::TableRow& row = rows.emplace_back();
    row.key = sampled.name;
    row.overload_name = sampled.module.substr(sampled.module.rfind('/') + 1);
    row.count = sampled.sample_count;
    row.cpu_time_total_us = sampled.cpu_time_us;
    row.self_cpu_time_total_us = sampled.self_cpu_time_us;
  }
  return rows;
}

}  // namespace kymo::tools
