#include "backends/itt/itt_backend.h"

#include "backends/stream/capture_backend.h"
#include "profiler/record/host/host.h"
#include "profiler/record/tool_variables.h"

namespace kymo {

std::unique_ptr<ActivityBackend> NewIttBackend() {
  return stream::NewCaptureBackend(
      {.name = "itt",
       .interface = "ITT",
       .type = model::ActivityType::kIttTask,
       .flag = record::kGateItt,
       .tool_variable = record::kIttToolVariable,
       .next_tool_variable = record::kNextIttToolVariable,
       .joins_cpu = false,
       .setting_purpose = "Record what libraries say through ITT, such as "
                          "oneTBB each of its tasks."});
}

}  // namespace kymo
