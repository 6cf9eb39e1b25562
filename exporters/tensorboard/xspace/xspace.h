// xspace.h - writes a trace as the XSpace message that XProf reads.
//
//   KYMO_RETURN_IF_ERROR(WriteXSpace(trace, steps, settings, progress, *sink));
//
//   plane                     | what it holds
//   /host:CPU                 | threads of all processes (lines.h)
//   /device:GPU:N             | streams of device N, and what it can do
//                             | (device_properties.h)
//   /device:CUSTOM:counters   | counters (counter_plane.h)
//   Task Environment          | start and end, ns since the epoch
//
// XProf's statistics count operations (cpu_op). Ranges called "ProfilerStep#N"
// are its steps, and memory records make its memory profile. Times are ps after
// the start of the recording (time_base.h). The field `warnings`, which the
// overview shows, says what the trace lost.
//
// Errors: those of the sink. If the message would be larger than 2 GiB, the
//   limit of protobuf's readers, the result is kResourceExhausted and nothing
//   is written. The error says what to do instead.
// Memory: 32 MiB, plus 3 bytes for each name of the trace and 12 bytes for each
//   memory record that is written.
#ifndef KYMO_EXPORTERS_TENSORBOARD_XSPACE_XSPACE_H_
#define KYMO_EXPORTERS_TENSORBOARD_XSPACE_XSPACE_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "absl/status/status.h"
#include "exporters/tensorboard/step_names.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/sink.h"

namespace kymo::tensorboard {

struct XSpaceSettings {
  std::string host;  // as in the name of the file
  // How many records of the heap become events at most (memory_events.h). -1:
  // all of them.
  int64_t max_heap_records = -1;
  // How many ranges the trace shows as one with others (fold_ranges.h).
  uint64_t folded_ranges = 0;
  // How many records, and details of ranges, the trace lacks (thin_trace.h).
  uint64_t left_out = 0;
  // The limit of protobuf's readers.
  uint64_t most_bytes = std::numeric_limits<int32_t>::max();
};

// The caller commits the sink.
absl::Status WriteXSpace(const model::Trace& trace, const StepNames& steps,
                         const XSpaceSettings& settings,
                         const std::function<void(double)>& progress,
                         ByteSink& sink);

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_XSPACE_XSPACE_H_
