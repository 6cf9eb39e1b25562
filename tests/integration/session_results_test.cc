// The results of a session: metadata, numbers of its own, errors.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "tests/integration/test_session.h"

namespace kymo {
namespace {

template <typename T>
std::string Printed(T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
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

TEST(SessionTest, TextsArePythons) {
  Profile unfinished;
  for (const absl::Status& status :
       {unfinished.key_averages().status(), unfinished.events().status(),
        unfinished.total_average().status(),
        unfinished.self_cpu_time_total().status(),
        unfinished.export_chrome_trace("nowhere")}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()),
                testing::StartsWith("Profiler didn't finish running"));
  }
  EXPECT_EQ(ToString(unfinished), "<unfinished torch.autograd.profile>");
  EXPECT_EQ(Printed(unfinished), "<unfinished torch.autograd.profile>");

  const auto profile = Record({}, [] { RecordFunction range("range"); });
  const std::string us = "[0-9.]+us";
  EXPECT_THAT(
      ToString(*profile),
      testing::MatchesRegex(
          "\\[<FunctionEvent id=[0-9]+ name=range overload_name= "
          "device_type=DeviceType.CPU node_id=-1 cpu_time=" +
          us +
          " start_us=[0-9.]+ end_us=[0-9.]+ cpu_children=\\[\\] "
          "None_time=0.000us name=range thread=[0-9]+ input_shapes=\\[\\] "
          "cpu_memory_usage=0 None_memory_usage=0 is_async=False "
          "is_remote=False seq_nr=-1 is_legacy=False>\\]"));
  EXPECT_EQ(Printed(*profile), profile->table());
  EXPECT_THAT(profile->table(), testing::HasSubstr("range"));
  EXPECT_THAT(ToString(profile->key_averages()),
              testing::MatchesRegex(
                  "\\[<FunctionEventAvg key=range self_cpu_time=" + us +
                  " cpu_time=" + us +
                  "  self_cuda_time=0.000us cuda_time=0.000us input_shapes= "
                  "cpu_memory_usage=0 cuda_memory_usage=0>\\]"));
  const KeyAverages averages = profile->key_averages();
  EXPECT_EQ(Printed(averages), averages.table());
}

int64_t UsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now() - start)
      .count();
}

// Each part of a session takes some time that the test makes it take, so that
// no bound depends on the machine's speed or load.
TEST(SessionTest, StatsAreMeasured) {
  constexpr int kRanges = 10'000;
  constexpr int64_t kPauseUs = 5'000;
  // The trace's metadata is made with the trace, and warns of this variable.
  setenv("RANK", "none", 1);
  setenv("WORLD_SIZE", "2", 1);
  SetWarningHandler([](std::string_view) { usleep(kPauseUs); });
  // The backend `host` starts a thread and ends it. The id is made while the
  // session is prepared.
  Profile profile(
      {.activities = {"cpu", "host"}, .custom_trace_id_callback = [] {
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
  SetWarningHandler({});
  unsetenv("RANK");
  unsetenv("WORLD_SIZE");

  const ProfilerStats* const stats = profile.stats();
  ASSERT_NE(stats, nullptr);
  EXPECT_GE(stats->profiler_prepare_call_duration_us, kPauseUs);
  EXPECT_GT(stats->profiler_enable_call_duration_us, 0);
  EXPECT_LE(stats->profiler_prepare_call_duration_us +
                stats->profiler_enable_call_duration_us,
            start_us);
  EXPECT_GT(stats->profiler_disable_call_duration_us, 0);
  EXPECT_GE(stats->parse_kineto_call_duration_us, kPauseUs);
  const int64_t ending_us = stats->profiler_disable_call_duration_us +
                            stats->parse_kineto_call_duration_us;
  EXPECT_LE(ending_us, stop_us);
  const double window_us = stats->profiling_window_duration_sec * 1e6;
  EXPECT_GE(window_us, static_cast<double>(work_us));
  EXPECT_LE(window_us, static_cast<double>(all_us + 1 - ending_us));
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
            "events() is not available when trace_only = true in "
            "ExperimentalConfig. Use export_chrome_trace() instead.");
  EXPECT_TRUE(
      profile->export_chrome_trace(testing::TempDir() + "/only.json").ok());
  EXPECT_THAT(Printed(*profile), testing::HasSubstr("trace_only = true"));
}

TEST(SessionTest, StacksSwitchTraceOnlyOff) {
  const Warnings warnings;
  const auto profile =
      Record({.with_stack = true, .experimental_config = {.trace_only = true}},
             [] { RecordFunction range("range"); });
  EXPECT_TRUE(profile->events().ok());
  EXPECT_EQ(
      warnings.texts(),
      (std::vector<std::string>{
          "trace_only = true is incompatible with with_stack = true (stack "
          "traces require event post-processing). Disabling "
          "trace_only."}));
}

TEST(SessionTest, TroubleWithResultsIsWarned) {
  const Warnings warnings;
  setenv("RANK", "first", 1);
  setenv("WORLD_SIZE", "2", 1);
  const auto profile = Record({.post_processing_timeout_s = 0},
                              [] { RecordFunction range("range"); });
  unsetenv("RANK");
  unsetenv("WORLD_SIZE");
  const auto events = profile->events();
  ASSERT_TRUE(events.ok()) << events.status();
  EXPECT_TRUE((*events)->empty());
  EXPECT_EQ(warnings.texts(),
            (std::vector<std::string>{
                "the environment variable RANK is 'first', which is no rank "
                "or size",
                "Profiler _parse_kineto_results timed out after 0.000 "
                "seconds, returning partial results with 0 events"}));
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

TEST(SessionTest, DevicesThatAreNotThereAreLeftOut) {
  const Warnings warnings;
  Profile profile({.activities = {"cpu", "xpu"}});
  ASSERT_TRUE(profile.Start().ok());
  EXPECT_EQ(warnings.texts(),
            std::vector<std::string>{
                "XPU is not available, disabling XPU profiling"});
  { RecordFunction range("recorded"); }
  EXPECT_TRUE(profile.toggle_collection_dynamic(false, {"cpu", "xpu"}).ok());
  { RecordFunction range("not recorded"); }
  ASSERT_TRUE(profile.Stop().ok());
  EXPECT_EQ(CountsOf(profile.key_averages()), (NameCounts{{"recorded", 1}}));
  EXPECT_EQ(profile.table().find("XPU"), std::string::npos);
}

TEST(SessionTest, CudaThatIsNotThereIsLeftOut) {
  const std::vector<std::string> supported = supported_activities();
  if (std::find(supported.begin(), supported.end(), "cuda") !=
      supported.end()) {
    GTEST_SKIP() << "this machine has a GPU";
  }
  const Warnings warnings;
  const auto profile = Record({.activities = {"cpu", "cuda"}},
                              [] { RecordFunction range("recorded"); });
  ASSERT_EQ(warnings.texts().size(), 2u);
  EXPECT_EQ(warnings.texts()[0],
            "CUDA is not available, disabling CUDA profiling");
  // The reason depends on the machine.
  EXPECT_EQ(warnings.texts()[1].find("activity cuda: "), 0u)
      << warnings.texts()[1];
  EXPECT_EQ(CountsOf(profile->key_averages()), (NameCounts{{"recorded", 1}}));
}

TEST(SessionTest, SupportedActivitiesCanBeRecorded) {
  EXPECT_TRUE(kymo_available());
  const std::vector<std::string> supported = supported_activities();
  EXPECT_EQ(supported.front(), "cpu");
  EXPECT_TRUE(std::is_sorted(supported.begin(), supported.end()));
  // Not what a user has to ask for: their cost is not that of a session.
  for (const char* name : {"emit_itt", "emit_nvtx", "host", "itt", "memory"}) {
    EXPECT_EQ(std::count(supported.begin(), supported.end(), name), 0) << name;
  }
  Record({.activities = supported}, [] {});
  for (const std::string& activity : supported) {
    const Warnings warnings;
    Record({.activities = {activity}}, [] {});
    EXPECT_EQ(warnings.texts(), std::vector<std::string>{}) << activity;
  }
}

}  // namespace
}  // namespace kymo
