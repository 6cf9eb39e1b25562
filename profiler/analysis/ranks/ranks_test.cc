// Long, because each case is a job, written out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "profiler/analysis/ranks/collectives.h"
#include "profiler/analysis/ranks/imbalance.h"
#include "profiler/analysis/ranks/messages.h"
#include "profiler/analysis/ranks/mpi_calls.h"
#include "profiler/analysis/ranks/rank_path.h"
#include "profiler/analysis/ranks/rank_waits.h"
#include "profiler/analysis/ranks/test_job.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
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

TEST(RanksTest, ACollectiveWaitsForTheLastRankThatEnters) {
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

// Rank 1 died: the others were in the call until the recording ended.
TEST(RanksTest, AllOfACallIsWaitingForARankThatNeverCame) {
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
TEST(RanksTest, ARankThatIsMissingButGoesOnIsNotWaitedFor) {
  Job job;
  for (const int64_t rank : {0, 1}) {
    job.AddRank(rank, 2);
    if (rank != 1) job.Call("MPI_Barrier", 300, 400, {{"comm", 0}});
    job.Call("MPI_Send", 500, 510, {{"comm", 0}, {"to", 1 - rank}});
  }
  const model::Trace trace = job.Build();
  EXPECT_THAT(LateRanks(JobOfRanks(trace)), IsEmpty());
}

TEST(RanksTest, ACollectiveThatARankNeverCalledIsIncomplete) {
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
TEST(RanksTest, RanksThatCameToNoCallOfACommunicatorAreNamed) {
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

TEST(RanksTest, OfACallWithARootOnlyThoseWaitThatNeedAnother) {
  EXPECT_EQ(WaitingOf("MPI_Bcast", 0, 0), 0);
  EXPECT_EQ(WaitingOf("MPI_Bcast", 1, 1), 50);
  EXPECT_EQ(WaitingOf("MPI_Scatter", 2, 2), 90 + 40);
  EXPECT_EQ(WaitingOf("MPI_Reduce", 1, 2), 40);
  EXPECT_EQ(WaitingOf("MPI_Gatherv", 2, 2), 0);
  // Of an intercommunicator the root is not known.
  EXPECT_EQ(WaitingOf("MPI_Bcast", -1, 2), 90 + 40);
}

// A call that ends before the last rank enters did not wait for it.
TEST(RanksTest, ACallThatGoesOnDoesNotWait) {
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
TEST(RanksTest, ACommunicatorOfAGroupIsNoOperationOfAll) {
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

// Two barriers that only begin; MPI_Wait waits for the rank that begins last.
TEST(RanksTest, WhoCompletesACollectiveCallWaitsForTheLastRank) {
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
  EXPECT_EQ(waits[0].waiting_ns, 2 * 290);
  EXPECT_EQ(waits[0].late_rank, 1);
  const auto sums = CollectiveSums(JobOfRanks(trace));
  ASSERT_THAT(sums, SizeIs(1));
  EXPECT_EQ(sums[0].operations, 2);
  EXPECT_EQ(sums[0].waiting_ns, 0);
}

// The same for a file.
TEST(RanksTest, WhoCompletesACallOfAFileWaitsForTheLastRank) {
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
  EXPECT_EQ(waits[0].waiting_ns, 290);
  EXPECT_EQ(waits[0].late_rank, 1);
}

// Its name begins like that of MPI_Ibarrier.
TEST(RanksTest, MakingAnIntercommunicatorWaitsForTheLastRank) {
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

TEST(RanksTest, RanksComeLaterThanTheFirst) {
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
TEST(RanksTest, KernelsOfNcclAreCollectiveCalls) {
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
TEST(RanksTest, KernelsWithoutNumbersAreCounted) {
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

// A request of both halves; beside it, partitioned messages of the same tag.
TEST(RanksTest, RequestsThatSendAndReceiveAreMatched) {
  Job job;
  for (const int64_t rank : {0, 1}) {
    job.AddRank(rank, 2);
    const int64_t other = 1 - rank;
    job.Call("MPI_Isendrecv", 100, 105, {{"comm", 0}, {"to", other}});
    job.Call("MPI_Isendrecv", 105, 200 + 100 * rank,
             {{"comm", 0},
              {"to", other},
              {"tag", 1},
              {"bytes", 8},
              {"from", other},
              {"from_tag", 1}},
             model::kEventAsync);
    job.Call(rank == 0 ? "MPI_Psend_init" : "MPI_Precv_init", 90, 250,
             {{"comm", 0},
              {rank == 0 ? "to" : "from", other},
              {"tag", 1},
              {"bytes", 16}},
             model::kEventAsync);
  }
  const model::Trace trace = job.Build();
  const auto matched = MatchMessages(trace, FindRankCalls(trace));
  EXPECT_EQ(matched.sends_alone, 0);
  EXPECT_EQ(matched.receives_alone, 0);
  ASSERT_THAT(matched.messages, SizeIs(3));
  int64_t bytes = 0;
  for (const Message& message : matched.messages) {
    bytes += message.bytes;
    EXPECT_EQ(trace.EventName(message.send) == "MPI_Psend_init",
              trace.EventName(message.receive) == "MPI_Precv_init");
  }
  EXPECT_EQ(bytes, 8 + 8 + 16);
}

// mpi4py's recv() is both calls.
TEST(RanksTest, AReceiverWaitsInTheProbeBeforeTheReceive) {
  Job job;
  job.AddRank(0, 2);
  job.Call("MPI_Send", 300, 310, {{"comm", 0}, {"to", 1}, {"tag", 3}});
  job.Call("MPI_Send", 400, 410, {{"comm", 0}, {"to", 1}, {"tag", 3}});
  job.AddRank(1, 2);
  job.Call("MPI_Mprobe", 100, 305, {{"comm", 0}, {"from", 0}, {"tag", 3}});
  job.Call("MPI_Mrecv", 310, 315, {{"comm", 0}, {"from", 0}, {"tag", 3}});
  job.Call("MPI_Recv", 350, 415, {{"comm", 0}, {"from", 0}, {"tag", 3}});
  const model::Trace trace = job.Build();
  const RankCalls calls = FindRankCalls(trace);
  const auto matched = MatchMessages(trace, calls);
  ASSERT_THAT(matched.messages, SizeIs(2));
  EXPECT_EQ(matched.messages[0].late_sender_ns, 200);
  EXPECT_EQ(matched.messages[1].late_sender_ns, 50);
  const auto late = LateRanks(JobOfRanks(trace));
  ASSERT_THAT(late, SizeIs(1));
  EXPECT_EQ(late[0].rank, 0u);
  EXPECT_EQ(late[0].waited_ns, 250);
  EXPECT_EQ(late[0].call, "MPI_Mprobe");
}

TEST(RanksTest, AFoundMessageIsTakenBeforeItIsRead) {
  Job job;
  job.AddRank(0, 2);
  for (const int64_t bytes : {10, 20, 30, 40}) {
    job.Call("MPI_Send", 100 + bytes, 105 + bytes,
             {{"comm", 0}, {"to", 1}, {"tag", 3}, {"bytes", bytes}});
  }
  job.AddRank(1, 2);
  job.Call("MPI_Mprobe", 50, 115,
           {{"comm", 0}, {"from", 0}, {"tag", 3}, {"message", 0}});
  job.Call("MPI_Improbe", 130, 130, {{"message", 1}}, model::kEventInstant);
  job.Call("MPI_Recv", 140, 150,
           {{"comm", 0}, {"from", 0}, {"tag", 3}, {"bytes", 30}});
  job.Call(
      "MPI_Imrecv", 160, 170,
      {{"comm", 0}, {"from", 0}, {"tag", 3}, {"bytes", 20}, {"message", 1}},
      model::kEventAsync);
  job.Call("MPI_Recv", 180, 190,
           {{"comm", 0}, {"from", 0}, {"tag", 3}, {"bytes", 40}});
  job.Call(
      "MPI_Mrecv", 200, 210,
      {{"comm", 0}, {"from", 0}, {"tag", 3}, {"bytes", 10}, {"message", 0}});
  const model::Trace trace = job.Build();
  const RankCalls calls = FindRankCalls(trace);
  const auto matched = MatchMessages(trace, calls);
  ASSERT_THAT(matched.messages, SizeIs(4));
  std::vector<std::string_view> receives;
  for (const Message& message : matched.messages) {
    receives.push_back(trace.Name(trace.name()[message.receive]));
  }
  EXPECT_THAT(receives,
              ElementsAre("MPI_Mrecv", "MPI_Imrecv", "MPI_Recv", "MPI_Recv"));
  EXPECT_EQ(matched.messages[0].late_sender_ns, 60);
  EXPECT_EQ(matched.messages[2].late_sender_ns, 0);
}

// It has taken the message, and the program goes on.
TEST(RanksTest, AReceiveOfATooLongMessageHasReceivedIt) {
  Job job;
  job.AddRank(0, 2);
  job.Call("MPI_Send", 100, 105, {{"comm", 0}, {"to", 1}, {"tag", 3}});
  job.Call("MPI_Send", 200, 205,
           {{"comm", 0}, {"to", 1}, {"tag", 3}, {"failed", 6}});
  job.Call("MPI_Send", 300, 305, {{"comm", 0}, {"to", 1}, {"tag", 3}});
  job.AddRank(1, 2);
  job.Call("MPI_Recv", 110, 120,
           {{"comm", 0}, {"from", 0}, {"tag", 3}, {"failed", 15}});
  job.Call("MPI_Recv", 280, 310, {{"comm", 0}, {"from", 0}, {"tag", 3}});
  const model::Trace trace = job.Build();
  const auto matched = MatchMessages(trace, FindRankCalls(trace));
  ASSERT_THAT(matched.messages, SizeIs(2));
  EXPECT_EQ(trace.start()[matched.messages[0].receive], 110);
  EXPECT_EQ(trace.start()[matched.messages[1].receive], 280);
  EXPECT_EQ(matched.messages[1].late_sender_ns, 20);
  EXPECT_EQ(matched.sends_alone + matched.receives_alone, 0);
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

TEST(RanksTest, MessagesMatchInTheirOrder) {
  Job job;
  job.AddRank(0, 2);
  job.Call("MPI_Send", 300, 350,
           {{"comm", 0}, {"to", 1}, {"tag", 3}, {"bytes", 10}});
  job.Call("MPI_Send", 400, 450,
           {{"comm", 0}, {"to", 1}, {"tag", 3}, {"bytes", 20}});
  job.Call("MPI_Send", 500, 550,
           {{"comm", 0}, {"to", 1}, {"tag", 4}, {"bytes", 30}});
  job.AddRank(1, 2);
  job.Call("MPI_Recv", 100, 350,
           {{"comm", 0}, {"from", 0}, {"tag", 3}, {"bytes", 10}});
  job.Call("MPI_Recv", 430, 450,
           {{"comm", 0}, {"from", 0}, {"tag", 3}, {"bytes", 20}});
  job.Call("MPI_Recv", 460, 550,
           {{"comm", 9}, {"from", 0}, {"tag", 4}, {"bytes", 30}});
  const model::Trace trace = job.Build();
  const auto matched = MatchMessages(trace, FindRankCalls(trace));
  ASSERT_THAT(matched.messages, SizeIs(2));
  EXPECT_EQ(matched.messages[0].bytes, 10);
  EXPECT_EQ(matched.messages[0].late_sender_ns, 200);
  EXPECT_EQ(matched.messages[0].late_receiver_ns, 0);
  EXPECT_EQ(matched.messages[1].bytes, 20);
  EXPECT_EQ(matched.messages[1].late_sender_ns, 0);
  EXPECT_EQ(matched.messages[1].late_receiver_ns, 30);
  // Another communicator is another message.
  EXPECT_EQ(matched.sends_alone, 1);
  EXPECT_EQ(matched.receives_alone, 1);
}

// The call that only begins a message is not the message: its request is.
TEST(RanksTest, RequestsAreMessages) {
  Job job;
  job.AddRank(0, 2);
  job.Call("MPI_Isend", 100, 101,
           {{"comm", 0}, {"to", 1}, {"tag", 3}, {"bytes", 10}});
  job.Call("MPI_Isend", 100, 300,
           {{"comm", 0}, {"to", 1}, {"tag", 3}, {"bytes", 10}},
           model::kEventAsync);
  job.AddRank(1, 2);
  job.Call("MPI_Irecv", 50, 51, {{"comm", 0}});
  job.Call("MPI_Irecv", 50, 300,
           {{"comm", 0}, {"from", 0}, {"tag", 3}, {"bytes", 10}},
           model::kEventAsync);
  const model::Trace trace = job.Build();
  const auto matched = MatchMessages(trace, FindRankCalls(trace));
  ASSERT_THAT(matched.messages, SizeIs(1));
  EXPECT_EQ(matched.messages[0].late_sender_ns, 0);
  EXPECT_EQ(matched.sends_alone, 0);
  EXPECT_EQ(matched.receives_alone, 0);
}

// Rank 0 sends late to rank 1, and rank 2 in time.
TEST(RanksTest, AWaitForRequestsIsForTheLatestRankAndThenTransfer) {
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

// Rank 1 died. The others were in calls for it when the recording ended.
TEST(RanksTest, CallsForARankThatNeverCameWaitForIt) {
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
TEST(RanksTest, AnOpenWaitThatMayBeForOneOfTwoNamesNobody) {
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
TEST(RanksTest, AnOpenReceiveIsNotAlwaysForARankThatNeverCame) {
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
TEST(RanksTest, ACallForARankThatNeverCameCountsOnce) {
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

TEST(RanksTest, OfTwoRanksThatNeverCameACallWaitsForTheOneThatItReceivesFrom) {
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

// A large message waits for its receiver, a small one does not.
TEST(RanksTest, ASenderWaitsForALateReceiverUnlessItIsThroughBefore) {
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
TEST(RanksTest, EachThreadWaitsForItsOwnRequests) {
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

// A small message is copied; who sends it waits for nobody.
TEST(RanksTest, ASendThatIsOverWaitedForNobody) {
  Job job;
  job.AddRank(0, 2);
  job.Call("MPI_Send", 100, 150, {{"comm", 0}, {"to", 1}, {"tag", 3}});
  job.AddRank(1, 2);
  job.Call("MPI_Recv", 300, 310, {{"comm", 0}, {"from", 0}, {"tag", 3}});
  const model::Trace trace = job.Build();
  const RankCalls calls = FindRankCalls(trace);
  const auto matched = MatchMessages(trace, calls);
  ASSERT_THAT(matched.messages, SizeIs(1));
  EXPECT_EQ(matched.messages[0].late_receiver_ns, 0);
  EXPECT_THAT(LateRanks(JobOfRanks(trace)), IsEmpty());
}

// It was complete long before its sender came to MPI_Wait.
TEST(RanksTest, ASmallMessageWaitsOnlyForTheBeginOfItsSend) {
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

TEST(RanksTest, ASendrecvIsBothEnds) {
  Job job;
  for (const int64_t rank : {0, 1}) {
    job.AddRank(rank, 2);
    job.Call("MPI_Sendrecv", 100 + 50 * rank, 200,
             {{"comm", 0},
              {"to", 1 - rank},
              {"tag", rank},
              {"bytes", 8},
              {"from", 1 - rank},
              {"from_tag", 1 - rank},
              {"from_bytes", 8}});
  }
  const model::Trace trace = job.Build();
  const auto matched = MatchMessages(trace, FindRankCalls(trace));
  ASSERT_THAT(matched.messages, SizeIs(2));
  // Rank 0 waited once.
  EXPECT_EQ(matched.messages[0].late_receiver_ns, 0);
  EXPECT_EQ(matched.messages[1].late_sender_ns, 50);
  const auto late = LateRanks(JobOfRanks(trace));
  ASSERT_THAT(late, SizeIs(1));
  EXPECT_EQ(late[0].rank, 1u);
  EXPECT_EQ(late[0].waited_ns, 50);
}

// In a ring its two partners are two ranks.
TEST(RanksTest, ASendrecvWaitsForTheLaterOfItsPartners) {
  Job job;
  for (const int64_t rank : {0, 1, 2}) {
    job.AddRank(rank, 3);
    job.Call("MPI_Sendrecv", 100 + 30 * rank, 200,
             {{"comm", 0},
              {"to", (rank + 1) % 3},
              {"tag", 1},
              {"bytes", 8},
              {"from", (rank + 2) % 3},
              {"from_tag", 1},
              {"from_bytes", 8}});
  }
  const model::Trace trace = job.Build();
  const auto late = LateRanks(JobOfRanks(trace));
  ASSERT_THAT(late, SizeIs(1));
  EXPECT_EQ(late[0].rank, 2u);
  EXPECT_EQ(late[0].waited_ns, 60 + 30);
}

// The other rank began a request in time, but a large message moves only in
// its MPI_Wait.
TEST(RanksTest, ABlockingCallWaitsForTheOthersMpiWait) {
  Job job;
  job.AddRank(0, 2);
  job.Call("MPI_Send", 100, 450, {{"comm", 0}, {"to", 1}, {"tag", 3}});
  job.Call("MPI_Send", 500, 520, {{"comm", 0}, {"to", 1}, {"tag", 3}});
  job.Call("MPI_Recv", 600, 950, {{"comm", 0}, {"from", 1}, {"tag", 4}});
  job.AddRank(1, 2);
  job.Call("MPI_Irecv", 90, 450, {{"comm", 0}, {"from", 0}, {"tag", 3}},
           model::kEventAsync);
  job.Call("MPI_Wait", 400, 450);
  // This message was there before.
  job.Call("MPI_Irecv", 490, 560, {{"comm", 0}, {"from", 0}, {"tag", 3}},
           model::kEventAsync);
  job.Call("MPI_Wait", 550, 560);
  job.Call("MPI_Isend", 610, 950, {{"comm", 0}, {"to", 0}, {"tag", 4}},
           model::kEventAsync);
  job.Call("MPI_Wait", 900, 950);
  const model::Trace trace = job.Build();
  const auto matched = MatchMessages(trace, FindRankCalls(trace));
  ASSERT_THAT(matched.messages, SizeIs(3));
  EXPECT_EQ(matched.messages[0].late_receiver_ns, 300);
  EXPECT_EQ(trace.start()[matched.messages[0].receiver_came], 400);
  EXPECT_EQ(matched.messages[1].late_receiver_ns, 0);
  EXPECT_EQ(matched.messages[2].late_sender_ns, 300);
  EXPECT_EQ(trace.start()[matched.messages[2].sender_came], 900);
  const auto late = LateRanks(JobOfRanks(trace));
  ASSERT_THAT(late, SizeIs(1));
  EXPECT_EQ(late[0].rank, 1u);
  EXPECT_EQ(late[0].waited_ns, 600);
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
