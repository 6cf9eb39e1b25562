#include "profiler/callbacks/sampling_countdown.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace kymo::internal {
namespace {

TEST(SamplingCountdownTest, FollowsTheGeometricDistribution) {
  SamplingRandom random(1);
  constexpr int kDraws = 200'000;
  double sum = 0;
  int at_once = 0;
  int beyond_three = 0;
  for (int i = 0; i < kDraws; ++i) {
    const int64_t countdown = random.DrawCountdown(0.25);
    ASSERT_GE(countdown, 1);
    sum += static_cast<double>(countdown);
    at_once += countdown == 1;
    beyond_three += countdown > 3;
  }
  EXPECT_NEAR(sum / kDraws, 1 / 0.25, 0.05);
  EXPECT_NEAR(at_once / double{kDraws}, 0.25, 0.005);
  EXPECT_NEAR(beyond_three / double{kDraws}, 0.75 * 0.75 * 0.75, 0.006);
}

// The numbers that Rosetta Code lists for splitmix64 with this seed, by the
// formula of the header.
TEST(SamplingCountdownTest, DrawsFromTheNumbersOfSplitmix64) {
  SamplingRandom random(1234567);
  for (const uint64_t number :
       {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
        4593380528125082431u, 16408922859458223821u}) {
    const double u = (static_cast<double>(number >> 11) + 1) / 0x1p53;
    const double countdown = std::log(u) / std::log1p(-1e-9);
    EXPECT_EQ(random.DrawCountdown(1e-9),
              static_cast<int64_t>(std::floor(countdown)) + 1);
  }
}

TEST(SamplingCountdownTest, HasTheMeanOfASmallProbability) {
  SamplingRandom random(2);
  constexpr int kDraws = 100'000;
  double sum = 0;
  for (int i = 0; i < kDraws; ++i) {
    sum += static_cast<double>(random.DrawCountdown(1e-6));
  }
  EXPECT_NEAR(sum / kDraws, 1e6, 0.03e6);
}

TEST(SamplingCountdownTest, StaysInRangeForProbabilitiesAtTheEdges) {
  SamplingRandom random(3);
  for (int i = 0; i < 1000; ++i) {
    for (const double probability :
         {std::numeric_limits<double>::denorm_min(), 1e-300, 1e-19, 1e-17}) {
      const int64_t countdown = random.DrawCountdown(probability);
      EXPECT_GE(countdown, 1);
      EXPECT_LE(countdown, kNever);
    }
    EXPECT_EQ(random.DrawCountdown(1), 1);
    EXPECT_EQ(random.DrawCountdown(0), kNever);
  }
}

TEST(SamplingCountdownTest, NeighbouringSeedsDrawDifferently) {
  double sum = 0;
  for (uint64_t seed = 0; seed < 10'000; ++seed) {
    sum += static_cast<double>(SamplingRandom(seed).DrawCountdown(0.01));
  }
  EXPECT_NEAR(sum / 10'000, 100, 5);
}

}  // namespace
}  // namespace kymo::internal
