// What a session gives back: metadata, numbers of its own, errors.
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "gtest/gtest.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "tests/integration/test_session.h"

namespace kymo {
namespace {

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(SessionTest, MetadataArrivesInTheExportedFile) {
  setenv("RANK", "2", 1);
  setenv("WORLD_SIZE", "4", 1);
  Profile profile({.record_shapes = true});
  EXPECT_TRUE(profile.preset_metadata_json("preset", "[1, 2]").ok());
  ASSERT_TRUE(profile.Start().ok());
  EXPECT_TRUE(profile.add_metadata("note", "a \"quote\" and \\").ok());
  EXPECT_EQ(profile.add_metadata_json("broken", "{").code(),
            absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(profile.Stop().ok());
  unsetenv("RANK");
  unsetenv("WORLD_SIZE");
  EXPECT_TRUE(profile.add_metadata_json("late", "{\"x\": null}").ok());
  const std::string path = testing::TempDir() + "/metadata.json";
  ASSERT_TRUE(profile.export_chrome_trace(path).ok());
  const std::string text = ReadFile(path);
  for (const char* const part :
       {"\"note\": \"a \\\"quote\\\" and \\\\\"", "\"preset\": [1, 2]",
        "\"late\": {\"x\": null}", "\"record_shapes\": 1", "\"rank\": 2",
        "\"world_size\": 4"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

TEST(SessionTest, StatsAreMeasured) {
  const auto profile = Record({}, [] {
    RecordFunction range("range");
    usleep(5000);
  });
  ASSERT_TRUE(profile->events().ok());
  const ProfilerStats* const stats = profile->stats();
  ASSERT_NE(stats, nullptr);
  EXPECT_GE(stats->profiling_window_duration_sec, 0.005);
  EXPECT_EQ(stats->number_of_events, 1);
  EXPECT_GT(stats->profiler_prepare_call_duration_us +
                stats->profiler_enable_call_duration_us +
                stats->profiler_disable_call_duration_us +
                stats->parse_kineto_call_duration_us,
            0);
}

TEST(SessionTest, TraceOnlyHasNoEvents) {
  const auto profile = Record({.experimental_config = {.trace_only = true}},
                              [] { RecordFunction range("range"); });
  EXPECT_EQ(profile->events().status().message(),
            "events() is not available when trace_only=True in "
            "ExperimentalConfig. Use export_chrome_trace() instead.");
  EXPECT_TRUE(
      profile->export_chrome_trace(testing::TempDir() + "/only.json").ok());
}

TEST(SessionTest, OptionsThatMakeNoSenseSaySo) {
  const Warnings warnings;
  EXPECT_EQ(Profile({.use_cpu = false}).Start().message(),
            "No activities specified for the profiler");
  EXPECT_EQ(Profile({.activities = {"cpu", "cpu"}}).Start().message(),
            "Activity cpu specified more than once");
  EXPECT_EQ(Profile({.post_processing_timeout_s = -1}).Start().message(),
            "post_processing_timeout_s must be non-negative");
  Profile gone({.use_device = "toaster"});
  EXPECT_TRUE(gone.Start().ok());
  EXPECT_TRUE(gone.Stop().ok());
  ASSERT_FALSE(warnings.texts().empty());
  EXPECT_EQ(warnings.texts()[0], "The toaster is not a valid device option.");
}

}  // namespace
}  // namespace kymo
