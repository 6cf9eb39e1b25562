#include <chrono>

#include "backends/nvtx/nvtx_backend.h"
#include "profiler/plugin/test_backend_conformance.h"

namespace kymo {
namespace {

KYMO_TEST_BACKEND(ThisProcess,
                  {.make = NewNvtxBackend,
                   .time_per_test = std::chrono::milliseconds(500)});

KYMO_TEST_BACKEND(Child, {.make = NewNvtxBackend,
                          .options = {.target = TargetKind::kChildProcess},
                          .time_per_test = std::chrono::milliseconds(500)});

}  // namespace
}  // namespace kymo
