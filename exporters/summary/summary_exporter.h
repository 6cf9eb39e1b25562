// summary_exporter.h - `summary`: summary.json, the numbers for other programs.
//
// Members, in this order; times are integers in ns:
//
//   schema_version      1
//   window              start_ns, end_ns, duration_ns
//   processes           pid, parent_pid, name, command_line, start_ns, end_ns
//   threads             pid, tid, name, ranges, instants, top_level_ns,
//                       samples, sampled_ns; one per thread
//   streams             the same with device; one per stream
//   totals              of the whole trace
//   key_averages        at most 20,000, by self CPU time descending; see
//                       averages_section.h
//   key_average_count   before that limit
//   sampled_functions   at most 1000, by self CPU time descending
//   sampled_function_count  before that limit
//   counters            pid, tid, name, samples, min, mean (over time), max,
//                       last; only where the trace has counters. Values that
//                       are not finite are left out.
//   memory              who allocated how much, see memory_section.h; only
//                       where the trace tells anything of it
//   waits               what threads waited for, see waits_section.h; only
//                       where the trace has waits
//   ranks, collectives, mpi_waits, messages, imbalance
//                       the tables of a job's ranks, those that have rows
//                       (profiler/report/ranks/rank_summary.h)
//   job                 averages of all ranks of a job whose trace has some of
//                       them (profiler/report/ranks/job_averages.h); only then
//   findings            what a performance engineer would say first, see
//                       findings_section.h
//   profiler            sampling period and sizes of the trace
//   ledger              every counter: name, count, is_loss, meaning
//   anything_lost       whether some counter that is a loss is not zero
//   metadata            the trace's metadata, JSON values as they stand
//
// If a recording is larger than memory, the exporter writes only
// schema_version, key_averages, key_average_count, sampled_functions,
// sampled_function_count, counters, ledger and anything_lost.
#ifndef KYMO_EXPORTERS_SUMMARY_SUMMARY_EXPORTER_H_
#define KYMO_EXPORTERS_SUMMARY_SUMMARY_EXPORTER_H_

#include <memory>
#include <string>

#include "profiler/model/loss_ledger.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/trace_exporter.h"

namespace kymo {

std::unique_ptr<TraceExporter> NewSummaryExporter();

// The file's text, for exporters that show its numbers. `ledger` says what the
// reader does not see. `job`, `notes`, `profiles` (its memory) and `ranks` are
// those of ExportOptions.
std::string SummaryText(const model::Trace& trace, model::LossLedger ledger,
                        const analysis::RankSums* job = nullptr,
                        ExportNotes* notes = nullptr,
                        const analysis::LazyMemoryProfiles* profiles = nullptr,
                        const analysis::LazyJobOfRanks* ranks = nullptr);
std::string SumsText(const analysis::WindowSums& sums, model::LossLedger ledger,
                     ExportNotes* notes = nullptr);

}  // namespace kymo

#endif  // KYMO_EXPORTERS_SUMMARY_SUMMARY_EXPORTER_H_
