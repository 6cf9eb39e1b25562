// device_kernels.h - device time by kernel, and by the operation behind it.
//
//   const Launches launches(trace);
//   KernelSums(trace);                    // by name
//   OperationSums(trace, launches);       // by operation: how much it caused
//   OperationKernels(trace, launches);    // by operation and kernel
//
//   aten::linear      self 0,  total 90
//     aten::addmm     self 90, total 90
//       cudaLaunchKernel ~~~> gemm 90
//
// Work belongs to the operation around the call that launched it: to the
// innermost cpu_op, else to the innermost NVTX range, else to nobody
// (kEmptyName). Copies and sets are work, too. An operation's self time is that
// of the work it launched itself. Its total time adds the work of the
// operations inside of it. Work counts once for each name, however often that
// name is in the stack.
//
// Cost: linear in the events and in the depth of stacks.
#ifndef KYMO_PROFILER_ANALYSIS_DEVICE_DEVICE_KERNELS_H_
#define KYMO_PROFILER_ANALYSIS_DEVICE_DEVICE_KERNELS_H_

#include <cstdint>
#include <vector>

#include "profiler/analysis/device/device_work.h"
#include "profiler/analysis/device/launches.h"
#include "profiler/base/time.h"
#include "profiler/model/string_table.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

struct KernelSum {
  model::NameId name = model::kEmptyName;
  WorkKind kind = WorkKind::kNone;
  int64_t count = 0;
  DurationNs total_ns = 0;
  DurationNs min_ns = 0;
  DurationNs max_ns = 0;
  double stddev_ns = 0;  // of a sample (n - 1); 0 for one kernel
};

// By total time, descending, then name.
std::vector<KernelSum> KernelSums(const model::Trace& trace);

struct OperationSum {
  model::NameId name = model::kEmptyName;
  int64_t launch_count = 0;  // pieces of work that it launched itself
  DurationNs self_ns = 0;
  DurationNs total_ns = 0;
};

// By self time, then total time, both descending, then name.
std::vector<OperationSum> OperationSums(const model::Trace& trace,
                                        const Launches& launches);

struct OperationKernel {
  model::NameId operation = model::kEmptyName;
  model::NameId kernel = model::kEmptyName;
  int64_t count = 0;
  DurationNs total_ns = 0;
};

// By operation's name, then time, descending, then kernel's name.
std::vector<OperationKernel> OperationKernels(const model::Trace& trace,
                                              const Launches& launches);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_DEVICE_DEVICE_KERNELS_H_
