#include "backends/nvtx/nvtx_backend.h"

#include "backends/stream/capture_backend.h"
#include "profiler/record/host/host.h"
#include "profiler/record/tool_variables.h"

namespace kymo {

std::unique_ptr<ActivityBackend> NewNvtxBackend() {
  return stream::NewCaptureBackend(
      {.name = "nvtx",
       .interface = "NVTX",
       .type = model::ActivityType::kNvtxRange,
       .flag = record::kGateNvtx,
       .tool_variable = record::kNvtxToolVariable,
       .next_tool_variable = record::kNextNvtxToolVariable,
       .joins_cpu = true,
       .setting_purpose = "Record what libraries say through NVTX."});
}

}  // namespace kymo
