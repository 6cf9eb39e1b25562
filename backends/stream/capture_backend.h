// capture_backend.h - a backend of what libraries say through an annotation
// interface such as NVTX or ITT.
//
//   return stream::NewCaptureBackend(
//       {.name = "nvtx", .interface = "NVTX", ...});
//
// In a child, Kymo's runtime is the tool that the interface finds. The records
// stand in the stream of the thread that makes them (stream_session.h).
//
// The backend has one setting, `NAME_capture`. While it is on, the backend
// joins `cpu`.
#ifndef KYMO_BACKENDS_STREAM_CAPTURE_BACKEND_H_
#define KYMO_BACKENDS_STREAM_CAPTURE_BACKEND_H_

#include <memory>
#include <string>

#include "profiler/model/activity_type.h"
#include "profiler/plugin/activity_backend.h"
#include "profiler/record/host/host.h"

namespace kymo::stream {

struct CaptureInterface {
  std::string name;       // of the backend
  std::string interface;  // for the user
  model::ActivityType type;
  record::RecordFlags flag;
  // The variable that names the interface's tool, and the one that hands the
  // tool that the user had named to ours.
  std::string tool_variable;
  std::string next_tool_variable;
  bool joins_cpu = true;  // the setting's default
  std::string setting_purpose;
};

std::unique_ptr<ActivityBackend> NewCaptureBackend(CaptureInterface interface);

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_CAPTURE_BACKEND_H_
