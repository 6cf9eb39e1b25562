#include "profiler/analysis/ranks/rank_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/ranks/test_job.h"

namespace kymo::analysis {
namespace {

using ::testing::ElementsAre;

// "1 MPI_Barrier 300-310"; "-" stands for outside of MPI.
std::vector<std::string> PathOf(const model::Trace& trace) {
  const RankCalls calls = FindRankCalls(trace);
  EXPECT_TRUE(HasRankPath(calls));
  std::vector<std::string> texts;
  TimeNs last = 0;
  for (const RankStep& step : FindRankPath(JobOfRanks(trace))) {
    EXPECT_TRUE(last == 0 || step.start_ns == last) << "a gap";
    last = step.end_ns;
    const std::string name(
        step.call == model::kNoEvent ? "-" : trace.EventName(step.call));
    texts.push_back(absl::StrCat(calls.ranks[step.rank].rank, " ", name, " ",
                                 step.start_ns, "-", step.end_ns));
  }
  return texts;
}

// Rank 1 starts late and comes late to the reduction, then rank 2 sends late to
// rank 0, which comes last to the end.
TEST(RankPathTest, GoesThroughThoseWhoWereLate) {
  Job job;
  const TimeNs starts[] = {20, 60, 30};
  const TimeNs enters[] = {200, 300, 250};
  for (const int64_t rank : {0, 1, 2}) {
    job.AddRank(rank, 3);
    job.Call("MPI_Init", starts[rank], 100);
    job.Call("MPI_Allreduce", enters[rank], 310, {{"comm", 0}});
    if (rank == 0) {
      job.Call("MPI_Recv", 330, 410, {{"comm", 0}, {"from", 2}, {"tag", 1}});
    }
    if (rank == 2) {
      job.Call("MPI_Send", 400, 405, {{"comm", 0}, {"to", 0}, {"tag", 1}});
    }
    job.Call("MPI_Finalize", rank == 0 ? 500 : 420, 510);
  }
  EXPECT_THAT(PathOf(job.Build()),
              ElementsAre("1 - 10-60", "1 MPI_Init 60-100", "1 - 100-300",
                          "2 MPI_Allreduce 300-310", "2 - 310-400",
                          "0 MPI_Recv 400-410", "0 - 410-500"));
}

// Phases of MPI_Pcontrol have a track with the number of the thread.
TEST(RankPathTest, BeginsInTheThreadThatCalledMpi) {
  Job job;
  for (const int64_t rank : {0, 1}) {
    job.AddRank(rank, 2);
    job.Call("MPI_Init", 20, 100);
    job.Call("MPI_Barrier", rank == 0 ? 150 : 300, 310, {{"comm", 0}});
    job.Call("MPI_Finalize", rank == 0 ? 400 : 350, 410);
    job.Lane(rank);
    job.Call("phase 1", 120, 390, {}, model::kEventAsync);
  }
  EXPECT_THAT(PathOf(job.Build()),
              ElementsAre("1 - 10-20", "1 MPI_Init 20-100", "1 - 100-300",
                          "0 MPI_Barrier 300-310", "0 - 310-400"));
}

// The receiver began to receive long ago. Its message comes when the sender is
// in MPI again.
TEST(RankPathTest, AWaitForRequestsIsForTheLatestRank) {
  Job job;
  job.AddRank(0, 2);
  job.Call("MPI_Isend", 50, 590, {{"comm", 0}, {"to", 1}, {"tag", 3}},
           model::kEventAsync);
  job.Call("MPI_Wait", 580, 595);
  job.Call("MPI_Finalize", 600, 700);
  job.AddRank(1, 2);
  job.Call("MPI_Irecv", 40, 600, {{"comm", 0}, {"from", 0}, {"tag", 3}},
           model::kEventAsync);
  job.Call("MPI_Waitall", 110, 610);
  job.Call("MPI_Finalize", 650, 700);
  EXPECT_THAT(
      PathOf(job.Build()),
      ElementsAre("0 - 10-580", "1 MPI_Waitall 580-610", "1 - 610-650"));
}

// By their clocks, each of them entered after the other one had left.
TEST(RankPathTest, RecordsThatContradictEndIt) {
  Job job;
  job.AddRank(0, 2);
  job.Call("MPI_Recv", 100, 200, {{"comm", 0}, {"from", 1}, {"tag", 1}});
  job.Call("MPI_Send", 300, 305, {{"comm", 0}, {"to", 1}, {"tag", 2}});
  job.Call("MPI_Finalize", 500, 510);
  job.AddRank(1, 2);
  job.Call("MPI_Recv", 150, 250, {{"comm", 0}, {"from", 0}, {"tag", 2}});
  job.Call("MPI_Send", 260, 265, {{"comm", 0}, {"to", 0}, {"tag", 1}});
  job.Call("MPI_Finalize", 400, 510);
  EXPECT_THAT(PathOf(job.Build()),
              ElementsAre("1 - 10-150", "1 MPI_Recv 150-200", "0 - 200-300",
                          "0 MPI_Send 300-305", "0 - 305-500"));
}

// It died, and nobody waited for it any more.
TEST(RankPathTest, ARankWithoutAnEndEndsWithItsLastEvent) {
  Job job;
  job.AddRank(0, 2);
  job.Call("MPI_Finalize", 500, 600);
  job.AddRank(1, 2);
  job.Call("MPI_Send", 300, 400, {{"comm", 0}, {"to", 0}, {"tag", 1}});
  EXPECT_THAT(PathOf(job.Build()), ElementsAre("0 - 10-500"));
}

// Rank 1 died after 300. The path of the wait goes on there.
TEST(RankPathTest, AWaitForARankThatNeverCameIsThatRanks) {
  Job job;
  job.AddRank(0, 3);
  job.Comm(0, "world");
  job.Call("MPI_Init", 20, 100);
  job.Call("MPI_Barrier", 150, 900, {{"comm", 0}}, model::kEventOpen);
  job.AddRank(1, 3);
  job.Comm(0, "world");
  job.Call("MPI_Init", 30, 100);
  job.Call("MPI_Send", 200, 300, {{"comm", 0}, {"to", 0}, {"tag", 1}});
  job.AddRank(2, 3);
  job.Call("MPI_Init", 20, 100);
  job.Call("MPI_Recv", 120, 910,
           {{"comm", 0}, {"source", 0}, {"source_tag", 4}}, model::kEventOpen);
  // Rank 2 waited for rank 0, and that one for rank 1.
  EXPECT_THAT(PathOf(job.Build()),
              ElementsAre("1 - 10-30", "1 MPI_Init 30-100", "1 - 100-200",
                          "1 MPI_Send 200-300", "1 - 300-910"));
}

TEST(RankPathTest, OneRankHasNone) {
  Job job;
  job.AddRank(0, 2);
  EXPECT_FALSE(HasRankPath(FindRankCalls(job.Build())));
}

}  // namespace
}  // namespace kymo::analysis
