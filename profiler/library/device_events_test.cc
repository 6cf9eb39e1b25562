// Long, because all tests share one device that keeps its own time.
#include "kymo/device_events.h"

#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <limits>
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
#include "profiler/base/clock.h"
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

// The ranges of a trace of this thread, with the times of the clock.
class Ranges {
 public:
  using Range = std::pair<std::string, model::ActivityType>;

  void Add(const std::string& name,
           model::ActivityType type = model::ActivityType::kCpuOp) {
    const TimeNs start_ns = MonotonicNs() + EpochOffsetNs();
    ranges_.push_back({{name, type}, start_ns});
  }

  model::Trace Build() const {
    TestTrace t;
    const model::TrackIndex main = t.AddThread(getpid(), gettid(), "main");
    for (const auto& [range, start_ns] : ranges_) {
      t.AddRange(main, range.first, start_ns, start_ns, range.second);
    }
    model::TraceData data = std::move(t).Build().Release();
    data.tracks[main].logical_id = record::LogicalThreadId();
    return model::Trace(std::move(data));
  }

 private:
  std::vector<std::pair<Range, TimeNs>> ranges_;
};

void Operation(const std::string& name, double us, Ranges* recorded,
               const std::function<void(double)>& work) {
  RecordFunction range{std::string_view(name)};
  if (recorded != nullptr) recorded->Add(name);
  work(us);
}

TEST_F(DeviceEventsTest, RangesThatWereNotTimedLackOnlyTheirOwnTime) {
  const auto work = [](double us) { DeviceWork(us); };
  Ranges ranges;
  Operation("op", 1, &ranges, work);  // before the timing
  TimedOperations timed(std::make_shared<const DeviceEvents>(Events()), false);
  ranges.Add("op", model::ActivityType::kNvtxRange);
  Operation("op", 2, &ranges, work);
  Operation("op", 4, nullptr, work);  // timed, but its record was lost
  ranges.Add("op", model::ActivityType::kPythonFunction);
  Operation("op", 8, &ranges, work);
  ranges.Add("op");  // within a callback: callbacks do not see it
  Operation("op", 16, &ranges, work);
  timed.Stop();
  EXPECT_EQ(timed.ElapsedUs(ranges.Build()),
            (std::vector<int64_t>{0, 0, 2, 0, 8, 0, 16}));
  EXPECT_EQ(warnings_,
            Texts{"2 of 5 operations have no device time: they began before "
                  "the session could time them, or the device's `record` threw "
                  "an exception"});
}

TEST_F(DeviceEventsTest, TimesThatMakeNoSenseAreNone) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double us : {-5.0, 0.0, 0.5, 1e300, infinity, -infinity,
                          std::numeric_limits<double>::quiet_NaN()}) {
    DeviceEvents events = Events();
    events.elapsed_us = [=](const void*, const void*) { return us; };
    Ranges ranges;
    TimedOperations timed(std::make_shared<const DeviceEvents>(events), false);
    Operation("op", 1, &ranges, [](double) {});
    timed.Stop();
    EXPECT_EQ(timed.ElapsedUs(ranges.Build()), std::vector<int64_t>{0}) << us;
  }
  EXPECT_EQ(warnings_, Texts{});
}

TEST_F(DeviceEventsTest, RangesOfTheUserAreTimed) {
  ASSERT_TRUE(RegisterDeviceEvents("npu", Events()).ok());
  Profile profile({.use_device = "npu"});
  ASSERT_TRUE(profile.Start().ok());
  {
    RecordFunction range("step", RecordScope::kUserScope);
    DeviceWork(6);
  }
  ASSERT_TRUE(profile.Stop().ok());
  EXPECT_EQ(TimesOf(profile), "step 6 6");
}

TEST_F(DeviceEventsTest, ModulesOfTheSameNameKeepTheTimes) {
  ASSERT_TRUE(RegisterDeviceEvents("npu", Events()).ok());
  Profile profile({.use_device = "npu", .with_modules = true});
  ASSERT_TRUE(profile.Start().ok());
  {
    RecordModule module("inner");
    Program();
  }
  ASSERT_TRUE(profile.Stop().ok());
  EXPECT_EQ(TimesOf(profile), "outer 147 105; inner 42 42");
  EXPECT_EQ(warnings_, Texts{});
}

TEST_F(DeviceEventsTest, ExceptionCostsTheTimeOfOneOperation) {
  int calls = 0;
  DeviceEvents events = Events();
  events.record = [&]() -> std::shared_ptr<void> {
    if (const int call = ++calls; call == 3 || call == 5) {
      throw std::runtime_error("no memory on the device");
    }
    return std::make_shared<double>(clock_us_);
  };
  ASSERT_TRUE(RegisterDeviceEvents("npu", events).ok());
  Profile profile({.use_device = "npu"});
  ASSERT_TRUE(profile.Start().ok());
  for (const double us : {1, 2, 4, 8}) {  // the second start and the third end
    RecordFunction range("op");
    DeviceWork(us);
  }
  ASSERT_TRUE(profile.Stop().ok());
  EXPECT_EQ(TimesOf(profile), "op 9 9; op 0 0");
  const std::string exception =
      "Exception in RecordFunction callback: no memory on the device , for "
      "the range op";
  EXPECT_EQ(warnings_,
            (Texts{exception, exception,
                   "2 of 4 operations have no device time: they began before "
                   "the session could time them, or the device's `record` "
                   "threw an exception"}));
}

TEST_F(DeviceEventsTest, ForkedChildTimesNothingAndWaitsForNobody) {
  int recorded = 0;
  DeviceEvents events = Events();
  events.record = [&] {
    ++recorded;
    return std::make_shared<double>(clock_us_);
  };
  Ranges ranges;
  const TimedOperations* all = nullptr;
  int in_use = -1;
  // Times are read under a lock, which the child then has without an owner.
  events.elapsed_us = [&](const void*, const void*) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      const auto elapsed_us = all->ElapsedUs(ranges.Build());
      _exit(elapsed_us == std::vector<int64_t>{0} ? 0 : 1);
    }
    waitpid(child, &in_use, 0);
    return 7.0;
  };
  TimedOperations timed(std::make_shared<const DeviceEvents>(events), false);
  all = &timed;
  int status = -1;
  {
    RecordFunction range("op");
    ranges.Add("op");
    const pid_t child = fork();
    if (child == 0) {
      range.End();
      { RecordFunction own("own"); }
      _exit(recorded);
    }
    waitpid(child, &status, 0);
  }
  EXPECT_EQ(status, 1 << 8);  // the event before the fork
  timed.Stop();
  EXPECT_EQ(timed.ElapsedUs(ranges.Build()), std::vector<int64_t>{7});
  EXPECT_EQ(in_use, 0);
  EXPECT_EQ(warnings_, Texts{});
}

TEST_F(DeviceEventsTest, StopOnAnotherThreadEndsTiming) {
  Ranges ranges;
  TimedOperations timed(std::make_shared<const DeviceEvents>(Events()), false);
  RecordFunction open("open");
  ranges.Add("open");
  DeviceWork(3);
  std::thread([&] { timed.Stop(); }).join();
  open.End();
  { RecordFunction later("later"); }
  EXPECT_EQ(timed.ElapsedUs(ranges.Build()), std::vector<int64_t>{0});
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
