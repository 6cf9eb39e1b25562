// stream_session.h - sessions of the backends that record into the threads'
// streams: cpu, memory, nvtx and itt.
//
//   absl::StatusOr<std::unique_ptr<ActivitySession>> session =
//       stream::NewStreamSession(options, {.flags = record::kGateNvtx});
//
// A thread has one stream (profiler/record), and a process one host. So the
// sessions of one recording (SessionOptions::shared) are one recording of the
// stream: what they ask for is added up, whichever call comes first does the
// work for all, and the first Collect gets every record.
//
// In a program that runs already, it records through the program's door
// (profiler/door), if there is an open one.
//
// In this process it records into anonymous memory and reads it at Collect. For
// a child it makes a shared arena and names it in the child's environment.
// While the child and its descendants run, it drains the arena to disk. The
// records survive the sudden death of any of these processes. With cpu_keep_raw
// a child leaves a raw file (raw/raw_file.h). So does a child whose trace would
// take more than cpu_max_memory (kept_recording.h).
//
// Errors: kInvalidArgument for settings that the target cannot have. A failure
//   of the recording is the failure of each of its sessions.
#ifndef KYMO_BACKENDS_STREAM_STREAM_SESSION_H_
#define KYMO_BACKENDS_STREAM_STREAM_SESSION_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/plugin/target_setup.h"
#include "profiler/record/host/host.h"

namespace kymo::stream {

// What one backend wants of the stream.
struct StreamRequest {
  // The program's own ranges, instants and counters.
  bool ranges = false;
  record::RecordFlags flags = 0;
  uint64_t heap_sample_interval = 0;  // bytes; 0 = every allocation
  // In a child: more heap records than this become sums.
  uint64_t fold_heap_above = ~uint64_t{0};
  // In a child: whether the runtime must come before its allocator, and the
  // libraries that it loads by a variable.
  bool watches_heap = false;
  std::vector<InjectedLibrary> libraries = {};
};

// kNotFound, with what would help, if the target is programs that run already
// and none has an open door. Else the backends of the stream are available.
absl::Status StreamAvailability(const SessionOptions& options);

absl::StatusOr<std::unique_ptr<ActivitySession>> NewStreamSession(
    const SessionOptions& options, const StreamRequest& request);

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_STREAM_SESSION_H_
