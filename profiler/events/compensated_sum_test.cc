#include "profiler/events/compensated_sum.h"

#include <initializer_list>
#include <limits>

#include <gtest/gtest.h>

namespace kymo {
namespace {

double Sum(std::initializer_list<double> values) {
  CompensatedSum sum;
  for (const double value : values) sum.Add(value);
  return sum.Total();
}

TEST(CompensatedSumTest, KeepsWhatPlainSumsLose) {
  EXPECT_EQ(Sum({0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}), 1.0);
  EXPECT_EQ(Sum({1e100, 1.0, -1e100}), 1.0);
}

TEST(CompensatedSumTest, OfNothingIsZeroAndInfinityStays) {
  EXPECT_EQ(Sum({}), 0.0);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(Sum({1.0, infinity}), infinity);
}

}  // namespace
}  // namespace kymo
