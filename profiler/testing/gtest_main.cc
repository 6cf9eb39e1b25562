// gtest_main.cc - GoogleTest's main, with gtest_listener.h.
#include "gtest/gtest.h"
#include "profiler/testing/gtest_listener.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(
      new kymo::TestListener());
  return RUN_ALL_TESTS();
}
