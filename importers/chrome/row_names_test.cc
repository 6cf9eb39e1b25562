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
}

TEST(RowNamesTest, OtherNamesAreNames) {
  for (const char* const name :
       {"", "main", "thread", "thread x (y)", "thread 7", "thread 7 (x",
        "thread 7 x", "Thread 7 (x)"}) {
    EXPECT_FALSE(ParseThreadName(name)) << name;
  }
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
  EXPECT_FALSE(ParseStreamName("streams"));
  EXPECT_FALSE(ParseStreamName("stream 7 of process x"));
}

}  // namespace
}  // namespace kymo::chrome_import
