// memory_events.h - the memory records of a trace in traceEvents.
//
//   MemoryEvents memory(trace, rows, exact, base_ns, /*with_heap=*/true);
//   memory.AppendMembers(head);                  // of the file
//   KYMO_RETURN_IF_ERROR(memory.Write(output));  // elements of traceEvents
//
// Each record is Kineto's instant event, [memory] or [OutOfMemory], on its
// thread; "Ev Idx" counts on from the trace's events. Records of the heap and
// of mappings also have "Source", because they are other layers than the
// program's reports. "Stack" is the number of a stack in exact_records.h. The
// free of a block of 0 bytes has "Free": true.
// Counters (memory_counters.h) follow the records.
//
// Without the heap's records only the counters are written. The file then has
// the member "kymo_heap_records_left_out".
#ifndef KYMO_EXPORTERS_CHROME_MEMORY_EVENTS_H_
#define KYMO_EXPORTERS_CHROME_MEMORY_EVENTS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "exporters/chrome/exact_records.h"
#include "exporters/chrome/rows.h"
#include "exporters/timeline/memory_counters.h"
#include "exporters/timeline/ordered_output.h"
#include "profiler/base/time.h"
#include "profiler/model/trace.h"

namespace kymo::chrome {

inline constexpr char kHeapRecordsLeftOut[] = "kymo_heap_records_left_out";

// Whether the trace has at most so many records of the heap. -1: any number.
bool HeapFits(const model::Trace& trace, int64_t max_heap_records);

class MemoryEvents {
 public:
  // `base_ns` is the zero of the file's times. The others must outlive the
  // object.
  MemoryEvents(const model::Trace& trace, const Rows& rows,
               const ExactRecords& exact, TimeNs base_ns, bool with_heap);

  // The number of elements that Write gives to its output, for progress.
  size_t item_count() const;

  // Appends `"key": value,\n`, or nothing if no record was left out.
  void AppendMembers(std::string& out) const;

  absl::Status Write(timeline::OrderedOutput& output) const;

 private:
  void LeaveOutHeap();
  // The number of records that are written.
  size_t record_count() const { return trace_.memory().size() - left_out_; }
  void AppendRecord(std::string& out, size_t position) const;
  void AppendPoint(std::string& out, const timeline::MemoryCounter& counter,
                   const analysis::CurvePoint& point) const;

  const model::Trace& trace_;
  const Rows& rows_;
  const ExactRecords& exact_;
  const TimeNs base_ns_;
  size_t left_out_ = 0;
  std::vector<model::MemoryIndex> others_;  // if some are left out: the rest
  std::vector<std::string> heads_;  // by track: a [memory] up to its time
  const std::vector<timeline::MemoryCounter> counters_;
};

}  // namespace kymo::chrome

#endif  // KYMO_EXPORTERS_CHROME_MEMORY_EVENTS_H_
