// kept_recording.h - a recording that is larger than memory stays in a file.
//
//   absl::StatusOr<Collected> Collect(model::TraceShard& shard) override {
//     if (!fits) return Collected{KeptRecording{.path = path, ...}};
//     ...                             // fills the shard
//     return Collected{};
//
//   if (collected.kept) {
//     KYMO_ASSIGN_OR_RETURN(const std::unique_ptr<TraceWindows> windows,
//                           collected.kept->open(kept.window_bytes));
//   }
//
// The file is the user's to keep. An importer reads it, too.
#ifndef KYMO_PROFILER_PLUGIN_KEPT_RECORDING_H_
#define KYMO_PROFILER_PLUGIN_KEPT_RECORDING_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "profiler/plugin/trace_windows.h"

namespace kymo {

struct KeptRecording {
  std::string path;
  std::string why;  // it was kept, in a sentence for the user
  // Opens the file in windows of about so many bytes of records.
  std::function<absl::StatusOr<std::unique_ptr<TraceWindows>>(
      uint64_t window_bytes)>
      open;
  uint64_t window_bytes = 0;  // that memory has room for
};

// What became of the records of a session.
struct Collected {
  // The shard has none of the records; they are in this file. Nothing: the
  // shard has all of them.
  std::optional<KeptRecording> kept;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_KEPT_RECORDING_H_
