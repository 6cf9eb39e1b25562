#include <chrono>

#include "backends/off_cpu/off_cpu_backend.h"
#include "profiler/plugin/test_backend_conformance.h"

namespace kymo {
namespace {

KYMO_TEST_BACKEND(OffCpu, {.make = NewOffCpuBackend,
                           .options = {.target = TargetKind::kChildProcess},
                           .time_per_test = std::chrono::seconds(1)});
KYMO_TEST_BACKEND(OffCpuOfThisProcess,
                  {.make = NewOffCpuBackend,
                   .time_per_test = std::chrono::seconds(1)});

}  // namespace
}  // namespace kymo
