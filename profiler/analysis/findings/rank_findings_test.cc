#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "profiler/analysis/findings/test_findings.h"

namespace kymo::analysis {
namespace {

// A job of three ranks. In each of ten steps they meet in a reduction, and
// `late` ranks come there 30 ms after the others, in turn.
TestTrace JobWithLate(const std::vector<int64_t>& late) {
  constexpr TimeNs kMs = 1'000'000;
  TestTrace t;
  const auto number = [&](const char* key, int64_t value) {
    return model::Arg::Int(t.Intern(key), value);
  };
  for (int64_t rank = 0; rank < 3; ++rank) {
    const auto main = t.AddThread(100 + rank, 100 + rank, "main");
    t.AddInstant(main, "MPI ranks", kMs);
    t.Describe(0, {number("rank", rank), number("size", 3)});
    for (int64_t step = 0; step < 10; ++step) {
      const TimeNs begin = (10 + 100 * step) * kMs;
      const bool is_late = late[step % late.size()] == rank;
      t.AddRange(main, "MPI_Allreduce", begin + (is_late ? 30 * kMs : 0),
                 begin + 31 * kMs);
      t.Describe(0, {number("comm", 0)});
    }
  }
  t.SetWindow(0, 1'000 * kMs);
  return t;
}

TEST(RankFindingsTest, ALateRankIsNamed) {
  const auto found = Found(JobWithLate({1}), FindingKind::kLateRank);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "Other ranks waited 600 ms in all for rank 1, longest in "
            "MPI_Allreduce (600 ms)");
  EXPECT_EQ(found[0].time_ns, 600'000'000);
  EXPECT_NEAR(found[0].share, 0.2, 1e-9);  // of the time of three ranks
  EXPECT_EQ(found[0].evidence.name, "MPI_Allreduce");
  EXPECT_EQ(found[0].evidence.table, "collectives");
}

// Somebody is always last.
TEST(RankFindingsTest, RanksThatAreLateInTurnAreNotLate) {
  EXPECT_TRUE(Found(JobWithLate({0, 1, 2}), FindingKind::kLateRank).empty());
}

TEST(RankFindingsTest, ATraceWithoutRanksHasNone) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "MPI_Allreduce", 0, 1'000'000'000);
  EXPECT_TRUE(Found(std::move(t), FindingKind::kLateRank).empty());
}

}  // namespace
}  // namespace kymo::analysis
