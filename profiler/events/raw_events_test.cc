#include "profiler/events/raw_events.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/events/test_events.h"

namespace kymo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// On thread 1; times in us after the start of the trace at 1 s.
constexpr TimeNs kTraceStartNs = 1'000'000'000;

RawEvent Raw(std::string name, int64_t start_us, int64_t end_us,
             int64_t id = 1) {
  RawEvent raw;
  raw.name = std::move(name);
  raw.start_ns = kTraceStartNs + start_us * 1000;
  raw.end_ns = kTraceStartNs + end_us * 1000;
  raw.correlation_id = id;
  raw.start_thread_id = raw.end_thread_id = 1;
  return raw;
}

RawEvent Memory(int64_t at_us, int64_t bytes) {
  RawEvent raw = Raw("[memory]", at_us, at_us, 0);
  raw.nbytes = bytes;
  return raw;
}

RawEvent LinkedTo(int64_t id, RawEvent raw, DeviceType type) {
  raw.linked_correlation_id = id;
  raw.device_type = type;
  raw.start_thread_id = raw.end_thread_id = 7;
  return raw;
}

ConvertedEvents Converted(std::vector<RawEvent> raw,
                          ConversionOptions options = {}) {
  options.trace_start_ns = kTraceStartNs;
  auto converted = ConvertRawEvents(std::move(raw), options);
  EXPECT_TRUE(converted.ok()) << converted.status();
  return converted.ok() ? *std::move(converted) : ConvertedEvents();
}

EventList Convert(std::vector<RawEvent> raw, ConversionOptions options = {}) {
  ConvertedEvents converted = Converted(std::move(raw), std::move(options));
  EXPECT_THAT(converted.warnings, IsEmpty());
  return std::move(converted.events);
}

TEST(RawEventsTest, TimesAreMicrosecondsSinceTheStartOfTheTrace) {
  RawEvent raw = Raw("op", 3, 5, 42);
  raw.start_ns += 250;
  const EventList events = Convert({raw});
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].id, 42);
  EXPECT_EQ(events[0].time_range, (Interval{3.25, 5}));
  EXPECT_TRUE(events.tree_built());
}

TEST(RawEventsTest, FieldsArriveWithPyTorchsDefaults) {
  RawEvent raw = Raw("op", 0, 1);
  raw.scope = RecordScope::kUserScope;
  raw.sequence_nr = 9;
  raw.device_index = 1234;
  raw.device_resource_id = 77;
  const EventList events = Convert({raw}, {.use_device = "cuda"});
  const FunctionEvent& e = events[0];
  EXPECT_EQ(e.scope, RecordScope::kUserScope);
  EXPECT_EQ(e.sequence_nr, 9);
  EXPECT_EQ(e.device_index, 1234);
  EXPECT_EQ(e.device_resource_id, 77);
  EXPECT_EQ(e.use_device, "cuda");
  EXPECT_EQ(e.fwd_thread, 0);
  EXPECT_EQ(e.flops, 0);
  EXPECT_EQ(*e.stack, EventStack());
  EXPECT_EQ(*e.input_shapes, InputShapes());
  EXPECT_EQ(events.use_device(), "cuda");
}

// As PyTorch's FunctionEvent has them.
TEST(RawEventsTest, WhatARawEventDoesNotSayHasPyTorchsDefaults) {
  const EventList events = Convert({Raw("op", 0, 1)});
  ASSERT_EQ(events.size(), 1u);
  const FunctionEvent& e = events[0];
  EXPECT_EQ(e.device_type, DeviceType::kCpu);
  EXPECT_EQ(e.device_index, 0);
  EXPECT_EQ(e.device_resource_id, 0);
  EXPECT_EQ(e.node_id, -1);
  EXPECT_EQ(e.sequence_nr, -1);
  EXPECT_EQ(e.fwd_thread, 0);
  EXPECT_EQ(e.scope, RecordScope::kFunction);
  EXPECT_FALSE(e.is_async);
  EXPECT_FALSE(e.is_user_annotation);
}

TEST(RawEventsTest, BookkeepingAndHiddenEventsAreLeftOut) {
  RawEvent hidden = Raw("op", 0, 1);
  hidden.is_hidden = true;
  EXPECT_TRUE(Convert({Raw("aten::is_leaf", 0, 1), hidden,
                       Raw("profiler::_record_function_enter", 0, 1)})
                  .empty());
}

TEST(RawEventsTest, NamesAreRewrittenAndStacksFiltered) {
  RawEvent step = Raw("ProfilerStep#3", 0, 9);
  RawEvent mangled = Raw("_Z3foov", 1, 2);
  mangled.stack =
      MakeStack({"a.py(1): f", "torch/autograd/__init__.py(98): backward"});
  const EventList events = Convert({step, mangled, Raw("_Z3foov", 3, 4)});
  EXPECT_EQ(events[0].name, "ProfilerStep*");
  EXPECT_EQ(events[0].trace_name, "ProfilerStep#3");
  EXPECT_EQ(events[1].name, "foo()");
  EXPECT_EQ(events[1].trace_name, "foo()");
  EXPECT_EQ(events[2].name, "foo()");
  EXPECT_EQ(*events[1].stack, EventStack{"a.py(1): f"});
}

TEST(RawEventsTest, EndingOnAnotherThreadIsAsync) {
  RawEvent moved = Raw("op", 0, 1);
  moved.end_thread_id = 2;
  RawEvent said = Raw("op", 2, 3);
  said.is_async = true;
  const EventList events = Convert({moved, said, Raw("op", 4, 5)});
  EXPECT_TRUE(events[0].is_async);
  EXPECT_TRUE(events[1].is_async);
  EXPECT_FALSE(events[2].is_async);
}

// --- Memory ----------------------------------------------------------------

TEST(RawEventsTest, MemoryIsChargedToWhatRunsThenBothEndsIncluded) {
  const EventList events =
      Convert({Raw("A", 0, 10), Raw("B", 2, 5), Memory(3, 100), Memory(5, 50),
               Memory(8, -100), Memory(12, 7)},
              {.profile_memory = true});
  ASSERT_EQ(TreeText(events), "A A>B [memory]");
  EXPECT_EQ(events[0].cpu_memory_usage, 50);
  EXPECT_EQ(events[0].self_cpu_memory_usage(), -100);
  EXPECT_EQ(events[1].cpu_memory_usage, 150);
  EXPECT_EQ(events[1].self_cpu_memory_usage(), 150);
  EXPECT_EQ(events[2].cpu_memory_usage, 7);
  EXPECT_TRUE(events.profile_memory());
}

TEST(RawEventsTest, WhatIsFreedInTheOperationCountsAsNothing) {
  const EventList events =
      Convert({Raw("A", 0, 10), Raw("B", 2, 5), Memory(3, 64), Memory(4, -64)});
  EXPECT_EQ(TreeText(events), "A A>B");
  EXPECT_EQ(events[0].cpu_memory_usage, 0);
  EXPECT_EQ(events[1].cpu_memory_usage, 0);
}

TEST(RawEventsTest, MemoryOfDevicesIsApart) {
  RawEvent device = Memory(1, 8);
  device.device_type = DeviceType::kCuda;
  RawEvent other = Memory(2, 16);
  other.device_type = DeviceType::kHpu;
  const EventList events = Convert({Raw("A", 0, 10), device, other});
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].cpu_memory_usage, 0);
  EXPECT_EQ(events[0].device_memory_usage, 8);
}

TEST(RawEventsTest, MemoryOfOtherThreadsIsChargedUnlessAskedOtherwise) {
  RawEvent elsewhere = Memory(3, 100);
  elsewhere.start_thread_id = 2;
  const std::vector<RawEvent> raw = {Raw("A", 0, 10), elsewhere, Memory(4, 1)};
  EXPECT_EQ(Convert(raw)[0].cpu_memory_usage, 101);

  const EventList strict =
      Convert(raw, {.memory_attribution = MemoryAttribution::kSameThread});
  ASSERT_EQ(TreeText(strict), "A [memory]");
  EXPECT_EQ(strict[0].cpu_memory_usage, 1);
  EXPECT_EQ(strict[1].cpu_memory_usage, 100);
}

TEST(RawEventsTest, DeviceEventsAreNotChargedButFramesAndRuntimeCallsAre) {
  RawEvent frame = Raw("run.py(3): step", 0, 10, 0);
  frame.is_python_function = true;
  RawEvent kernel = Raw("k", 0, 10);
  kernel.device_type = DeviceType::kCuda;
  const EventList events = Convert({frame, kernel, Memory(3, 8)});
  ASSERT_EQ(TreeText(events), "run.py(3): step k");
  EXPECT_EQ(events[0].cpu_memory_usage, 8);
  EXPECT_EQ(events[1].cpu_memory_usage, 0);
}

TEST(RawEventsTest, UnchargedMemoryBecomesEventsWithFreshIds) {
  RawEvent oom = Raw("[OutOfMemory]", 4, 4, 0);
  oom.nbytes = 1 << 30;
  RawEvent filtered = Raw("aten::is_leaf", 0, 1, 50);
  RawEvent device = Memory(3, -5);
  device.device_type = DeviceType::kCuda;
  device.start_thread_id = 6;
  const EventList events = Convert({filtered, oom, Memory(2, 9), device});
  ASSERT_EQ(TreeText(events), "[memory] [memory] [OutOfMemory]");
  EXPECT_EQ(events[0].id, 51);
  EXPECT_EQ(events[0].cpu_memory_usage, 9);
  EXPECT_EQ(events[1].id, 52);
  EXPECT_EQ(events[1].device_memory_usage, -5);
  EXPECT_EQ(events[1].device_type, DeviceType::kCpu);
  EXPECT_EQ(events[1].thread, 6);
  EXPECT_EQ(events[1].fwd_thread, 6);
  EXPECT_EQ(events[2].id, 53);
  EXPECT_EQ(events[2].cpu_memory_usage, 0);
  for (const FunctionEvent& e : events) {
    EXPECT_EQ(e.trace_name, std::nullopt);
    EXPECT_EQ(e.flops, std::nullopt);
    EXPECT_EQ(e.time_range.elapsed_us(), 0);
    EXPECT_EQ(e.sequence_nr, -1);
    EXPECT_EQ(e.device_index, 0);
  }
  EXPECT_TRUE(events.table().ok());
}

// --- Devices ---------------------------------------------------------------

TEST(RawEventsTest, KernelsAreAppendedToTheirOperation) {
  RawEvent kernel = LinkedTo(5, Raw("k", 20, 23), DeviceType::kCuda);
  kernel.device_index = 2;
  const EventList events =
      Convert({Raw("op", 0, 10, 5), kernel,
               LinkedTo(5, Raw("x", 30, 31), DeviceType::kXpu),
               LinkedTo(5, Raw("p", 40, 41), DeviceType::kPrivateUse1),
               LinkedTo(5, Raw("m", 50, 51), DeviceType::kMtia),
               LinkedTo(6, Raw("lost", 60, 61), DeviceType::kCuda)},
              {.use_device = "cuda"});
  EXPECT_THAT(
      events[0].kernels,
      ElementsAre(Kernel{"k", 2, 3}, Kernel{"x", 0, 1}, Kernel{"p", 0, 1}));
  EXPECT_EQ(events[0].device_time_total(), 5);
  EXPECT_EQ(events.size(), 6u);  // kernels are events of their own, too
}

TEST(RawEventsTest, RuntimeCallsMoveToTheThreadOfTheirOperation) {
  const EventList events =
      Convert({Raw("op", 0, 10, 5),
               LinkedTo(5, Raw("cudaLaunchKernel", 2, 3), DeviceType::kCpu)});
  EXPECT_EQ(TreeText(events), "op op>cudaLaunchKernel");
  EXPECT_EQ(events[1].thread, 1);
}

TEST(RawEventsTest, AsyncOperationsGetNoKernels) {
  RawEvent op = Raw("op", 0, 10, 5);
  op.is_async = true;
  const EventList events =
      Convert({op, LinkedTo(5, Raw("k", 20, 23), DeviceType::kCuda)});
  EXPECT_THAT(events[0].kernels, IsEmpty());
}

TEST(RawEventsTest, NegativeLinksAreAnError) {
  const auto converted =
      ConvertRawEvents({LinkedTo(-3, Raw("k", 0, 1), DeviceType::kCuda)}, {});
  EXPECT_EQ(converted.status().message(),
            "Got negative correlation id -3 in profiler post processing");
}

TEST(RawEventsTest, MeasuredDeviceTimeStandsInForKernels) {
  RawEvent op = Raw("op", 0, 10, 5);
  op.cuda_elapsed_us = 6;
  op.privateuse1_elapsed_us = 7;
  EXPECT_FALSE(Convert({op})[0].is_legacy);
  EXPECT_FALSE(Convert({op}, {.use_device = "xpu"})[0].is_legacy);

  const EventList cuda = Convert({op}, {.use_device = "cuda"});
  EXPECT_TRUE(cuda[0].is_legacy);
  EXPECT_THAT(cuda[0].kernels, ElementsAre(Kernel{"op", 0, 6}));
  const EventList custom =
      Convert({op}, {.use_device = "npu", .custom_backend_name = "npu"});
  EXPECT_EQ(custom[0].device_time_total(), 7);

  op.is_async = true;
  EXPECT_FALSE(Convert({op}, {.use_device = "cuda"})[0].is_legacy);
}

// --- Order and time limit --------------------------------------------------

TEST(RawEventsTest, EventsAreSortedByStartLongerFirst) {
  const EventList events = Convert(
      {Raw("c", 5, 6), Raw("b", 0, 2), Raw("a", 0, 9), Raw("same", 0, 2)});
  EXPECT_EQ(TreeText(events), "a a>b b>same a>c");
}

// A clock that advances a second per look.
std::function<double()> Ticks() {
  return [seconds = 0.0]() mutable { return seconds++; };
}

TEST(RawEventsTest, ATimeoutReturnsWhatWasConverted) {
  const ConvertedEvents partial =
      Converted({Raw("a", 0, 9, 1), Raw("b", 1, 2, 2), Raw("c", 3, 4, 3)},
                {.timeout_s = 2, .elapsed_s = Ticks()});
  EXPECT_EQ(TreeText(partial.events), "a a>b");
  EXPECT_THAT(partial.warnings,
              ElementsAre("Profiler _parse_kineto_results timed out after "
                          "2.000 seconds, returning partial results with 2 "
                          "events"));
}

TEST(RawEventsTest, ATimeoutCanLeaveOutMemoryEvents) {
  const ConvertedEvents partial =
      Converted({Raw("a", 0, 1), Memory(5, 1), Memory(6, 1)},
                {.timeout_s = 4, .elapsed_s = Ticks()});
  EXPECT_EQ(TreeText(partial.events), "a [memory]");
  EXPECT_THAT(partial.warnings, ElementsAre(HasSubstr("with 2 events")));
}

TEST(RawEventsTest, ATimeoutOfZeroReturnsNothing) {
  const ConvertedEvents none =
      Converted({Raw("a", 0, 1), Memory(5, 1)}, {.timeout_s = 0});
  EXPECT_TRUE(none.events.empty());
  EXPECT_THAT(none.warnings, ElementsAre(HasSubstr("with 0 events")));
}

}  // namespace
}  // namespace kymo
