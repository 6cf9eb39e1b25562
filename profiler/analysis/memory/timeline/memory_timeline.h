// memory_timeline.h - PyTorch's memory timeline: how much memory of a device
// each category held, over time.
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
// Which blocks: those that were allocated within the recording, in all
// processes. The host's memory is counted by its source, and a device's by the
// program's reports, as operations are charged (memory_usage.h). A block lives
// until its free. If nobody saw the free, it lives until its address is
// allocated again. A sampled block counts for all that it stands for. A report
// without an address cannot be followed: it counts as it stands, also if it is
// a free. Blocks from before the recording count if the program speaks of them,
// or frees them with a report (block_categories.h).
//
// Which categories: those that the program says (kymo/memory.h), and
//   TEMPORARY  allocated and freed on one thread inside of one leaf operation,
//              which is an operation that no other range is inside of.
//              Annotations of the user and modules are no operations.
//   Unknown    everything else.
// PyTorch also derives categories from the tensors that operations read and
// write, which a trace does not tell.
//
// Cost: linear, and one sort of the events, in parallel; the result does not
//   depend on the number of threads.
#ifndef KYMO_PROFILER_ANALYSIS_MEMORY_TIMELINE_MEMORY_TIMELINE_H_
#define KYMO_PROFILER_ANALYSIS_MEMORY_TIMELINE_MEMORY_TIMELINE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "profiler/analysis/memory/memory_device.h"
#include "profiler/base/column.h"
#include "profiler/base/memory_category.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

using kymo::kMemoryCategories;
using kymo::MemoryCategory;
using kymo::MemoryCategoryName;

constexpr size_t Index(MemoryCategory category) {
  return static_cast<size_t>(category);
}

// With PyTorch's numbers.
enum class MemoryAction : uint8_t {
  kPreexisting = 1,
  kCreate = 2,
  kIncrementVersion = 3,  // two events: -n of the old, +n of the new category
  kDestroy = 4,
};

// The time of kPreexisting events.
inline constexpr TimeNs kBeforeRecording = -1;

struct MemoryTimelineEvent {
  TimeNs time_ns = 0;
  int64_t bytes = 0;  // negative: memory was given back
  // The block's allocation, or the free of a report without an address. Blocks
  // from before the recording have the numbers after those of all records.
  model::MemoryIndex block = model::kNoMemory;
  MemoryAction action = MemoryAction::kCreate;
  MemoryCategory category = MemoryCategory::kUnknown;
  uint32_t version = 0;  // of the block's contents, before the event
};

// By time, action, block and version. The events of kIncrementVersion come in
// pairs, the negative one first.
Column<MemoryTimelineEvent> MemoryTimeline(const model::Trace& trace,
                                           MemoryDeviceId device);

// Whether the trace has operations: only their memory can be TEMPORARY.
bool HasOperations(const model::Trace& trace);

// The bytes that are alive from `time_us` on.
struct MemoryTimelineRow {
  int64_t time_us = 0;
  std::array<int64_t, kMemoryCategories> bytes = {};
};

// PyTorch's microseconds: the double nearest to ns / 1000, cut off. For times
// of our days such doubles are 0.25 us apart, so .875 and more round up to the
// next microsecond.
int64_t MemoryTimelineMicroseconds(TimeNs time_ns);

// Calls `visit` with the running sums: one row for consecutive events of the
// same microsecond. What was alive before the recording is a row of its own.
// That row gets the time of the next row, or 0 if there is none.
void ForEachMemoryTimelineRow(
    std::span<const MemoryTimelineEvent> events,
    const std::function<void(const MemoryTimelineRow&)>& visit);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_MEMORY_TIMELINE_MEMORY_TIMELINE_H_
