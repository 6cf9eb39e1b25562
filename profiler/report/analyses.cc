#include "profiler/report/analyses.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "profiler/analysis/critical_path.h"
#include "profiler/analysis/device/device_copies.h"
#include "profiler/analysis/device/device_idle.h"
#include "profiler/analysis/device/device_kernels.h"
#include "profiler/analysis/device/device_queue.h"
#include "profiler/analysis/device/device_times.h"
#include "profiler/analysis/device/launches.h"
#include "profiler/analysis/ranks/rank_path.h"
#include "profiler/analysis/wake_path.h"
#include "profiler/report/device_tables.h"
#include "profiler/report/finding_table.h"
#include "profiler/report/ranks/rank_path_tables.h"
#include "profiler/report/ranks/rank_tables.h"
#include "profiler/report/thread_tables.h"
#include "profiler/report/wait_tables.h"
#include "profiler/report/wake_path_tables.h"

namespace kymo::report {
namespace {

using analysis::Launches;
using model::Trace;

// Several tables find the same things about ranks again; the commands of jobs
// find them once.
template <ValueTable (*kTable)(const analysis::JobOfRanks&)>
ValueTable OfJob(const Trace& trace) {
  return kTable(analysis::JobOfRanks(trace));
}

// Nothing: the trace has no such path.
std::optional<ValueTable> OfRankPath(
    const Trace& trace, ValueTable (*table)(const analysis::JobOfRanks&)) {
  analysis::RankCalls calls = analysis::FindRankCalls(trace);
  if (!analysis::HasRankPath(calls)) return std::nullopt;
  return table(analysis::JobOfRanks(trace, std::move(calls)));
}

std::string NoteOfPath(const Trace& trace) {
  if (analysis::HasRankPath(analysis::FindRankCalls(trace))) return "";
  return analysis::HasWakePath(trace) ? WakePathNote(trace) : "";
}

// Sorted by name; docs/add-an-analysis.md says what else a new row needs.
constexpr Analysis kAnalyses[] = {
    {"collectives",
     "collective calls of MPI: waiting for the last rank, and transfer",
     OfJob<CollectiveTable>},
    {"critical_path", "what the run waited for in the end, by cause and name",
     [](const Trace& trace) {
       if (auto path = OfRankPath(trace, RankPathTable)) return *path;
       if (analysis::HasWakePath(trace)) return WakePathTable(trace);
       return CriticalPathTable(
           trace, analysis::FindCriticalPath(trace, Launches(trace), {}));
     },
     /*text=*/nullptr, NoteOfPath},
    {"critical_path_steps", "the same, step by step in time",
     [](const Trace& trace) {
       if (auto path = OfRankPath(trace, RankPathStepTable)) return *path;
       if (analysis::HasWakePath(trace)) return WakePathStepTable(trace);
       return CriticalPathStepTable(
           trace, analysis::FindCriticalPath(trace, Launches(trace), {}));
     },
     /*text=*/nullptr, NoteOfPath},
    {"device_copies", "copies and sets by direction, with bandwidth",
     [](const Trace& trace) {
       return DeviceCopyTable(analysis::CopySums(trace));
     }},
    {"device_idle",
     "idle time of devices and streams by cause: host, launch, dependency",
     [](const Trace& trace) {
       return DeviceIdleTable(
           analysis::ComputeIdleTimes(trace, Launches(trace), {}));
     }},
    {"device_kernels", "kernels by name",
     [](const Trace& trace) {
       return DeviceKernelTable(trace, analysis::KernelSums(trace));
     }},
    {"device_operation_kernels", "which kernels each operation launched",
     [](const Trace& trace) {
       return DeviceOperationKernelTable(
           trace, analysis::OperationKernels(trace, Launches(trace)));
     }},
    {"device_operations", "device time by the operation that caused it",
     [](const Trace& trace) {
       return DeviceOperationTable(
           trace, analysis::OperationSums(trace, Launches(trace)));
     }},
    {"device_queue", "launches that waited for their stream, and how long",
     [](const Trace& trace) {
       return DeviceQueueTable(
           analysis::ComputeStreamQueues(trace, Launches(trace), {}));
     }},
    {"device_times",
     "how busy devices were: computing, communication, their overlap, idle",
     [](const Trace& trace) {
       return DeviceTimesTable(analysis::ComputeDeviceTimes(trace));
     }},
    {"findings", "what a performance engineer would say first, with evidence",
     FindingTable,
     [](const Trace& trace, int row_limit) {
       return FindingsText(trace, {.row_limit = row_limit});
     }},
    {"imbalance", "how unevenly ranks of MPI spend their time, by range",
     OfJob<ImbalanceTable>},
    {"locks",
     "which locks threads waited for, how long and where, and who "
     "held them",
     LockTable},
    {"messages",
     "messages between ranks of MPI: late senders and late receivers",
     OfJob<MessageTable>},
    {"mpi_waits",
     "waiting for requests of MPI: until a rank comes, and transfer",
     OfJob<MpiWaitTable>},
    {"programs",
     "how long the processes of each program ran, waited for a CPU and were "
     "blocked",
     ProgramTable},
    {"range_waits",
     "time of ranges on a CPU, runnable, and blocked by what they waited for",
     RangeWaitTable},
    {"ranks", "ranks of MPI: computing and communicating, and their clocks",
     OfJob<RankTable>},
    {"threads", "how long threads ran, waited for a CPU and were blocked",
     ThreadTable},
    {"waits", "where threads waited, and what for", WaitTable},
};

}  // namespace

std::span<const Analysis> Analyses() { return kAnalyses; }

const Analysis* FindAnalysis(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kAnalyses), std::end(kAnalyses),
                   [&](const Analysis& a) { return a.name == name; });
  return found == std::end(kAnalyses) ? nullptr : found;
}

}  // namespace kymo::report
