// kept_recording.h - a recording that is larger than memory stays in a file.
//
//   kymo::Collected collected;   // what a session's Collect returns
//   if (used_bytes > bytes) {
//     collected.kept = kymo::KeptRecording{
//         .path = "out/kymo.raw", .why = "its trace does not fit into memory"};
//   }
//   if (collected.kept.has_value()) {
//     const kymo::KeptRecording& kept = *collected.kept;
//     absl::StatusOr<std::unique_ptr<kymo::TraceWindows>> windows =
//         kept.open(kept.window_bytes);
//     if (!windows.ok()) return windows.status();
//   }
//   return absl::OkStatus();
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
  std::string why = {};  // it was kept, in a sentence for the user
  // Opens the file in windows of about so many bytes of records.
  std::function<absl::StatusOr<std::unique_ptr<TraceWindows>>(
      uint64_t window_bytes)>
      open = {};
  uint64_t window_bytes = 0;  // that memory has room for
  // The flag with which //tools:report reads the file part by part. Empty: it
  // needs none.
  std::string read_flag = {};
};

// Where the records of a session are.
struct Collected {
  // The shard has none of the records; they are in this file. Nothing: the
  // shard has all of them.
  std::optional<KeptRecording> kept;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_KEPT_RECORDING_H_
