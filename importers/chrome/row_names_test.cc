#include "importers/chrome/row_names.h"

#include <gtest/gtest.h>

namespace kymo::chrome_import {
namespace {

TEST(RowNamesTest, TakesThreadsApart) {
  const auto thread = ParseThreadName("thread 28991 (python3)");
  ASSERT_TRUE(thread);
  EXPECT_EQ(thread->id, 28991);
  EXPECT_EQ(thread->name, "python3");
  EXPECT_FALSE(thread->is_lane || thread->is_samples);
}

TEST(RowNamesTest, LanesAndFlameChartsAreOfTheirThread) {
  const auto lane = ParseThreadName("thread 7 (a (b)) (lane 12)");
  ASSERT_TRUE(lane);
  EXPECT_EQ(lane->name, "a (b)");
  EXPECT_TRUE(lane->is_lane);
  const auto samples = ParseThreadName("thread 7 () samples");
  ASSERT_TRUE(samples);
  EXPECT_EQ(samples->name, "");
  EXPECT_TRUE(samples->is_samples);
  EXPECT_FALSE(samples->is_lane);
  EXPECT_FALSE(lane->is_samples);
  EXPECT_EQ(lane->id, 7);
  const auto both = ParseThreadName("thread 7 (a) (lane 3) samples");
  ASSERT_TRUE(both);
  EXPECT_TRUE(both->is_lane && both->is_samples);
  EXPECT_EQ(both->name, "a");
  // Only a number names a lane.
  const auto no_lane = ParseThreadName("thread 7 (a) (lane x)");
  ASSERT_TRUE(no_lane);
  EXPECT_FALSE(no_lane->is_lane);
  EXPECT_EQ(no_lane->name, "a) (lane x");
  EXPECT_EQ(ParseThreadName("thread 7 ( (lane 5))")->name, " (lane 5)");
}

TEST(RowNamesTest, OtherNamesAreNames) {
  for (const char* const name :
       {"", "main", "thread", "thread x (y)", "thread 7", "thread 7 (x",
        "thread 7 x", "Thread 7 (x)"}) {
    EXPECT_FALSE(ParseThreadName(name)) << name;
  }
}

TEST(RowNamesTest, AThreadHasARowForWaitsAndOneForSamples) {
  const auto waits = ParseThreadName("thread 7 (xz) waits");
  ASSERT_TRUE(waits);
  EXPECT_EQ(waits->id, 7);
  EXPECT_EQ(waits->name, "xz");
  EXPECT_TRUE(waits->is_waits);
  EXPECT_FALSE(waits->is_samples);
  EXPECT_FALSE(ParseThreadName("thread 7 (xz) samples")->is_waits);
  EXPECT_FALSE(ParseThreadName("thread 7 (xz waits)")->is_waits);
}

TEST(RowNamesTest, TakesStreamsApart) {
  const auto stream = ParseStreamName("stream 7 ");
  ASSERT_TRUE(stream);
  EXPECT_EQ(stream->id, 7);
  EXPECT_FALSE(stream->pid);
  const auto of_process = ParseStreamName("stream 7 of process 11 ");
  ASSERT_TRUE(of_process);
  EXPECT_EQ(of_process->pid, 11);
  EXPECT_TRUE(ParseStreamName("stream 7  (lane 2)"));
  EXPECT_FALSE(of_process->is_lane);
  EXPECT_TRUE(ParseStreamName("stream 7  (lane 2)")->is_lane);
  EXPECT_EQ(ParseStreamName("stream 8")->id, 8);
  EXPECT_EQ(ParseStreamName("stream 8 of process 12")->pid, 12);
  for (const char* const name :
       {"", "stream ", "stream x", "stream 7x", "stream 7 x", "stream 7 of 11",
        "stream 7 of process ", "stream 7 of process 11 x"}) {
    EXPECT_FALSE(ParseStreamName(name)) << name;
  }
  EXPECT_FALSE(ParseStreamName("streams"));
  EXPECT_FALSE(ParseStreamName("stream 7 of process x"));
}

}  // namespace
}  // namespace kymo::chrome_import
