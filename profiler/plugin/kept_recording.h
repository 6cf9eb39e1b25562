// kept_recording.h - what a session could not bring into memory, it left in a
// file.
//
//   absl::Status Collect(model::TraceShard& shard) override {
//     if (!fits) return KeptRecording("... does not fit ...", path);
//
//   if (const auto path = KeptRecordingPath(status)) ReadInParts(*path);
//
// The status is kResourceExhausted; an importer reads the file.
#ifndef KYMO_PROFILER_PLUGIN_KEPT_RECORDING_H_
#define KYMO_PROFILER_PLUGIN_KEPT_RECORDING_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace kymo {

absl::Status KeptRecording(std::string_view message, std::string_view path);

// The file of such a status; nothing of any other.
std::optional<std::string> KeptRecordingPath(const absl::Status& status);

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_KEPT_RECORDING_H_
