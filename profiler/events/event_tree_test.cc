#include "profiler/events/event_tree.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "profiler/events/test_events.h"

namespace kymo {
namespace {

std::string TreeOf(std::vector<FunctionEvent> events) {
  return TreeText(Treed(std::move(events)));
}

FunctionEvent OnThread(FunctionEvent event, int64_t thread) {
  event.thread = thread;
  return event;
}

TEST(EventTreeTest, AnEventThatStartsWhereAnotherEndsIsItsSibling) {
  EXPECT_EQ(TreeOf({Cpu("A", 0, 10), Cpu("B", 1, 3), Cpu("C", 3, 4)}),
            "A A>B A>C");
}

TEST(EventTreeTest, PartialOverlapsAreNoRelation) {
  EXPECT_EQ(TreeOf({Cpu("A", 0, 10), Cpu("B", 2, 12)}), "A B");
  EXPECT_EQ(TreeOf({Cpu("A", 0, 10), Cpu("B", 2, 12), Cpu("D", 3, 5)}),
            "A B B>D");
}

TEST(EventTreeTest, OverlappingSiblingsAreSubtractedTwice) {
  const EventList events =
      Treed({Cpu("A", 0, 10), Cpu("B", 1, 5), Cpu("C", 4, 8)});
  EXPECT_EQ(TreeText(events), "A A>B A>C");
  EXPECT_EQ(events[0].self_cpu_time_total(), 2);
}

TEST(EventTreeTest, SelfTimesCanBeNegative) {
  const EventList events = Treed(
      {Cpu("A", 0, 10), Cpu("B", 1, 9), Cpu("C", 2, 9.5), Cpu("D", 3, 9.75)});
  EXPECT_EQ(TreeText(events), "A A>B A>C A>D");
  EXPECT_EQ(events[0].self_cpu_time_total(), 10 - 8 - 7.5 - 6.75);
}

TEST(EventTreeTest, EventsWithoutDuration) {
  EXPECT_EQ(TreeOf({Cpu("A", 0, 10), Cpu("Z", 10, 10)}), "A Z");
  EXPECT_EQ(TreeOf({Cpu("Z", 0, 0), Cpu("A", 0, 10)}), "A>Z A");
}

TEST(EventTreeTest, OfEqualRangesTheSecondIsInTheFirst) {
  EXPECT_EQ(TreeOf({Cpu("A", 0, 10), Cpu("B", 0, 10)}), "A A>B");
  EXPECT_EQ(TreeOf({Cpu("B", 0, 10), Cpu("A", 0, 10)}), "B B>A");
}

TEST(EventTreeTest, ThreadsDoNotMix) {
  EXPECT_EQ(TreeOf({Cpu("A", 0, 10), OnThread(Cpu("B", 2, 3), 2)}), "A B");
}

TEST(EventTreeTest, AsyncAndDeviceEventsHaveNoRelatives) {
  EXPECT_EQ(TreeOf({Cpu("A", 0, 10), Async("X", 2, 3), Cpu("B", 2.25, 2.75),
                    OnThread(Cuda("k", 2, 3), 1)}),
            "A X A>B k");
}

TEST(EventTreeTest, RemoteEventsNestWithinTheirNode) {
  FunctionEvent remote = Cpu("R", 2, 3);
  remote.is_remote = true;
  EXPECT_EQ(TreeOf({Cpu("A", 0, 10), remote}), "A A>R");
  remote.node_id = 1;
  EXPECT_EQ(TreeOf({Cpu("A", 0, 10), remote}), "A R");
}

TEST(EventTreeTest, NodesThatInterleaveOnAThreadLoseTheirNesting) {
  FunctionEvent other = Cpu("R", 1, 2);
  other.node_id = 1;
  EXPECT_EQ(TreeOf({Cpu("A", 0, 10), other, Cpu("B", 3, 4)}), "A R B");
}

TEST(EventTreeTest, TheListKeepsItsOrder) {
  EXPECT_EQ(TreeOf({Cpu("C", 4, 5), Cpu("A", 0, 10), Cpu("B", 1, 2)}),
            "A>C A A>B");
}

TEST(EventTreeTest, ChildrenStandInStartOrder) {
  const EventList events =
      Treed({Cpu("C", 4, 5), Cpu("A", 0, 10), Cpu("B", 1, 2)});
  EXPECT_EQ(events[1].cpu_children, (std::vector<size_t>{2, 0}));
}

TEST(EventTreeTest, ASecondTreeIsRefused) {
  std::vector<FunctionEvent> events = {Cpu("A", 0, 10), Cpu("B", 1, 3)};
  EXPECT_TRUE(BuildEventTree(events).ok());
  EXPECT_EQ(BuildEventTree(events).message(),
            "There is already a CPU parent event for B");
}

// --- Duplicates ------------------------------------------------------------

TEST(EventTreeTest, ChainsOfDuplicatesBecomeOne) {
  const EventList events = Treed({Cpu("add", 0, 10), Cpu("add", 1, 9),
                                  Cpu("add", 2, 8), Cpu("mul", 3, 4)});
  EXPECT_EQ(TreeText(events), "add add>mul");
  EXPECT_EQ(events[0].self_cpu_time_total(), 9);
}

TEST(EventTreeTest, DuplicatesMergeInAnyListOrder) {
  EXPECT_EQ(TreeOf({Cpu("mul", 3, 4), Cpu("add", 2, 8), Cpu("add", 1, 9),
                    Cpu("add", 0, 10)}),
            "add>mul add");
}

TEST(EventTreeTest, DuplicatesWithASiblingStay) {
  EXPECT_EQ(TreeOf({Cpu("add", 0, 10), Cpu("add", 1, 2), Cpu("mul", 3, 4)}),
            "add add>add add>mul");
}

TEST(EventTreeTest, ADuplicateWithTwoChildrenGivesThemToItsParent) {
  EXPECT_EQ(TreeOf({Cpu("add", 0, 10), Cpu("add", 1, 9), Cpu("add", 2, 3),
                    Cpu("mul", 4, 5)}),
            "add add>add add>mul");
}

TEST(EventTreeTest, KernelsOfTheInnermostDuplicateReplaceTheOthers) {
  std::vector<FunctionEvent> events = {Cpu("add", 0, 10), Cpu("add", 1, 9)};
  events[0].kernels = {{"outer", 0, 1}};
  events[1].kernels = {{"inner", 0, 2}};
  const EventList list = Treed(events, {.use_device = "cuda"});
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].kernels, (std::vector<Kernel>{{"inner", 0, 2}}));
  EXPECT_EQ(list[0].device_time_total(), 2);
}

// A marker lists what its children launched. A merged event must neither lose a
// kernel nor count one twice, whichever of the two is the marker.
TEST(EventTreeTest, DuplicatesAndMarkersCountEachKernelOnce) {
  const Kernel own = {"launched by the operation", 0, 1};
  const Kernel inner = {"launched by the child", 0, 2};
  struct Case {
    std::vector<bool> is_marker;  // of the outer and the inner duplicate
    std::vector<std::vector<Kernel>> kernels;
  };
  const Case cases[] = {
      {{true, true}, {{own, inner}, {own, inner}}},
      {{true, false}, {{own, inner}, {own}}},
      {{false, true}, {{own}, {inner}}},
  };
  for (const Case& c : cases) {
    std::vector<FunctionEvent> events = {Cpu("add", 0, 10), Cpu("add", 1, 9),
                                         Cpu("mul", 2, 3)};
    for (size_t i = 0; i < 2; ++i) {
      events[i].is_marker = c.is_marker[i];
      events[i].kernels = c.kernels[i];
    }
    events[2].kernels = {inner};
    const EventList list = Treed(events, {.use_device = "cuda"});
    EXPECT_EQ(TreeText(list), "add add>mul");
    EXPECT_EQ(list[0].device_time_total(), 3);
    EXPECT_EQ(list[0].self_device_time_total(), 1);
    EXPECT_EQ(list[1].device_time_total(), 2);
  }
}

TEST(EventTreeTest, TheDuplicatesMemoryIsWithinItsParents) {
  std::vector<FunctionEvent> events = {Cpu("add", 0, 10), Cpu("add", 1, 9)};
  events[0].cpu_memory_usage = events[1].cpu_memory_usage = 64;
  const EventList list = Treed(events);
  EXPECT_EQ(list[0].cpu_memory_usage, 64);
  EXPECT_EQ(list[0].self_cpu_memory_usage(), 64);
}

// --- Stacks of backward events ---------------------------------------------

FunctionEvent Forward(std::string name, double start_us, int64_t sequence_nr,
                      EventStack stack) {
  FunctionEvent e = Cpu(std::move(name), start_us, start_us + 1);
  e.sequence_nr = sequence_nr;
  e.stack = MakeStack(std::move(stack));
  return e;
}

FunctionEvent Backward(double start_us, int64_t sequence_nr) {
  FunctionEvent e = Cpu("Backward0", start_us, start_us + 5);
  e.scope = RecordScope::kBackwardFunction;
  e.sequence_nr = sequence_nr;
  e.thread = 2;
  e.fwd_thread = 1;
  return e;
}

TEST(EventTreeTest, BackwardEventsTakeTheStackOfTheirForwardOperation) {
  const EventList events =
      Treed({Forward("aten::linear", 0, 3, {"a"}), Backward(10, 3),
             OnThread(Cpu("aten::mm", 11, 12), 2)});
  EXPECT_EQ(*events[1].stack, EventStack{"a"});
  EXPECT_EQ(*events[2].stack, EventStack{"a"});
}

TEST(EventTreeTest, TheFirstStackOfASequenceNumberCounts) {
  FunctionEvent without = Forward("x", 0, 3, {});
  without.stack = nullptr;
  const EventList events = Treed({without, Forward("y", 2, 3, {"b"}),
                                  Forward("z", 4, 3, {"c"}), Backward(10, 3)});
  EXPECT_EQ(*events[3].stack, EventStack{"b"});
}

TEST(EventTreeTest, WithoutForwardOperationTheStackIsEmpty) {
  FunctionEvent lost = Backward(10, 4);
  lost.stack = MakeStack({"own"});
  EXPECT_TRUE(Treed({Forward("y", 2, 3, {"b"}), lost})[1].stack->empty());
}

TEST(EventTreeTest, MissingSequenceNumbersMatchEachOther) {
  const EventList events =
      Treed({Forward("first", 0, -1, {"f"}), Backward(10, -1)});
  EXPECT_EQ(*events[1].stack, EventStack{"f"});
}

TEST(EventTreeTest, BackwardEventsNeedTheirForwardThread) {
  FunctionEvent event = Backward(0, 1);
  event.fwd_thread.reset();
  std::vector<FunctionEvent> events = {event};
  const absl::Status status = BuildEventTree(events);
  EXPECT_EQ(status.message().substr(0, 51),
            "Expected fwd_thread to be set for backward parent, ");
}

// --- Sums ------------------------------------------------------------------

TEST(EventTreeTest, DeviceTimesAddUpThroughTheTree) {
  std::vector<FunctionEvent> events = {Cpu("A", 0, 10), Cpu("B", 1, 9),
                                       Cpu("C", 2, 8)};
  events[0].kernels = {{"k", 0, 1}};
  events[2].kernels = {{"k", 0, 2}, {"k", 0, 3}};
  const EventList list = Treed(events, {.use_device = "cuda"});
  EXPECT_EQ(list[0].device_time_total(), 6);
  EXPECT_EQ(list[0].self_device_time_total(), 1);
  EXPECT_EQ(list[1].device_time_total(), 5);
  EXPECT_EQ(list[1].self_device_time_total(), 0);
}

TEST(EventTreeTest, DeepAndWideTreesAreFine) {
  constexpr int kDepth = 100'000, kWidth = 200'000;
  std::vector<FunctionEvent> deep, wide = {Cpu("root", -1, kWidth)};
  for (int i = 0; i < kDepth; ++i) {
    deep.push_back(Cpu(i % 2 == 0 ? "a" : "b", i, 2.0 * kDepth - i));
  }
  for (int i = 0; i < kWidth; ++i) wide.push_back(Cpu("c", i, i + 1));
  const EventList nested = Treed(std::move(deep));
  EXPECT_EQ(nested.size(), size_t{kDepth});
  EXPECT_EQ(nested.self_cpu_time_total(), 2.0 * kDepth);
  const EventList flat = Treed(std::move(wide));
  EXPECT_EQ(flat[0].cpu_children.size(), size_t{kWidth});
  EXPECT_EQ(flat[0].self_cpu_time_total(), 1);
}

TEST(EventTreeTest, LongChainsOfDuplicatesAreFineInEitherOrder) {
  constexpr int kDepth = 200'000;
  for (const bool is_reversed : {false, true}) {
    std::vector<FunctionEvent> chain;
    for (int i = 0; i < kDepth; ++i) {
      chain.push_back(Cpu("add", i, 2.0 * kDepth - i));
    }
    if (is_reversed) std::reverse(chain.begin(), chain.end());
    const EventList events = Treed(std::move(chain));
    ASSERT_EQ(events.size(), 1u);
    EXPECT_EQ(events[0].self_cpu_time_total(), 2.0 * kDepth);
  }
}

}  // namespace
}  // namespace kymo
