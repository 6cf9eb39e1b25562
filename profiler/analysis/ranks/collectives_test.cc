#include "profiler/analysis/ranks/collectives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "profiler/analysis/ranks/imbalance.h"
#include "profiler/analysis/ranks/job_of_ranks.h"
#include "profiler/analysis/ranks/mpi_calls.h"
#include "profiler/analysis/ranks/rank_waits.h"
#include "profiler/analysis/ranks/test_job.h"

namespace kymo::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(CollectivesTest, ACollectiveWaitsForTheLastRankThatEnters) {
  Job job;
  for (const int64_t rank : {0, 1, 2}) {
    job.AddRank(rank, 3);
    job.Call("MPI_Allreduce", rank == 2 ? 180 : 100, 200, {{"comm", 0}});
    job.Call("MPI_Allreduce", 300, 310, {{"comm", 0}});
  }
  const model::Trace trace = job.Build();
  const auto sums = CollectiveSums(JobOfRanks(trace));
  ASSERT_THAT(sums, SizeIs(1));
  EXPECT_EQ(sums[0].operations, 2);
  EXPECT_EQ(sums[0].incomplete, 0);
  EXPECT_EQ(sums[0].ranks, 3);
  EXPECT_EQ(sums[0].total_ns, 100 + 100 + 20 + 30);
  EXPECT_EQ(sums[0].waiting_ns, 160);
  EXPECT_EQ(sums[0].transfer_ns(), 90);
  EXPECT_EQ(sums[0].late_rank, 2);
  EXPECT_EQ(sums[0].late_ns, 160);
  EXPECT_EQ(sums[0].late_operations, 1);
}

TEST(CollectivesTest, ACollectiveThatARankNeverCalledIsIncomplete) {
  Job job;
  job.AddRank(0, 2);
  job.Call("MPI_Barrier", 100, 110, {{"comm", 5}});
  job.Call("MPI_Barrier", 200, 210, {{"comm", 5}});
  job.AddRank(1, 2);
  job.Call("MPI_Barrier", 100, 110, {{"comm", 5}});
  const model::Trace trace = job.Build();
  const auto sums = CollectiveSums(JobOfRanks(trace));
  ASSERT_THAT(sums, SizeIs(1));
  EXPECT_EQ(sums[0].operations, 2);
  EXPECT_EQ(sums[0].incomplete, 1);
}

// They made the communicator, so the others wait for them.
TEST(CollectivesTest, RanksThatCameToNoCallOfACommunicatorAreNamed) {
  Job job;
  for (const int64_t rank : {0, 1, 2, 3}) {
    job.AddRank(rank, 4);
    if (rank < 3) job.Comm(5, "MPI COMMUNICATOR 4 DUP FROM 0");
    if (rank == 0) job.Comm(5, "halo");
    if (rank == 1) job.Call("MPI_Barrier", 100, 900, {{"comm", 5}});
    if (rank != 2) job.Call("MPI_Finalize", 950, 990);
  }
  const model::Trace trace = job.Build();
  auto sums = CollectiveSums(JobOfRanks(trace));
  std::ranges::sort(sums, {}, &CollectiveSum::name);
  ASSERT_THAT(sums, SizeIs(2));
  EXPECT_EQ(sums[0].name, "MPI_Barrier");
  EXPECT_EQ(sums[0].comm_name, "halo");
  EXPECT_EQ(sums[0].ranks, 3);
  EXPECT_EQ(sums[0].incomplete, 1);
  EXPECT_THAT(sums[0].missing, ElementsAre(0, 2));
  EXPECT_EQ(sums[1].name, "MPI_Finalize");
  EXPECT_EQ(sums[1].ranks, 4);
  EXPECT_THAT(sums[1].missing, ElementsAre(2));
}

// What has a root: (who gives, who takes), at 100 rank 0, at 150 rank 1, at 190
// rank 2; all end at 200.
DurationNs WaitingOf(const std::string& name, int64_t root, size_t for_rank) {
  Job job;
  for (const int64_t rank : {0, 1, 2}) {
    job.AddRank(rank, 3);
    const TimeNs begins[] = {100, 150, 190};
    job.Call(name, begins[rank], 200, {{"comm", 0}, {"root", root}});
  }
  const model::Trace trace = job.Build();
  const auto sums = CollectiveSums(JobOfRanks(trace));
  EXPECT_THAT(sums, SizeIs(1));
  EXPECT_EQ(sums[0].waiting_ns, sums[0].waited_for_ns[for_rank]);
  return sums[0].waiting_ns;
}

TEST(CollectivesTest, OfACallWithARootOnlyThoseWaitThatNeedAnother) {
  EXPECT_EQ(WaitingOf("MPI_Bcast", 0, 0), 0);
  EXPECT_EQ(WaitingOf("MPI_Bcast", 1, 1), 50);
  EXPECT_EQ(WaitingOf("MPI_Scatter", 2, 2), 90 + 40);
  EXPECT_EQ(WaitingOf("MPI_Reduce", 1, 2), 40);
  EXPECT_EQ(WaitingOf("MPI_Gatherv", 2, 2), 0);
  // Of an intercommunicator the root is not known.
  EXPECT_EQ(WaitingOf("MPI_Bcast", -1, 2), 90 + 40);
}

// A call that ends before the last rank enters did not wait for it.
TEST(CollectivesTest, ACallThatGoesOnDoesNotWait) {
  Job job;
  job.AddRank(0, 2);
  job.Call("MPI_Scan", 100, 110, {{"comm", 0}});
  job.AddRank(1, 2);
  job.Call("MPI_Scan", 500, 510, {{"comm", 0}});
  const model::Trace trace = job.Build();
  const auto sums = CollectiveSums(JobOfRanks(trace));
  ASSERT_THAT(sums, SizeIs(1));
  EXPECT_EQ(sums[0].waiting_ns, 0);
  EXPECT_EQ(sums[0].skew_ns, 400);
}

// Only the ranks of the group call it, so it has no place in the order.
TEST(CollectivesTest, ACommunicatorOfAGroupIsNoOperationOfAll) {
  Job job;
  job.AddRank(0, 2);
  job.Call("MPI_Comm_create_group", 50, 60, {{"comm", 0}});
  job.Call("MPI_Barrier", 100, 200, {{"comm", 0}});
  job.Call("MPI_Allreduce", 300, 310, {{"comm", 0}});
  job.AddRank(1, 2);
  job.Call("MPI_Barrier", 190, 200, {{"comm", 0}});
  job.Call("MPI_Allreduce", 300, 310, {{"comm", 0}});
  const model::Trace trace = job.Build();
  const auto sums = CollectiveSums(JobOfRanks(trace));
  ASSERT_THAT(sums, SizeIs(2));
  EXPECT_EQ(sums[0].name, "MPI_Barrier");
  EXPECT_EQ(sums[0].waiting_ns, 90);
  EXPECT_EQ(sums[0].incomplete, 0);
}

// Two barriers that only begin; MPI_Wait waits for the rank that is last, until
// that comes to its own MPI_Wait.
TEST(CollectivesTest, WhoCompletesACollectiveCallWaitsForTheLastRank) {
  Job job;
  for (const int64_t rank : {0, 1}) {
    job.AddRank(rank, 2);
    for (const TimeNs begin : {100, 1'000}) {
      const TimeNs own = begin + 300 * rank;
      job.Call("MPI_Ibarrier", own, own + 5, {{"comm", 0}});
      job.Call("MPI_Ibarrier", own + 5, begin + 350, {{"comm", 0}},
               model::kEventAsync);
      job.Call("MPI_Wait", own + 10, begin + 360);
    }
  }
  const model::Trace trace = job.Build(2'000);
  const RankCalls calls = FindRankCalls(trace);
  const auto waits = WaitSums(JobOfRanks(trace));
  ASSERT_THAT(waits, SizeIs(1));
  EXPECT_EQ(waits[0].calls, 4);
  EXPECT_EQ(waits[0].waiting_ns, 2 * 300);
  EXPECT_EQ(waits[0].late_rank, 1);
  const auto sums = CollectiveSums(JobOfRanks(trace));
  ASSERT_THAT(sums, SizeIs(1));
  EXPECT_EQ(sums[0].operations, 2);
  EXPECT_EQ(sums[0].waiting_ns, 0);
}

// The same for a file.
TEST(CollectivesTest, WhoCompletesACallOfAFileWaitsForTheLastRank) {
  Job job;
  for (const int64_t rank : {0, 1}) {
    job.AddRank(rank, 2);
    job.Call("MPI_File_iwrite_all", 100 + 300 * rank, 105 + 300 * rank,
             {{"comm", 7}});
    job.Call("MPI_File_iwrite_all", 105 + 300 * rank, 450, {{"comm", 7}},
             model::kEventAsync);
    job.Call("MPI_Wait", 110 + 300 * rank, 450);
  }
  const model::Trace trace = job.Build();
  const auto waits = WaitSums(JobOfRanks(trace));
  ASSERT_THAT(waits, SizeIs(1));
  EXPECT_EQ(waits[0].waiting_ns, 300);
  EXPECT_EQ(waits[0].late_rank, 1);
}

// Its name begins like that of MPI_Ibarrier.
TEST(CollectivesTest, MakingAnIntercommunicatorWaitsForTheLastRank) {
  Job job;
  for (const int64_t rank : {0, 1}) {
    job.AddRank(rank, 2);
    job.Call("MPI_Intercomm_merge", 100 + 50 * rank, 160, {{"comm", 0}});
  }
  const model::Trace trace = job.Build();
  const auto sums = CollectiveSums(JobOfRanks(trace));
  ASSERT_THAT(sums, SizeIs(1));
  EXPECT_EQ(sums[0].waiting_ns, 50);
  EXPECT_EQ(sums[0].late_rank, 1);
}

TEST(CollectivesTest, RanksComeLaterThanTheFirst) {
  Job job;
  for (const int64_t rank : {0, 1, 2}) {
    job.AddRank(rank, 3);
    job.Call("MPI_Init", 20 + 30 * rank, 100);
    job.Call("MPI_Barrier", 200 + 10 * rank, 300, {{"comm", 0}});
    job.Call("MPI_Barrier", 400 - 10 * rank, 500, {{"comm", 0}});
    job.Call("MPI_Finalize", rank == 1 ? 700 : 600, 710);
  }
  const model::Trace trace = job.Build();
  const RankCalls calls = FindRankCalls(trace);
  const auto skews = SkewOfRanks(JobOfRanks(trace));
  ASSERT_THAT(skews, SizeIs(3));
  EXPECT_EQ(skews[0].start_ns, 0);
  EXPECT_EQ(skews[2].start_ns, 60);
  EXPECT_EQ(skews[0].operations, 2);
  EXPECT_EQ(skews[0].sum_ns, 0 + 20);
  EXPECT_EQ(skews[1].mean_ns(), 10);
  EXPECT_EQ(skews[2].most_ns, 20);
  // The time is that from the end of MPI_Init to MPI_Finalize.
  EXPECT_EQ(TimesOfRanks(trace, calls)[0].wall_ns, 500);
  // Others waited in MPI_Init, too, but not because of what a rank did.
  const auto sums = CollectiveSums(JobOfRanks(trace));
  ASSERT_THAT(sums, SizeIs(3));
  EXPECT_EQ(sums[0].name, "MPI_Finalize");
  EXPECT_EQ(sums[0].comm, -1);
  EXPECT_EQ(sums[0].waiting_ns, 200);
  EXPECT_EQ(sums[1].name, "MPI_Init");
  EXPECT_EQ(sums[1].waiting_ns, 60 + 30);
  const auto late = LateRanks(JobOfRanks(trace));
  EXPECT_EQ(late[0].rank, 1u);
  EXPECT_EQ(late[0].waited_ns, 200 + 0);
  EXPECT_EQ(late[0].call, "MPI_Finalize");
}

// Rank 1 launches its reduction 300 later than rank 0. It has a reduction that
// rank 0 did not record.
TEST(CollectivesTest, KernelsOfNcclAreCollectiveCalls) {
  const std::string reduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(int)";
  Job job;
  job.JobRank(0, 100, 0, 1'000, 5);
  job.Kernels(100, 7);
  job.Kernel("gemm", 50, 100);
  job.Kernel(reduce, 200, 600, {{"Process Group ID", 3}, {"Seq", 11}});
  job.Kernel(reduce, 700, 710, {{"Process Group ID", 3}, {"Seq", 12}});
  job.JobRank(1, 101, 0, 1'000, 5);
  job.Kernels(101, 9);
  job.Kernel(reduce, 100, 110, {{"Process Group ID", 3}, {"Seq", 10}});
  job.Kernel(reduce, 500, 600, {{"Process Group ID", 3}, {"Seq", 11}});
  job.Kernel(reduce, 700, 710, {{"Process Group ID", 3}, {"Seq", 12}});
  const model::Trace trace = job.Build();
  const RankCalls calls = FindRankCalls(trace);
  const auto sums = CollectiveSums(JobOfRanks(trace));
  ASSERT_THAT(sums, SizeIs(1));
  EXPECT_EQ(sums[0].name, "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  EXPECT_EQ(sums[0].operations, 3);
  EXPECT_EQ(sums[0].incomplete, 1);
  EXPECT_EQ(sums[0].total_ns, 410 + 120);
  EXPECT_EQ(sums[0].waiting_ns, 300);
  EXPECT_EQ(sums[0].late_rank, 1);
  const auto late = LateRanks(JobOfRanks(trace));
  ASSERT_THAT(late, SizeIs(1));
  EXPECT_EQ(late[0].rank, 1u);
  EXPECT_EQ(TimesOfRanks(trace, calls)[0].collective_ns, 410);
  EXPECT_EQ(SkewOfRanks(JobOfRanks(trace))[1].most_ns, 300);
}

// Earlier versions of PyTorch say nothing of a kernel of NCCL.
TEST(CollectivesTest, KernelsWithoutNumbersAreCounted) {
  const std::string exchange = "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t()";
  Job job;
  for (const int64_t rank : {0, 1}) {
    job.JobRank(rank, 100 + rank, 0, 1'000, 5);
    // Streams with other numbers, and one for computing.
    job.Kernels(100 + rank, 3);
    job.Kernel("gemm", 50, 100);
    job.Kernels(100 + rank, 20 + rank);
    job.Kernel(exchange, 200 + 40 * rank, 300);
    job.Kernel(exchange, 400 - 30 * rank, 500);
    // Ranks have different numbers of these.
    job.Kernels(100 + rank, 30 + rank);
    job.Kernel(exchange, 600, 700);
    if (rank == 1) job.Kernel(exchange, 800, 900);
    // The second one of rank 1 is over before that of rank 0 begins: some are
    // missing.
    job.Kernels(100 + rank, 40 + rank);
    job.Kernel(exchange, 600, 700);
    job.Kernel(exchange, rank == 0 ? 800 : 750, rank == 0 ? 900 : 790);
  }
  const model::Trace trace = job.Build();
  const auto sums = CollectiveSums(JobOfRanks(trace));
  ASSERT_THAT(sums, SizeIs(1));
  EXPECT_EQ(sums[0].operations, 2);
  EXPECT_EQ(sums[0].waiting_ns, 40 + 30);
  EXPECT_EQ(sums[0].late_rank, 1);
}

}  // namespace
}  // namespace kymo::analysis
