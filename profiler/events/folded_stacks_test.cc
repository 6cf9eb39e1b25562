#include "profiler/events/folded_stacks.h"

#include <locale>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "profiler/events/test_events.h"

namespace kymo {
namespace {

std::string Folded(const std::vector<FunctionEvent>& events,
                   StackMetric metric = StackMetric::kSelfCpuTime) {
  std::ostringstream out;
  WriteFoldedStacks(events, metric, out);
  return out.str();
}

FunctionEvent WithStack(FunctionEvent event, EventStack stack) {
  event.stack = MakeStack(std::move(stack));
  return event;
}

TEST(FoldedStacksTest, OutermostFirstWithWholeMicroseconds) {
  EXPECT_EQ(Folded({WithStack(Cpu("op", 0, 12.9),
                              {"a.py(3): f g", "b.py(9): <module>"})}),
            "b.py(9):_<module>;a.py(3):_f_g 12\n");
}

TEST(FoldedStacksTest, ReplacesWhatTheFormatCannotHold) {
  EXPECT_EQ(Folded({WithStack(Cpu("op", 0, 1), {"a;b\tc\nd e"})}),
            "a_b_c_d_e 1\n");
}

TEST(FoldedStacksTest, NumbersAreTheSameInAllLocales) {
  struct Points : std::numpunct<char> {
    std::string do_grouping() const override { return "\3"; }
  };
  const std::locale before =
      std::locale::global(std::locale(std::locale(), new Points));
  const std::string folded = Folded({WithStack(Cpu("op", 0, 12345), {"a"})});
  std::locale::global(before);
  EXPECT_EQ(folded, "a 12345\n");
}

TEST(FoldedStacksTest, LeavesOutEventsWithoutStackOrTime) {
  FunctionEvent none = Cpu("op", 0, 9);
  none.stack = nullptr;
  EXPECT_EQ(Folded({none, Cpu("op", 0, 9), WithStack(Cpu("op", 0, 0.9), {"a"}),
                    WithStack(Async("op", 0, 9), {"a"})}),
            "");
}

TEST(FoldedStacksTest, EqualStacksStayApart) {
  EXPECT_EQ(Folded({WithStack(Cpu("x", 0, 2), {"a"}),
                    WithStack(Cpu("y", 3, 6), {"a"})}),
            "a 2\na 3\n");
}

TEST(FoldedStacksTest, DeviceTimeAndAverages) {
  FunctionEvent event = WithStack(Cuda("k", 0, 5), {"a"});
  event.use_device = "cuda";
  EXPECT_EQ(Folded({event}, StackMetric::kSelfDeviceTime), "a 5\n");
  EXPECT_EQ(Folded({event}), "");

  FunctionEventAvg average;
  EXPECT_TRUE(average.add(event).ok());
  std::ostringstream out;
  WriteFoldedStacks(std::vector{average}, StackMetric::kSelfDeviceTime, out);
  EXPECT_EQ(out.str(), "a 5\n");
}

TEST(FoldedStacksTest, MetricNames) {
  EXPECT_EQ(*ParseStackMetric("self_cpu_time_total"),
            StackMetric::kSelfCpuTime);
  for (const char* metric : {"self_cuda_time_total", "self_xpu_time_total",
                             "self_privateuse1_time_total"}) {
    EXPECT_EQ(*ParseStackMetric(metric), StackMetric::kSelfDeviceTime);
  }
  for (const char* metric : {"cpu_time_total", "self_device_time_total", ""}) {
    const absl::Status status = ParseStackMetric(metric).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(std::string(status.message())
                  .find("metric should be one of: ['self_cpu_time_total', "),
              0u);
  }
}

}  // namespace
}  // namespace kymo
