// Sessions that record step by step: schedules, cycles and handlers.
#include <limits.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "kymo/events.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "kymo/step_tracker.h"
#include "tests/integration/test_session.h"

namespace kymo {
namespace {

TEST(SessionTest, ScheduleRecordsItsStepsAndKeepsCycles) {
  std::vector<int64_t> ready;
  ProfileOptions options;
  options.schedule =
      *MakeSchedule({.wait = 1, .warmup = 1, .active = 2, .repeat = 2});
  options.keep_cycles = true;
  options.on_trace_ready = [&](Profile& p) {
    ready.push_back(p.step_num());
    EXPECT_EQ(CountsOf(p.key_averages()),
              (NameCounts{{"ProfilerStep*", 2}, {"work", 2}}));
    return absl::OkStatus();
  };
  Profile profile(options);
  ASSERT_TRUE(profile.Start().ok());
  for (int i = 0; i < 12; ++i) {
    { RecordFunction range("work"); }
    ASSERT_TRUE(profile.Step().ok());
  }
  ASSERT_TRUE(profile.Stop().ok());
  EXPECT_EQ(ready, (std::vector<int64_t>{4, 8}));
  ASSERT_EQ(profile.cycles().size(), 2);
  EXPECT_EQ(profile.cycles()[0]->number(), 1);
  EXPECT_EQ(profile.cycles()[1]->number(), 2);
  EXPECT_NE(profile.cycles()[0]->trace_id(), profile.cycles()[1]->trace_id());
  EXPECT_EQ(profile.cycles()[0]->trace_id().size(), 32);
}

TEST(SessionTest, AccumulatedEventsAreOfAllCyclesOldestFirst) {
  ProfileOptions options;
  options.schedule = *MakeSchedule({.warmup = 1, .active = 1});
  options.acc_events = true;
  Profile profile(options);
  ASSERT_TRUE(profile.Start().ok());
  for (int i = 0; i < 6; ++i) {
    { RecordFunction range(std::string("step ") + std::to_string(i)); }
    ASSERT_TRUE(profile.Step().ok());
  }
  ASSERT_TRUE(profile.Stop().ok());
  EXPECT_EQ(
      CountsOf(profile.key_averages()),
      (NameCounts{
          {"ProfilerStep*", 3}, {"step 1", 1}, {"step 3", 1}, {"step 5", 1}}));
  const auto events = profile.events();
  ASSERT_TRUE(events.ok());
  std::vector<std::string> names;
  for (const FunctionEvent& event : **events) {
    if (event.cpu_parent) {
      names.push_back(event.name);
      EXPECT_EQ((**events)[*event.cpu_parent].name, "ProfilerStep*");
    }
  }
  EXPECT_EQ(names, (std::vector<std::string>{"step 1", "step 3", "step 5"}));
}

TEST(SessionTest, ProgramThatEndsBeforeAnActiveStepIsWarned) {
  const Warnings warnings;
  Profile profile({.schedule = *MakeSchedule({.wait = 5, .warmup = 1})});
  ASSERT_TRUE(profile.Start().ok());
  ASSERT_TRUE(profile.Step().ok());
  ASSERT_TRUE(profile.Stop().ok());
  ASSERT_EQ(warnings.texts().size(), 1);
  EXPECT_NE(warnings.texts()[0].find("before any that its schedule records"),
            std::string::npos);
  EXPECT_FALSE(profile.key_averages().status().ok());
}

TEST(SessionTest, JumpsOfTheProcesssStepsAreWarned) {
  const Warnings warnings;
  StepTracker& tracker = StepTracker::Process();
  EXPECT_EQ(&tracker, &StepTracker::Process());
  const int64_t step = tracker.current_step();
  tracker.set_step_count("resumed", step + 2);
  tracker.increment_step("resumed");
  EXPECT_EQ(warnings.texts(),
            (std::vector<std::string>{
                "Profiler step count has increased more than 1 - current_step "
                "= " +
                std::to_string(step) +
                " step dict =  defaultdict(<class 'int'>, {'resumed': " +
                std::to_string(step + 3) + "})"}));
  tracker.erase_step_count("resumed");
}

TEST(SessionTest, HandlersErrorIsTheStepsError) {
  const Warnings no_warmup;
  Profile profile({.schedule = *MakeSchedule({.active = 1}),
                   .on_trace_ready = [](Profile&) {
                     return absl::UnavailableError("the disk is on fire");
                   }});
  ASSERT_TRUE(profile.Start().ok());
  EXPECT_EQ(profile.Step().message(), "the disk is on fire");
  // The next cycle was begun all the same.
  EXPECT_EQ(profile.Stop().message(), "the disk is on fire");
}

TEST(SessionTest, EventsOfEarlierCyclesAreGoneWithAWarning) {
  const Warnings warnings;
  for (int run = 0; run < 2; ++run) {  // warned of once per process
    Profile profile({.schedule = *MakeSchedule({.warmup = 1, .active = 1})});
    ASSERT_TRUE(profile.Start().ok());
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(profile.Step().ok());
    ASSERT_TRUE(profile.Stop().ok());
  }
  EXPECT_EQ(warnings.texts(),
            (std::vector<std::string>{
                "Profiler clears events at the end of each cycle. Only events "
                "from the current cycle will be reported. To keep events "
                "across cycles, set acc_events = true."}));
}

TEST(SessionTest, TensorboardHandlerWritesNumberedFiles) {
  const std::filesystem::path directory =
      std::filesystem::path(testing::TempDir()) / "a" / "log";
  std::filesystem::remove_all(directory);
  ProfileOptions options;
  options.schedule = *MakeSchedule({.warmup = 1, .active = 1, .repeat = 2});
  options.on_trace_ready =
      TensorboardTraceHandler(directory, "worker0", /*use_gzip=*/true);
  Profile profile(options);
  ASSERT_TRUE(profile.Start().ok());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(profile.Step().ok());
  ASSERT_TRUE(profile.Stop().ok());
  int spaces = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           directory / "tensorboard" / "plugins" / "profile")) {
    spaces += entry.path().extension() == ".pb";
  }
  EXPECT_EQ(spaces, 2);
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename();
    if (name == "tensorboard") continue;
    EXPECT_TRUE(name.starts_with("worker0.")) << name;
    EXPECT_TRUE(name.ends_with(".pt.trace.json.gz")) << name;
    ++files;
  }
  EXPECT_EQ(files, 2);
}

TEST(SessionTest, TensorboardHandlerNamesFilesAfterTheHostAndProcess) {
  const std::filesystem::path directory =
      std::filesystem::path(testing::TempDir()) / "unnamed_log";
  std::filesystem::remove_all(directory);
  Profile profile;
  ASSERT_TRUE(profile.Start().ok());
  ASSERT_TRUE(profile.Stop().ok());
  ASSERT_TRUE(TensorboardTraceHandler(directory)(profile).ok());
  char host[HOST_NAME_MAX + 1] = {};
  ASSERT_EQ(gethostname(host, sizeof(host)), 0);
  const std::string worker = host + ("_" + std::to_string(getpid())) + ".";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename();
    if (name == "tensorboard") continue;
    EXPECT_TRUE(name.starts_with(worker)) << name;
    EXPECT_TRUE(name.ends_with(".pt.trace.json")) << name;
    ++files;
  }
  EXPECT_EQ(files, 1);
  // A file stands where the folder is to be.
  const std::filesystem::path file = directory / "file";
  std::ofstream{file};
  const std::string error(TensorboardTraceHandler(file)(profile).message());
  EXPECT_TRUE(
      error.starts_with("Can't create directory: " + file.string() + ": "))
      << error;
}

}  // namespace
}  // namespace kymo
