#include <chrono>

#include "backends/sampling/sampling_backend.h"
#include "profiler/plugin/test_backend_conformance.h"

namespace kymo {
namespace {

// What `auto` takes on this machine; and the timers, which work everywhere.
KYMO_TEST_BACKEND(Auto, {.make = NewSamplingBackend,
                         .options = {.target = TargetKind::kChildProcess},
                         .time_per_test = std::chrono::seconds(1)});

KYMO_TEST_BACKEND(Timer,
                  {.make = NewSamplingBackend,
                   .options = {.target = TargetKind::kChildProcess,
                               .settings = {{"sampling_sampler", "timer"}}},
                   .time_per_test = std::chrono::seconds(1)});

}  // namespace
}  // namespace kymo
