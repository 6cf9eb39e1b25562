#include "kymo/sequence_number.h"

#include <thread>

#include "gtest/gtest.h"

namespace kymo {
namespace {

TEST(SequenceNumberTest, StartsAtZeroAndStepsOnlyForNodes) {
  std::thread fresh([] {
    EXPECT_EQ(PeekSequenceNumber(), 0);
    EXPECT_EQ(PeekSequenceNumber(), 0);
    EXPECT_EQ(GetAndIncrementSequenceNumber(), 0);
    EXPECT_EQ(GetAndIncrementSequenceNumber(), 1);
    EXPECT_EQ(PeekSequenceNumber(), 2);
  });
  fresh.join();
}

TEST(SequenceNumberTest, EveryThreadCountsByItself) {
  const int64_t here = PeekSequenceNumber();
  std::thread other([] {
    for (int i = 0; i < 5; ++i) GetAndIncrementSequenceNumber();
    EXPECT_EQ(PeekSequenceNumber(), 5);
  });
  other.join();
  EXPECT_EQ(PeekSequenceNumber(), here);
}

}  // namespace
}  // namespace kymo
