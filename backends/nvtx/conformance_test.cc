#include <chrono>

#include "backends/nvtx/nvtx_backend.h"
#include "backends/nvtx/target/client.h"
#include "profiler/plugin/test_backend_conformance.h"

namespace kymo {
namespace {

// An annotation of this program. The tool that gets it is linked in.
void Annotate() {
  const nvtx::NvtxClient& nvtx = nvtx::GetNvtxClient();
  nvtx.push("work");
  nvtx.pop();
}

KYMO_TEST_BACKEND(ThisProcess,
                  {.make = NewNvtxBackend,
                   .record = Annotate,
                   .time_per_test = std::chrono::milliseconds(500)});

KYMO_TEST_BACKEND(Child, {.make = NewNvtxBackend,
                          .options = {.target = TargetKind::kChildProcess},
                          .time_per_test = std::chrono::milliseconds(500)});

}  // namespace
}  // namespace kymo
