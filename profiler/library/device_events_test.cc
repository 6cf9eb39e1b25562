#include "kymo/device_events.h"

#include <unistd.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "kymo/thread_state.h"
#include "kymo/warning.h"
#include "profiler/library/timed_operations.h"
#include "profiler/record/host/host.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using Texts = std::vector<std::string>;

// A device whose work the test does: an event holds the time on its clock.
class DeviceEventsTest : public testing::Test {
 protected:
  DeviceEventsTest() {
    SetWarningHandler(
        [this](std::string_view text) { warnings_.emplace_back(text); });
    clock_us_ = 0;
  }
  ~DeviceEventsTest() override {
    UnregisterDeviceEvents("npu");
    UnregisterDeviceEvents("cuda");
    SetWarningHandler({});
  }

  static DeviceEvents Events() {
    return {.record = [] { return std::make_shared<double>(clock_us_); },
            .elapsed_us =
                [](const void* begin, const void* end) {
                  return *static_cast<const double*>(end) -
                         *static_cast<const double*>(begin);
                }};
  }

  static void DeviceWork(double us) { clock_us_ += us; }

  static void Program() {
    RecordFunction outer("outer");
    DeviceWork(100);
    {
      RecordFunction inner("inner");
      DeviceWork(40);
    }
    {
      RecordFunction inner("inner");
      DeviceWork(2);
    }
    DeviceWork(5.5);
  }

  // "outer 147 105; inner 42 42": device time, and that of it alone.
  static std::string TimesOf(Profile& profile) {
    std::string text;
    const KeyAverages averages = profile.key_averages();
    EXPECT_TRUE(averages.status().ok()) << averages.status();
    for (const FunctionEventAvg& row : averages) {
      if (!text.empty()) text += "; ";
      text += row.key + " " +
              std::to_string(static_cast<int>(row.device_time_total)) + " " +
              std::to_string(static_cast<int>(row.self_device_time_total));
    }
    return text;
  }

  static inline double clock_us_ = 0;
  Texts warnings_;
};

TEST_F(DeviceEventsTest, OperationsHaveTheTimeBetweenTheirEvents) {
  ASSERT_TRUE(RegisterDeviceEvents("npu", Events()).ok());
  Profile profile({.use_device = "npu"});
  ASSERT_TRUE(profile.Start().ok());
  Program();
  ASSERT_TRUE(profile.Stop().ok());
  DeviceWork(1000);
  // PyTorch's rule for such (legacy) events: the time of an operation has that
  // of inner operations; microseconds are whole.
  EXPECT_EQ(TimesOf(profile), "outer 147 105; inner 42 42");
  const auto events = profile.events();
  ASSERT_TRUE(events.ok()) << events.status();
  EXPECT_TRUE((**events)[0].is_legacy);
  EXPECT_EQ((**events)[0].kernels,
            (std::vector<Kernel>{{"outer", (**events)[0].device_index, 147}}));
  EXPECT_EQ(TimesOf(profile), "outer 147 105; inner 42 42");
  EXPECT_NE(profile.key_averages().table().find("Self NPU"), std::string::npos);
  EXPECT_EQ(warnings_, Texts{});
}

TEST_F(DeviceEventsTest, CustomDeviceNeedsNoName) {
  ASSERT_TRUE(RegisterDeviceEvents("npu", Events()).ok());
  Profile profile({.activities = {"cpu", "privateuseone"}});
  ASSERT_TRUE(profile.Start().ok());
  Program();
  ASSERT_TRUE(profile.Stop().ok());
  EXPECT_EQ(TimesOf(profile), "outer 147 105; inner 42 42");
}

TEST_F(DeviceEventsTest, OldInterfaceTimesCuda) {
  ASSERT_TRUE(RegisterDeviceEvents("cuda", Events()).ok());
  Profile profile({.use_device = "cuda", .use_kineto = false});
  ASSERT_TRUE(profile.Start().ok());
  Program();
  ASSERT_TRUE(profile.Stop().ok());
  EXPECT_EQ(TimesOf(profile), "outer 147 105; inner 42 42");
  EXPECT_EQ(warnings_, Texts{});
}

TEST_F(DeviceEventsTest, EachCycleIsTimedByItself) {
  ASSERT_TRUE(RegisterDeviceEvents("npu", Events()).ok());
  const auto schedule = MakeSchedule({.wait = 1, .active = 1, .repeat = 2});
  ASSERT_TRUE(schedule.ok());
  Profile profile(
      {.use_device = "npu", .schedule = *schedule, .keep_cycles = true});
  ASSERT_TRUE(profile.Start().ok());
  for (int step = 0; step < 4; ++step) {
    {
      RecordFunction range("op");
      DeviceWork(step + 1);
    }
    ASSERT_TRUE(profile.Step().ok());
  }
  ASSERT_TRUE(profile.Stop().ok());
  ASSERT_EQ(profile.cycles().size(), 2);
  const auto time_in = [&](size_t cycle) {
    double us = 0;
    const KeyAverages averages = profile.cycles()[cycle]->key_averages();
    for (const FunctionEventAvg& row : averages) {
      if (row.key == "op") us = row.device_time_total;
    }
    return us;
  };
  EXPECT_EQ(time_in(0), 2);
  EXPECT_EQ(time_in(1), 4);
}

TEST_F(DeviceEventsTest, WorkOfOtherThreadsIsTimedToo) {
  ASSERT_TRUE(RegisterDeviceEvents("npu", Events()).ok());
  for (const bool all_threads : {false, true}) {
    Profile profile(
        {.use_device = "npu",
         .experimental_config = {.profile_all_threads = all_threads}});
    ASSERT_TRUE(profile.Start().ok());
    Program();
    std::thread(Propagate(Program)).join();
    ASSERT_TRUE(profile.Stop().ok());
    EXPECT_EQ(TimesOf(profile), "outer 294 210; inner 84 84") << all_threads;
  }
  EXPECT_EQ(warnings_, Texts{});
}

TEST_F(DeviceEventsTest, OpenOperationHasNoTime) {
  ASSERT_TRUE(RegisterDeviceEvents("npu", Events()).ok());
  Profile profile({.use_device = "npu"});
  ASSERT_TRUE(profile.Start().ok());
  RecordFunction open("open");
  {
    RecordFunction range("range");
    DeviceWork(7);
  }
  ASSERT_TRUE(profile.Stop().ok());
  DeviceWork(1000);
  open.End();
  // It still has the time of what ran inside of it.
  EXPECT_EQ(TimesOf(profile), "open 7 0; range 7 7");
  EXPECT_EQ(warnings_, Texts{});
}

TEST_F(DeviceEventsTest, TroubleOfTheDeviceIsAWarning) {
  DeviceEvents events = Events();
  events.elapsed_us = [](const void*, const void*) -> double {
    throw std::runtime_error("lost the device");
  };
  ASSERT_TRUE(RegisterDeviceEvents("npu", events).ok());
  Profile profile({.use_device = "npu"});
  ASSERT_TRUE(profile.Start().ok());
  Program();
  ASSERT_TRUE(profile.Stop().ok());
  EXPECT_EQ(TimesOf(profile), "outer 0 0; inner 0 0");
  EXPECT_EQ(warnings_,
            Texts{"Failed to measure time between two events of the device."});
}

TEST_F(DeviceEventsTest, OperationsThatWereLostLeaveTheirKindWithoutTimes) {
  TimedOperations timed(std::make_shared<const DeviceEvents>(Events()), false);
  Program();
  timed.Stop();
  TestTrace t;
  const model::TrackIndex main = t.AddThread(getpid(), gettid(), "main");
  t.AddRange(main, "outer", 0, 9'000);
  t.AddRange(main, "inner", 1'000, 2'000);
  model::TraceData data = std::move(t).Build().Release();
  data.tracks[main].logical_id = record::LogicalThreadId();
  EXPECT_EQ(timed.ElapsedUs(model::Trace(std::move(data))),
            (std::vector<int64_t>{147, 0}));
  EXPECT_EQ(warnings_,
            Texts{"2 operations have no device time: some of them, or others "
                  "of their name and thread, were not recorded; try a larger "
                  "cpu_arena_mib"});
}

TEST_F(DeviceEventsTest, StopOnAnotherThreadEndsTiming) {
  TimedOperations timed(std::make_shared<const DeviceEvents>(Events()), false);
  RecordFunction open("open");
  DeviceWork(3);
  std::thread([&] { timed.Stop(); }).join();
  open.End();
  { RecordFunction later("later"); }
  TestTrace t;
  const model::TrackIndex main = t.AddThread(getpid(), gettid(), "main");
  t.AddRange(main, "open", 0, 9'000);
  model::TraceData data = std::move(t).Build().Release();
  data.tracks[main].logical_id = record::LogicalThreadId();
  EXPECT_EQ(timed.ElapsedUs(model::Trace(std::move(data))),
            std::vector<int64_t>{0});
  EXPECT_EQ(warnings_, Texts{});
}

TEST_F(DeviceEventsTest, NothingIsTimedAfterTheStop) {
  int events = 0;
  DeviceEvents counting = Events();
  counting.record = [&] {
    ++events;
    return nullptr;
  };
  ASSERT_TRUE(RegisterDeviceEvents("npu", counting).ok());
  Profile profile({.use_device = "npu"});
  ASSERT_TRUE(profile.Start().ok());
  { RecordFunction range("timed"); }
  ASSERT_TRUE(profile.Stop().ok());
  EXPECT_EQ(events, 2);
  { RecordFunction range("not timed"); }
  EXPECT_EQ(events, 2);
}

TEST_F(DeviceEventsTest, RegistrationIsChecked) {
  EXPECT_EQ(RegisterDeviceEvents("NPU", Events()).message(),
            "the name of a device, 'NPU', is not lower_snake");
  EXPECT_EQ(RegisterDeviceEvents("xpu", Events()).message(),
            "device times of xpu cannot be taken with events: use a backend "
            "for it");
  EXPECT_EQ(RegisterDeviceEvents("npu", {}).message(),
            "the events of npu need both functions, record and elapsed_us");
  ASSERT_TRUE(RegisterDeviceEvents("npu", Events()).ok());
  UnregisterDeviceEvents("npu");
  Profile profile({.use_device = "npu"});
  ASSERT_TRUE(profile.Start().ok());
  ASSERT_TRUE(profile.Stop().ok());
  EXPECT_EQ(warnings_, Texts{"The npu is not a valid device option."});
}

}  // namespace
}  // namespace kymo
