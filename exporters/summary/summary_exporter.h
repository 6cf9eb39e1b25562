// summary_exporter.h - `summary`: summary.json, the numbers for other programs.
//
// Members, in this order; times are integers in ns:
//
//   schema_version      1
//   window              start_ns, end_ns, duration_ns
//   processes           pid, parent_pid, name, command_line, start_ns, end_ns
//   threads             pid, tid, name, ranges, instants, top_level_ns,
//                       samples, sampled_ns; one per track of a thread
//   streams             the same with device; one per track of a stream
//   totals              of the whole trace
//   key_averages        all groups, by self CPU time descending
//   sampled_functions   at most 1000, by self CPU time descending
//   sampled_function_count  before that limit
//   memory              who allocated how much, see memory_section.h; only
//                       where the trace tells anything of it
//   profiler            sampling period and sizes of the trace
//   ledger              every counter: name, count, is_loss, meaning
//   anything_lost       whether some counter that is a loss is not zero
//   metadata            the trace's metadata, JSON values as they stand
#ifndef KYMO_EXPORTERS_SUMMARY_SUMMARY_EXPORTER_H_
#define KYMO_EXPORTERS_SUMMARY_SUMMARY_EXPORTER_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "profiler/analysis/averages/key_averages.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/plugin/sink.h"
#include "profiler/plugin/trace_exporter.h"

namespace kymo {

std::unique_ptr<TraceExporter> NewSummaryExporter();

// summary.json of a recording that is too large to be a trace: schema_version,
// key_averages, ledger and anything_lost, and no other member.
absl::Status WriteSummaryOfSums(
    const std::vector<analysis::KeyAverage>& averages,
    const model::LossLedger& ledger, OutputDirectory& out);

}  // namespace kymo

#endif  // KYMO_EXPORTERS_SUMMARY_SUMMARY_EXPORTER_H_
