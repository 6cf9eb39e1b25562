// xspace.h - a trace as XProf reads it: one XSpace message.
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
// Operations (cpu_op) are what XProf's statistics count, "ProfilerStep#N" are
// its steps, memory records make its memory profile. Times are ps after the
// start of the recording (time_base.h). What the trace lost is in `warnings`,
// which the overview shows.
//
// Errors: those of the sink; kResourceExhausted where the message would be
//   larger than protobuf's readers take, which is 2 GiB: nothing is written.
//   The message says what to do instead.
// Memory: 32 MiB, besides 3 bytes for each name of the trace and 12 for each
//   memory record that is written.
#ifndef KYMO_EXPORTERS_TENSORBOARD_XSPACE_H_
#define KYMO_EXPORTERS_TENSORBOARD_XSPACE_H_

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
  // Most records of the heap as events; -1: all (memory_events.h).
  int64_t max_heap_records = -1;
  // What protobuf's readers take.
  uint64_t most_bytes = std::numeric_limits<int32_t>::max();
};

// Does not commit.
absl::Status WriteXSpace(const model::Trace& trace, const StepNames& steps,
                         const XSpaceSettings& settings,
                         const std::function<void(double)>& progress,
                         ByteSink& sink);

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_XSPACE_H_
