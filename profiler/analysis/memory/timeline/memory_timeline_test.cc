// Long, because all tests are written with the same short names of actions and
// categories.
#include "profiler/analysis/memory/timeline/memory_timeline.h"

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

constexpr auto kPreexisting = MemoryAction::kPreexisting;
constexpr auto kCreate = MemoryAction::kCreate;
constexpr auto kIncrement = MemoryAction::kIncrementVersion;
constexpr auto kDestroy = MemoryAction::kDestroy;
constexpr auto kParameter = MemoryCategory::kParameter;
constexpr auto kOptimizerState = MemoryCategory::kOptimizerState;
constexpr auto kInput = MemoryCategory::kInput;
constexpr auto kTemporary = MemoryCategory::kTemporary;
constexpr auto kActivation = MemoryCategory::kActivation;
constexpr auto kGradient = MemoryCategory::kGradient;
constexpr auto kAutogradDetail = MemoryCategory::kAutogradDetail;
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

TEST(MemoryTimelineTest, FailuresAreLeftOut) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
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

// What programs say. A block's address is 64 + the index of its first record.

void SayCategory(TestTrace& t, model::TrackIndex track, TimeNs time_ns,
                 int64_t address, int64_t bytes, MemoryCategory category,
                 int64_t device_type = 0, int64_t device_index = -1) {
  t.AddInstant(track, "[memory category]", time_ns);
  t.Describe(0, {model::Arg::String(t.Intern("Category"),
                                    t.Intern(MemoryCategoryName(category))),
                 model::Arg::Int(t.Intern("Addr"), address),
                 model::Arg::Int(t.Intern("Bytes"), bytes),
                 model::Arg::Int(t.Intern("Device Type"), device_type),
                 model::Arg::Int(t.Intern("Device Id"), device_index)});
}

void SayVersion(TestTrace& t, model::TrackIndex track, TimeNs time_ns,
                int64_t address, int64_t bytes) {
  t.AddInstant(track, "[memory version]", time_ns);
  t.Describe(0, {model::Arg::Int(t.Intern("Addr"), address),
                 model::Arg::Int(t.Intern("Bytes"), bytes),
                 model::Arg::Int(t.Intern("Device Type"), 0),
                 model::Arg::Int(t.Intern("Device Id"), -1)});
}

void OpenScope(TestTrace& t, model::TrackIndex track, TimeNs time_ns,
               MemoryCategory category) {
  t.AddInstant(track, "[memory scope]", time_ns);
  t.Describe(0, {model::Arg::String(t.Intern("Category"),
                                    t.Intern(MemoryCategoryName(category)))});
}

void CloseScope(TestTrace& t, model::TrackIndex track, TimeNs time_ns) {
  t.AddInstant(track, "[memory scope]", time_ns);
}

// PyTorch: a tensor that is used, but was allocated before the recording, is
// PREEXISTING at -1, with the largest size of its uses. Later versions and the
// free follow.
TEST(MemoryTimelineTest, BlocksThatWereThereBeforeArePreexisting) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  SayCategory(t, main, 10, 4096, 100, kParameter);
  SayCategory(t, main, 11, 4096, 60, kParameter);
  SayVersion(t, main, 20, 8192, 7);
  AddBlock(t, main, 40, 5'000, 9'000);
  EXPECT_THAT(Timeline(std::move(t).Build()),
              ElementsAre(FieldsAre(-1, 100, kPreexisting, kParameter),
                          FieldsAre(-1, 7, kPreexisting, kUnknown),
                          FieldsAre(20, -7, kIncrement, kUnknown),
                          FieldsAre(20, 7, kIncrement, kUnknown),
                          FieldsAre(5'000, 40, kCreate, kUnknown),
                          FieldsAre(9'000, -40, kDestroy, kUnknown)));
}

// PyTorch: a free of memory that was not allocated within the recording makes
// it PREEXISTING. The size of a tensor is that of its free, if there is one.
TEST(MemoryTimelineTest, BlocksThatAreOnlyFreedArePreexisting) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  SayCategory(t, main, 2, 64, 5, kGradient);
  t.data().memory.push_back(
      {.track = main, .time_ns = 3, .address = 64, .bytes = -8});
  t.data().memory.push_back(
      {.track = main, .time_ns = 4, .address = 128, .bytes = -16});
  EXPECT_THAT(Timeline(std::move(t).Build()),
              ElementsAre(FieldsAre(-1, 8, kPreexisting, kGradient),
                          FieldsAre(-1, 16, kPreexisting, kUnknown),
                          FieldsAre(3, -8, kDestroy, kGradient),
                          FieldsAre(4, -16, kDestroy, kUnknown)));
}

TEST(MemoryTimelineTest, AFreeOfOtherBytesIsNoFreeOfAnOldBlock) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.data().memory.push_back(
      {.track = main, .time_ns = 1, .address = 64, .bytes = 100});
  t.data().memory.push_back(
      {.track = main, .time_ns = 2, .address = 64, .bytes = -60});
  EXPECT_THAT(Timeline(std::move(t).Build()),
              ElementsAre(FieldsAre(1, 100, kCreate, kUnknown)));
}

// PyTorch keeps gradients, parameters and optimizer state by the tensor's id,
// and temporary tensors by their key. Both hold for all versions.
TEST(MemoryTimelineTest, SomeCategoriesHoldForTheWholeLife) {
  for (const MemoryCategory category :
       {kGradient, kParameter, kOptimizerState, kTemporary}) {
    TestTrace t;
    const auto main = t.AddThread(1, 1, "main");
    SayVersion(t, main, 6, 64, 8);
    SayCategory(t, main, 7, 64, 8, category);
    AddBlock(t, main, 8, 5, 9);
    EXPECT_THAT(Timeline(std::move(t).Build()),
                ElementsAre(FieldsAre(5, 8, kCreate, category),
                            FieldsAre(6, -8, kIncrement, category),
                            FieldsAre(6, 8, kIncrement, category),
                            FieldsAre(9, -8, kDestroy, category)));
  }
}

// PyTorch keeps the others by tensor and version. A free is one of the last
// version.
TEST(MemoryTimelineTest, TheOtherCategoriesHoldForOneVersion) {
  for (const MemoryCategory category : {kInput, kActivation, kAutogradDetail}) {
    TestTrace t;
    const auto main = t.AddThread(1, 1, "main");
    SayVersion(t, main, 6, 64, 8);
    SayCategory(t, main, 7, 64, 8, category);
    SayVersion(t, main, 8, 64, 8);
    SayVersion(t, main, 8, 64, 8);
    SayCategory(t, main, 8, 64, 8, kActivation);
    AddBlock(t, main, 8, 5, 9);
    EXPECT_THAT(Timeline(std::move(t).Build()),
                ElementsAre(FieldsAre(5, 8, kCreate, kUnknown),
                            FieldsAre(6, -8, kIncrement, kUnknown),
                            FieldsAre(6, 8, kIncrement, category),
                            FieldsAre(8, -8, kIncrement, category),
                            FieldsAre(8, 8, kIncrement, kUnknown),
                            FieldsAre(8, -8, kIncrement, kUnknown),
                            FieldsAre(8, 8, kIncrement, kActivation),
                            FieldsAre(9, -8, kDestroy, kActivation)));
  }
}

// PyTorch looks a category up by id, then by key, then by version. The later of
// its passes overwrite ids (GRADIENT, PARAMETER, OPTIMIZER_STATE); the earlier
// of them win among versions (INPUT, ACTIVATION, AUTOGRAD_DETAIL).
TEST(MemoryTimelineTest, TheOrderOfCategoriesIsPyTorchs) {
  const std::vector<MemoryCategory> order = {
      kOptimizerState, kParameter,  kGradient,       kTemporary,
      kInput,          kActivation, kAutogradDetail, kUnknown};
  for (size_t strong = 0; strong < order.size(); ++strong) {
    for (size_t weak = strong; weak < order.size(); ++weak) {
      for (const auto& [first, second] :
           {std::pair(strong, weak), std::pair(weak, strong)}) {
        TestTrace t;
        const auto main = t.AddThread(1, 1, "main");
        SayCategory(t, main, 6, 64, 8, order[first]);
        SayCategory(t, main, 7, 64, 8, order[second]);
        AddBlock(t, main, 8, 5, 9);
        EXPECT_THAT(Timeline(std::move(t).Build()),
                    ElementsAre(FieldsAre(5, 8, kCreate, order[strong]),
                                FieldsAre(9, -8, kDestroy, order[strong])));
      }
    }
  }
}

TEST(MemoryTimelineTest, TemporaryBlocksOfOperationsTakePartInTheOrder) {
  for (const auto& [said, expected] :
       {std::pair(kGradient, kGradient), std::pair(kActivation, kTemporary)}) {
    TestTrace t;
    const auto main = t.AddThread(1, 1, "main");
    t.AddRange(main, "matmul", 0, 100);
    SayCategory(t, main, 6, 64, 8, said);
    AddBlock(t, main, 8, 5, 9);
    EXPECT_THAT(Timeline(std::move(t).Build()),
                ElementsAre(FieldsAre(5, 8, kCreate, expected),
                            FieldsAre(9, -8, kDestroy, expected)));
  }
}

TEST(MemoryTimelineTest, TheInnermostScopeOfTheThreadCounts) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  CloseScope(t, main, 1);  // it was opened before the recording
  OpenScope(t, main, 10, kInput);
  OpenScope(t, main, 20, kParameter);
  SayVersion(t, main, 26, 66, 2);
  CloseScope(t, main, 30);
  SayVersion(t, main, 36, 68, 3);
  CloseScope(t, main, 40);
  AddBlock(t, main, 1, 5, 6);
  AddBlock(t, main, 2, 25, 27);
  AddBlock(t, main, 3, 35, 37);
  AddBlock(t, main, 4, 45, 46);
  const auto other = t.AddThread(1, 2, "other");
  AddBlock(t, other, 5, 25, 26);
  EXPECT_THAT(Timeline(std::move(t).Build()),
              ElementsAre(FieldsAre(5, 1, kCreate, kUnknown),
                          FieldsAre(6, -1, kDestroy, kUnknown),
                          FieldsAre(25, 2, kCreate, kParameter),
                          FieldsAre(25, 5, kCreate, kUnknown),
                          FieldsAre(26, -2, kIncrement, kParameter),
                          FieldsAre(26, 2, kIncrement, kParameter),
                          FieldsAre(26, -5, kDestroy, kUnknown),
                          FieldsAre(27, -2, kDestroy, kParameter),
                          FieldsAre(35, 3, kCreate, kInput),
                          FieldsAre(36, -3, kIncrement, kInput),
                          FieldsAre(36, 3, kIncrement, kUnknown),
                          FieldsAre(37, -3, kDestroy, kUnknown),
                          FieldsAre(45, 4, kCreate, kUnknown),
                          FieldsAre(46, -4, kDestroy, kUnknown)));
}

TEST(MemoryTimelineTest, AStatementIsAboutTheBlockThatIsAliveThere) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  SayCategory(t, main, 2, 64, 8, kParameter);
  SayCategory(t, main, 5, 64, 0, kOptimizerState);  // nothing, and no bytes
  SayCategory(t, main, 8, 64, 8, kInput);
  AddBlock(t, main, 8, 1, 4);
  AddBlock(t, main, 8, 7, 9);
  t.data().memory[2].address = t.data().memory[3].address = 64;
  const auto other = t.AddThread(2, 2, "of another process");
  AddBlock(t, other, 8, 1, 10);
  t.data().memory[4].address = t.data().memory[5].address = 64;
  EXPECT_THAT(Timeline(std::move(t).Build()),
              ElementsAre(FieldsAre(1, 8, kCreate, kParameter),
                          FieldsAre(1, 8, kCreate, kUnknown),
                          FieldsAre(4, -8, kDestroy, kParameter),
                          FieldsAre(7, 8, kCreate, kInput),
                          FieldsAre(9, -8, kDestroy, kInput),
                          FieldsAre(10, -8, kDestroy, kUnknown)));
}

TEST(MemoryTimelineTest, AnOldBlockEndsWhereItsAddressIsAllocated) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  SayCategory(t, main, 2, 64, 5, kInput);
  AddBlock(t, main, 8, 3, 4);
  EXPECT_THAT(Timeline(std::move(t).Build()),
              ElementsAre(FieldsAre(-1, 5, kPreexisting, kInput),
                          FieldsAre(3, 8, kCreate, kUnknown),
                          FieldsAre(3, -5, kDestroy, kInput),
                          FieldsAre(4, -8, kDestroy, kUnknown)));
}

TEST(MemoryTimelineTest, MemoryIsNotCountedTwice) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  SayCategory(t, main, 2, 100, 8, kParameter);  // inside of the block
  SayCategory(t, main, 3, 164, 8, kParameter);  // behind it
  AddBlock(t, main, 100, 1, 4);
  EXPECT_THAT(Timeline(std::move(t).Build()),
              ElementsAre(FieldsAre(-1, 8, kPreexisting, kParameter),
                          FieldsAre(1, 100, kCreate, kUnknown),
                          FieldsAre(4, -100, kDestroy, kUnknown)));
}

TEST(MemoryTimelineTest, SamplesStandForBlocksWithoutRecords) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  SayCategory(t, main, 2, 64, 1'000, kParameter);
  SayCategory(t, main, 3, 4096, 1'000, kParameter);
  AddBlock(t, main, 1'000, 1, 4);
  t.data().memory_sample_interval = 1'000;
  EXPECT_THAT(Timeline(std::move(t).Build()),
              ElementsAre(FieldsAre(1, 1'582, kCreate, kParameter),
                          FieldsAre(4, -1'582, kDestroy, kParameter)));
}

TEST(MemoryTimelineTest, StatementsAreOfTheirDevice) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  SayCategory(t, main, 1, 64, 8, kParameter, /*device_type=*/1,
              /*device_index=*/0);
  SayCategory(t, main, 2, 64, 9, kInput, /*device_type=*/1,
              /*device_index=*/1);
  SayCategory(t, main, 3, 64, 10, kGradient);
  const model::Trace trace = std::move(t).Build();
  EXPECT_THAT(Timeline(trace),
              ElementsAre(FieldsAre(-1, 10, kPreexisting, kGradient)));
  EXPECT_THAT(Timeline(trace, {DeviceType::kCuda, 0}),
              ElementsAre(FieldsAre(-1, 8, kPreexisting, kParameter)));
  EXPECT_THAT(Timeline(trace, {DeviceType::kCuda, 1}),
              ElementsAre(FieldsAre(-1, 9, kPreexisting, kInput)));
}

TEST(MemoryTimelineTest, InstantsWithOtherArgumentsSayNothing) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddInstant(main, "[memory category]", 1);
  SayCategory(t, main, 2, 64, 8, kInput);
  t.AddInstant(main, "[memory version]", 3);
  t.AddInstant(main, "[memory category]", 4);
  t.Describe(0, {model::Arg::String(t.Intern("Category"), t.Intern("FRUIT")),
                 model::Arg::Int(t.Intern("Addr"), 64),
                 model::Arg::Int(t.Intern("Device Type"), 0)});
  EXPECT_THAT(Timeline(std::move(t).Build()),
              ElementsAre(FieldsAre(-1, 8, kPreexisting, kInput)));
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
