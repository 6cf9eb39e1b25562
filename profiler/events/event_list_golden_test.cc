// Events made by hand against the tables that PyTorch 2.14.1 made of the same
// events.
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/events/event_list.h"
#include "profiler/events/test_events.h"

namespace kymo {
namespace {

using report::TableOptions;
using ::testing::HasSubstr;

std::string Golden(const std::string& name) {
  std::ifstream in("profiler/report/testdata/" + name + ".golden.txt",
                   std::ios::binary);
  EXPECT_TRUE(in.good()) << name;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

template <typename List>
std::string Table(const List& list, const TableOptions& options = {}) {
  const auto text = list.table(options);
  EXPECT_TRUE(text.ok()) << text.status();
  return text.value_or("");
}

std::string AveragesTable(const EventList& events,
                          const TableOptions& options = {},
                          const KeyAveragesOptions& groups = {}) {
  const auto averages = events.key_averages(groups);
  EXPECT_TRUE(averages.ok()) << averages.status();
  return averages.ok() ? Table(*averages, options) : "";
}

FunctionEvent Cpu(std::string name, double start_us, double end_us,
                  int64_t memory_bytes) {
  FunctionEvent e = kymo::Cpu(std::move(name), start_us, end_us);
  e.cpu_memory_usage = memory_bytes;
  return e;
}

// A small inference, sorted by (start, longer first).
EventList Inference(const EventListOptions& options = {}) {
  std::vector<FunctionEvent> events = {
      Cpu("model_inference", 0, 2500.5, 0),
      Cpu("aten::linear", 100, 1100, 1536),
      Cpu("aten::addmm", 150, 1050.25, 1536),
      Cpu("aten::copy_", 160, 210, 0),
      Cpu("aten::relu", 1200, 1600, 1536),
      Cpu("aten::clamp_min", 1250, 1575, 1536),
      Cpu("aten::relu", 1700, 2300, -512),
      Cpu("aten::clamp_min", 1725.125, 2275, -512),
  };
  events[2].flops = 65536;
  return Treed(std::move(events), options);
}

// Two multiplications on the host and their kernels.
std::vector<FunctionEvent> OnDevice() {
  std::vector<FunctionEvent> events = {
      kymo::Cpu("fwd", 0, 1000),
      kymo::Cpu("aten::mm", 100, 500),
      kymo::Cpu("cudaLaunchKernel", 300, 320),
      Cuda("fwd", 400, 850),
      Cuda("sgemm", 400, 650),
      kymo::Cpu("aten::mm", 550, 700),
      Cuda("sgemm", 700, 850),
  };
  events[0].device_memory_usage = 16384;
  events[1].device_memory_usage = events[5].device_memory_usage = 8192;
  events[1].kernels = {{"sgemm", 0, 250}};
  events[5].kernels = {{"sgemm", 0, 150}};
  events[3].is_user_annotation = true;
  return events;
}

EventList Stacked(const EventListOptions& options = {}) {
  std::vector<FunctionEvent> events = {kymo::Cpu("aten::mm", 0, 10),
                                       kymo::Cpu("aten::add", 20, 25)};
  events[0].stack = MakeStack({"model.py(10): forward", "train.py(20): step",
                               "train.py(99): <module>"});
  events[0].flops = 2048;
  events[1].stack = MakeStack({"model.py(11): forward", "train.py(20): step"});
  return Treed(std::move(events), options);
}

TEST(EventListGoldenTest, Averages) {
  EXPECT_EQ(AveragesTable(Inference()), Golden("averages"));
}

TEST(EventListGoldenTest, HeaderMemoryFlopsAndRowLimit) {
  EXPECT_EQ(
      AveragesTable(Inference({.profile_memory = true, .with_flops = true}),
                    {.sort_by = "self_cpu_time_total",
                     .row_limit = 2,
                     .header = "My header"}),
      Golden("header_memory_flops"));
}

TEST(EventListGoldenTest, TopLevelEventsOnly) {
  EXPECT_EQ(Table(Inference(), {.sort_by = "self_cpu_time_total",
                                .top_level_events_only = true}),
            Golden("top_level"));
}

TEST(EventListGoldenTest, DeviceTimesAndMemory) {
  EXPECT_EQ(AveragesTable(Treed(OnDevice(),
                                {.use_device = "cuda", .profile_memory = true}),
                          {.sort_by = "cuda_time_total"}),
            Golden("device"));
}

TEST(EventListGoldenTest, GroupsByShape) {
  std::vector<FunctionEvent> events = OnDevice();
  events[1].input_shapes = events[5].input_shapes =
      MakeShapes({{64, 32}, {32, 64}});
  const std::string text = AveragesTable(
      Treed(std::move(events), {.use_device = "cuda", .profile_memory = true}),
      {.sort_by = "self_cpu_time_total"}, {.group_by_input_shape = true});
  EXPECT_THAT(text, HasSubstr("            Input Shapes  \n"));
  EXPECT_THAT(text, HasSubstr("    [[64, 32], [32, 64]]  \n"));
  EXPECT_THAT(text, HasSubstr("                      []  \n"));
  size_t at = 0;
  for (const char* name :
       {"aten::mm", "fwd ", "cudaLaunchKernel", "fwd ", "sgemm"}) {
    at = text.find(name, at + 1);
    EXPECT_NE(at, text.npos) << name;
  }
}

TEST(EventListGoldenTest, LongNamesAreCut) {
  EXPECT_EQ(
      Table(Treed({kymo::Cpu(
          "aten::_a_rather_long_operator_name_that_has_52_chars", 0, 10)})),
      Golden("long_name"));
}

TEST(EventListGoldenTest, AsyncEvents) {
  EXPECT_EQ(Table(Treed({Async("x", 0, 3), kymo::Cpu("y", 4, 8)})),
            Golden("async"));
}

TEST(EventListGoldenTest, ZeroLength) {
  EXPECT_EQ(Table(Treed({kymo::Cpu("x", 0, 0)})), Golden("zero_length"));
}

TEST(EventListGoldenTest, Stacks) {
  EXPECT_EQ(AveragesTable(Stacked(), {}, {.group_by_stack_n = 2}),
            Golden("stacks"));
  EXPECT_EQ(
      AveragesTable(Stacked({.with_flops = true}), {}, {.group_by_stack_n = 2}),
      Golden("stacks_and_flops"));
}

TEST(EventListGoldenTest, FramesOfALanguage) {
  std::vector<FunctionEvent> events = {kymo::Cpu("run.py(3): step", 0, 10),
                                       kymo::Cpu("aten::mm", 2, 6),
                                       kymo::Cpu("aten::add", 3, 5)};
  events[0].is_python_function = true;
  const EventList list = Treed(std::move(events));
  EXPECT_EQ(Table(list), Golden("frames_events"));
  EXPECT_EQ(AveragesTable(list, {.sort_by = "self_cpu_time_total"}),
            Golden("frames_averages"));
}

TEST(EventListGoldenTest, NodesAndForcedUnit) {
  std::vector<FunctionEvent> events = {kymo::Cpu("a", 0, 1500),
                                       kymo::Cpu("b", 1500, 1501.5)};
  events[0].flops = 999;
  events[0].node_id = 0;
  events[1].flops = 2'000'000;
  events[1].node_id = 1;
  events[1].is_remote = true;
  EXPECT_EQ(Table(Treed(std::move(events), {.with_flops = true}),
                  {.time_unit = "ms"}),
            Golden("node_id_ms"));
}

}  // namespace
}  // namespace kymo
