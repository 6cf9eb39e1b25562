#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "profiler/analysis/ranks/collectives.h"
#include "profiler/analysis/ranks/imbalance.h"
#include "profiler/analysis/ranks/job_of_ranks.h"
#include "profiler/analysis/ranks/messages.h"
#include "profiler/analysis/ranks/mpi_calls.h"
#include "profiler/analysis/ranks/rank_waits.h"
#include "profiler/analysis/ranks/test_job.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(RanksTest, ATraceWithoutRanksHasNoCalls) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "MPI_Barrier", 100, 200);
  const model::Trace trace = std::move(t).Build();
  const RankCalls calls = FindRankCalls(trace);
  EXPECT_THAT(calls.ranks, IsEmpty());
  EXPECT_THAT(calls.calls, IsEmpty());
  EXPECT_THAT(CollectiveSums(JobOfRanks(trace)), IsEmpty());
}

TEST(RanksTest, RanksHaveTheirTimesAndClocks) {
  Job job;
  job.AddRank(0, 2);
  job.Clock(5);
  job.Clock(7);
  job.Call("MPI_Barrier", 100, 300, {{"comm", 0}});
  job.Call("MPI_Send", 300, 350,
           {{"comm", 0}, {"to", 1}, {"tag", 3}, {"bytes", 64}});
  job.Call("MPI_Win_fence", 350, 360);
  job.Call("MPI_Finalize", 510, 900);
  job.AddRank(1, 2);
  const model::Trace trace = job.Build();
  const RankCalls calls = FindRankCalls(trace);
  ASSERT_THAT(calls.ranks, SizeIs(2));
  EXPECT_EQ(calls.ranks[0].clock_bound_ns, 0);
  EXPECT_TRUE(calls.ranks[0].is_finalized);
  EXPECT_FALSE(calls.ranks[1].clock_bound_ns.has_value());
  EXPECT_FALSE(calls.ranks[1].is_finalized);
  const auto times = TimesOfRanks(trace, calls);
  ASSERT_THAT(times, SizeIs(2));
  EXPECT_EQ(times[0].wall_ns, 500);
  EXPECT_EQ(times[0].collective_ns, 200);
  EXPECT_EQ(times[0].point_to_point_ns, 50);
  EXPECT_EQ(times[0].other_mpi_ns, 10);
  EXPECT_EQ(times[0].calls, 3);
  EXPECT_EQ(times[0].sent_bytes, 64);
  // It never called MPI_Finalize: its time goes on to the recording's end.
  EXPECT_EQ(times[1].wall_ns, 990);
}

// Its launcher killed its command before that could say how it ended.
TEST(RanksTest, ARankThatCallsMpiAbortBreaksOffThen) {
  Job job;
  job.AddRank(0, 2);
  job.Call("MPI_Finalize", 500, 900, {}, model::kEventOpen);
  job.End(0, 900, 15);
  job.AddRank(1, 2);
  job.Call("MPI_Abort", 400, 400, {{"code", 5}}, model::kEventInstant);
  const model::Trace trace = job.Build();
  const RankCalls calls = FindRankCalls(trace);
  ASSERT_THAT(calls.ranks, SizeIs(2));
  EXPECT_FALSE(calls.ranks[0].is_finalized);
  EXPECT_EQ(calls.ranks[1].end_ns, 400);
  EXPECT_EQ(FirstToBreakOff(calls.ranks), 1u);
}

// By its launcher, or by the user.
TEST(RanksTest, ARankThatIsToldToEndDoesNotBreakOff) {
  Job job;
  job.AddRank(0, 2);
  job.End(0, 500, 15);
  job.AddRank(1, 2);
  job.End(1, 600, 9);
  EXPECT_EQ(FirstToBreakOff(FindRankCalls(job.Build()).ranks), 1u);
}

TEST(RanksTest, RanksWithoutMpiAreRanks) {
  Job job;
  job.AddRank(0, 2);
  job.Clock(5);
  job.JobRank(0, 90, 5, 900, 9);  // a shell around it
  job.JobRank(1, 101, 30, 700, 8);
  job.Call("solve", 100, 400);
  const model::Trace trace = job.Build();
  const RankCalls calls = FindRankCalls(trace);
  ASSERT_THAT(calls.ranks, SizeIs(2));
  EXPECT_TRUE(calls.ranks[0].is_mpi);
  EXPECT_EQ(calls.ranks[0].pid, 100);
  EXPECT_EQ(calls.ranks[0].clock_bound_ns, 0);
  EXPECT_FALSE(calls.ranks[1].is_mpi);
  EXPECT_EQ(calls.ranks[1].clock_bound_ns, 8);
  EXPECT_EQ(TimesOfRanks(trace, calls)[1].wall_ns, 670);
  const auto rows = ImbalanceByName(trace, calls);
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0].most_rank, 1);
}

// The ranks of MPI share no folder, so their commands measured.
TEST(RanksTest, ClocksOfCommandsCountWhereMpiHasNone) {
  Job job;
  job.JobRank(0, 7, 0, 1'000, 0);
  job.JobRank(1, 8, 0, 1'000, 25);
  job.AddRank(0, 2);
  job.AddRank(1, 2);
  const model::Trace trace = job.Build();
  const RankCalls calls = FindRankCalls(trace);
  ASSERT_THAT(calls.ranks, SizeIs(2));
  EXPECT_TRUE(calls.ranks[1].is_mpi);
  EXPECT_EQ(calls.ranks[0].clock_bound_ns, 0);
  EXPECT_EQ(calls.ranks[1].clock_bound_ns, 25);
}

TEST(RanksTest, AClockThatWasMeasuredOnceMayHaveDrifted) {
  Job job;
  job.AddRank(0, 2);
  job.Clock(2);
  job.AddRank(1, 2);
  job.Clock(7);
  job.Call("MPI_Barrier", 100, 100'010, {{"comm", 0}});
  const model::Trace trace = job.Build(100'010);
  const RankCalls calls = FindRankCalls(trace);
  EXPECT_EQ(calls.ranks[0].clock_bound_ns, 0);
  // How well rank 0 knows its own time counts, too.
  EXPECT_EQ(calls.ranks[1].clock_bound_ns, 7 + 2 + 10);
}

TEST(RanksTest, BytesAreSentOncePerMessage) {
  Job job;
  const std::initializer_list<std::pair<const char*, int64_t>> message = {
      {"comm", 0}, {"to", 1}, {"tag", 3}, {"bytes", 64}};
  job.AddRank(0, 2);
  // A persistent request that is started twice, one that is not, and a failed
  // send.
  job.Call("MPI_Send_init", 100, 101, message);
  job.Call("MPI_Send_init", 110, 150, message, model::kEventAsync);
  job.Call("MPI_Send_init", 160, 180, message, model::kEventAsync);
  job.Call("MPI_Isend", 200, 201, message);
  job.Call("MPI_Isend", 201, 300, message, model::kEventAsync);
  job.Call("MPI_Send", 310, 320,
           {{"comm", 0}, {"to", 1}, {"tag", 3}, {"bytes", 64}, {"failed", 5}});
  const model::Trace trace = job.Build();
  const RankCalls calls = FindRankCalls(trace);
  EXPECT_EQ(TimesOfRanks(trace, calls)[0].sent_bytes, 3 * 64);
  EXPECT_EQ(MatchMessages(trace, calls).sends_alone, 3);
}

// A reduction in each of 20 steps; rank 1 comes late from step 12 on.
TEST(RanksTest, ALateRankIsLateSinceSomeTime) {
  for (const int64_t first_late : {0, 12}) {
    Job job;
    for (const int64_t rank : {0, 1}) {
      job.AddRank(rank, 2);
      job.Call("MPI_Init", 0, 100);
      for (int64_t step = 0; step < 20; ++step) {
        const TimeNs begin = 100 * (step + 1);
        const bool is_late = rank == 1 && step >= first_late;
        job.Call("MPI_Allreduce", begin + (is_late ? 30 : rank), begin + 40,
                 {{"comm", 0}});
      }
    }
    const model::Trace trace = job.Build(2'100);
    const auto late = LateRanks(JobOfRanks(trace));
    ASSERT_THAT(late, SizeIs(1));
    EXPECT_EQ(late[0].rank, 1u);
    if (first_late == 0) {
      EXPECT_FALSE(late[0].since_ns);
    } else {
      EXPECT_EQ(late[0].since_ns, 1'300);
    }
  }
}

// However many wait for it.
TEST(RanksTest, OneLateCallIsNotSinceSomeTime) {
  Job job;
  for (int64_t rank = 0; rank < 8; ++rank) {
    job.AddRank(rank, 8);
    job.Call("MPI_Init", 0, 100);
    job.Call("MPI_Barrier", rank == 1 ? 1'600 : 1'190, 1'610, {{"comm", 0}});
  }
  const model::Trace trace = job.Build(2'100);
  const auto late = LateRanks(JobOfRanks(trace));
  ASSERT_THAT(late, SizeIs(1));
  EXPECT_EQ(late[0].rank, 1u);
  EXPECT_EQ(late[0].delay_ns, 7 * 410);
  EXPECT_FALSE(late[0].since_ns);
}

// Each rank is slow once, so their totals are equal.
TEST(RanksTest, ImbalanceIsFoundByStep) {
  Job job;
  for (const int64_t rank : {0, 1}) {
    job.AddRank(rank, 2);
    for (const int64_t step : {0, 1, 2}) {
      job.Call("step", 100 * step,
               100 * step + (step == rank ? 90 + 5 * rank : 50 - 5 * rank));
    }
    job.Call("once", 400, 450);
    job.Call("sometimes", 500, 510);
    if (rank == 0) job.Call("sometimes", 600, 610);
  }
  const model::Trace trace = job.Build();
  const auto rows = ImbalanceByName(trace, FindRankCalls(trace));
  ASSERT_THAT(rows, SizeIs(3));
  EXPECT_EQ(rows[0].name, "step");
  EXPECT_EQ(rows[0].steps, 3);
  EXPECT_EQ(rows[0].excess_ns(), 190 - 187);
  // 90 and 45, 50 and 95, 50 and 45.
  EXPECT_EQ(rows[0].step_excess_ns, 23 + 23 + 3);
  EXPECT_EQ(rows[0].worst_step, 1);
  EXPECT_EQ(rows[0].worst_step_rank, 0);
  EXPECT_EQ(rows[0].worst_step_excess_ns, 23);
  EXPECT_EQ(rows[1].name, "sometimes");
  EXPECT_EQ(rows[1].steps, 0);
  EXPECT_EQ(rows[2].steps, 0);
}

TEST(RanksTest, ThreadsInMpiAtOnceTakeTheTimeOnce) {
  Job job;
  job.AddRank(0, 1);
  job.Call("MPI_Init", 0, 100);
  job.Call("MPI_Barrier", 200, 300, {{"comm", 0}});
  job.Call("MPI_Finalize", 500, 600);
  job.Thread(0, 1);
  job.Call("MPI_Recv", 250, 450, {{"comm", 0}});
  const model::Trace trace = job.Build();
  const auto times = TimesOfRanks(trace, FindRankCalls(trace));
  ASSERT_THAT(times, SizeIs(1));
  EXPECT_EQ(times[0].wall_ns, 400);
  EXPECT_EQ(times[0].in_mpi_ns, 250);
}

// `srun --mpi=none`.
TEST(RanksTest, RanksWhoseMpiIsAloneAreThoseOfTheCommands) {
  Job job;
  for (const int64_t rank : {0, 1}) {
    job.AddRank(0, 1);
    job.JobRank(rank, 200 + rank, 5, 900, 7);
  }
  const model::Trace trace = job.Build();
  const RankCalls calls = FindRankCalls(trace);
  ASSERT_THAT(calls.ranks, SizeIs(2));
  EXPECT_EQ(calls.ranks[0].rank, 0);
  EXPECT_EQ(calls.ranks[1].rank, 1);
  EXPECT_FALSE(calls.ranks[1].is_mpi);
}

TEST(RanksTest, LateRanksAreThoseOfAllCalls) {
  Job job;
  job.AddRank(0, 2);
  job.Call("MPI_Barrier", 100, 400, {{"comm", 0}});
  job.Call("MPI_Recv", 500, 600,
           {{"comm", 0}, {"from", 1}, {"tag", 3}, {"bytes", 8}});
  job.Call("MPI_Barrier", 730, 800, {{"comm", 0}});
  job.AddRank(1, 2);
  job.Call("MPI_Barrier", 390, 400, {{"comm", 0}});
  job.Call("MPI_Send", 550, 590,
           {{"comm", 0}, {"to", 0}, {"tag", 3}, {"bytes", 8}});
  job.Call("MPI_Barrier", 700, 800, {{"comm", 0}});
  const model::Trace trace = job.Build();
  const auto late = LateRanks(JobOfRanks(trace));
  ASSERT_THAT(late, SizeIs(2));
  EXPECT_EQ(late[0].rank, 1u);
  EXPECT_EQ(late[0].waited_ns, 290 + 50);
  EXPECT_EQ(late[0].call, "MPI_Barrier");
  EXPECT_EQ(late[0].call_ns, 290);
  EXPECT_EQ(late[1].rank, 0u);
  EXPECT_EQ(late[1].waited_ns, 30);
}

TEST(RanksTest, ImbalanceNamesTheSlowestRank) {
  Job job;
  for (const int64_t rank : {0, 1, 2}) {
    job.AddRank(rank, 3);
    job.Call("solve", 100, rank == 1 ? 400 : 200);
    if (rank == 1) job.Call("solve", 150, 160);  // a recursion counts once
    if (rank == 2) job.Call("phase 1", 300, 330, {}, model::kEventAsync);
    job.Call("request", 300, 330, {}, model::kEventAsync);
  }
  const model::Trace trace = job.Build();
  const auto rows = ImbalanceByName(trace, FindRankCalls(trace));
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].name, "solve");
  EXPECT_EQ(rows[0].most_rank, 1);
  EXPECT_EQ(rows[0].most_ns, 300);
  EXPECT_EQ(rows[0].mean_ns, 166);
  EXPECT_EQ(rows[0].least_ns, 100);
  EXPECT_EQ(rows[1].name, "phase 1");
  EXPECT_EQ(rows[1].ranks, 1);
  EXPECT_EQ(rows[1].mean_ns, 10);
  EXPECT_EQ(rows[1].least_ns, 0);
}

}  // namespace
}  // namespace kymo::analysis
