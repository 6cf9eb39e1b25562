#include <unistd.h>

#include <chrono>

#include "backends/host/host_backend.h"
#include "profiler/plugin/test_backend_conformance.h"

namespace kymo {
namespace {

// The backend records by itself, every 10 ms. So its source needs time only.
const SettingMap kOften = {{"host_period_ms", "10"}};
void WaitForAReading() { usleep(11'000); }

KYMO_TEST_BACKEND(ThisProcess,
                  {.make = NewHostBackend,
                   .options = {.settings = kOften},
                   .record = WaitForAReading,
                   .follows_children = true,
                   .time_per_test = std::chrono::milliseconds(500)});

KYMO_TEST_BACKEND(Child, {.make = NewHostBackend,
                          .options = {.target = TargetKind::kChildProcess,
                                      .settings = kOften},
                          .time_per_test = std::chrono::milliseconds(500)});

}  // namespace
}  // namespace kymo
