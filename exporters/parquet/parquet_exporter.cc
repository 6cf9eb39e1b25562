#include "exporters/parquet/parquet_exporter.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "exporters/parquet/partition_name.h"
#include "exporters/parquet/table_file.h"
#include "profiler/base/status_macros.h"
#include "profiler/model/recorded_by.h"
#include "profiler/plugin/settings.h"
#include "profiler/tables/table.h"
#include "profiler/tables/trace_tables.h"
#include "profiler/text/utf8.h"

namespace kymo {
namespace {

struct ParquetSettings {
  std::string job;
};

SettingTable<ParquetSettings> ParquetTable() {
  using S = ParquetSettings;
  return SettingTable<S>(
      "parquet",
      {{.name = "job",
        .value = setting::Text(&S::job),
        .purpose = "Name of the job, by which queries over many jobs tell "
                   "them apart. Default: the name of the program."}});
}

// The rank of the trace, as the table `ranks` has it.
int64_t RankOf(const tables::TraceTables& tables) {
  int64_t rank = 0;
  uint8_t is_known = 0;
  tables.Int64s(*tables::FindTable("ranks")->FindColumn("rank"), 0, 1, &rank,
                &is_known);
  return is_known != 0 && rank >= 0 ? rank : 0;
}

// The name of the program that was started: of the first process that none of
// the others started. In a trace of PyTorch a process is named after its rank,
// so that each rank would be a job of its own.
std::string DefaultJob(const model::Trace& trace) {
  if (model::IsOfPyTorch(trace)) return "";
  const model::Process* root = nullptr;
  for (const model::Process& process : trace.processes()) {
    if (trace.FindProcess(process.parent_pid) != nullptr) continue;
    if (root == nullptr || process.start_ns < root->start_ns) root = &process;
  }
  return root == nullptr ? "" : std::string(trace.Name(root->name));
}

class ParquetExporter final : public TraceExporter {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  absl::StatusOr<std::vector<std::string>> Export(
      const model::Trace& trace, const ExportOptions& options,
      OutputDirectory& out) const override {
    KYMO_ASSIGN_OR_RETURN(const ParquetSettings settings,
                          ParquetTable().Read(options.settings));
    std::string job = settings.job;
    if (job.empty()) job = DefaultJob(trace);
    std::string scratch;
    job = std::string(json::ToUtf8(job, scratch));
    const int64_t rank = RankOf(tables::TraceTables(trace));
    const parquet::TableFile file(trace, parquet::FileFacts(trace, job, rank));

    std::vector<std::string> names;
    std::vector<std::unique_ptr<ByteSink>> sinks;
    for (const tables::Table& table : tables::AllTables()) {
      names.push_back(parquet::PartFile(table.name, job, rank));
      KYMO_ASSIGN_OR_RETURN(std::unique_ptr<ByteSink> sink,
                            out.Open(names.back()));
      KYMO_RETURN_IF_ERROR(file.Write(table, *sink));
      sinks.push_back(std::move(sink));
      if (options.progress) {
        options.progress(static_cast<double>(names.size()) /
                         static_cast<double>(tables::AllTables().size()));
      }
    }
    KYMO_RETURN_IF_ERROR(CommitAll(sinks, names, out));
    return names;
  }

 private:
  static absl::Status CommitAll(
      const std::vector<std::unique_ptr<ByteSink>>& sinks,
      const std::vector<std::string>& names, OutputDirectory& out) {
    for (size_t i = 0; i < sinks.size(); ++i) {
      const absl::Status status = sinks[i]->Commit();
      if (status.ok()) continue;
      for (size_t done = 0; done < i; ++done) out.Remove(names[done]);
      return status;
    }
    return absl::OkStatus();
  }

  const PluginInfo info_ = {
      .name = "parquet",
      .purpose =
          "the trace's tables for DuckDB, Spark, pandas and others "
          "(parquet/TABLE/job=.../rank=.../part-0.parquet)",
      .settings = ParquetTable().infos(),
  };
};

}  // namespace

std::unique_ptr<TraceExporter> NewParquetExporter() {
  return std::make_unique<ParquetExporter>();
}

}  // namespace kymo
