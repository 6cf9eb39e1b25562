#include "profiler/on_demand/config.h"

#include <unistd.h>

#include <filesystem>
#include <string>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kymo::on_demand {
namespace {

using testing::HasSubstr;

TEST(ConfigTest, ReadsWhatDynoSends) {
  const auto config = ParseConfig(
      "ACTIVITIES_LOG_FILE=/tmp/libkineto_trace.json\n"
      "PROFILE_START_TIME=0\n"
      "ACTIVITIES_DURATION_MSECS=700\n"
      "PROFILE_REPORT_INPUT_SHAPES=true\n"
      "PROFILE_PROFILE_MEMORY=false\n"
      "PROFILE_WITH_STACK=1\n"
      "PROFILE_WITH_FLOPS=no\n"
      "ACTIVITIES_COMPRESSION_ENABLED=true\n"
      "ACTIVITY_TYPES=CPU_OP,kernel\n"
      "\n# a comment\nno key\n");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(*config, (Config{.log_file = "/tmp/libkineto_trace.json",
                             .duration_ms = 700,
                             .activity_types = {"cpu_op", "kernel"},
                             .record_shapes = true,
                             .with_stack = true}));
  EXPECT_FALSE(config->by_iterations());
}

TEST(ConfigTest, IterationsNeedAStart) {
  EXPECT_TRUE(ParseConfig("PROFILE_START_ITERATION=0\n"
                          "PROFILE_START_ITERATION_ROUNDUP=1\n"
                          "ACTIVITIES_ITERATIONS=3\n")
                  ->by_iterations());
  EXPECT_FALSE(ParseConfig("ACTIVITIES_ITERATIONS=3\n")->by_iterations());
}

TEST(ConfigTest, WrongValuesAreErrors) {
  for (const char* line :
       {"ACTIVITIES_DURATION_MSECS=abc", "ACTIVITIES_DURATION_MSECS=0",
        "ACTIVITIES_DURATION_MSECS=3600001", "ACTIVITIES_ITERATIONS=-1",
        "PROFILE_START_TIME=99999999999999999999",
        "PROFILE_WITH_STACK=maybe"}) {
    EXPECT_THAT(ParseConfig(line).status().message(), HasSubstr(line));
  }
}

TEST(ConfigTest, TextReadsBack) {
  const Config config = {.log_file = "/tmp/a/t.json",
                         .start_time_ms = 5,
                         .duration_ms = 20,
                         .iterations = 2,
                         .start_iteration = 0,
                         .start_iteration_roundup = 10,
                         .activity_types = {"cpu_op"},
                         .with_modules = true,
                         .trace_id = "id"};
  EXPECT_EQ(*ParseConfig(ConfigText(config)), config);
}

TEST(ConfigTest, FirstStepIsTheNextOne) {
  Config config = {.iterations = 1, .start_iteration = 0};
  EXPECT_EQ(FirstStep(config, 41), 42);
  config.start_iteration = 100;
  EXPECT_EQ(FirstStep(config, 41), 100);
  config = {.iterations = 1, .start_iteration_roundup = 10};
  EXPECT_EQ(FirstStep(config, 41), 50);
  EXPECT_EQ(FirstStep(config, 49), 50);
}

TEST(TracePathTest, HasTheProcess) {
  EXPECT_EQ(*TracePath("/tmp/a.json", "/tmp", 7), "/tmp/a_7.json");
  EXPECT_EQ(*TracePath("/tmp/a.pt.trace.json", "/tmp/", 7),
            "/tmp/a_7.pt.trace.json");
  EXPECT_EQ(*TracePath("/tmp/a.json.gz", "/tmp", 7), "/tmp/a_7.json.gz");
  // Only the file's name counts.
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "runs.json.d";
  std::filesystem::create_directories(folder);
  EXPECT_EQ(*TracePath((folder / "a.json").string(), folder, 7),
            (std::filesystem::canonical(folder) / "a_7.json").string());
}

TEST(TracePathTest, StaysBelowTheFolder) {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::path(testing::TempDir()) / ("paths" + std::to_string(getpid()));
  fs::create_directories(folder / "in");
  fs::create_directory_symlink("/", folder / "out");
  EXPECT_TRUE(TracePath((folder / "in/a.json").string(), folder, 7).ok());
  for (const std::string path :
       {"/a.json", "a.json", "/no/such/folder/a.json"}) {
    EXPECT_TRUE(absl::IsPermissionDenied(TracePath(path, folder, 7).status()))
        << path;
  }
  for (const std::string path : {"in/../a.json", "out/a.json", "none/a.json"}) {
    EXPECT_TRUE(absl::IsPermissionDenied(
        TracePath((folder / path).string(), folder, 7).status()))
        << path;
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace kymo::on_demand
