#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "profiler/analysis/ranks/collectives.h"
#include "profiler/analysis/ranks/job_of_ranks.h"
#include "profiler/analysis/ranks/rank_path.h"
#include "profiler/analysis/ranks/rank_waits.h"
#include "profiler/analysis/ranks/test_job.h"

namespace kymo::analysis {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Rank 1 died: the others were in the call until the recording ended.
TEST(NeverCameTest, AllOfACallIsWaitingForARankThatNeverCame) {
  Job job;
  for (const int64_t rank : {0, 1, 2}) {
    job.AddRank(rank, 3);
    job.Call("MPI_Barrier", 200, 210, {{"comm", 0}});
    if (rank != 1) job.Call("MPI_Barrier", 300 + rank, 800, {{"comm", 0}});
    if (rank == 1) job.Call("MPI_Pcontrol", 350, 351);  // the last it did
  }
  const model::Trace trace = job.Build();
  const JobOfRanks all(trace);
  const auto sums = CollectiveSums(all);
  const auto barrier =
      std::ranges::find(sums, "MPI_Barrier", &CollectiveSum::name);
  ASSERT_NE(barrier, sums.end());
  EXPECT_EQ(barrier->waiting_ns, 500 + 498);
  EXPECT_EQ(barrier->transfer_ns(), 30);
  EXPECT_EQ(barrier->late_rank, 1);
  EXPECT_EQ(barrier->late_ns, 998);
  EXPECT_EQ(barrier->missing, std::vector<int64_t>{1});
  const auto late = LateRanks(all);
  ASSERT_THAT(late, SizeIs(1));
  EXPECT_EQ(late[0].rank, 1u);
  EXPECT_EQ(late[0].waited_ns, 998);
}

// It came, but its record was lost.
TEST(NeverCameTest, ARankThatIsMissingButGoesOnIsNotWaitedFor) {
  Job job;
  for (const int64_t rank : {0, 1}) {
    job.AddRank(rank, 2);
    if (rank != 1) job.Call("MPI_Barrier", 300, 400, {{"comm", 0}});
    job.Call("MPI_Send", 500, 510, {{"comm", 0}, {"to", 1 - rank}});
  }
  const model::Trace trace = job.Build();
  EXPECT_THAT(LateRanks(JobOfRanks(trace)), IsEmpty());
}

// Rank 1 died. The others were in calls for it when the recording ended.
TEST(NeverCameTest, CallsForARankThatNeverCameWaitForIt) {
  Job job;
  job.AddRank(0, 4);
  job.Call("MPI_Irecv", 90, 95,
           {{"comm", 0}, {"source", 1}, {"source_tag", 3}});
  job.Call("MPI_Irecv", 95, 900,
           {{"comm", 0}, {"source", 1}, {"source_tag", 3}},
           model::kEventAsync | model::kEventOpen);
  // This one came, and nobody saw so.
  job.Call("MPI_Irecv", 96, 900,
           {{"comm", 0}, {"source", 3}, {"source_tag", 3}},
           model::kEventAsync | model::kEventOpen);
  job.Call("MPI_Waitall", 100, 900, {}, model::kEventOpen);
  job.AddRank(1, 4);
  job.Call("MPI_Pcontrol", 120, 121);
  job.AddRank(2, 4);
  job.Call("MPI_Recv", 200, 800,
           {{"comm", 0}, {"source", 1}, {"source_tag", 4}}, model::kEventOpen);
  job.AddRank(3, 4);
  job.Call("MPI_Isend", 150, 160, {{"comm", 0}, {"to", 0}, {"tag", 3}},
           model::kEventAsync);
  job.Call("MPI_Send", 300, 700,
           {{"comm", 0}, {"to", 1}, {"tag", 5}, {"bytes", 8}},
           model::kEventOpen);
  const model::Trace trace = job.Build();
  const JobOfRanks all(trace);
  EXPECT_EQ(all.messages.sends_alone, 0);
  EXPECT_EQ(all.messages.receives_alone, 0);
  EXPECT_THAT(all.messages.messages, SizeIs(1));
  EXPECT_THAT(all.messages.unanswered, SizeIs(3));
  const auto late = LateRanks(all);
  ASSERT_THAT(late, SizeIs(1));
  EXPECT_EQ(late[0].rank, 1u);
  EXPECT_EQ(late[0].waited_ns, 800 + 600 + 400);
  EXPECT_EQ(late[0].call, "MPI_Waitall");
  const auto waits = WaitSums(all);
  ASSERT_THAT(waits, SizeIs(1));
  EXPECT_EQ(waits[0].waiting_ns, 800);
  EXPECT_EQ(waits[0].transfer_ns(), 0);
  EXPECT_EQ(waits[0].late_rank, 1);
  EXPECT_THAT(FindRankPath(all), Not(IsEmpty()));
}

// Rank 0 had posted a receive from rank 1 for later, and waited for rank 2,
// which the trace does not tell.
TEST(NeverCameTest, AnOpenWaitThatMayBeForOneOfTwoNamesNobody) {
  for (const bool has_sent : {false, true}) {
    Job job;
    job.AddRank(0, 3);
    for (const int source : {1, 2}) {
      job.Call("MPI_Irecv", 90 + source, 900,
               {{"comm", 0}, {"source", source}, {"source_tag", 3}},
               model::kEventAsync | model::kEventOpen);
    }
    job.Call("MPI_Wait", 100, 900, {}, model::kEventOpen);
    job.AddRank(1, 3);
    job.Call("MPI_Pcontrol", 120, 121);
    job.AddRank(2, 3);
    job.Call("MPI_Pcontrol", 120, 121);
    if (has_sent) {
      job.Call("MPI_Isend", 95, 900, {{"comm", 0}, {"to", 0}, {"tag", 3}},
               model::kEventAsync | model::kEventOpen);
    }
    const model::Trace trace = job.Build();
    EXPECT_THAT(LateRanks(JobOfRanks(trace)), IsEmpty()) << has_sent;
  }
}

// Its message was on the way, or anybody could have sent it.
TEST(NeverCameTest, AnOpenReceiveIsNotAlwaysForARankThatNeverCame) {
  Job job;
  job.AddRank(0, 2);
  job.Call("MPI_Send", 500, 510, {{"comm", 0}, {"to", 1}, {"tag", 3}});
  job.AddRank(1, 2);
  job.Call("MPI_Recv", 400, 900,
           {{"comm", 0}, {"source", 0}, {"source_tag", 3}}, model::kEventOpen);
  job.Thread(1, 1);
  job.Call("MPI_Recv", 200, 900, {{"comm", 0}}, model::kEventOpen);
  const model::Trace trace = job.Build();
  const auto late = LateRanks(JobOfRanks(trace));
  ASSERT_THAT(late, SizeIs(1));
  EXPECT_EQ(late[0].rank, 0u);
  EXPECT_EQ(late[0].waited_ns, 100);
}

// For a probe, and for both halves of a call, which waits once.
TEST(NeverCameTest, ACallForARankThatNeverCameCountsOnce) {
  Job job;
  job.AddRank(0, 3);
  job.Call(
      "MPI_Sendrecv", 100, 900,
      {{"comm", 0}, {"to", 1}, {"tag", 3}, {"source", 1}, {"source_tag", 3}},
      model::kEventOpen);
  job.AddRank(1, 3);
  job.Call("MPI_Pcontrol", 120, 121);
  job.AddRank(2, 3);
  job.Call("MPI_Probe", 200, 900,
           {{"comm", 0}, {"source", 1}, {"source_tag", 4}}, model::kEventOpen);
  const model::Trace trace = job.Build();
  const auto late = LateRanks(JobOfRanks(trace));
  ASSERT_THAT(late, SizeIs(1));
  EXPECT_EQ(late[0].rank, 1u);
  EXPECT_EQ(late[0].waited_ns, 800 + 700);
}

TEST(NeverCameTest,
     OfTwoRanksThatNeverCameACallWaitsForTheOneThatItReceivesFrom) {
  Job job;
  job.AddRank(0, 3);
  job.Call(
      "MPI_Sendrecv", 100, 900,
      {{"comm", 0}, {"to", 1}, {"tag", 3}, {"source", 2}, {"source_tag", 3}},
      model::kEventOpen);
  for (int rank = 1; rank < 3; ++rank) {
    job.AddRank(rank, 3);
    job.Call("MPI_Pcontrol", 120, 121);
  }
  const model::Trace trace = job.Build();
  const auto late = LateRanks(JobOfRanks(trace));
  ASSERT_THAT(late, SizeIs(1));
  EXPECT_EQ(late[0].rank, 2u);
}

}  // namespace
}  // namespace kymo::analysis
