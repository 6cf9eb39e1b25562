#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "profiler/analysis/findings/test_findings.h"
#include "profiler/base/time.h"

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

// Rank 1 was killed 100 ms after the start, when the others went to a barrier.
// `is_told`: its command lived to say so. `is_kept`: only this rank is there.
TestTrace JobWithDead(bool is_told, bool is_kept = false, int signal = 9) {
  TestTrace t;
  const auto number = [&](const char* key, int64_t value) {
    return model::Arg::Int(t.Intern(key), value);
  };
  for (int64_t rank = 0; rank < 3; ++rank) {
    if (is_kept && rank != 1) continue;
    const auto main = t.AddThread(100 + rank, 100 + rank, "main");
    t.AddInstant(main, "MPI ranks", kNsPerMs);
    t.Describe(0, {number("rank", rank), number("size", 3)});
    t.AddRange(main, "MPI_Allreduce", 50 * kNsPerMs, 51 * kNsPerMs);
    t.Describe(0, {number("comm", 0)});
    if (rank != 1) {
      t.AddRange(main, "MPI_Barrier", 200 * kNsPerMs, 800 * kNsPerMs,
                 model::ActivityType::kCpuOp, model::kEventOpen);
      t.Describe(0, {number("comm", 0)});
    } else if (is_told) {
      t.AddInstant(main, "rank end", 100 * kNsPerMs);
      t.Describe(0, {number("rank", 1), number("signal", signal)});
    }
  }
  t.SetWindow(0, 800 * kNsPerMs);
  return t;
}

TEST(RankFindingsTest, ARankThatDiedIsNamed) {
  const auto found = Found(JobWithDead(true), FindingKind::kRankEnded);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "Rank 1 was killed by signal 9 (Killed) after 100 ms, without "
            "MPI_Finalize; 2 ranks waited 1.20 s in all for it");
  EXPECT_EQ(found[0].next_step,
            "Look at what rank 1 printed last, and whether the kernel's log "
            "says that memory ran out; its last call of MPI was MPI_Allreduce");
  EXPECT_EQ(found[0].time_ns, 1'200 * kNsPerMs);
  EXPECT_EQ(found[0].evidence.table, "ranks");
  // Once is enough.
  EXPECT_TRUE(Found(JobWithDead(true), FindingKind::kLateRank).empty());
  EXPECT_THAT(Found(JobWithDead(true, false, SIGSYS), FindingKind::kRankEnded)
                  .at(0)
                  .next_step,
              testing::HasSubstr(", and whether its filter of system calls "
                                 "(seccomp) forbids what Kymo does in it; "));
}

// What is said of three ranks of a job of `size`, of which rank 1 ends first.
std::string TitleOfThreeEnds(int64_t size, int64_t step) {
  TestTrace t;
  const auto number = [&](const char* key, int64_t value) {
    return model::Arg::Int(t.Intern(key), value);
  };
  for (int64_t rank = 0; rank < 3; ++rank) {
    const auto main = t.AddThread(100 + rank, 100 + rank, "main");
    t.AddInstant(main, "MPI ranks", kNsPerMs);
    t.Describe(0, {number("rank", rank), number("size", size)});
    t.AddRange(main, "MPI_Barrier", 50 * kNsPerMs, 51 * kNsPerMs);
    t.Describe(0, {number("comm", 0)});
    t.AddInstant(main, "rank end", (rank == 1 ? 100 : 101) * kNsPerMs);
    t.Describe(0, {number("rank", rank), number("status", 3 + rank * step)});
  }
  t.SetWindow(0, 200 * kNsPerMs);
  const auto found = Found(std::move(t), FindingKind::kRankEnded);
  EXPECT_EQ(found.size(), 1u);
  return found.empty() ? "" : found[0].title;
}

// Nobody waited for the one that was there first.
TEST(RankFindingsTest, RanksThatAllEndedAlikeAreSaidTogether) {
  EXPECT_EQ(TitleOfThreeEnds(3, 0),
            "All 3 ranks ended with status 3, the first, rank 1, after 100 ms, "
            "without MPI_Finalize");
  // The job had more, of which this trace knows nothing.
  EXPECT_EQ(TitleOfThreeEnds(4, 0),
            "Rank 1 ended with status 3 after 100 ms, without MPI_Finalize");
  EXPECT_EQ(TitleOfThreeEnds(3, 1),
            "Rank 1 ended with status 4 after 100 ms, without MPI_Finalize");
}

// --keep_ranks=1 has kept nothing else of the job.
TEST(RankFindingsTest, TheOnlyRankThatIsKeptIsNamedIfItDied) {
  const auto found = Found(JobWithDead(true, true), FindingKind::kRankEnded);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "Rank 1 was killed by signal 9 (Killed) after 100 ms, without "
            "MPI_Finalize");
}

// Three ranks receive from each other in a circle, and rank 3 waits for them.
TEST(RankFindingsTest, ADeadlockIsSaidToBeOne) {
  TestTrace t;
  const auto number = [&](const char* key, int64_t value) {
    return model::Arg::Int(t.Intern(key), value);
  };
  for (int64_t rank = 0; rank < 4; ++rank) {
    const auto main = t.AddThread(100 + rank, 100 + rank, "main");
    t.AddInstant(main, "MPI ranks", kNsPerMs);
    t.Describe(0, {number("rank", rank), number("size", 4)});
    t.AddRange(main, "MPI_Allreduce", 50 * kNsPerMs, 51 * kNsPerMs);
    t.Describe(0, {number("comm", 0)});
    if (rank == 1) {
      t.AddRange(main, "MPI_Barrier", 300 * kNsPerMs, 800 * kNsPerMs,
                 model::ActivityType::kCpuOp, model::kEventOpen);
      t.Describe(0, {number("comm", 0)});
    } else {
      t.AddRange(main, "MPI_Recv", (200 + rank) * kNsPerMs, 800 * kNsPerMs,
                 model::ActivityType::kCpuOp, model::kEventOpen);
      t.Describe(0, {number("comm", 0), number("source", rank == 0 ? 1 : 0),
                     number("source_tag", 5)});
    }
    // Who ended the job used a signal, and a rank made a status of it.
    t.AddInstant(main, "rank end", 800 * kNsPerMs);
    t.Describe(0, {number("rank", rank), number("signal", rank == 0 ? 15 : 0),
                   number("status", rank == 0 ? 0 : 195)});
  }
  t.SetWindow(0, 800 * kNsPerMs);
  const auto found = FindFindings(std::move(t).Build());
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(FindingId(found[0].kind), "deadlock");
  EXPECT_EQ(found[0].title,
            "Deadlock of 2 ranks since 300 ms after the start: rank 0 waits "
            "for rank 1 in MPI_Recv (tag 5), rank 1 waits for rank 0 in "
            "MPI_Barrier; 2 ranks more wait for these");
  EXPECT_EQ(found[0].time_ns, 4 * 500 * kNsPerMs);
  for (const Finding& finding : found) {
    EXPECT_NE(finding.kind, FindingKind::kRankEnded);
    EXPECT_NE(finding.kind, FindingKind::kLateRank);
  }
}

TEST(RankFindingsTest, TheCodeOfMpiAbortIsSaid) {
  TestTrace t;
  const auto number = [&](const char* key, int64_t value) {
    return model::Arg::Int(t.Intern(key), value);
  };
  for (int64_t rank = 0; rank < 2; ++rank) {
    const auto main = t.AddThread(100 + rank, 100 + rank, "main");
    t.AddInstant(main, "MPI ranks", kNsPerMs);
    t.Describe(0, {number("rank", rank), number("size", 2)});
    if (rank == 0) continue;
    t.AddInstant(main, "MPI_Abort", 100 * kNsPerMs);
    t.Describe(0, {number("code", 3)});
  }
  t.SetWindow(0, 800 * kNsPerMs);
  const auto found = Found(std::move(t), FindingKind::kRankEnded);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "Rank 1 called MPI_Abort(comm, 3) after 100 ms, without "
            "MPI_Finalize");
}

TEST(RankFindingsTest, ARankThatFailsAfterMpiFinalizeIsNamed) {
  const auto found_of = [](const char* how, int64_t value) {
    TestTrace t;
    const auto number = [&](const char* key, int64_t of) {
      return model::Arg::Int(t.Intern(key), of);
    };
    for (int64_t rank = 0; rank < 2; ++rank) {
      const auto main = t.AddThread(100 + rank, 100 + rank, "main");
      t.AddInstant(main, "MPI ranks", kNsPerMs);
      t.Describe(0, {number("rank", rank), number("size", 2)});
      t.AddRange(main, "MPI_Finalize", 50 * kNsPerMs, 51 * kNsPerMs);
      t.AddInstant(main, "rank end", (100 + rank) * kNsPerMs);
      t.Describe(0, {number("rank", rank), number(how, rank * value)});
    }
    t.SetWindow(0, 800 * kNsPerMs);
    return Found(std::move(t), FindingKind::kRankEnded);
  };
  const auto found = found_of("status", 3);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title, "Rank 1 ended with status 3 after 101 ms");
  EXPECT_EQ(found_of("signal", SIGSEGV).size(), 1u);
  // With this, launchers and users end whole jobs.
  EXPECT_TRUE(found_of("signal", SIGTERM).empty());
  EXPECT_TRUE(found_of("status", 0).empty());
}

TEST(RankFindingsTest, ARankThatNeverCameIsNamed) {
  EXPECT_TRUE(Found(JobWithDead(false), FindingKind::kRankEnded).empty());
  const auto found = Found(JobWithDead(false), FindingKind::kLateRank);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].title,
            "Other ranks waited 1.20 s in all for rank 1, which never came, "
            "longest in MPI_Barrier (1.20 s)");
  EXPECT_EQ(found[0].next_step,
            "Find out where rank 1 hangs, or why it died; its last call of MPI "
            "was MPI_Allreduce");
}

TEST(RankFindingsTest, ATraceWithoutRanksHasNone) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "MPI_Allreduce", 0, 1'000'000'000);
  EXPECT_TRUE(Found(std::move(t), FindingKind::kLateRank).empty());
}

}  // namespace
}  // namespace kymo::analysis
