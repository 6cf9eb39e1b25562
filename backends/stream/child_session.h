// child_session.h - records a child and what it starts, through a shared arena
// that is drained to disk. Or a program that runs already, through its door,
// which hands over such an arena; then without what the program starts.
//
// The records survive the sudden death of any recorded process. With
// cpu_keep_raw they also survive the death of this process, and so they do if
// another one runs the savers of last_records.h.
#ifndef KYMO_BACKENDS_STREAM_CHILD_SESSION_H_
#define KYMO_BACKENDS_STREAM_CHILD_SESSION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "backends/stream/flight_recorder.h"
#include "profiler/door/knock.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/plugin/last_records.h"
#include "profiler/plugin/sampled_processes.h"
#include "profiler/plugin/window_reducer.h"
#include "profiler/record/host/host.h"

namespace kymo::stream {

struct ChildSettings {
  std::string target_path;
  uint64_t arena_bytes = 0;
  record::FullPolicy policy = record::FullPolicy::kDrain;
  record::RecordFlags flags = 0;
  uint64_t heap_sample_interval = 0;        // 0 = every allocation
  uint64_t fold_heap_above = ~uint64_t{0};  // as in DecodeInput
  bool others_record_ranges = false;        // as in DecodeInput
  std::string scratch_dir;
  bool keep_raw = false;
  std::optional<uint64_t> max_memory;  // as MemoryLimit() takes it
  std::optional<uint64_t> max_disk;    // bytes of records
  // Adds up the oldest records if there are too many. Null: nobody does.
  std::shared_ptr<WindowReducer> reducer;
  std::optional<FlightLimit> flight;
  std::shared_ptr<const SampledProcesses> sampled;  // may be null
  std::shared_ptr<LastRecords> last_records;        // likewise
  // Of a program that runs already. Then there is neither `keep_raw` nor
  // `flight`.
  std::shared_ptr<door::OpenDoor> door;
};

std::unique_ptr<ActivitySession> NewChildSession(ChildSettings settings);

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_CHILD_SESSION_H_
