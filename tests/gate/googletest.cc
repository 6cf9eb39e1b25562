// googletest - a program of GoogleTest's, held to a budget. GoogleTest writes
// files for a test runner: a test and an update must see the same.
#include <stdlib.h>

#include <memory>

#include "gtest/gtest.h"

TEST(GoogletestTest, Allocates) {
  const auto block = std::make_unique<char[]>(100);
  EXPECT_NE(block, nullptr);
  EXPECT_STREQ(getenv("GTEST_OF_THE_RULE"), "kept");
}
