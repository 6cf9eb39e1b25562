#include "backends/host/host_backend.h"

#include <string>

#include <gtest/gtest.h>

#include "profiler/plugin/activity_backend.h"

namespace kymo::host {
namespace {

TEST(HostBackendTest, IsRecordedOnRequestAndChecksItsSettings) {
  const auto backend = NewHostBackend();
  EXPECT_EQ(backend->info().name, "host");
  EXPECT_TRUE(backend->info().on_request);
  SessionOptions options;
  EXPECT_TRUE(backend->Availability(options).ok());
  options.settings["host_period_ms"] = "9";
  EXPECT_EQ(std::string(backend->Availability(options).message()),
            "host_period_ms is '9'; it takes a whole number of ms from 10 "
            "to 60000");
  EXPECT_FALSE(backend->NewSession(options).ok());
}

}  // namespace
}  // namespace kymo::host
