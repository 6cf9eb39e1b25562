// device_work.h - what devices did: kernels, copies, sets, in order.
//
//   for (const Device& device : FindDevices(trace)) {
//     for (const DeviceStream& stream : device.streams) ...
//   }
//   WorkKindOf(trace, kernel)    // WorkKind::kCommunication for ncclDevKernel_
//
// A device is one of a process: where two processes use one GPU, or a trace has
// several ranks, each has its own. Waits (cuda_sync), annotations and other
// records that stand on a stream are no work.
//
// Communication is what libraries of collectives run: names that begin with
// nccl, rccl, hccl, or hold ncclKernel or ncclDevKernel. Copies and sets are
// memory; other kernels compute. HolisticTraceAnalysis divides them so.
//
// Cost: linear, and a sort by stream. Threads: pure functions.
#ifndef KYMO_PROFILER_ANALYSIS_DEVICE_DEVICE_WORK_H_
#define KYMO_PROFILER_ANALYSIS_DEVICE_DEVICE_WORK_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

enum class WorkKind : uint8_t { kNone, kCompute, kCommunication, kMemory };

// "compute", "communication", "memory"; empty for none.
std::string_view WorkKindName(WorkKind kind) noexcept;

// REQUIRES: an event of the trace; kNone for what is no work of a device.
WorkKind WorkKindOf(const model::Trace& trace, model::EventIndex event);

struct DeviceStream {
  int64_t id = 0;
  // By start, then as they stand in the trace.
  std::vector<model::EventIndex> work;
};

struct Device {
  int64_t pid = 0;
  int32_t index = 0;
  std::vector<DeviceStream> streams;  // by id; none is empty
};

// Those that did something, by process and index.
std::vector<Device> FindDevices(const model::Trace& trace);

// [begin, end) of time.
struct Interval {
  TimeNs begin_ns = 0;
  TimeNs end_ns = 0;

  friend bool operator==(const Interval&, const Interval&) = default;
};

// Sorted and apart: what touches or overlaps is one.
std::vector<Interval> Merged(std::vector<Interval> intervals);

DurationNs TotalNs(const std::vector<Interval>& merged);

// How long both last. REQUIRES: both merged.
DurationNs OverlapNs(const std::vector<Interval>& a,
                     const std::vector<Interval>& b);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_DEVICE_DEVICE_WORK_H_
