#include "backends/off_cpu/own/repeated_records.h"

#include <gtest/gtest.h>

namespace kymo::off_cpu {
namespace {

TEST(RepeatedRecordsTest, ARecordThatSaysTheSameIsRepeated) {
  RepeatedRecords repeated;
  EXPECT_FALSE(repeated.IsRepeated(1, 0, RepeatedRecords::kBegin));
  EXPECT_TRUE(repeated.IsRepeated(1, 0, RepeatedRecords::kBegin));
  EXPECT_FALSE(repeated.IsRepeated(1, 0, RepeatedRecords::kIn));
  EXPECT_FALSE(repeated.IsRepeated(2, 0, RepeatedRecords::kIn));
  EXPECT_TRUE(repeated.IsRepeated(1, 0, RepeatedRecords::kIn));
  EXPECT_FALSE(repeated.IsRepeated(1, 0, RepeatedRecords::kOut));
  EXPECT_FALSE(repeated.IsRepeated(1, 0, RepeatedRecords::kIn));
}

// It ran on another CPU in between, or its number came again.
TEST(RepeatedRecordsTest, OtherRingsAndOtherThreadsAreNew) {
  RepeatedRecords repeated;
  EXPECT_FALSE(repeated.IsRepeated(1, 0, RepeatedRecords::kIn));
  EXPECT_FALSE(repeated.IsRepeated(1, 1, RepeatedRecords::kIn));
  repeated.Forget(1);
  EXPECT_FALSE(repeated.IsRepeated(1, 1, RepeatedRecords::kIn));
}

}  // namespace
}  // namespace kymo::off_cpu
