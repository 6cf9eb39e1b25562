#include <chrono>

#include "backends/itt/itt_backend.h"
#include "profiler/plugin/test_backend_conformance.h"

namespace kymo {
namespace {

KYMO_TEST_BACKEND(ThisProcess,
                  {.make = NewIttBackend,
                   .time_per_test = std::chrono::milliseconds(500)});

KYMO_TEST_BACKEND(Child, {.make = NewIttBackend,
                          .options = {.target = TargetKind::kChildProcess},
                          .time_per_test = std::chrono::milliseconds(500)});

}  // namespace
}  // namespace kymo
