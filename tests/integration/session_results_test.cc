// What a session gives back: metadata, numbers of its own, errors.
#include <unistd.h>

#include <chrono>
#include <cstdint>
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
  constexpr int kRanges = 100'000;
  constexpr int64_t kPauseUs = 5'000;
  // The id is made while the session is prepared.
  Profile profile({.custom_trace_id_callback = [] {
    usleep(kPauseUs);
    return std::string("slow");
  }});
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(profile.Start().ok());
  const int64_t start_us = UsSince(start);
  const auto work = std::chrono::steady_clock::now();
  for (int i = 0; i < kRanges; ++i) RecordFunction range("range");
  usleep(kPauseUs);
  const int64_t work_us = UsSince(work);
  const auto stop = std::chrono::steady_clock::now();
  ASSERT_TRUE(profile.Stop().ok());
  const int64_t stop_us = UsSince(stop);
  const int64_t all_us = UsSince(start);

  const ProfilerStats* const stats = profile.stats();
  ASSERT_NE(stats, nullptr);
  EXPECT_GE(stats->profiler_prepare_call_duration_us, kPauseUs);
  EXPECT_GT(stats->profiler_enable_call_duration_us, 0);
  EXPECT_LE(stats->profiler_prepare_call_duration_us +
                stats->profiler_enable_call_duration_us,
            start_us);
  EXPECT_GT(stats->profiler_disable_call_duration_us, 0);
  // Making a trace of so many records takes much longer than the rest.
  EXPECT_GE(stats->parse_kineto_call_duration_us, stop_us / 4);
  EXPECT_LE(stats->profiler_disable_call_duration_us +
                stats->parse_kineto_call_duration_us,
            stop_us);
  const double window_us = stats->profiling_window_duration_sec * 1e6;
  EXPECT_GE(window_us, static_cast<double>(work_us));
  EXPECT_LE(window_us, static_cast<double>(all_us - stop_us / 4));
  EXPECT_EQ(stats->number_of_events, kRanges);
  EXPECT_EQ(stats->function_events_build_tree_call_duration_us, 0);
  ASSERT_TRUE(profile.events().ok());
  EXPECT_EQ(stats->number_of_events, kRanges);
  EXPECT_GT(stats->function_events_build_tree_call_duration_us, 0);
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
