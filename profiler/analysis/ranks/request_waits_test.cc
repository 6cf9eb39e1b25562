#include "profiler/analysis/ranks/request_waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/analysis/ranks/job_of_ranks.h"
#include "profiler/analysis/ranks/mpi_calls.h"
#include "profiler/analysis/ranks/rank_waits.h"
#include "profiler/analysis/ranks/test_job.h"

namespace kymo::analysis {
namespace {

using ::testing::SizeIs;

// Rank 0 sends late to rank 1, and rank 2 in time.
TEST(RequestWaitsTest, AWaitForRequestsIsForTheLatestRankAndThenTransfer) {
  Job job;
  job.AddRank(0, 3);
  job.Call("MPI_Isend", 500, 590,
           {{"comm", 0}, {"to", 1}, {"tag", 3}, {"bytes", 8}},
           model::kEventAsync);
  job.Call("MPI_Wait", 580, 595);
  job.AddRank(1, 3);
  job.Call("MPI_Irecv", 100, 600,
           {{"comm", 0}, {"from", 0}, {"tag", 3}, {"bytes", 8}},
           model::kEventAsync);
  job.Call("MPI_Irecv", 101, 601,
           {{"comm", 0}, {"from", 2}, {"tag", 3}, {"bytes", 8}},
           model::kEventAsync);
  job.Call("MPI_Waitall", 110, 610);
  // Nobody waits for what MPI_Test completes.
  job.Call("MPI_Irecv", 620, 700,
           {{"comm", 0}, {"from", 2}, {"tag", 4}, {"bytes", 8}},
           model::kEventAsync);
  job.AddRank(2, 3);
  job.Call("MPI_Send", 150, 160,
           {{"comm", 0}, {"to", 1}, {"tag", 3}, {"bytes", 8}});
  job.Call("MPI_Send", 690, 695,
           {{"comm", 0}, {"to", 1}, {"tag", 4}, {"bytes", 8}});
  const model::Trace trace = job.Build();
  const RankCalls calls = FindRankCalls(trace);
  const auto sums = WaitSums(JobOfRanks(trace));
  ASSERT_THAT(sums, SizeIs(2));
  EXPECT_EQ(sums[0].name, "MPI_Waitall");
  EXPECT_EQ(sums[0].calls, 1);
  EXPECT_EQ(sums[0].messages, 2);
  EXPECT_EQ(sums[0].total_ns, 500);
  // Until rank 0 came to its own MPI_Wait.
  EXPECT_EQ(sums[0].waiting_ns, 470);
  EXPECT_EQ(sums[0].transfer_ns(), 30);
  EXPECT_EQ(sums[0].late_rank, 0);
  EXPECT_EQ(sums[0].late_ns, 470);
  EXPECT_EQ(sums[0].late_calls, 1);
  // The receiver was there long before: all of it is transfer.
  EXPECT_EQ(sums[1].name, "MPI_Wait");
  EXPECT_EQ(sums[1].messages, 1);
  EXPECT_EQ(sums[1].waiting_ns, 0);
  EXPECT_EQ(sums[1].late_rank, -1);
  const auto late = LateRanks(JobOfRanks(trace));
  ASSERT_THAT(late, SizeIs(1));
  EXPECT_EQ(late[0].rank, 0u);
  EXPECT_EQ(late[0].waited_ns, 470);
  EXPECT_EQ(late[0].call, "MPI_Waitall");
}

// A large message waits for its receiver, a small one does not.
TEST(RequestWaitsTest, ASenderWaitsForALateReceiverUnlessItIsThroughBefore) {
  Job job;
  job.AddRank(0, 2);
  for (const TimeNs begin : {100, 1'000}) {
    job.Call("MPI_Isend", begin, begin + 300,
             {{"comm", 0}, {"to", 1}, {"tag", 3}, {"bytes", 8}},
             model::kEventAsync);
    job.Call("MPI_Wait", begin + 10, begin + 310);
  }
  job.AddRank(1, 2);
  job.Call("MPI_Recv", 300, 400,
           {{"comm", 0}, {"from", 0}, {"tag", 3}, {"bytes", 8}});
  job.Call("MPI_Recv", 1'500, 1'600,
           {{"comm", 0}, {"from", 0}, {"tag", 3}, {"bytes", 8}});
  const model::Trace trace = job.Build(2'000);
  const auto sums = WaitSums(JobOfRanks(trace));
  ASSERT_THAT(sums, SizeIs(1));
  EXPECT_EQ(sums[0].calls, 2);
  EXPECT_EQ(sums[0].waiting_ns, 190);
  EXPECT_EQ(sums[0].late_rank, 1);
}

// Two threads of rank 0 wait at the same time, each for another rank.
TEST(RequestWaitsTest, EachThreadWaitsForItsOwnRequests) {
  Job job;
  job.AddRank(0, 3);
  for (const int64_t from : {1, 2}) {
    job.Thread(0, from);
    const TimeNs end = from == 1 ? 800 : 400;
    job.Call("MPI_Irecv", 90, end, {{"comm", 0}, {"from", from}, {"tag", 3}},
             model::kEventAsync);
    job.Call("MPI_Wait", 100 * from, end);
  }
  for (const int64_t rank : {1, 2}) {
    job.AddRank(rank, 3);
    const TimeNs begin = rank == 1 ? 790 : 380;
    job.Call("MPI_Send", begin, begin + 5,
             {{"comm", 0}, {"to", 0}, {"tag", 3}});
  }
  const model::Trace trace = job.Build();
  const RankCalls calls = FindRankCalls(trace);
  const auto sums = WaitSums(JobOfRanks(trace));
  ASSERT_THAT(sums, SizeIs(1));
  EXPECT_EQ(sums[0].messages, 2);
  EXPECT_EQ(sums[0].waiting_ns, 690 + 180);
  EXPECT_EQ(sums[0].late_rank, 1);
  EXPECT_EQ(sums[0].late_ns, 690);
}

// All have begun it. Rank 0 computes until 700, and the data moves only then.
TEST(RequestWaitsTest, ACollectiveOperationWaitsForThoseWhoCompleteItLate) {
  Job job;
  for (const int64_t rank : {0, 1, 2}) {
    job.AddRank(rank, 3);
    job.Call("MPI_Ialltoall", 100 + rank, 105, {{"comm", 0}});
    job.Call("MPI_Ialltoall", 105, 760 + rank, {{"comm", 0}},
             model::kEventAsync);
    job.Call("MPI_Wait", rank == 0 ? 700 : 110, 760 + rank);
  }
  const model::Trace trace = job.Build();
  const JobOfRanks all(trace);
  const auto sums = WaitSums(all);
  ASSERT_THAT(sums, SizeIs(1));
  EXPECT_EQ(sums[0].waiting_ns, 590 + 590);
  EXPECT_EQ(sums[0].transfer_ns(), 60 + 61 + 62);
  EXPECT_EQ(sums[0].late_rank, 0);
  const auto late = LateRanks(all);
  ASSERT_THAT(late, SizeIs(1));
  EXPECT_EQ(late[0].rank, 0u);
  EXPECT_EQ(late[0].delay_ns, 590 + 590);
}

// Rank 0 begins it last, at 300. Ranks 1 and 2 are through before rank 0 comes
// to its MPI_Wait: it had sent what they need.
TEST(RequestWaitsTest, ACollectiveOperationThatIsOverBeforeWaitsForItsBegin) {
  Job job;
  for (const int64_t rank : {0, 1, 2}) {
    job.AddRank(rank, 3);
    const TimeNs begin = rank == 0 ? 300 : 100;
    job.Call("MPI_Iallreduce", begin, begin + 5, {{"comm", 0}});
    job.Call("MPI_Iallreduce", begin + 5, rank == 0 ? 705 : 310, {{"comm", 0}},
             model::kEventAsync);
    job.Call("MPI_Wait", rank == 0 ? 700 : 110, rank == 0 ? 705 : 310);
  }
  const model::Trace trace = job.Build();
  const auto sums = WaitSums(JobOfRanks(trace));
  ASSERT_THAT(sums, SizeIs(1));
  EXPECT_EQ(sums[0].waiting_ns, 190 + 190);
  EXPECT_EQ(sums[0].late_rank, 0);
}

// What the root has moves when the root is in MPI. Rank 2 comes later still,
// and nobody needs it.
TEST(RequestWaitsTest, ACollectiveOperationOfARootWaitsForTheRoot) {
  Job job;
  for (const int64_t rank : {0, 1, 2}) {
    job.AddRank(rank, 3);
    const TimeNs waits[] = {500, 110, 520};
    job.Call("MPI_Ibcast", 100, 105, {{"comm", 0}, {"root", 0}});
    job.Call("MPI_Ibcast", 105, 530, {{"comm", 0}, {"root", 0}},
             model::kEventAsync);
    job.Call("MPI_Wait", waits[rank], 530);
  }
  const model::Trace trace = job.Build();
  const auto sums = WaitSums(JobOfRanks(trace));
  ASSERT_THAT(sums, SizeIs(1));
  EXPECT_EQ(sums[0].waiting_ns, 390);
  EXPECT_EQ(sums[0].late_rank, 0);
}

// It was complete long before its sender came to MPI_Wait.
TEST(RequestWaitsTest, ASmallMessageWaitsOnlyForTheBeginOfItsSend) {
  Job job;
  job.AddRank(0, 2);
  job.Call("MPI_Isend", 150, 700,
           {{"comm", 0}, {"to", 1}, {"tag", 3}, {"bytes", 8}},
           model::kEventAsync);
  job.Call("MPI_Wait", 690, 710);
  job.AddRank(1, 2);
  job.Call("MPI_Irecv", 100, 160,
           {{"comm", 0}, {"from", 0}, {"tag", 3}, {"bytes", 8}},
           model::kEventAsync);
  job.Call("MPI_Waitall", 110, 170);
  const model::Trace trace = job.Build();
  const auto sums = WaitSums(JobOfRanks(trace));
  ASSERT_THAT(sums, SizeIs(2));
  EXPECT_EQ(sums[0].name, "MPI_Waitall");
  EXPECT_EQ(sums[0].waiting_ns, 40);
  EXPECT_EQ(sums[0].transfer_ns(), 20);
  EXPECT_EQ(sums[1].waiting_ns, 0);
}

}  // namespace
}  // namespace kymo::analysis
