#include <chrono>

#include "backends/cpu/cpu_backend.h"
#include "kymo/record_function.h"
#include "profiler/plugin/test_backend_conformance.h"

namespace kymo {
namespace {

KYMO_TEST_BACKEND(ThisProcess,
                  {.make = NewCpuBackend,
                   .record = [] { const RecordFunction range("work"); },
                   .small_buffers = {{"cpu_arena_mib", "1"}}});

KYMO_TEST_BACKEND(Child, {.make = NewCpuBackend,
                          .options = {.target = TargetKind::kChildProcess},
                          .time_per_test = std::chrono::seconds(1)});

}  // namespace
}  // namespace kymo
