// device_work.h - what devices did: kernels, copies, sets, in order.
//
//   for (const Device& device : FindDevices(trace)) {
//     for (const DeviceStream& stream : device.streams) ...
//   }
//   WorkKindOf(trace, kernel)    // WorkKind::kCommunication for ncclDevKernel_
//
// A device belongs to a process: if two processes use one GPU, or a trace has
// several ranks, each has a device of its own. Waits (cuda_sync), annotations
// and other records on a stream are no work.
//
// Communication is what libraries of collectives run: kernels whose names begin
// with nccl, rccl or hccl, or contain ncclKernel or ncclDevKernel. Copies and
// sets are memory; all other kernels compute. HolisticTraceAnalysis divides
// work in the same way.
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

// kNone for an event that is no work of a device. REQUIRES: an event of the
// trace.
WorkKind WorkKindOf(const model::Trace& trace, model::EventIndex event);

struct DeviceStream {
  int64_t id = 0;
  // Sorted by start; equal starts keep the order of the trace.
  std::vector<model::EventIndex> work;
};

struct Device {
  int64_t pid = 0;
  int32_t index = 0;
  std::vector<DeviceStream> streams;  // by id; none is empty
};

// The devices that did something, by process and index.
std::vector<Device> FindDevices(const model::Trace& trace);

// [begin, end) of time.
struct Interval {
  TimeNs begin_ns = 0;
  TimeNs end_ns = 0;

  friend bool operator==(const Interval&, const Interval&) = default;
};

// Sorted and disjoint: intervals that touch or overlap become one.
std::vector<Interval> Merged(std::vector<Interval> intervals);

DurationNs TotalNs(const std::vector<Interval>& merged);

// For how long both are active. REQUIRES: both are the results of Merged.
DurationNs OverlapNs(const std::vector<Interval>& a,
                     const std::vector<Interval>& b);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_DEVICE_DEVICE_WORK_H_
