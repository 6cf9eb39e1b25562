#include "profiler/processes/stat_fields.h"

#include <gtest/gtest.h>

namespace kymo::processes {
namespace {

TEST(StatFieldsTest, FieldsHaveTheNumbersOfTheManual) {
  auto fields = StatFields::Of("24 (cat) R 23 -1 7\n");
  ASSERT_TRUE(fields);
  EXPECT_EQ(fields->pid(), 24u);
  EXPECT_EQ(fields->name(), "cat");
  EXPECT_EQ(fields->Take(3), "R");
  EXPECT_EQ(fields->TakeCount(4), 23u);
  EXPECT_EQ(fields->TakeCount(6), 7u);
  EXPECT_EQ(fields->Take(7), "");
  EXPECT_FALSE(fields->TakeCount(50));
}

TEST(StatFieldsTest, NamesMayHaveAnyBytes) {
  auto fields = StatFields::Of("1 (a) R 2) (\nb) S 4");
  ASSERT_TRUE(fields);
  EXPECT_EQ(fields->name(), "a) R 2) (\nb");
  EXPECT_EQ(fields->TakeCount(4), 4u);
}

TEST(StatFieldsTest, WhatIsNoNumberIsNoCount) {
  EXPECT_FALSE(StatFields::Of("1 R 2"));
  EXPECT_FALSE(StatFields::Of(")("));
  EXPECT_FALSE(StatFields::Of("x (a) S -1")->pid());
  EXPECT_FALSE(StatFields::Of("1 (a) S -1")->TakeCount(4));
  EXPECT_FALSE(StatFields::Of("1x (a) S")->pid());
  EXPECT_FALSE(StatFields::Of("1 (a) S 12abc")->TakeCount(4));
}

}  // namespace
}  // namespace kymo::processes
