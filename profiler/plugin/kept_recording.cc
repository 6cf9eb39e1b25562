#include "profiler/plugin/kept_recording.h"

#include "absl/strings/cord.h"
#include "absl/types/optional.h"
#include "profiler/base/strings.h"

namespace kymo {
namespace {

constexpr char kPathPayload[] = "kymo/kept_recording";

}  // namespace

absl::Status KeptRecording(std::string_view message, std::string_view path) {
  absl::Status status = absl::ResourceExhaustedError(ToAbsl(message));
  status.SetPayload(kPathPayload, absl::Cord(ToAbsl(path)));
  return status;
}

std::optional<std::string> KeptRecordingPath(const absl::Status& status) {
  const absl::optional<absl::Cord> path = status.GetPayload(kPathPayload);
  if (!path) return std::nullopt;
  return std::string(*path);
}

}  // namespace kymo
