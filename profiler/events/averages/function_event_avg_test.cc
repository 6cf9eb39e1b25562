#include "profiler/events/averages/function_event_avg.h"

#include <gtest/gtest.h>

#include <sstream>

#include "profiler/events/test_events.h"

namespace kymo {
namespace {

TEST(FunctionEventAvgTest, HeaderExample) {
  FunctionEventAvg sum;
  for (const FunctionEvent& e : {Cpu("op", 0, 3), Cpu("op", 5, 6)}) {
    EXPECT_TRUE(sum.add(e).ok());
  }
  EXPECT_EQ(sum.key, "op");
  EXPECT_EQ(sum.cpu_time(), 2);
}

TEST(FunctionEventAvgTest, TakesItsDescriptionFromTheFirst) {
  FunctionEvent first = Async("op", 0, 3);
  first.stack = MakeStack({"a.py(1): f"});
  first.input_shapes = MakeShapes({{2}});
  first.cpu_parent = 9;
  FunctionEventAvg sum;
  EXPECT_EQ(sum.scope, std::nullopt);
  EXPECT_TRUE(sum.add(first).ok());
  EXPECT_TRUE(sum.add(Cpu("op", 0, 1)).ok());
  EXPECT_TRUE(sum.is_async);
  EXPECT_EQ(sum.stack, EventStack{"a.py(1): f"});
  EXPECT_EQ(sum.input_shapes, "[[2]]");
  EXPECT_EQ(sum.cpu_parent, 9u);
  EXPECT_EQ(sum.scope, RecordScope::kFunction);
  EXPECT_EQ(sum.cpu_time_total, 4);
  EXPECT_EQ(sum.self_cpu_time_total, 1);
}

TEST(FunctionEventAvgTest, AddsAverages) {
  FunctionEvent event = Cpu("op", 0, 3);
  event.cpu_memory_usage = 5;
  event.device_memory_usage = 6;
  event.flops = 7;
  FunctionEventAvg one, sum;
  EXPECT_TRUE(one.add(event).ok());
  EXPECT_TRUE(sum.add(one).ok());
  EXPECT_TRUE(sum.add(one).ok());
  EXPECT_EQ(sum.key, "op");
  EXPECT_EQ(sum.count, 2);
  EXPECT_EQ(sum.cpu_time_total, 6);
  EXPECT_EQ(sum.self_cpu_memory_usage, 10);
  EXPECT_EQ(sum.self_device_memory_usage, 12);
  EXPECT_EQ(sum.flops, 14);
}

TEST(FunctionEventAvgTest, KeysMustMatch) {
  FunctionEventAvg sum;
  EXPECT_TRUE(sum.add(Cpu("a", 0, 1)).ok());
  EXPECT_EQ(sum.add(Cpu("b", 0, 1)).message(),
            "Expected keys to match, but got b vs a");
  EXPECT_EQ(sum.count, 1);
}

TEST(FunctionEventAvgTest, EventsWithoutFlopsAddNone) {
  FunctionEvent without = Cpu("op", 0, 1);
  without.flops.reset();
  FunctionEvent with = without;
  with.flops = 3;
  FunctionEventAvg sum;
  EXPECT_TRUE(sum.add(without).ok());
  EXPECT_TRUE(sum.add(with).ok());
  EXPECT_EQ(sum.flops, 3);
}

TEST(FunctionEventAvgTest, Text) {
  FunctionEventAvg sum;
  EXPECT_TRUE(sum.add(Cpu("op", 0, 1500)).ok());
  EXPECT_EQ(ToString(sum),
            "<FunctionEventAvg key=op self_cpu_time=1.500ms cpu_time=1.500ms  "
            "self_cuda_time=0.000us cuda_time=0.000us input_shapes=[] "
            "cpu_memory_usage=0 cuda_memory_usage=0>");
}

TEST(FunctionEventAvgTest, TextOfASumOfNothing) {
  std::ostringstream out;
  out << FunctionEventAvg();
  EXPECT_EQ(out.str(),
            "<FunctionEventAvg key=None self_cpu_time=0.000us "
            "cpu_time=0.000us  self_cuda_time=0.000us cuda_time=0.000us "
            "input_shapes=None cpu_memory_usage=0 cuda_memory_usage=0>");
}

}  // namespace
}  // namespace kymo
