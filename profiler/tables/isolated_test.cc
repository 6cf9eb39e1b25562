#include "profiler/tables/isolated.h"

#include <atomic>
#include <chrono>

#include "gtest/gtest.h"
#include "profiler/base/parallel.h"

namespace kymo::tables {
namespace {

using Clock = std::chrono::steady_clock;

// It takes several threads to see an interruption, if there is one.
TEST(IsolatedTest, TakesNoWorkOfOuterLoops) {
  std::atomic<int> interruptions{0};
  std::atomic<int> calls{0};
  thread_local bool is_inside = false;
  constexpr int kOuter = 500;
  constexpr int kInner = 8;
  for (int i = 0; i < 20; ++i) {
    ParallelForEach(kOuter, [&](size_t) {
      if (is_inside) ++interruptions;
      Isolated([&] {
        is_inside = true;
        ParallelForEach(kInner, [&](size_t) {
          ++calls;
          const auto end = Clock::now() + std::chrono::microseconds(10);
          while (Clock::now() < end) {
          }
        });
        is_inside = false;
      });
    });
  }
  EXPECT_EQ(interruptions, 0);
  EXPECT_EQ(calls, 20 * kOuter * kInner);
}

}  // namespace
}  // namespace kymo::tables
