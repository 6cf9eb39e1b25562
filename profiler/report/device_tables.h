// device_tables.h - the analyses of devices as tables.
//
//   const analysis::Launches launches(trace);
//   std::string text = FormatValueTable(
//       DeviceIdleTable(analysis::ComputeIdleTimes(trace, launches, {})), {});
//
//   Process  Device  Stream       Idle  Idle: host  Idle: launch  ...
//         1       0  all       1.200ms   800.000us      20.000us  ...
//         1       0  7         1.900ms   900.000us      30.000us  ...
//
// There is one function for each analysis (profiler/analysis/device/device_*,
// profiler/analysis/critical_path.h). Rows are in the order of the analysis.
// Shares of time are shares of the device's window, of all device time, or of
// the path.
#ifndef KYMO_PROFILER_REPORT_DEVICE_TABLES_H_
#define KYMO_PROFILER_REPORT_DEVICE_TABLES_H_

#include <span>

#include "profiler/analysis/critical_path.h"
#include "profiler/analysis/device/device_copies.h"
#include "profiler/analysis/device/device_idle.h"
#include "profiler/analysis/device/device_kernels.h"
#include "profiler/analysis/device/device_queue.h"
#include "profiler/analysis/device/device_times.h"
#include "profiler/model/trace.h"
#include "profiler/report/value_table.h"

namespace kymo::report {

ValueTable DeviceTimesTable(std::span<const analysis::DeviceTimes> devices);

ValueTable DeviceKernelTable(const model::Trace& trace,
                             std::span<const analysis::KernelSum> kernels);

// Work that no operation launched is in the row "(no operation)".
ValueTable DeviceOperationTable(
    const model::Trace& trace,
    std::span<const analysis::OperationSum> operations);
ValueTable DeviceOperationKernelTable(
    const model::Trace& trace,
    std::span<const analysis::OperationKernel> kernels);

ValueTable DeviceCopyTable(std::span<const analysis::CopySum> copies);

ValueTable DeviceIdleTable(std::span<const analysis::IdleTime> streams);

ValueTable DeviceQueueTable(std::span<const analysis::StreamQueue> queues);

// The path's time by cause and name, the largest first.
ValueTable CriticalPathTable(const model::Trace& trace,
                             const analysis::CriticalPath& path);

// Every step that takes time, in order. Times count from the trace's start.
ValueTable CriticalPathStepTable(const model::Trace& trace,
                                 const analysis::CriticalPath& path);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_REPORT_DEVICE_TABLES_H_
