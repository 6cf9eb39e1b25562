#include "profiler/analysis/ranks/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "profiler/analysis/ranks/job_of_ranks.h"
#include "profiler/analysis/ranks/mpi_calls.h"
#include "profiler/analysis/ranks/rank_waits.h"
#include "profiler/analysis/ranks/test_job.h"

namespace kymo::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A request of both halves; beside it, partitioned messages of the same tag.
TEST(MessagesTest, RequestsThatSendAndReceiveAreMatched) {
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
TEST(MessagesTest, AReceiverWaitsInTheProbeBeforeTheReceive) {
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

TEST(MessagesTest, AFoundMessageIsTakenBeforeItIsRead) {
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
TEST(MessagesTest, AReceiveOfATooLongMessageHasReceivedIt) {
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

TEST(MessagesTest, MessagesMatchInTheirOrder) {
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
TEST(MessagesTest, RequestsAreMessages) {
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

// A small message is copied; who sends it waits for nobody.
TEST(MessagesTest, ASendThatIsOverWaitedForNobody) {
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

TEST(MessagesTest, ASendrecvIsBothEnds) {
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
TEST(MessagesTest, ASendrecvWaitsForTheLaterOfItsPartners) {
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
TEST(MessagesTest, ABlockingCallWaitsForTheOthersMpiWait) {
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

// The other rank began to receive in time, and looked for the message late. So
// it is the one that the path goes through.
TEST(MessagesTest, WhoPollsComesWhenItFirstLooks) {
  Job job;
  job.AddRank(0, 2);
  job.Call("MPI_Send", 100, 450, {{"comm", 0}, {"to", 1}, {"tag", 3}});
  job.Call("MPI_Isend", 500, 800, {{"comm", 0}, {"to", 1}, {"tag", 4}},
           model::kEventAsync);
  job.Call("MPI_Wait", 510, 800);
  // A small one was over before.
  job.Call("MPI_Send", 810, 815, {{"comm", 0}, {"to", 1}, {"tag", 5}});
  job.AddRank(1, 2);
  job.Call("MPI_Irecv", 90, 440,
           {{"comm", 0}, {"from", 0}, {"tag", 3}, {"polled_ns", 40}},
           model::kEventAsync);
  job.Call("MPI_Irecv", 490, 790,
           {{"comm", 0}, {"from", 0}, {"tag", 4}, {"polled_ns", 90}},
           model::kEventAsync);
  job.Call("MPI_Irecv", 800, 900,
           {{"comm", 0}, {"from", 0}, {"tag", 5}, {"polled_ns", 10}},
           model::kEventAsync);
  const model::Trace trace = job.Build();
  const JobOfRanks all(trace);
  ASSERT_THAT(all.messages.messages, SizeIs(3));
  EXPECT_EQ(all.messages.messages[0].late_receiver_ns, 300);
  EXPECT_EQ(all.messages.messages[2].late_receiver_ns, 0);
  const auto waits = WaitSums(all);
  ASSERT_THAT(waits, SizeIs(1));
  EXPECT_EQ(waits[0].waiting_ns, 190);
  EXPECT_EQ(waits[0].late_rank, 1);
  const auto late = LateRanks(all);
  ASSERT_THAT(late, SizeIs(1));
  EXPECT_EQ(late[0].rank, 1u);
  EXPECT_EQ(late[0].delay_ns, 490);
}

// It polled once, did other work, and came to its MPI_Wait late.
TEST(MessagesTest, WhoPollsAndThenWaitsComesWhenItWaits) {
  Job job;
  job.AddRank(0, 2);
  job.Call("MPI_Send", 100, 450, {{"comm", 0}, {"to", 1}, {"tag", 3}});
  job.AddRank(1, 2);
  job.Call("MPI_Irecv", 90, 440,
           {{"comm", 0}, {"from", 0}, {"tag", 3}, {"polled_ns", 300}},
           model::kEventAsync);
  job.Call("MPI_Wait", 400, 440);
  const model::Trace trace = job.Build();
  const JobOfRanks all(trace);
  ASSERT_THAT(all.messages.messages, SizeIs(1));
  EXPECT_EQ(all.messages.messages[0].late_receiver_ns, 300);
}

// The receive for anybody was there first, so it has the message of rank 1. The
// other one waits for a second message.
TEST(MessagesTest, AMessageTakesTheFirstReceiveThatItFits) {
  for (const TimeNs begin : {100, 250}) {
    Job job;
    job.AddRank(0, 2);
    job.Call("MPI_Irecv", begin, 900, {{"comm", 0}},
             model::kEventOpen | model::kEventAsync);
    job.Call("MPI_Recv", 200, 900,
             {{"comm", 0}, {"source", 1}, {"source_tag", 3}},
             model::kEventOpen);
    job.AddRank(1, 2);
    job.Call("MPI_Send", 300, 305, {{"comm", 0}, {"to", 0}, {"tag", 3}});
    const model::Trace trace = job.Build();
    const MatchedMessages matched = MatchMessages(trace, FindRankCalls(trace));
    ASSERT_THAT(matched.messages, SizeIs(1));
    const bool is_first = begin < 200;
    EXPECT_EQ(trace.EventName(matched.messages[0].receive),
              is_first ? "MPI_Irecv" : "MPI_Recv");
    ASSERT_THAT(matched.unanswered, SizeIs(is_first ? 1 : 0));
    if (!is_first) continue;
    EXPECT_EQ(matched.unanswered[0].awaited, 1u);
    EXPECT_EQ(matched.unanswered[0].waiting_ns, 700);
  }
}

// What is for another sender or has another tag waits for another message.
TEST(MessagesTest, AMessageTakesNoReceiveThatItDoesNotFit) {
  struct Asked {
    const char* key;
    int64_t value;
    bool fits;
  };
  for (const Asked& asked :
       {Asked{"source_tag", 3, true}, Asked{"source_tag", 4, false},
        Asked{"source", 1, true}, Asked{"source", 2, false}}) {
    Job job;
    job.AddRank(0, 3);
    job.Call("MPI_Irecv", 100, 900, {{"comm", 0}, {asked.key, asked.value}},
             model::kEventOpen | model::kEventAsync);
    job.Call("MPI_Recv", 200, 900,
             {{"comm", 0}, {"source", 1}, {"source_tag", 3}},
             model::kEventOpen);
    job.AddRank(1, 3);
    job.Call("MPI_Send", 300, 305, {{"comm", 0}, {"to", 0}, {"tag", 3}});
    job.AddRank(2, 3);
    const model::Trace trace = job.Build();
    const MatchedMessages matched = MatchMessages(trace, FindRankCalls(trace));
    ASSERT_THAT(matched.messages, SizeIs(1));
    EXPECT_EQ(trace.EventName(matched.messages[0].receive),
              asked.fits ? "MPI_Irecv" : "MPI_Recv")
        << asked.key << " " << asked.value;
  }
}

}  // namespace
}  // namespace kymo::analysis
