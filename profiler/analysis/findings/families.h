// families.h - the families of findings, a source file each.
//
// Each adds what it finds, in any order; findings.cc ranks and limits them.
// Cost: that of the analyses which each names in its source.
#ifndef KYMO_PROFILER_ANALYSIS_FINDINGS_FAMILIES_H_
#define KYMO_PROFILER_ANALYSIS_FINDINGS_FAMILIES_H_

#include <vector>

#include "profiler/analysis/findings/finding.h"
#include "profiler/analysis/findings/finding_run.h"

namespace kymo::analysis {

// hot_function, unnamed_code: from CPU samples.
void AddSampleFindings(const FindingRun& run, std::vector<Finding>& findings);
// hot_operation, tiny_ranges: from ranges of threads.
void AddRangeFindings(const FindingRun& run, std::vector<Finding>& findings);
// low_flops: from the inputs of operations.
void AddFlopsFindings(const FindingRun& run, std::vector<Finding>& findings);
// lock_contention, thread_wait, serial_part, cpu_shortage, page_faults: from
// waits of threads.
void AddWaitFindings(const FindingRun& run, std::vector<Finding>& findings);
// deadlock: from waits of threads for locks.
void AddDeadlockFindings(const FindingRun& run, std::vector<Finding>& findings);
// load_imbalance: from ranges, else from samples.
void AddImbalanceFindings(const FindingRun& run,
                          std::vector<Finding>& findings);
// deadlock, rank_ended, late_rank: from calls of MPI.
void AddRankFindings(const FindingRun& run, std::vector<Finding>& findings);
// slow_steps: from steps, and the ranges in them.
void AddStepFindings(const FindingRun& run, std::vector<Finding>& findings);
// short_lived_allocations, memory_growth, leak: from memory records.
void AddMemoryFindings(const FindingRun& run, std::vector<Finding>& findings);
// page_faults: from samples and counters.
void AddFaultFindings(const FindingRun& run, std::vector<Finding>& findings);
// hot_kernel, device_idle, small_kernels, copies_not_hidden,
// communication_not_hidden, synchronisation: from the work of devices.
void AddDeviceFindings(const FindingRun& run, std::vector<Finding>& findings);
// lost_data: from the ledger.
void AddLossFindings(const FindingRun& run, std::vector<Finding>& findings);

// A function with a fifth of the CPU time, a range or kernel with a fifth of
// its kind's: twice as fast, it saves a tenth of all. Below that, one of them
// is not what the program is slow for.
inline constexpr DurationNs kHotPart = 5;

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_FINDINGS_FAMILIES_H_
