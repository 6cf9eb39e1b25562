#include <chrono>
#include <map>
#include <string>

#include <gtest/gtest.h>

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

TEST(MemoryBackendTest, WithoutSettingsTheWholeHeapIsWatched) {
  std::map<std::string, std::string> defaults;
  const auto backend = NewMemoryBackend();
  for (const SettingInfo& setting : backend->info().settings) {
    defaults[setting.name] = setting.default_value;
  }
  // As docs/memory.md says them; the interval is 512 KiB.
  EXPECT_EQ(defaults["memory_mode"], "all");
  EXPECT_EQ(defaults["memory_interval"], "524288");
}

}  // namespace
}  // namespace kymo
