#include "profiler/events/averages/function_event_avg.h"

#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "profiler/events/averages/event_table.h"
#include "profiler/events/averages/test_row.h"
#include "profiler/events/test_events.h"

namespace kymo {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

// An event whose every field differs from the default and from the others.
FunctionEvent FullEvent() {
  FunctionEvent event = Cpu("op", 10, 40);
  event.overload_name = "out";
  event.node_id = 3;
  event.is_async = false;
  event.is_legacy = true;
  event.is_user_annotation = true;
  event.count = 2;
  event.use_device = "cuda";
  event.cpu_memory_usage = 1'000;
  event.device_memory_usage = 5'000;
  event.flops = 77;
  event.kernels = {{"k", 0, 9}};
  event.input_shapes = MakeShapes({{2, 3}, {}});
  event.stack = MakeStack({"f", "main"});
  event.cpu_parent = 4;
  event.child_totals = {.cpu_time_us = 12,
                        .device_time_us = 0,
                        .cpu_memory_bytes = 300,
                        .device_memory_bytes = 700};
  return event;
}

std::string RowText(const report::TableRow& row) {
  return absl::StrCat(
      row.key, ".", row.overload_name, " ",
      row.device == report::RowDevice::kCpu ? "cpu" : "device",
      row.is_legacy ? " legacy" : "",
      row.is_user_annotation ? " annotation" : "", row.is_async ? " async" : "",
      row.has_parent ? " inside" : "", " node ", row.node_id, " x", row.count,
      " cpu ", row.cpu_time_total_us, "/", row.self_cpu_time_total_us,
      " device ", row.device_time_total_us, "/", row.self_device_time_total_us,
      " mem ", row.cpu_memory_usage_bytes, "/", row.self_cpu_memory_usage_bytes,
      " ", row.device_memory_usage_bytes, "/",
      row.self_device_memory_usage_bytes, " flops ", row.flops, " ",
      row.input_shapes, " in ", absl::StrJoin(row.stack, ";"));
}

TEST(EventTableTest, RowsHaveEveryFieldOfEventsAndOfAverages) {
  const std::vector<FunctionEvent> events = {FullEvent(), Async("async", 0, 5),
                                             Cuda("kernel", 0, 8)};
  std::vector<FunctionEventAvg> averages;
  for (const FunctionEvent& event : events) {
    ASSERT_TRUE(averages.emplace_back().add(event).ok());
  }
  const std::string full =
      "op.out cpu legacy annotation inside node 3 x2 cpu 30/18 device 9/9 "
      "mem 1000/700 5000/4300 flops 77 [[2, 3], []] in f;main";
  const std::string async =
      "async. cpu async node -1 x1 cpu 5/0 device 0/0 mem 0/0 0/0 flops 0 "
      "[] in ";
  const std::string kernel =
      "kernel. device node -1 x1 cpu 0/0 device 0/0 mem 0/0 0/0 flops 0 "
      "[] in ";
  for (const auto& rows : {EventTableRows(events), EventTableRows(averages)}) {
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(RowText(rows[0]), full);
    EXPECT_EQ(RowText(rows[1]), async);
    EXPECT_EQ(RowText(rows[2]), kernel);
  }
}

TEST(EventTableTest, TheListsOptionsReplaceThoseOfTheTable) {
  const std::vector<FunctionEvent> events = {FullEvent()};
  const auto table = [&](const EventListOptions& list) {
    const auto text = FormatEventTable(
        events, list,
        {.profile_memory = true, .with_flops = true, .use_device = "xpu"});
    EXPECT_TRUE(text.ok()) << text.status();
    return text.value_or("");
  };
  EXPECT_THAT(table({}), HasSubstr("CUDA total"));
  EXPECT_THAT(table({}), Not(HasSubstr("CPU Mem")));
  EXPECT_THAT(table({}), Not(HasSubstr("FLOPs")));
  EXPECT_THAT(table({.profile_memory = true}), HasSubstr("CPU Mem"));
  EXPECT_THAT(table({.with_flops = true}), HasSubstr("FLOPs"));
  EXPECT_EQ(*FormatEventTable(std::vector<FunctionEvent>(), {}, {}), "");
}

TEST(FunctionEventAvgTest, AveragesOfAveragesHaveEveryField) {
  FunctionEvent event = FullEvent();
  event.is_async = event.is_remote = true;
  event.device_type = DeviceType::kCuda;
  event.scope = RecordScope::kUserScope;
  FunctionEventAvg one;
  ASSERT_TRUE(one.add(event).ok());
  EXPECT_TRUE(one.has_key);
  EXPECT_TRUE(one.is_remote);
  EXPECT_TRUE(one.is_legacy);
  EXPECT_EQ(one.scope, RecordScope::kUserScope);
  FunctionEventAvg sum;
  ASSERT_TRUE(sum.add(one).ok());
  EXPECT_EQ(Row(sum), Row(one));
  EXPECT_EQ(sum.is_remote, one.is_remote);
  EXPECT_EQ(sum.is_legacy, one.is_legacy);
  ASSERT_TRUE(sum.add(one).ok());
  EXPECT_EQ(sum.count, 4);
  EXPECT_EQ(sum.device_time(), one.device_time());
  EXPECT_EQ(FunctionEventAvg().device_time(), 0);
  FunctionEventAvg other;
  other.has_key = true;
  other.key = "other";
  EXPECT_EQ(other.add(one).message(),
            "Expected keys to match, but got op vs other");
  EXPECT_EQ(other.count, 0);
}

TEST(EventAveragesTest, TheTotalAddsAndDescribesTheLast) {
  const EventList events =
      Treed({Cpu("a", 0, 10), Cpu("b", 20, 24), Cpu("b", 30, 31)});
  const EventAverages averages = *events.key_averages();
  ASSERT_EQ(averages.size(), 2u);
  EXPECT_FALSE(averages.empty());
  EXPECT_EQ(averages.self_cpu_time_total(), 15);
  const FunctionEventAvg total = averages.total_average();
  EXPECT_EQ(total.key, "Total");
  EXPECT_EQ(total.count, 3);
  EXPECT_EQ(total.cpu_time_total, 15);
  EXPECT_EQ(EventAverages().total_average().count, 0);
  EXPECT_TRUE(EventAverages().total_average().has_key);
  EXPECT_EQ(EventAverages().self_cpu_time_total(), 0);
  EXPECT_EQ(averages.folded_stacks("time").status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(averages.export_stacks("/proc/none/x", "time").code(),
            absl::StatusCode::kInvalidArgument);
  std::ostringstream bad;
  std::vector<FunctionEventAvg> devices(1);
  devices[0].device_time_total = 5;
  devices[0].self_device_time_total = 5;
  devices[0].device_type = DeviceType::kCuda;
  bad << EventAverages(devices, {});
  EXPECT_THAT(bad.str(), HasSubstr("use_device is None"));
}

// All parts of a key, alone and asked for.
TEST(EventGroupsTest, EventsShareARowIfTheirKeysAreEqual) {
  const FunctionEvent base = FullEvent();
  const auto groups = [&](auto change, const KeyAveragesOptions& options) {
    std::vector<FunctionEvent> events = {base, base};
    change(events[1]);
    const auto averages = AverageGroups(events, options);
    EXPECT_TRUE(averages.ok()) << averages.status();
    return averages->size();
  };
  const KeyAveragesOptions plain;
  EXPECT_EQ(groups([](FunctionEvent&) {}, plain), 1u);
  EXPECT_EQ(groups([](FunctionEvent& e) { e.name = "x"; }, plain), 2u);
  EXPECT_EQ(groups([](FunctionEvent& e) { e.node_id = 0; }, plain), 2u);
  EXPECT_EQ(groups([](FunctionEvent& e) { e.is_legacy = false; }, plain), 2u);
  EXPECT_EQ(
      groups([](FunctionEvent& e) { e.is_user_annotation = false; }, plain),
      2u);
  EXPECT_EQ(
      groups([](FunctionEvent& e) { e.is_python_function = true; }, plain), 1u);
  const auto no_overload = [](FunctionEvent& e) { e.overload_name.reset(); };
  EXPECT_EQ(groups(no_overload, plain), 1u);
  EXPECT_EQ(groups(no_overload, {.group_by_overload_name = true}), 2u);
  for (const bool has_shapes : {false, true}) {
    const auto shapes = [&](FunctionEvent& e) {
      e.input_shapes = has_shapes ? MakeShapes({{2, 3}, {1}}) : nullptr;
    };
    EXPECT_EQ(groups(shapes, plain), 1u);
    EXPECT_EQ(groups(shapes, {.group_by_input_shape = true}), 2u);
  }
  const auto other_caller = [](FunctionEvent& e) {
    e.stack = MakeStack({"f", "other"});
  };
  EXPECT_EQ(groups(other_caller, {.group_by_stack_n = 1}), 1u);
  EXPECT_EQ(groups(other_caller, {.group_by_stack_n = 2}), 2u);
  EXPECT_EQ(groups([](FunctionEvent& e) { e.stack = nullptr; },
                   {.group_by_stack_n = 1}),
            2u);
}

}  // namespace
}  // namespace kymo
