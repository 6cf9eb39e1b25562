#include "profiler/analysis/memory/memory_timeline.h"

#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::FieldsAre;
using ::testing::IsEmpty;

constexpr auto kCreate = MemoryAction::kCreate;
constexpr auto kDestroy = MemoryAction::kDestroy;
constexpr auto kTemporary = MemoryCategory::kTemporary;
constexpr auto kUnknown = MemoryCategory::kUnknown;

// A block of the heap, freed on the same thread at `end_ns`.
void AddBlock(TestTrace& t, model::TrackIndex track, int64_t bytes,
              TimeNs start_ns, TimeNs end_ns,
              model::MemorySource source = model::MemorySource::kHeap) {
  const auto first = static_cast<model::MemoryIndex>(t.data().memory.size());
  t.data().memory.push_back({.track = track,
                             .source = source,
                             .time_ns = start_ns,
                             .address = 64 + first,
                             .bytes = bytes,
                             .partner = first + 1});
  t.data().memory.push_back({.track = track,
                             .source = source,
                             .time_ns = end_ns,
                             .address = 64 + first,
                             .bytes = -bytes,
                             .partner = first});
}

// Time, bytes, action, category.
using Row = std::tuple<TimeNs, int64_t, MemoryAction, MemoryCategory>;
std::vector<Row> Timeline(const model::Trace& trace,
                          MemoryDeviceId device = {}) {
  std::vector<Row> rows;
  for (const MemoryTimelineEvent& e : MemoryTimeline(trace, device)) {
    rows.push_back({e.time_ns, e.bytes, e.action, e.category});
  }
  return rows;
}

std::vector<MemoryTimelineRow> Rows(
    const std::vector<MemoryTimelineEvent>& events) {
  std::vector<MemoryTimelineRow> rows;
  ForEachMemoryTimelineRow(
      events, [&](const MemoryTimelineRow& row) { rows.push_back(row); });
  return rows;
}

TEST(MemoryTimelineTest, BlocksComeAndGo) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  AddBlock(t, main, 40, 5'000, 9'000);
  EXPECT_THAT(Timeline(std::move(t).Build()),
              ElementsAre(FieldsAre(5'000, 40, kCreate, kUnknown),
                          FieldsAre(9'000, -40, kDestroy, kUnknown)));
}

TEST(MemoryTimelineTest, InsideOfOneLeafOperationBlocksAreTemporary) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "forward", 0, 100);
  t.AddRange(main, "matmul", 10, 50);
  t.AddInstant(main, "tick", 20);
  AddBlock(t, main, 1, 10, 50);  // bounds count as inside
  AddBlock(t, main, 2, 60, 70);  // in forward, which is no leaf operation
  AddBlock(t, main, 3, 80, 101);
  EXPECT_THAT(Timeline(std::move(t).Build()),
              ElementsAre(FieldsAre(10, 1, kCreate, kTemporary),
                          FieldsAre(50, -1, kDestroy, kTemporary),
                          FieldsAre(60, 2, kCreate, kUnknown),
                          FieldsAre(70, -2, kDestroy, kUnknown),
                          FieldsAre(80, 3, kCreate, kUnknown),
                          FieldsAre(101, -3, kDestroy, kUnknown)));
}

TEST(MemoryTimelineTest, WhatOutlivesItsOperationIsNotTemporary) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "a", 0, 10);
  t.AddRange(main, "b", 10, 20);
  AddBlock(t, main, 1, 5, 15);
  EXPECT_THAT(Timeline(std::move(t).Build()),
              ElementsAre(FieldsAre(5, 1, kCreate, kUnknown),
                          FieldsAre(15, -1, kDestroy, kUnknown)));
}

TEST(MemoryTimelineTest, AnnotationsAreNoOperations) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddAnnotation(main, "epoch", 0, 10);
  AddBlock(t, main, 1, 5, 6);
  EXPECT_THAT(Timeline(std::move(t).Build()),
              ElementsAre(FieldsAre(5, 1, kCreate, kUnknown),
                          FieldsAre(6, -1, kDestroy, kUnknown)));
}

TEST(MemoryTimelineTest, WhatAnotherThreadFreesIsNotTemporary) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "a", 0, 10);
  const auto other = t.AddThread(1, 2, "other");
  AddBlock(t, main, 1, 5, 6);
  t.data().memory[1].track = other;
  EXPECT_THAT(Timeline(std::move(t).Build()),
              ElementsAre(FieldsAre(5, 1, kCreate, kUnknown),
                          FieldsAre(6, -1, kDestroy, kUnknown)));
}

TEST(MemoryTimelineTest, ABlockEndsWhereItsAddressIsAllocatedAgain) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "a", 0, 10);
  AddBlock(t, main, 8, 2, 7);
  t.data().memory[1].bytes = 16;
  t.data().memory[1].partner = model::kNoMemory;
  EXPECT_THAT(Timeline(std::move(t).Build()),
              ElementsAre(FieldsAre(2, 8, kCreate, kUnknown),
                          FieldsAre(7, 16, kCreate, kUnknown),
                          FieldsAre(7, -8, kDestroy, kUnknown)));
}

TEST(MemoryTimelineTest, FreesOfBlocksFromBeforeAndFailuresAreLeftOut) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.data().memory.push_back(
      {.track = main, .time_ns = 1, .address = 64, .bytes = -8});
  t.data().memory.push_back({.track = main,
                             .event = model::MemoryEvent::kOutOfMemory,
                             .time_ns = 2,
                             .bytes = 8});
  EXPECT_THAT(Timeline(std::move(t).Build()), IsEmpty());
}

TEST(MemoryTimelineTest, ReportsWithoutAnAddressCountAsTheyStand) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.data().memory.push_back({.track = main, .time_ns = 1, .bytes = 8});
  t.data().memory.push_back({.track = main, .time_ns = 2, .bytes = -3});
  EXPECT_THAT(Timeline(std::move(t).Build()),
              ElementsAre(FieldsAre(1, 8, kCreate, kUnknown),
                          FieldsAre(2, -3, kDestroy, kUnknown)));
}

TEST(MemoryTimelineTest, TheHostCountsByItsSourceAndDevicesByReports) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  AddBlock(t, main, 1, 1, 2, model::MemorySource::kHeap);
  AddBlock(t, main, 2, 3, 4, model::MemorySource::kReported);
  AddBlock(t, main, 4, 5, 6, model::MemorySource::kMapped);
  for (const int8_t index : {0, 1}) {
    t.data().memory.push_back({.track = main,
                               .device_type = 1,
                               .device_index = index,
                               .time_ns = 7,
                               .bytes = 8 + index});
  }
  const model::Trace trace = std::move(t).Build();
  EXPECT_THAT(Timeline(trace),
              ElementsAre(FieldsAre(1, 1, kCreate, kUnknown),
                          FieldsAre(2, -1, kDestroy, kUnknown)));
  EXPECT_THAT(Timeline(trace, {DeviceType::kCuda, 1}),
              ElementsAre(FieldsAre(7, 9, kCreate, kUnknown)));
}

TEST(MemoryTimelineTest, SampledBlocksOfTheHeapStandForMore) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  AddBlock(t, main, 1'000, 1, 2);
  t.data().memory.push_back({.track = main,
                             .device_type = 1,
                             .device_index = 0,
                             .time_ns = 3,
                             .bytes = 1'000});
  t.data().memory_sample_interval = 1'000;
  const model::Trace trace = std::move(t).Build();
  // 1000 / (1 - 1/e)
  EXPECT_THAT(Timeline(trace),
              ElementsAre(FieldsAre(1, 1'582, kCreate, kUnknown),
                          FieldsAre(2, -1'582, kDestroy, kUnknown)));
  EXPECT_THAT(Timeline(trace, {DeviceType::kCuda, 0}),
              ElementsAre(FieldsAre(3, 1'000, kCreate, kUnknown)));
}

// The example in PyTorch's documentation: a parameter from before the
// recording, and an activation.
TEST(MemoryTimelineTest, WhatWasThereBeforeIsARowOfItsOwn) {
  const std::vector<MemoryTimelineRow> rows = Rows(
      {{.time_ns = kBeforeRecording,
        .bytes = 100,
        .action = MemoryAction::kPreexisting,
        .category = MemoryCategory::kParameter},
       {.time_ns = 5'000, .bytes = 40, .category = MemoryCategory::kActivation},
       {.time_ns = 9'000,
        .bytes = -40,
        .action = kDestroy,
        .category = MemoryCategory::kActivation}});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].time_us, 5);
  EXPECT_THAT(rows[0].bytes, ElementsAre(100, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(rows[1].time_us, 5);
  EXPECT_THAT(rows[1].bytes, ElementsAre(100, 0, 0, 0, 40, 0, 0, 0));
  EXPECT_EQ(rows[2].time_us, 9);
  EXPECT_THAT(rows[2].bytes, ElementsAre(100, 0, 0, 0, 0, 0, 0, 0));
}

TEST(MemoryTimelineTest, EventsOfOneMicrosecondShareARow) {
  const std::vector<MemoryTimelineRow> rows =
      Rows({{.time_ns = 1'000, .bytes = 1},
            {.time_ns = 1'999, .bytes = 2},
            {.time_ns = 2'000, .bytes = 4}});
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].bytes[Index(kUnknown)], 3);
  EXPECT_EQ(rows[1].bytes[Index(kUnknown)], 7);
}

TEST(MemoryTimelineTest, OnlyFromBeforeIsARowAtZero) {
  EXPECT_EQ(Rows({{.time_ns = kBeforeRecording, .bytes = 1}})[0].time_us, 0);
}

TEST(MemoryTimelineTest, MicrosecondsRoundAsPyTorchs) {
  EXPECT_EQ(MemoryTimelineMicroseconds(1'999), 1);
  EXPECT_EQ(MemoryTimelineMicroseconds(1'795'210'535'311'989'906),
            1'795'210'535'311'990);
  EXPECT_EQ(MemoryTimelineMicroseconds(1'795'210'535'311'989'874),
            1'795'210'535'311'989);
}

}  // namespace
}  // namespace kymo::analysis
