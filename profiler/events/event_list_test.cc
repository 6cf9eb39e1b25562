#include "profiler/events/event_list.h"

#include <cmath>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/events/test_events.h"

namespace kymo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// "key xcount total" of each average.
std::vector<std::string> Rows(const EventList& events,
                              const KeyAveragesOptions& options = {}) {
  const auto averages = events.key_averages(options);
  EXPECT_TRUE(averages.ok()) << averages.status();
  std::vector<std::string> rows;
  if (!averages.ok()) return rows;
  for (const FunctionEventAvg& a : *averages) {
    rows.push_back(a.key + " x" + std::to_string(a.count) + " " +
                   std::to_string(std::lround(a.cpu_time_total)));
  }
  return rows;
}

// mm[2, 3] twice and mm[4, 5] once.
std::vector<FunctionEvent> Multiplications() {
  std::vector<FunctionEvent> events = {Cpu("mm", 0, 10), Cpu("mm", 10, 30),
                                       Cpu("mm", 30, 35)};
  events[0].input_shapes = events[1].input_shapes = MakeShapes({{2, 3}});
  events[2].input_shapes = MakeShapes({{4, 5}});
  return events;
}

TEST(EventListTest, HeaderExample) {
  EventList events({Cpu("op", 0, 10), Cuda("k", 1, 2)}, {.use_device = "cuda"});
  EXPECT_FALSE(events.tree_built());
  ASSERT_TRUE(events.build_tree().ok());
  EXPECT_TRUE(events.tree_built());
  std::string names;
  for (const FunctionEvent& e : events) names += e.name + " ";
  EXPECT_EQ(names, "op k ");
  EXPECT_TRUE(events.key_averages({.group_by_stack_n = 5}).ok());
  EXPECT_EQ(events.use_device(), "cuda");
  EXPECT_FALSE(events.profile_memory());
  EXPECT_FALSE(events.with_flops());
}

TEST(EventListTest, TheTreeIsBuiltOnce) {
  EventList events(std::vector{Cpu("op", 0, 10)});
  EXPECT_EQ(events.key_averages().status().message(),
            "Expected tree to be built before calling key_averages");
  EXPECT_TRUE(events.build_tree().ok());
  EXPECT_EQ(events.build_tree().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(EventListTest, ListsAreJoinedWithTheirTrees) {
  const EventList first =
      Treed({Cpu("a", 0, 10), Cpu("b", 1, 2)}, {.profile_memory = true});
  const EventList second =
      Treed({Cpu("c", 0, 10), Cpu("d", 1, 9), Cpu("e", 2, 3)});
  const EventList* const lists[] = {&first, &second};
  const EventList all = EventList::Concatenate(lists);
  EXPECT_EQ(TreeText(all), "a a>b c c>d d>e");
  EXPECT_THAT(all[2].cpu_children, ElementsAre(3));
  EXPECT_THAT(all[3].cpu_children, ElementsAre(4));
  EXPECT_TRUE(all.tree_built());
  EXPECT_TRUE(all.profile_memory());
  const EventList flat(std::vector{Cpu("f", 0, 1)});
  for (const bool is_first : {true, false}) {
    const EventList* const mixed[] = {is_first ? &flat : &first,
                                      is_first ? &first : &flat};
    EXPECT_FALSE(EventList::Concatenate(mixed).tree_built());
    EXPECT_EQ(EventList::Concatenate(mixed).size(), 3);
  }
  EXPECT_EQ(EventList::Concatenate({}).size(), 0);
}

TEST(EventListTest, AnEmptyListHasEmptyResults) {
  const EventList events = Treed({});
  EXPECT_THAT(Rows(events), ElementsAre());
  EXPECT_EQ(*events.table(), "");
  EXPECT_EQ(events.chrome_trace(), "[]");
  EXPECT_EQ(*events.folded_stacks(), "");
  EXPECT_EQ(events.self_cpu_time_total(), 0);
  EXPECT_EQ(events.total_average()->key, "Total");
  EXPECT_EQ(*events.key_averages()->table(), "");
}

TEST(EventListTest, GroupsByShape) {
  const EventList events = Treed(Multiplications());
  EXPECT_THAT(Rows(events), ElementsAre("mm x3 35"));
  EXPECT_THAT(Rows(events, {.group_by_input_shape = true}),
              ElementsAre("mm x2 30", "mm x1 5"));
  const auto plain = events.key_averages();
  const auto by_shape = events.key_averages({.group_by_input_shape = true});
  EXPECT_EQ((*plain)[0].input_shapes, "");
  EXPECT_EQ((*by_shape)[0].input_shapes, "[[2, 3]]");
}

TEST(EventListTest, MissingShapesAreAGroupOfTheirOwn) {
  std::vector<FunctionEvent> input = {Cpu("mm", 0, 1), Cpu("mm", 1, 2),
                                      Cpu("mm", 2, 3)};
  input[0].input_shapes = input[2].input_shapes = nullptr;
  EXPECT_THAT(Rows(Treed(input), {.group_by_input_shape = true}),
              ElementsAre("mm x2 2", "mm x1 1"));
}

TEST(EventListTest, GroupsByTheFirstStackEntries) {
  std::vector<FunctionEvent> input = {Cpu("mm", 0, 1), Cpu("mm", 1, 3),
                                      Cpu("mm", 3, 7), Cpu("mm", 7, 15)};
  input[0].stack = MakeStack({"a", "b", "x"});
  input[1].stack = MakeStack({"a", "c"});
  input[2].stack = MakeStack({"a", "b", "y"});
  input[3].stack = nullptr;  // as one with an empty stack
  const EventList events = Treed(input);
  EXPECT_THAT(Rows(events), ElementsAre("mm x4 15"));
  EXPECT_THAT(Rows(events, {.group_by_stack_n = 1}),
              ElementsAre("mm x3 7", "mm x1 8"));
  EXPECT_THAT(Rows(events, {.group_by_stack_n = 2}),
              ElementsAre("mm x2 5", "mm x1 2", "mm x1 8"));
  EXPECT_THAT(Rows(events, {.group_by_stack_n = 3}),
              ElementsAre("mm x1 1", "mm x1 2", "mm x1 4", "mm x1 8"));
  EXPECT_THAT((*events.key_averages({.group_by_stack_n = 2}))[0].stack,
              ElementsAre("a", "b"));
  EXPECT_THAT((*events.key_averages())[0].stack, ElementsAre());
}

TEST(EventListTest, GroupsByOverload) {
  std::vector<FunctionEvent> input = {Cpu("add", 0, 1), Cpu("add", 1, 3)};
  input[0].overload_name = "Tensor";
  input[1].overload_name = "out";
  const EventList events = Treed(input);
  EXPECT_THAT(Rows(events), ElementsAre("add x2 3"));
  EXPECT_EQ((*events.key_averages())[0].overload_name, "");
  EXPECT_THAT(Rows(events, {.group_by_overload_name = true}),
              ElementsAre("add x1 1", "add x1 2"));
}

TEST(EventListTest, NodeDeviceLegacyAndAnnotationAreInTheKey) {
  std::vector<FunctionEvent> input(5, Cpu("op", 0, 1));
  for (int i = 0; i < 5; ++i) input[i].time_range = {2.0 * i, 2.0 * i + 1};
  input[1].node_id = 1;
  input[2].device_type = DeviceType::kCuda;
  input[3].is_legacy = true;
  input[4].is_user_annotation = true;
  EXPECT_EQ(Rows(Treed(input)).size(), 5u);
}

TEST(EventListTest, AsyncEventsAreAveragedWithTheOthers) {
  const EventList events = Treed({Async("x", 0, 3), Cpu("x", 4, 5)});
  EXPECT_THAT(Rows(events), ElementsAre("x x2 4"));
  EXPECT_TRUE((*events.key_averages())[0].is_async);
  EXPECT_EQ((*events.key_averages())[0].self_cpu_time_total, 1);
}

TEST(EventListTest, FramesOfALanguageAreLeftOutUnlessWanted) {
  std::vector<FunctionEvent> input = {Cpu("run.py(3): step", 0, 10),
                                      Cpu("mm", 2, 6)};
  input[0].is_python_function = true;
  const EventList events = Treed(input);
  EXPECT_THAT(Rows(events), ElementsAre("mm x1 4"));
  EXPECT_EQ(events.self_cpu_time_total(), 10);
  EXPECT_EQ(events.key_averages()->self_cpu_time_total(), 4);
  EXPECT_THAT(Rows(events, {.include_python_functions = true}),
              ElementsAre("run.py(3): step x1 10", "mm x1 4"));
}

TEST(EventListTest, TotalAverageSumsEverything) {
  std::vector<FunctionEvent> input = {Cpu("a", 0, 10), Cpu("b", 2, 6)};
  input[0].flops = 5;
  input[1].flops.reset();
  input[1].is_remote = true;
  const EventList events = Treed(input);
  const auto total = events.total_average();
  ASSERT_TRUE(total.ok());
  EXPECT_EQ(total->key, "Total");
  EXPECT_EQ(total->count, 2);
  EXPECT_EQ(total->cpu_time_total, 14);
  EXPECT_EQ(total->self_cpu_time_total, 10);
  EXPECT_EQ(total->flops, 5);
  EXPECT_TRUE(total->is_remote);  // as the last
  EXPECT_EQ(events.key_averages()->total_average().cpu_time_total, 14);
}

TEST(EventListTest, DevicesWithoutDeviceTimeAreAnErrorWhereItIsNeeded) {
  FunctionEvent event = Cuda("k", 0, 1);
  event.device_type = DeviceType::kMps;
  const EventList events = Treed({event}, {.use_device = "mps"});
  for (const absl::Status& status :
       {events.key_averages().status(), events.total_average().status(),
        events.table().status(), events.folded_stacks().status()}) {
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("but got DeviceType.MPS"));
  }
}

TEST(EventListTest, EventsWithoutStackShapesOrFlopsHaveATable) {
  std::vector<FunctionEvent> input = {Cpu("a", 0, 10), Cpu("[memory]", 20, 20)};
  input[0].stack = MakeStack({"f.py(1): f"});
  input[0].flops = 2048;
  input[0].input_shapes = MakeShapes({{2}});
  input[1].stack = nullptr;
  input[1].flops.reset();
  input[1].input_shapes = nullptr;
  const auto text = Treed(input, {.with_flops = true}).table();
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, HasSubstr("[[2]]"));
  EXPECT_THAT(*text, HasSubstr("None"));
  EXPECT_THAT(*text, HasSubstr("2.048"));
}

TEST(EventListTest, TheTablesDeviceIsThatOfTheFirstEvent) {
  EventList events({Cpu("a", 0, 1), Cuda("k", 0, 1)}, {.use_device = "cuda"});
  std::vector<FunctionEvent> input(events.begin(), events.end());
  input[1].use_device = "cuda";
  const EventList mixed(input, {.use_device = "cuda"});
  EXPECT_EQ(mixed.table().status().message(),
            "use_device is None, but there is device performance data.");
  input[0].use_device = "xpu";
  EXPECT_THAT(*EventList(input).table(), HasSubstr("Self XPU time total"));
}

TEST(EventListTest, WritesFiles) {
  std::vector<FunctionEvent> input = {Cpu("a", 0, 10)};
  input[0].trace_name = "a";
  input[0].stack = MakeStack({"f"});
  const EventList events = Treed(input);
  const std::string path = ::testing::TempDir() + "/events_out";
  const auto content = [&] {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  ASSERT_TRUE(events.export_chrome_trace(path).ok());
  EXPECT_EQ(content(), events.chrome_trace());
  ASSERT_TRUE(events.export_stacks(path).ok());
  EXPECT_EQ(content(), "f 10\n");
  ASSERT_TRUE(
      events.key_averages({.group_by_stack_n = 1})->export_stacks(path).ok());
  EXPECT_EQ(content(), "f 10\n");
}

TEST(EventListTest, FilesThatCannotBeWrittenAreNamed) {
  const std::string path = ::testing::TempDir() + "/no_folder/file";
  const absl::Status status = Treed({}).export_chrome_trace(path);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(status.message()), HasSubstr(path));
  EXPECT_EQ(Treed({}).export_stacks(path, "time").code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(EventListTest, TextsArePythons) {
  std::vector<FunctionEvent> input = {Cpu("a", 0, 10), Cpu("b", 2, 3)};
  input[0].id = 1;
  input[1].id = 2;
  const EventList events = Treed(std::move(input));
  EXPECT_EQ(ToString(events),
            "[<FunctionEvent id=1 name=a overload_name=None "
            "device_type=DeviceType.CPU node_id=-1 cpu_time=10.000us "
            "start_us=0.0 end_us=10.0 cpu_children=[2] None_time=0.000us "
            "name=a thread=1 input_shapes=[] cpu_memory_usage=0 "
            "None_memory_usage=0 is_async=False is_remote=False seq_nr=-1 "
            "is_legacy=False>, <FunctionEvent id=2 name=b overload_name=None "
            "device_type=DeviceType.CPU node_id=-1 cpu_time=1.000us "
            "start_us=2.0 end_us=3.0 cpu_children=[] None_time=0.000us "
            "name=b thread=1 input_shapes=[] cpu_memory_usage=0 "
            "None_memory_usage=0 is_async=False is_remote=False seq_nr=-1 "
            "is_legacy=False>]");
  std::ostringstream list;
  list << events;
  EXPECT_EQ(list.str(), *events.table());

  const EventAverages averages = *events.key_averages();
  EXPECT_EQ(ToString(averages),
            "[<FunctionEventAvg key=a self_cpu_time=9.000us "
            "cpu_time=10.000us  self_cuda_time=0.000us cuda_time=0.000us "
            "input_shapes= cpu_memory_usage=0 cuda_memory_usage=0>, "
            "<FunctionEventAvg key=b self_cpu_time=1.000us "
            "cpu_time=1.000us  self_cuda_time=0.000us cuda_time=0.000us "
            "input_shapes= cpu_memory_usage=0 cuda_memory_usage=0>]");
  std::ostringstream rows;
  rows << averages;
  EXPECT_EQ(rows.str(), *averages.table());
  EXPECT_EQ(ToString(EventList()), "[]");
  EXPECT_EQ(ToString(EventAverages()), "[]");
}

}  // namespace
}  // namespace kymo
