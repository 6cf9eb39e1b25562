#include <chrono>

#include "backends/memory/memory_backend.h"
#include "kymo/memory.h"
#include "profiler/plugin/test_backend_conformance.h"

namespace kymo {
namespace {

KYMO_TEST_BACKEND(ThisProcess,
                  {.make = NewMemoryBackend,
                   .record = [] { ReportMemoryUsage(nullptr, 1); },
                   .time_per_test = std::chrono::milliseconds(500)});

KYMO_TEST_BACKEND(Child, {.make = NewMemoryBackend,
                          .options = {.target = TargetKind::kChildProcess},
                          .time_per_test = std::chrono::milliseconds(500)});

}  // namespace
}  // namespace kymo
