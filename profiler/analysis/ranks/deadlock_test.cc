#include "profiler/analysis/ranks/deadlock.h"

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

constexpr uint8_t kOpen = model::kEventOpen;
constexpr uint8_t kOpenRequest = model::kEventOpen | model::kEventAsync;

// "0 for 1 in MPI_Wait (MPI_Irecv, 5)" for each step, and "2 more".
std::vector<std::string> CircleOf(const model::Trace& trace) {
  const JobOfRanks job(trace);
  const auto deadlock = FindDeadlock(job);
  std::vector<std::string> texts;
  if (!deadlock) return texts;
  for (const CircleStep& step : deadlock->circle) {
    std::string text = absl::StrCat(job.calls.ranks[step.rank].rank, " for ",
                                    job.calls.ranks[step.awaited].rank, " in ",
                                    std::string(trace.EventName(step.call)));
    if (step.operation != step.call || step.tag >= 0) {
      absl::StrAppend(&text, " (", std::string(trace.EventName(step.operation)),
                      ", ", step.tag, ")");
    }
    texts.push_back(text);
  }
  if (deadlock->others > 0) {
    texts.push_back(absl::StrCat(deadlock->others, " more"));
  }
  return texts;
}

void Receive(Job& job, TimeNs begin, int64_t source, TimeNs end = 900) {
  job.Call("MPI_Recv", begin, end,
           {{"comm", 0}, {"source", source}, {"source_tag", 5}}, kOpen);
}

TEST(DeadlockTest, RanksThatReceiveFromEachOtherAreOne) {
  Job job;
  for (const int64_t rank : {0, 1}) {
    job.AddRank(rank, 3);
    job.Comm(0, "world");
    Receive(job, 200 + 100 * rank, 1 - rank, 900 - rank);
  }
  job.AddRank(2, 3);
  job.Call("MPI_Barrier", 100, 900, {{"comm", 0}}, kOpen);
  const model::Trace trace = job.Build();
  EXPECT_THAT(CircleOf(trace),
              ElementsAre("0 for 1 in MPI_Recv (MPI_Recv, 5)",
                          "1 for 0 in MPI_Recv (MPI_Recv, 5)", "1 more"));
  const auto deadlock = FindDeadlock(JobOfRanks(trace));
  EXPECT_EQ(deadlock->since_ns, 300);
  EXPECT_EQ(deadlock->waiting_ns, 600 + 599 + 600);
}

// Large messages: each sends before it receives.
TEST(DeadlockTest, RanksThatSendToEachOtherAreOne) {
  Job job;
  for (const int64_t rank : {0, 1, 2}) {
    job.AddRank(rank, 3);
    job.Call("MPI_Ssend", 200, 900,
             {{"comm", 0}, {"to", (rank + 1) % 3}, {"tag", rank}}, kOpen);
  }
  EXPECT_THAT(CircleOf(job.Build()),
              ElementsAre("0 for 1 in MPI_Ssend (MPI_Ssend, 0)",
                          "1 for 2 in MPI_Ssend (MPI_Ssend, 1)",
                          "2 for 0 in MPI_Ssend (MPI_Ssend, 2)"));
}

// Rank 0 is at the barrier of one communicator, rank 1 at that of another one.
TEST(DeadlockTest, CollectiveCallsInAnotherOrderAreOne) {
  Job job;
  for (const int64_t rank : {0, 1}) {
    job.AddRank(rank, 2);
    job.Comm(7, "a");
    job.Comm(8, "b");
    job.Call("MPI_Allreduce", 200, 900, {{"comm", 7 + rank}}, kOpen);
  }
  EXPECT_THAT(CircleOf(job.Build()), ElementsAre("0 for 1 in MPI_Allreduce",
                                                 "1 for 0 in MPI_Allreduce"));
}

// The tags differ: the messages are there, and nobody receives them.
TEST(DeadlockTest, RequestsThatNobodyAnswersAreOne) {
  Job job;
  for (const int64_t rank : {0, 1}) {
    job.AddRank(rank, 2);
    job.Call("MPI_Send", 150, 151,
             {{"comm", 0}, {"to", 1 - rank}, {"tag", 8 + rank}});
    job.Call("MPI_Irecv", 190, 900,
             {{"comm", 0}, {"source", 1 - rank}, {"source_tag", 8 + rank}},
             kOpenRequest);
    job.Call("MPI_Wait", 200, 900, {}, kOpen);
  }
  EXPECT_THAT(CircleOf(job.Build()),
              ElementsAre("0 for 1 in MPI_Wait (MPI_Irecv, 8)",
                          "1 for 0 in MPI_Wait (MPI_Irecv, 9)"));
}

// Nor is a message to a rank that does not exist: MPI ends the job for that.
TEST(DeadlockTest, ACallThatNamesNobodyIsInNone) {
  for (const char* const name : {"MPI_Recv", "MPI_Send"}) {
    Job job;
    job.AddRank(0, 2);
    job.Call(name, 200, 900, {{"comm", 0}}, kOpen);
    job.AddRank(1, 2);
    Receive(job, 200, 0);
    EXPECT_THAT(CircleOf(job.Build()), IsEmpty()) << name;
  }
}

// All have begun the collective operation: one of them may just compute.
TEST(DeadlockTest, AWaitForOtherRequestsToBeOverIsInNone) {
  for (const bool has_other : {false, true}) {
    Job job;
    for (const int64_t rank : {0, 1}) {
      job.AddRank(rank, 2);
      job.Call("MPI_Irecv", 150, 900,
               {{"comm", 0}, {"source", 1 - rank}, {"source_tag", 8}},
               kOpenRequest);
      if (has_other) {
        job.Call("MPI_Iallreduce", 160, 900, {{"comm", 9}}, kOpenRequest);
      }
      job.Call("MPI_Waitall", 200, 900, {}, kOpen);
    }
    EXPECT_EQ(CircleOf(job.Build()).size(), has_other ? 0u : 2u);
  }
}

TEST(DeadlockTest, ARankThatIsLateIsInNone) {
  Job job;
  job.AddRank(0, 3);
  Receive(job, 200, 1);
  job.AddRank(1, 3);
  Receive(job, 200, 2);
  job.AddRank(2, 3);
  job.Call("MPI_Barrier", 50, 60, {{"comm", 9}});  // and then it computes
  EXPECT_THAT(CircleOf(job.Build()), IsEmpty());
}

// Rank 0 waited for rank 1 when it was killed. Rank 1 then waits for it.
TEST(DeadlockTest, ARankThatDiedBeforeIsInNone) {
  for (const TimeNs end : {300, 600}) {
    Job job;
    job.AddRank(0, 2);
    Receive(job, 200, 1, end);
    job.End(0, end, 9);
    job.AddRank(1, 2);
    Receive(job, 400, 0);
    // Who ends a job that hangs may use this signal, too.
    EXPECT_EQ(CircleOf(job.Build()).size(), end == 300 ? 0u : 2u);
  }
}

// Its clock does not tell whether rank 1 began to wait before that.
TEST(DeadlockTest, ARankThatMayHaveDiedBeforeIsInNone) {
  for (const int64_t bound : {30, 80}) {
    Job job;
    job.AddRank(0, 2);
    job.Clock(0);
    Receive(job, 200, 1, 450);
    job.End(0, 450, 9);
    job.AddRank(1, 2);
    job.Clock(bound);
    Receive(job, 400, 0);
    EXPECT_EQ(CircleOf(job.Build()).size(), bound == 80 ? 0u : 2u);
  }
}

// Its other thread computes, and may send.
TEST(DeadlockTest, ARankWithAThreadThatGoesOnIsInNone) {
  for (const bool goes_on : {true, false}) {
    Job job;
    job.AddRank(0, 2);
    Receive(job, 200, 1);
    job.Thread(0, 1);
    if (goes_on) {
      job.Call("MPI_Send", 100, 101, {{"comm", 0}, {"to", 1}, {"tag", 4}});
    } else {
      Receive(job, 210, 1);
    }
    job.AddRank(1, 2);
    if (goes_on) {
      job.Call("MPI_Recv", 90, 102, {{"comm", 0}, {"from", 0}, {"tag", 4}});
    }
    Receive(job, 200, 0);
    EXPECT_EQ(CircleOf(job.Build()).size(), goes_on ? 0u : 2u);
  }
}

// Rank 0 may wait for rank 2 alone, which computes.
TEST(DeadlockTest, AWaitThatMayBeForAnotherRankIsInNone) {
  Job job;
  job.AddRank(0, 3);
  for (const int64_t source : {1, 2}) {
    job.Call("MPI_Irecv", 190, 900,
             {{"comm", 0}, {"source", source}, {"source_tag", 5}},
             kOpenRequest);
  }
  job.Call("MPI_Wait", 200, 900, {}, kOpen);
  job.AddRank(1, 3);
  Receive(job, 200, 0);
  job.AddRank(2, 3);
  EXPECT_THAT(CircleOf(job.Build()), IsEmpty());
}

}  // namespace
}  // namespace kymo::analysis
