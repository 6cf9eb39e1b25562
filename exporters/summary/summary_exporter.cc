#include "exporters/summary/summary_exporter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "exporters/summary/averages_section.h"
#include "exporters/summary/findings_section.h"
#include "exporters/summary/memory_section.h"
#include "exporters/summary/threads_section.h"
#include "exporters/summary/waits_section.h"
#include "profiler/analysis/averages/counter_values.h"
#include "profiler/analysis/averages/duplicates.h"
#include "profiler/analysis/averages/key_averages.h"
#include "profiler/analysis/averages/sampled_functions.h"
#include "profiler/analysis/averages/totals.h"
#include "profiler/analysis/averages/window_sums.h"
#include "profiler/analysis/memory/lazy_profiles.h"
#include "profiler/analysis/memory/memory_usage.h"
#include "profiler/analysis/ranks/lazy_job.h"
#include "profiler/base/status_macros.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/plugin/sink.h"
#include "profiler/report/ranks/job_averages.h"
#include "profiler/report/ranks/rank_summary.h"
#include "profiler/text/json_text.h"
#include "profiler/text/json_writer.h"

namespace kymo {
namespace {

using json::JsonWriter;
using model::Trace;

constexpr char kFileName[] = "summary.json";
constexpr int64_t kSchemaVersion = 1;
constexpr size_t kMaxSampledFunctions = 1000;

void WriteWindow(const Trace& trace, JsonWriter& json) {
  json.Key("window");
  json.BeginObject();
  json.Member("start_ns", trace.start_ns());
  json.Member("end_ns", trace.end_ns());
  json.Member("duration_ns", trace.end_ns() - trace.start_ns());
  json.EndObject();
}

void WriteProcesses(const Trace& trace, JsonWriter& json) {
  json.Key("processes");
  json.BeginArray();
  for (const model::Process& process : trace.processes()) {
    json.BeginObject();
    json.Member("pid", process.pid);
    json.Member("parent_pid", process.parent_pid);
    json.Member("name", trace.Name(process.name));
    json.Member("command_line", trace.Name(process.command_line));
    json.Member("start_ns", process.start_ns);
    json.Member("end_ns", process.end_ns);
    json.EndObject();
  }
  json.EndArray();
}

void WriteTotals(const analysis::Totals& totals, JsonWriter& json) {
  json.Key("totals");
  json.BeginObject();
  json.Member("profiled_ns", totals.profiled_ns);
  json.Member("ranges", totals.range_count);
  json.Member("instants", totals.instant_count);
  json.Member("counter_samples", totals.counter_sample_count);
  json.Member("samples", totals.sample_count);
  json.Member("sampled_ns", totals.sampled_ns);
  json.Member("cpu_top_level_ns", totals.cpu_top_level_ns);
  json.Member("device_top_level_ns", totals.device_top_level_ns);
  json.EndObject();
}

void WriteSampledFunctions(const Trace& trace, JsonWriter& json) {
  const std::vector<analysis::SampledFunction> functions =
      analysis::SampledFunctions(trace);
  json.Key("sampled_functions");
  json.BeginArray();
  const size_t shown = std::min(functions.size(), kMaxSampledFunctions);
  for (size_t i = 0; i < shown; ++i) {
    const analysis::SampledFunction& function = functions[i];
    json.BeginObject();
    json.Member("name", trace.Name(function.name));
    json.Member("module", trace.Name(function.module));
    json.Member("self_cpu_time_ns", function.self_cpu_time_ns);
    json.Member("cpu_time_ns", function.cpu_time_ns);
    json.Member("self_samples", function.self_sample_count);
    json.Member("samples", function.sample_count);
    json.EndObject();
  }
  json.EndArray();
  json.Member("sampled_function_count", static_cast<int64_t>(functions.size()));
}

void WriteCounter(int64_t pid, int64_t tid, std::string_view name,
                  const analysis::CounterValues& values, JsonWriter& json) {
  json.BeginObject();
  json.Member("pid", pid);
  json.Member("tid", tid);
  json.Member("name", name);
  json.Member("samples", values.sample_count);
  for (const auto& [key, value] :
       {std::pair("min", values.min), std::pair("mean", values.mean),
        std::pair("max", values.max), std::pair("last", values.last)}) {
    json.Key(key);
    json.Double(value);
  }
  json.EndObject();
}

void WriteCounters(const Trace& trace, JsonWriter& json) {
  if (trace.counters().empty()) return;
  json.Key("counters");
  json.BeginArray();
  for (const auto& values : analysis::ComputeCounterValues(trace)) {
    const model::Track& track = trace.tracks()[values.track];
    WriteCounter(track.pid, track.id, trace.Name(values.name), values, json);
  }
  json.EndArray();
}

void WriteCounters(const analysis::WindowSums& sums, JsonWriter& json) {
  const std::vector<analysis::WindowSums::Counter> counters = sums.Counters();
  if (counters.empty()) return;
  json.Key("counters");
  json.BeginArray();
  for (const auto& counter : counters) {
    WriteCounter(counter.pid, counter.id, counter.name, counter.values, json);
  }
  json.EndArray();
}

void WriteProfiler(const Trace& trace, JsonWriter& json) {
  json.Key("profiler");
  json.BeginObject();
  json.Member("sampling_period_ns", trace.sampling_period_ns());
  json.Member("events", static_cast<int64_t>(trace.event_count()));
  json.Member("names", static_cast<int64_t>(trace.strings().size()));
  json.Member("frames", static_cast<int64_t>(trace.stacks().frame_count()));
  json.Member("stacks", static_cast<int64_t>(trace.stacks().stack_count() - 1));
  json.EndObject();
}

void WriteLedger(const model::LossLedger& ledger, JsonWriter& json) {
  json.Key("ledger");
  json.BeginArray();
  for (size_t i = 0; i < static_cast<size_t>(model::Loss::kCount); ++i) {
    const model::Loss loss = static_cast<model::Loss>(i);
    json.BeginObject();
    json.Member("name", model::LossName(loss));
    json.Key("count");
    json.Uint(ledger.Get(loss));
    json.Member("is_loss", model::IsLoss(loss));
    json.Member("meaning", model::LossText(ledger, loss));
    json.EndObject();
  }
  json.EndArray();
  json.Member("anything_lost", ledger.AnythingLost());
}

void WriteMetadata(const Trace& trace, JsonWriter& json) {
  json.Key("metadata");
  json.BeginObject();
  const auto metadata = trace.metadata();
  for (size_t i = 0; i < metadata.size(); ++i) {
    // The last value of a key counts; keys are sorted.
    if (i + 1 < metadata.size() && metadata[i + 1].key == metadata[i].key) {
      continue;
    }
    json.Key(trace.Name(metadata[i].key));
    const std::string_view value = trace.Name(metadata[i].json_value);
    if (json::IsValidJson(value)) {
      json.Raw(value);
    } else {
      json.String(value);
    }
  }
  json.EndObject();
}

// What the trace lacks, and what the other files of the run do not show of it.
model::LossLedger LedgerOf(const model::LossLedger& of_trace,
                           const ExportOptions& options) {
  model::LossLedger ledger = of_trace;
  if (options.notes != nullptr) ledger.Merge(options.notes->ledger);
  return ledger;
}

}  // namespace

std::string SummaryText(const Trace& trace, model::LossLedger ledger,
                        const analysis::RankSums* job, ExportNotes* notes,
                        const analysis::LazyMemoryProfiles* profiles,
                        const analysis::LazyJobOfRanks* ranks) {
  const analysis::LazyMemoryProfiles memory_profiles(trace, profiles);
  const analysis::LazyJobOfRanks job_of_ranks(trace, ranks);
  const analysis::Totals totals = analysis::ComputeTotals(trace);
  std::string text;
  JsonWriter json(text);
  json.BeginObject();
  json.Member("schema_version", kSchemaVersion);
  WriteWindow(trace, json);
  WriteProcesses(trace, json);
  WriteTracks(trace, totals, model::TrackKind::kThread, json);
  WriteCpuLimit(trace, json);
  WriteKymoCpu(trace, json);
  WriteTracks(trace, totals, model::TrackKind::kStream, json);
  WriteTotals(totals, json);
  const analysis::MemoryUsage memory = analysis::MeasureMemoryUsage(trace);
  WriteAverages(analysis::KeyAverages(
                    trace, {.duplicates = analysis::DuplicatesOf(trace),
                            .cpu_memory_bytes = memory.cpu_bytes,
                            .device_memory_bytes = memory.device_bytes}),
                RangeMemory::kMeasured, kInAnyTable, ledger, notes, json);
  WriteSampledFunctions(trace, json);
  WriteCounters(trace, json);
  WriteMemory(trace, memory_profiles, json);
  WriteWaits(trace, json);
  report::WriteRankTables(job_of_ranks.Get(), json);
  if (job != nullptr) {
    json.Key("job");
    report::WriteJobAverages(*job, json);
  }
  WriteFindings(trace, memory_profiles, job_of_ranks, json);
  WriteProfiler(trace, json);
  WriteLedger(ledger, json);
  WriteMetadata(trace, json);
  json.EndObject();
  return text;
}

std::string SumsText(const analysis::WindowSums& sums, model::LossLedger ledger,
                     ExportNotes* notes) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject();
  json.Member("schema_version", kSchemaVersion);
  WriteAverages(sums.Averages(), RangeMemory::kUnknown,
                sums.rest_has_windows_ranges() ? kInTheRunsTable : kInAnyTable,
                ledger, notes, json);
  if (sums.rest() != nullptr) {
    WriteSampledFunctions(*sums.rest(), json);
  }
  WriteCounters(sums, json);
  WriteLedger(ledger, json);
  json.EndObject();
  return text;
}

namespace {

// `text` makes it.
template <typename Text>
absl::Status WriteFile(const Text& text, OutputDirectory& out) {
  KYMO_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSink> sink,
                        out.Open(kFileName));
  KYMO_RETURN_IF_ERROR(sink->Append(text()));
  return sink->Commit();
}

class SummaryExporter final : public TraceExporter {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  absl::StatusOr<std::vector<std::string>> Export(
      const Trace& trace, const ExportOptions& options,
      OutputDirectory& out) const override {
    const model::LossLedger ledger = LedgerOf(trace.ledger(), options);
    KYMO_RETURN_IF_ERROR(WriteFile(
        [&] {
          return SummaryText(trace, ledger, options.job, options.notes,
                             options.memory, options.ranks);
        },
        out));
    if (options.progress) options.progress(1.0);
    return std::vector<std::string>{kFileName};
  }

  HeapRecordNeed HeapRecordsNeeded(const ExportOptions&) const override {
    return {.most = 0};
  }

  absl::StatusOr<std::vector<std::string>> ExportSums(
      const analysis::WindowSums& sums, const ExportOptions& options,
      OutputDirectory& out) const override {
    const model::LossLedger ledger = LedgerOf(sums.ledger(), options);
    KYMO_RETURN_IF_ERROR(
        WriteFile([&] { return SumsText(sums, ledger, options.notes); }, out));
    if (options.progress) options.progress(1.0);
    return std::vector<std::string>{kFileName};
  }

 private:
  const PluginInfo info_ = {
      .name = "summary",
      .purpose =
          "averages, totals, counters, memory and the loss ledger "
          "(summary.json)",
      .exports_sums = true,
      .files = {kFileName},
  };
};

}  // namespace

std::unique_ptr<TraceExporter> NewSummaryExporter() {
  return std::make_unique<SummaryExporter>();
}

}  // namespace kymo
