#include "profiler/analysis/ranks/rank_waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/ranks/test_job.h"

namespace kymo::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// "rank 0: waited 20, delay 45, through 25".
std::vector<std::string> LateRanksOf(const model::Trace& trace) {
  std::vector<std::string> texts;
  const JobOfRanks job(trace);
  for (const LateRank& late : LateRanks(job)) {
    texts.push_back(absl::StrCat("rank ", job.calls.ranks[late.rank].rank,
                                 ": waited ", late.waited_ns, ", delay ",
                                 late.delay_ns, ", through ", late.through_ns));
  }
  return texts;
}

// Rank 0 computes until 500. Rank 1 waits for it, works until 540, and sends to
// rank 2, which has waited since 200.
TEST(RankWaitsTest, ARankThatWaitsItselfIsNotTheOrigin) {
  Job job;
  job.AddRank(0, 3);
  job.Call("MPI_Send", 500, 505, {{"comm", 0}, {"to", 1}, {"tag", 1}});
  job.AddRank(1, 3);
  job.Call("MPI_Recv", 100, 510, {{"comm", 0}, {"from", 0}, {"tag", 1}});
  job.Call("MPI_Send", 540, 545, {{"comm", 0}, {"to", 2}, {"tag", 1}});
  job.AddRank(2, 3);
  job.Call("MPI_Recv", 200, 550, {{"comm", 0}, {"from", 1}, {"tag", 1}});
  EXPECT_THAT(LateRanksOf(job.Build()),
              ElementsAre("rank 0: waited 400, delay 700, through 300",
                          // In rank 1, 10 of its call were transfer.
                          "rank 1: waited 340, delay 40, through 0"));
}

// Each waits for the one before it, in another kind of call. Rank 0 died.
TEST(RankWaitsTest, TheOriginOfAChainIsTheRankThatNeverCame) {
  Job job;
  job.AddRank(0, 4);
  job.Call("MPI_Pcontrol", 20, 30);
  job.AddRank(1, 4);
  job.Call("MPI_Recv", 100, 900,
           {{"comm", 0}, {"source", 0}, {"source_tag", 1}}, model::kEventOpen);
  job.AddRank(2, 4);
  job.Comm(7, "pair");
  job.Call("MPI_Irecv", 105, 900,
           {{"comm", 0}, {"source", 1}, {"source_tag", 1}},
           model::kEventAsync | model::kEventOpen);
  job.Call("MPI_Wait", 150, 900, {}, model::kEventOpen);
  job.AddRank(3, 4);
  job.Comm(7, "pair");
  job.Call("MPI_Bcast", 200, 900, {{"comm", 7}, {"root", 2}},
           model::kEventOpen);
  EXPECT_THAT(LateRanksOf(job.Build()),
              ElementsAre("rank 0: waited 800, delay 2250, through 1450",
                          "rank 1: waited 750, delay 0, through 0",
                          "rank 2: waited 700, delay 0, through 0"));
}

// The records of ranks that a launcher kills end at different times, in any
// order.
TEST(RankWaitsTest, TheOriginIsTheSameWhoeverIsKilledFirst) {
  for (const TimeNs end_of_middle : {890, 900, 910}) {
    Job job;
    job.AddRank(0, 3);
    job.Call("MPI_Pcontrol", 20, 30);
    job.End(0, 300, 9);
    job.AddRank(1, 3);
    job.Call("MPI_Recv", 100, end_of_middle,
             {{"comm", 0}, {"source", 0}, {"source_tag", 1}},
             model::kEventOpen);
    job.AddRank(2, 3);
    job.Call("MPI_Recv", 200, 900,
             {{"comm", 0}, {"source", 1}, {"source_tag", 1}},
             model::kEventOpen);
    EXPECT_THAT(LateRanksOf(job.Build()),
                ElementsAre(absl::StrCat("rank 0: waited ", end_of_middle - 100,
                                         ", delay ", end_of_middle + 600,
                                         ", through 700"),
                            "rank 1: waited 700, delay 0, through 0"));
  }
}

// Ranks 0 and 1 take turns of 3 and 1 for longer than a wait is followed.
TEST(RankWaitsTest, ALongWaitIsSharedAsItsEndIs) {
  Job job;
  constexpr int64_t kTurns = 5'000;
  constexpr TimeNs kTurn = 4'000;
  for (const int64_t rank : {0, 1}) {
    job.AddRank(rank, 3);
    for (int64_t i = 0; i < kTurns; ++i) {
      const TimeNs begin = 1'000 + i * kTurn;
      const TimeNs sent = begin + (rank == 0 ? 3'000 : 4'000);
      if (rank == 1) {
        job.Call("MPI_Recv", begin + 1, begin + 3'000,
                 {{"comm", 0}, {"from", 0}, {"tag", 1}});
      }
      job.Call("MPI_Send", sent, sent,
               {{"comm", 0}, {"to", 1 - rank}, {"tag", 1}});
      if (rank == 0) {
        job.Call("MPI_Recv", sent + 1, begin + 4'000,
                 {{"comm", 0}, {"from", 1}, {"tag", 1}});
      }
    }
    job.Call("MPI_Barrier", 1'000 + kTurns * kTurn, 1'000 + kTurns * kTurn,
             {{"comm", 0}});
  }
  job.AddRank(2, 3);
  job.Call("MPI_Barrier", 1'000, 1'000 + kTurns * kTurn, {{"comm", 0}});
  const model::Trace trace = job.Build(1'000 + kTurns * kTurn);
  const JobOfRanks all(trace);
  DurationNs by_others = 0;  // rank 2's wait, in all
  std::vector<double> delays(2);
  for (const LateRank& late : LateRanks(all)) {
    by_others += late.delay_ns;
    if (late.rank < 2) delays[late.rank] = static_cast<double>(late.delay_ns);
  }
  EXPECT_GT(by_others, kTurns * kTurn);
  // Each also waits for the other one.
  EXPECT_NEAR(delays[0] / (delays[0] + delays[1]), 0.75, 0.01);
}

// What the origin did before others waited does not count.
TEST(RankWaitsTest, AWaitIsFollowedAsFarAsItIsLong) {
  Job job;
  job.AddRank(0, 3);
  job.Call("MPI_Send", 500, 505, {{"comm", 0}, {"to", 1}, {"tag", 1}});
  job.AddRank(1, 3);
  job.Call("MPI_Recv", 100, 510, {{"comm", 0}, {"from", 0}, {"tag", 1}});
  job.Call("MPI_Send", 600, 605, {{"comm", 0}, {"to", 2}, {"tag", 1}});
  job.AddRank(2, 3);
  job.Call("MPI_Recv", 520, 610, {{"comm", 0}, {"from", 1}, {"tag", 1}});
  EXPECT_THAT(LateRanksOf(job.Build()),
              ElementsAre("rank 0: waited 400, delay 400, through 0",
                          "rank 1: waited 80, delay 80, through 0"));
}

// A helper thread of rank 1 computes until 500 and sends to rank 0. Meanwhile,
// its first thread waits for rank 2.
TEST(RankWaitsTest, AThreadComputesBeforeItsFirstCall) {
  for (const int64_t age : {0, 300, 390}) {
    Job job;
    job.AddRank(0, 3);
    job.Call("MPI_Recv", 100, 510, {{"comm", 0}, {"from", 1}, {"tag", 1}});
    job.AddRank(1, 3);
    job.Call("MPI_Init_thread", 10, 90);
    job.Call("MPI_Recv", 120, 480, {{"comm", 0}, {"from", 2}, {"tag", 1}});
    job.Thread(1, 1);
    if (age > 0) job.Made(500, age);
    job.Call("MPI_Send", 500, 505, {{"comm", 0}, {"to", 0}, {"tag", 1}});
    job.AddRank(2, 3);
    job.Call("MPI_Send", 480, 485, {{"comm", 0}, {"to", 1}, {"tag", 1}});
    // Before the helper was made, rank 1 waited for rank 2 from 120 on. If it
    // was made just then, rank 1 computed from 480 on.
    const int64_t computed = age == 0 ? 20 : age == 300 ? 300 : 400;
    EXPECT_THAT(
        LateRanksOf(job.Build()),
        UnorderedElementsAre(
            absl::StrCat("rank 1: waited 400, delay ", computed, ", through 0"),
            absl::StrCat("rank 2: waited 360, delay ", 360 + 400 - computed,
                         ", through ", 400 - computed)))
        << age;
  }
}

// Each waits for the other one until the end: neither is the origin of both.
TEST(RankWaitsTest, RanksThatWaitForEachOtherKeepTheirWaits) {
  Job job;
  for (const int64_t rank : {0, 1}) {
    job.AddRank(rank, 2);
    job.Call("MPI_Recv", 100 + 50 * rank, 900,
             {{"comm", 0}, {"source", 1 - rank}, {"source_tag", 1}},
             model::kEventOpen);
  }
  EXPECT_THAT(LateRanksOf(job.Build()),
              ElementsAre("rank 1: waited 800, delay 800, through 0",
                          "rank 0: waited 750, delay 750, through 0"));
}

// Its other thread is late with what it sends to itself.
TEST(RankWaitsTest, ARankThatWaitsForItselfHoldsUpNobody) {
  Job job;
  job.AddRank(0, 2);
  job.Call("MPI_Recv", 100, 500, {{"comm", 0}, {"from", 0}, {"tag", 1}});
  job.Thread(0, 1);
  job.Call("MPI_Send", 490, 495, {{"comm", 0}, {"to", 0}, {"tag", 1}});
  job.AddRank(1, 2);
  EXPECT_THAT(LateRanksOf(job.Build()), IsEmpty());
}

}  // namespace
}  // namespace kymo::analysis
