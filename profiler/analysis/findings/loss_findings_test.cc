#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profiler/analysis/findings/test_findings.h"
#include "profiler/model/loss_ledger.h"
#include "tests/support/test_memory.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::Loss;

// 95 events and 95 samples, and so many lost ones.
std::vector<Finding> Lost(Loss loss, uint64_t count) {
  TestTrace t;
  t.SetWindow(0, 1000);
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i < 95; ++i) {
    t.AddRange(main, "r", i, i + 1);
    t.AddSample(main, i, 1, {"f"});
  }
  t.data().ledger.Add(loss, count);
  return Found(std::move(t), FindingKind::kLostData);
}

TEST(LossFindingsTest, LostEventsMakeNumbersDoubtful) {
  const auto found = Lost(Loss::kEventsDroppedArenaFull, 95);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "The times and counts of ranges are in doubt because of 95 (50 %) "
            "events that the arena had no room for: not recorded, or "
            "overwritten sooner than a flight recorder was to keep them");
  EXPECT_EQ(found[0].share, 0.5);
  EXPECT_EQ(found[0].time_ns, 0);
  EXPECT_EQ(found[0].evidence.kind, EvidenceKind::kRow);
  EXPECT_EQ(found[0].evidence.table, "ledger");
  EXPECT_EQ(found[0].evidence.name, "events_dropped_arena_full");
}

TEST(LossFindingsTest, WhatHelpsIsTheNextStepAndNotInTheTitle) {
  const auto found = Lost(Loss::kSamplesNotDelivered, 95);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "The CPU times of functions are in doubt because of 95 (50 %) "
            "samples that did not come, although threads ran");
  EXPECT_EQ(found[0].next_step,
            "Try the other --sampling_sampler (perf or timer), or sample less "
            "often with --sampling_hz");
}

TEST(LossFindingsTest, StacksOfCompiledAndOfMadeCodeNeedTheirOwnFlags) {
  const auto found = Lost(Loss::kStacksIncomplete, 95);
  ASSERT_EQ(found.size(), 1u);
  for (const char* const flag :
       {"-fasynchronous-unwind-tables", "-XX:+PreserveFramePointer",
        "build them for 64 bits"}) {
    EXPECT_NE(found[0].next_step.find(flag), std::string::npos) << flag;
  }
}

TEST(LossFindingsTest, ATwentiethIsDoubtful) {
  for (const Loss loss : {Loss::kEventsDroppedArenaFull, Loss::kSamplesLost}) {
    EXPECT_EQ(Lost(loss, 5).size(), 1u);
    EXPECT_TRUE(Lost(loss, 4).empty());
  }
  // Of the samples that are there.
  EXPECT_EQ(Lost(Loss::kStacksIncomplete, 5).size(), 1u);
  EXPECT_TRUE(Lost(Loss::kStacksIncomplete, 3).empty());
}

TEST(LossFindingsTest, NotesAndOtherLossesAreNone) {
  EXPECT_TRUE(Lost(Loss::kRangesOpenAtEnd, 95).empty());
  EXPECT_TRUE(Lost(Loss::kArgumentsTruncated, 95).empty());
}

TEST(LossFindingsTest, WithoutRecordsOfMemoryNoneOfItsNumbersIsInDoubt) {
  EXPECT_TRUE(Lost(Loss::kMemoryRecordsLeftOut, 95).empty());
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  TestMemory memory;
  memory.Allocate({.track = main, .bytes = 8}, 10);
  std::move(memory).AddTo(t.data());
  t.data().ledger.Add(Loss::kMemoryRecordsLeftOut, 1);
  EXPECT_EQ(Found(std::move(t), FindingKind::kLostData).size(), 1u);
}

TEST(LossFindingsTest, AnyNumberIsAShare) {
  const auto found = Lost(Loss::kSamplesLost, ~uint64_t{0});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_LE(found[0].share, 1.0);
}

}  // namespace
}  // namespace kymo::analysis
