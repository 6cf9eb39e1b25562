// memory_timeline.h - PyTorch's memory timeline: what a device's memory held,
// by category, over time.
//
//   const Column<MemoryTimelineEvent> events = MemoryTimeline(trace, {});
//   ForEachMemoryTimelineRow(events, [&](const MemoryTimelineRow& row) {
//     row.bytes[Index(MemoryCategory::kTemporary)]
//   });
//
//   time      5 us             9 us
//   events    [create 40 B]    [destroy 40 B]
//   rows      5: 40            9: 0
//
// Which blocks: those that were allocated within the recording, counted as the
// operations are charged with them: the host's by its source (see
// memory_usage.h), a device's by the program's reports. Blocks of all
// processes count. A block lives until its free or, if nobody saw that, until
// its address is allocated again; sampled ones stand for more than themselves.
// Frees of blocks that were there before the recording change nothing. Reports
// without an address cannot be followed and count as they stand, frees too.
//
// Which categories: allocations do not tell the tensors that PyTorch sorts by
// what they are for. What can be told is
//   TEMPORARY  allocated and freed on one thread inside of one leaf operation:
//              one that no other range stands in. Annotations of the user and
//              modules are no operations.
//   Unknown    everything else,
// and no event is kPreexisting or kIncrementVersion. The other categories and
// actions are here because rows can be made of PyTorch's own events too.
//
// Cost: linear, and one sort of the events, in parallel; the result does not
//   depend on the number of threads.
#ifndef KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_TIMELINE_H_
#define KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_TIMELINE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "profiler/analysis/memory/memory_device.h"
#include "profiler/base/column.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

// In the order of PyTorch's files.
enum class MemoryCategory : uint8_t {
  kParameter,
  kOptimizerState,
  kInput,
  kTemporary,
  kActivation,
  kGradient,
  kAutogradDetail,
  kUnknown,
  kCount,
};
inline constexpr size_t kMemoryCategories =
    static_cast<size_t>(MemoryCategory::kCount);

constexpr size_t Index(MemoryCategory category) {
  return static_cast<size_t>(category);
}

// "PARAMETER", ..., "Unknown". Lives for ever.
std::string_view MemoryCategoryName(MemoryCategory category);

// With PyTorch's numbers.
enum class MemoryAction : uint8_t {
  kPreexisting = 1,
  kCreate = 2,
  kIncrementVersion = 3,  // two events: -n of the old category, +n of the new
  kDestroy = 4,
};

// The time of kPreexisting.
inline constexpr TimeNs kBeforeRecording = -1;

struct MemoryTimelineEvent {
  TimeNs time_ns = 0;
  int64_t bytes = 0;  // < 0: so many fewer
  // Its allocation, or the free of a report without an address.
  model::MemoryIndex block = model::kNoMemory;
  MemoryAction action = MemoryAction::kCreate;
  MemoryCategory category = MemoryCategory::kUnknown;
};

// By time, action and block.
Column<MemoryTimelineEvent> MemoryTimeline(const model::Trace& trace,
                                           MemoryDeviceId device);

// What was alive from `time_us` on.
struct MemoryTimelineRow {
  int64_t time_us = 0;
  std::array<int64_t, kMemoryCategories> bytes = {};
};

// PyTorch's us: the double nearest to ns / 1000, cut off. As these doubles lie
// 0.25 us apart in our days, .875 and more become the next us.
int64_t MemoryTimelineMicroseconds(TimeNs time_ns);

// The running sums, one row for all events that follow one another in one us.
// What was there before the recording is a row of its own, which gets the time
// of the next one, or 0 if it is the last.
void ForEachMemoryTimelineRow(
    std::span<const MemoryTimelineEvent> events,
    const std::function<void(const MemoryTimelineRow&)>& visit);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_MEMORY_MEMORY_TIMELINE_H_
