#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "profiler/analysis/ranks/collectives.h"
#include "profiler/analysis/ranks/job_of_ranks.h"
#include "profiler/analysis/ranks/rank_path.h"
#include "profiler/analysis/ranks/rank_waits.h"
#include "profiler/analysis/ranks/test_job.h"

namespace kymo::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// Rank 1 died: the others were in the call until the recording ended.
TEST(NeverCameTest, AllOfACallIsWaitingForARankThatNeverCame) {
  Job job;
  for (const int64_t rank : {0, 1, 2}) {
    job.AddRank(rank, 3);
    job.Call("MPI_Barrier", 200, 210, {{"comm", 0}});
    if (rank == 0) {
      job.Call("MPI_Barrier", 300, 800, {{"comm", 0}}, model::kEventOpen);
    } else if (rank == 2) {  // its library told it that rank 1 is dead
      job.Call("MPI_Barrier", 302, 800, {{"comm", 0}, {"failed", 54}});
    } else {
      job.Call("MPI_Pcontrol", 350, 351);  // the last it did
    }
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

// The record of its call was lost.
TEST(NeverCameTest, ACallThatWasOverHadAllItsRanks) {
  Job job;
  job.AddRank(0, 2);
  job.Comm(3, "halo");
  job.Call("MPI_Barrier", 300, 400, {{"comm", 3}});
  job.AddRank(1, 2);
  job.Comm(3, "halo");
  const model::Trace trace = job.Build();
  const JobOfRanks all(trace);
  EXPECT_THAT(LateRanks(all), IsEmpty());
  EXPECT_EQ(CollectiveSums(all)[0].missing, std::vector<int64_t>{1});
}

// Ranks 0 to 2 called it at 100, 200 and 300, and those of `open` were in it
// when the recording ended at 900. Rank 3 never came. Returns how long others
// waited for each rank.
std::vector<DurationNs> WaitedForIn(const std::string& name, int64_t root,
                                    const std::set<int64_t>& open) {
  Job job;
  for (const int64_t rank : {0, 1, 2, 3}) {
    job.AddRank(rank, 4);
    job.Comm(5, "halo");
    if (rank == 3) break;
    const TimeNs begin = 100 * (rank + 1);
    const bool is_open = open.contains(rank);
    job.Call(name, begin, is_open ? 900 : begin + 10,
             {{"comm", 5}, {"root", root}}, is_open ? model::kEventOpen : 0);
  }
  const model::Trace trace = job.Build();
  return CollectiveSums(JobOfRanks(trace))[0].waited_for_ns;
}

TEST(NeverCameTest, WhoCannotGoOnWithoutARankWaitsForIt) {
  // What the root has: the others wait for the root alone.
  EXPECT_THAT(WaitedForIn("MPI_Bcast", 3, {0, 1, 2}),
              ElementsAre(0, 0, 0, 800 + 700 + 600));
  EXPECT_THAT(WaitedForIn("MPI_Scatter", 0, {}), ElementsAre(0, 0, 0, 0));
  // A large message to rank 3 stays with the root.
  EXPECT_THAT(WaitedForIn("MPI_Bcast", 0, {0}), ElementsAre(0, 0, 0, 800));
  // What the others have: the root waits.
  EXPECT_THAT(WaitedForIn("MPI_Reduce", 1, {1}), ElementsAre(0, 0, 0, 700));
  EXPECT_THAT(WaitedForIn("MPI_Gather", 3, {}), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(WaitedForIn("MPI_Exscan", -1, {2}), ElementsAre(0, 0, 0, 600));
  EXPECT_THAT(WaitedForIn("MPI_Neighbor_alltoall", -1, {0}),
              ElementsAre(0, 0, 0, 800));
}

// Ranks 0 and 3 never came: rank 1 needs what the root has.
TEST(NeverCameTest, OfTwoRanksTheOthersWaitForTheRoot) {
  for (const int64_t root : {0, 3}) {
    Job job;
    for (const int64_t rank : {0, 1, 2, 3}) {
      job.AddRank(rank, 4);
      job.Comm(5, "halo");
      if (rank == 0 || rank == 3) continue;
      job.Call("MPI_Bcast", 100, 900, {{"comm", 5}, {"root", root}},
               model::kEventOpen);
    }
    const model::Trace trace = job.Build();
    EXPECT_EQ(CollectiveSums(JobOfRanks(trace))[0].late_rank, root);
  }
}

TEST(NeverCameTest, WhoCompletesACollectiveCallWaitsForIt) {
  for (const bool is_open : {true, false}) {
    const uint8_t open = is_open ? model::kEventOpen : 0;
    Job job;
    for (const int64_t rank : {0, 1, 2}) {
      job.AddRank(rank, 3);
      job.Comm(5, "halo");
      if (rank == 1) continue;
      job.Call("MPI_Ireduce", 100, 105, {{"comm", 5}, {"root", 0}});
      job.Call("MPI_Ireduce", 105, 900, {{"comm", 5}, {"root", 0}},
               model::kEventAsync | open);
      job.Call("MPI_Waitall", 300 + rank, 900, {}, open);
    }
    const model::Trace trace = job.Build();
    const JobOfRanks all(trace);
    const auto waits = WaitSums(all);
    ASSERT_THAT(waits, SizeIs(1));
    // Else the record of rank 1 was lost, and rank 2 comes 2 ns after rank 0.
    EXPECT_EQ(waits[0].waiting_ns, is_open ? 600 + 598 : 2);
    EXPECT_EQ(waits[0].late_rank, is_open ? 1 : 2);
    // Nobody waited in the calls that began it.
    EXPECT_EQ(CollectiveSums(all)[0].waiting_ns, 0);
  }
}

// A large message: rank 1 has begun its part, and never came to its MPI_Wait.
TEST(NeverCameTest, ARankThatOnlyBeganItsPartNeverCame) {
  for (const bool is_receiver : {true, false}) {
    Job job;
    job.AddRank(0, 3);
    if (is_receiver) {
      job.Call("MPI_Send", 200, 900, {{"comm", 0}, {"to", 1}, {"tag", 3}},
               model::kEventOpen);
    } else {
      job.Call("MPI_Recv", 200, 900,
               {{"comm", 0}, {"source", 1}, {"source_tag", 3}},
               model::kEventOpen);
    }
    job.AddRank(1, 3);
    for (const int64_t other : {0, 2}) {
      if (is_receiver) {
        job.Call("MPI_Irecv", 95, 850,
                 {{"comm", 0}, {"source", other}, {"source_tag", 3}},
                 model::kEventAsync | model::kEventOpen);
      } else {
        job.Call("MPI_Isend", 95, 850, {{"comm", 0}, {"to", other}, {"tag", 3}},
                 model::kEventAsync | model::kEventOpen);
      }
    }
    job.AddRank(2, 3);
    if (is_receiver) {
      job.Call("MPI_Isend", 290, 900, {{"comm", 0}, {"to", 1}, {"tag", 3}},
               model::kEventAsync | model::kEventOpen);
    } else {
      job.Call("MPI_Irecv", 290, 900,
               {{"comm", 0}, {"source", 1}, {"source_tag", 3}},
               model::kEventAsync | model::kEventOpen);
    }
    job.Call("MPI_Waitall", 300, 900, {}, model::kEventOpen);
    const model::Trace trace = job.Build();
    const JobOfRanks all(trace);
    ASSERT_THAT(all.messages.messages, SizeIs(2));
    EXPECT_THAT(all.messages.unanswered, IsEmpty());
    const auto late = LateRanks(all);
    ASSERT_THAT(late, SizeIs(1)) << is_receiver;
    EXPECT_EQ(late[0].rank, 1u);
    EXPECT_EQ(late[0].waited_ns, 700 + 600);
  }
}

// The same, but rank 1 is in its MPI_Wait: the message is on the way.
TEST(NeverCameTest, ARankThatIsInItsMpiWaitHasCome) {
  Job job;
  job.AddRank(0, 2);
  job.Call("MPI_Send", 200, 900, {{"comm", 0}, {"to", 1}, {"tag", 3}},
           model::kEventOpen);
  job.AddRank(1, 2);
  job.Call("MPI_Irecv", 95, 850,
           {{"comm", 0}, {"source", 0}, {"source_tag", 3}},
           model::kEventAsync | model::kEventOpen);
  job.Call("MPI_Wait", 500, 850, {}, model::kEventOpen);
  const model::Trace trace = job.Build();
  const auto late = LateRanks(JobOfRanks(trace));
  ASSERT_THAT(late, SizeIs(1));
  EXPECT_EQ(late[0].rank, 1u);
  EXPECT_EQ(late[0].waited_ns, 300);
}

// A stencil: rank 2 died, and rank 0 is not yet there for its message.
TEST(NeverCameTest, AWaitForAllIsForThoseItReceivesFrom) {
  Job job;
  job.AddRank(0, 3);
  job.AddRank(1, 3);
  job.Call("MPI_Irecv", 90, 900,
           {{"comm", 0}, {"source", 2}, {"source_tag", 3}},
           model::kEventAsync | model::kEventOpen);
  job.Call("MPI_Isend", 91, 900, {{"comm", 0}, {"to", 0}, {"tag", 3}},
           model::kEventAsync | model::kEventOpen);
  job.Call("MPI_Waitall", 100, 900, {}, model::kEventOpen);
  job.AddRank(2, 3);
  const model::Trace trace = job.Build();
  const auto late = LateRanks(JobOfRanks(trace));
  ASSERT_THAT(late, SizeIs(1));
  EXPECT_EQ(late[0].rank, 2u);
  EXPECT_EQ(late[0].waited_ns, 800);
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

// It had sent to rank 1, and received from MPI_ANY_SOURCE.
TEST(NeverCameTest, WhoReceivesFromAnybodyDoesNotWaitForWhoItSendsTo) {
  Job job;
  job.AddRank(0, 3);
  job.Call("MPI_Sendrecv", 100, 900,
           {{"comm", 0}, {"to", 1}, {"tag", 3}, {"bytes", 8}},
           model::kEventOpen);
  job.AddRank(1, 3);
  job.AddRank(2, 3);
  job.Call("MPI_Isendrecv", 90, 900, {{"comm", 0}, {"to", 1}, {"tag", 3}},
           model::kEventAsync | model::kEventOpen);
  job.Call("MPI_Wait", 100, 900, {}, model::kEventOpen);
  const model::Trace trace = job.Build();
  const JobOfRanks all(trace);
  EXPECT_THAT(LateRanks(all), IsEmpty());
  ASSERT_THAT(all.messages.unanswered, SizeIs(2));
  EXPECT_EQ(all.messages.unanswered[0].bytes, 8);
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
