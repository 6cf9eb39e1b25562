#include "tools/profile_command/job/rank_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <latch>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/test_trace.h"
#include "tools/profile_command/job/rank_link.h"

namespace kymo::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kTreeToken[] = "fedcba9876543210fedcba9876543210";

// The averages of a rank whose trace has ranges of a hundred names.
analysis::RankSums SumsOf(int64_t rank) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (int64_t i = 0; i < 100; ++i) {
    t.AddRange(main, "step " + std::to_string(i), 10 * i,
               10 * i + 1 + rank % 9);
  }
  return analysis::RankSums::Of(std::move(t).Build(), rank);
}

std::vector<int64_t> RanksIn(const analysis::RankSums& sums) {
  std::vector<int64_t> ranks;
  for (const analysis::RankWork& rank : sums.ranks()) {
    ranks.push_back(rank.rank);
  }
  return ranks;
}

// A job whose ranks are threads. They meet over the network, as processes do.
class TreeJob {
 public:
  TreeJob(int64_t size, std::chrono::milliseconds patience,
          std::vector<int64_t> killed = {})
      : size_(size),
        patience_(patience),
        killed_(std::move(killed)),
        started_(size - 1 - static_cast<int64_t>(killed_.size())) {
    auto server = RankServer::Start(
        {.size = size, .token = kTreeToken, .is_local = true},
        {.sums = [this](const std::string& bytes) { return box_.Add(bytes); }});
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  // `ends`: sends its averages; else it is killed before that.
  void Rank(int64_t rank, bool ends = true) {
    RankTree tree(
        {.rank = rank, .size = size_, .is_local = true, .patience = patience_});
    RankLink link(
        {.rank = rank,
         .find = [this] { return std::optional(Place()); },
         .patience = std::chrono::seconds(60),
         .listen =
             [&](const std::string& token) { return tree.Listen(token); }});
    link.FinishClocks();
    if (!ends) return;
    // Rank 0 knows all of them, as in a job that runs for a while.
    started_.arrive_and_wait();
    const auto begin = std::chrono::steady_clock::now();
    const std::string sums = tree.Collect(SumsOf(rank)).Serialize();
    const absl::Status status = link.SendSums(sums);
    EXPECT_TRUE(status.ok()) << status;
    const std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - begin;
    const std::lock_guard<std::mutex> held(mutex_);
    longest_ = std::max(longest_, took.count());
    most_bytes_ = std::max(most_bytes_, sums.size());
  }

  // Runs all ranks but 0, and returns what came there.
  analysis::RankSums Run() {
    for (const int64_t rank : killed_) Rank(rank, false);
    std::vector<std::thread> ranks;
    for (int64_t rank = 1; rank < size_; ++rank) {
      if (std::ranges::count(killed_, rank) > 0) continue;
      ranks.emplace_back([this, rank] { Rank(rank); });
    }
    for (std::thread& rank : ranks) rank.join();
    return box_.Take(0, {});
  }

  // In seconds, of a rank: adding up, and sending it on.
  double longest() const { return longest_; }
  size_t most_bytes() const { return most_bytes_; }

 private:
  MeetingPlace Place() const {
    return {.token = kTreeToken, .endpoints = {{"127.0.0.1", server_->port()}}};
  }

  const int64_t size_;
  const std::chrono::milliseconds patience_;
  const std::vector<int64_t> killed_;
  std::latch started_;
  std::mutex mutex_;
  double longest_ = 0;
  size_t most_bytes_ = 0;
  SumsBox box_;
  std::unique_ptr<RankServer> server_;
};

TEST(RankTreeTest, IsBinomial) {
  EXPECT_EQ(ParentInTree(7), 6);
  EXPECT_EQ(ParentInTree(6), 4);
  EXPECT_EQ(ParentInTree(4), 0);
  EXPECT_THAT(ChildrenInTree(0, 8), ElementsAre(1, 2, 4));
  EXPECT_THAT(ChildrenInTree(4, 8), ElementsAre(5, 6));
  EXPECT_THAT(ChildrenInTree(4, 6), ElementsAre(5));
  EXPECT_THAT(ChildrenInTree(3, 8), IsEmpty());
  for (int64_t rank = 0; rank < 100; ++rank) {
    for (const int64_t child : ChildrenInTree(rank, 100)) {
      EXPECT_EQ(ParentInTree(child), rank);
    }
  }
}

// KYMO_TEST_RANKS=1024 by hand, with `ulimit -n` 65536; docs/ranks.md has what
// was measured.
TEST(RankTreeTest, EachRankCountsOnce) {
  const char* const asked = getenv("KYMO_TEST_RANKS");
  const int64_t size = asked == nullptr ? 21 : atoi(asked);
  TreeJob job(size, std::chrono::minutes(5));
  const std::vector<int64_t> ranks = RanksIn(job.Run());
  ASSERT_EQ(ranks.size(), static_cast<size_t>(size - 1));
  for (int64_t rank = 1; rank < size; ++rank) EXPECT_EQ(ranks[rank - 1], rank);
  if (asked != nullptr) {
    printf("longest: %.3f s, largest message: %zu bytes\n", job.longest(),
           job.most_bytes());
  }
}

// Of /proc/self/status, in KiB. 0: the kernel does not say.
int64_t StatusKib(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string word; file >> word;) {
    int64_t kib = 0;
    if (word == name + ":" && file >> kib) return kib;
  }
  return 0;
}

// The same averages and messages without processes, threads and sockets: one
// rank after the other adds up what the ranks below it would send.
class SimulatedTree {
 public:
  explicit SimulatedTree(int64_t size) : size_(size) {}

  // What the rank sends on; `steps` is how many messages in turn led to it.
  std::string Message(int64_t rank, int& steps) {
    analysis::RankSums sums = SumsOf(rank);
    for (const int64_t child : ChildrenInTree(rank, size_)) {
      int steps_of_child = 0;
      const std::string message = Message(child, steps_of_child);
      steps = std::max(steps, steps_of_child + 1);
      sums.Merge(*analysis::RankSums::Parse(message));
    }
    return sums.Serialize();
  }

  // What comes to rank 0.
  std::vector<std::string> MessagesOfRank0(int& steps) {
    std::vector<std::string> messages;
    for (const int64_t child : ChildrenInTree(0, size_)) {
      int steps_of_child = 0;
      messages.push_back(Message(child, steps_of_child));
      steps = std::max(steps, steps_of_child + 1);
    }
    return messages;
  }

 private:
  const int64_t size_;
};

// KYMO_SIMULATED_RANKS=65536 by hand, for docs/ranks.md.
TEST(RankTreeTest, ManySimulatedRanksAddUp) {
  const char* const asked = getenv("KYMO_SIMULATED_RANKS");
  const int64_t size = asked == nullptr ? 300 : atoll(asked);
  int steps = 0;
  const std::vector<std::string> messages =
      SimulatedTree(size).MessagesOfRank0(steps);
  size_t most_bytes = 0;
  for (const std::string& message : messages) {
    most_bytes = std::max(most_bytes, message.size());
  }
  const int log2 = std::bit_width(static_cast<uint64_t>(size - 1));
  EXPECT_LE(steps, log2);
  EXPECT_EQ(messages.size(), static_cast<size_t>(log2));
  // What is free goes back to the kernel, and the peak begins anew.
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
  const int64_t before_kib = StatusKib("VmRSS");
  const auto begin = std::chrono::steady_clock::now();
  SumsBox box;
  EXPECT_TRUE(box.Add(SumsOf(0).Serialize()));
  for (const std::string& message : messages) EXPECT_TRUE(box.Add(message));
  const analysis::RankSums sums = box.Take(0, {});
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - begin;
  const int64_t peak_kib = StatusKib("VmHWM") - before_kib;
  ASSERT_EQ(sums.ranks().size(), static_cast<size_t>(size));
  ASSERT_EQ(sums.names().size(), 100u);
  EXPECT_EQ(sums.names().begin()->second.totals.count, size);
  if (asked == nullptr) return;
  printf(
      "%lld ranks: %d steps to rank 0, which adds up %zu messages in %.1f ms; "
      "largest message %zu bytes; memory for it %lld KiB\n",
      static_cast<long long>(size), steps, messages.size(),
      took.count() * 1'000, most_bytes, static_cast<long long>(peak_kib));
}

// Rank 4 dies before it sends. Its children go on to rank 0.
TEST(RankTreeTest, ADeadRankIsMissingAlone) {
  TreeJob job(8, std::chrono::milliseconds(300), {4});
  EXPECT_THAT(RanksIn(job.Run()), ElementsAre(1, 2, 3, 5, 6, 7));
}

TEST(RankTreeTest, AClosedBoxTakesNothing) {
  SumsBox box;
  EXPECT_TRUE(box.Add(SumsOf(3).Serialize()));
  EXPECT_FALSE(box.Add("no sums"));
  EXPECT_THAT(RanksIn(box.Take(1, std::chrono::minutes(1))), ElementsAre(3));
  EXPECT_FALSE(box.Add(SumsOf(4).Serialize()));
}

}  // namespace
}  // namespace kymo::tools
