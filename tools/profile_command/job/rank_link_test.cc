#include "tools/profile_command/job/rank_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kymo/version.h"
#include "tools/profile_command/job/rank_protocol.h"
#include "tools/profile_command/job/rank_server.h"

namespace kymo::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

namespace fs = std::filesystem;

constexpr char kToken[] = "0123456789abcdef0123456789abcdef";
constexpr int64_t kHour = 3'600'000'000'000;

int64_t AnHourAhead() { return MonotonicNs() + kHour; }

std::string ContentOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class RankLinkTest : public ::testing::Test {
 protected:
  RankLinkTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    auto server = RankServer::Start(
        {.size = 3, .token = kToken, .is_local = true},
        {.folder =
             [this](int64_t rank) {
               return folder_ + "/rank-" + std::to_string(rank);
             },
         .alive = [this](int64_t /*rank*/, int64_t /*number*/) { ++signs_; },
         .done = [this](int64_t rank,
                        bool has_trace) { done_[rank] = has_trace; },
         .broke_off = [this](int64_t rank,
                             int64_t time_ns) { broke_off_[rank] = time_ns; }});
    EXPECT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  RankLink::Options Rank(int64_t rank, const std::string& token = kToken) {
    const MeetingPlace place = {.token = token,
                                .endpoints = {{"127.0.0.1", server_->port()}}};
    // Nothing here waits so long, unless it fails.
    return {.rank = rank,
            .find = [place] { return place; },
            .patience = std::chrono::minutes(1)};
  }
  OwnedDescriptor Connect() {
    auto socket =
        ConnectTo({"127.0.0.1", server_->port()}, In(std::chrono::minutes(1)));
    EXPECT_TRUE(socket.ok()) << socket.status();
    return *std::move(socket);
  }

  const std::string folder_ = ::testing::TempDir() + "/rank_link";
  std::atomic<int> signs_ = 0;
  std::map<int64_t, bool> done_;
  std::map<int64_t, int64_t> broke_off_;
  std::unique_ptr<RankServer> server_;
};

TEST_F(RankLinkTest, ClocksAreMeasuredAtTheStartAndAtTheEnd) {
  RankLink::Options options = Rank(2);
  options.now = AnHourAhead;
  RankLink link(std::move(options));
  const std::vector<ClockReading> clocks = link.FinishClocks();
  ASSERT_THAT(clocks, SizeIs(2));
  EXPECT_LT(clocks[0].mono_ns, clocks[1].mono_ns);
  for (const ClockReading& clock : clocks) {
    EXPECT_LE(std::abs(clock.offset_ns + kHour), clock.bound_ns);
    EXPECT_GT(clock.bound_ns, 0);
    EXPECT_LT(clock.bound_ns, kHour);
  }
}

// Nobody there knows the token: not the rank, and not who poses as rank 0.
TEST_F(RankLinkTest, StrangersAreSentAway) {
  RankLink::Options options = Rank(1, "another token than that one");
  options.patience = std::chrono::milliseconds(200);
  options.keeps_connection = true;
  RankLink link(std::move(options));
  EXPECT_THAT(link.FinishClocks(), IsEmpty());
  const absl::Status status = link.SayDone(true);
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied) << status;
  EXPECT_THAT(done_, IsEmpty());
}

// Nobody listens at the other addresses of rank 0.
TEST(RankLinkVersionTest, ARankZeroOfAnotherVersionIsNamed) {
  for (const char version : {'1', '9'}) {
    uint16_t port = 0;
    const auto listener = ListenOn({}, true, port);
    ASSERT_TRUE(listener.ok()) << listener.status();
    std::atomic<bool> is_over = false;
    std::thread rank_zero([&, socket = listener->get()] {
      while (!is_over) {
        if (!WaitReadable(socket, In(std::chrono::milliseconds(20)))) continue;
        const OwnedDescriptor rank = AcceptFrom(socket);
        // A version that is to come may send more or less.
        std::string greeting(kRankMagic.begin(), kRankMagic.end() - 1);
        greeting += version;
        const Release release = ReleaseOf("9.8.7");
        if (version == '1') {
          greeting += "a challenge     ";
        } else {
          greeting.append(release.begin(), release.end());
        }
        SendAll(rank.get(), greeting.data(), greeting.size(),
                In(std::chrono::seconds(5)));
      }
    });
    const MeetingPlace place = {
        .token = kToken, .endpoints = {{"127.0.0.1", port}, {"127.0.0.1", 1}}};
    RankLink link({.rank = 1,
                   .find = [place] { return place; },
                   .keeps_connection = true,
                   .patience = std::chrono::milliseconds(100)});
    absl::Status status = link.SayDone(true);
    // The thread above may not have come to its turn in that time.
    for (const Deadline end = In(std::chrono::minutes(1));
         status.code() != absl::StatusCode::kFailedPrecondition &&
         std::chrono::steady_clock::now() < end;) {
      status = link.SayDone(true);
    }
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr(version == '1' ? "by an earlier version of Kymo"
                                         : "by Kymo 9.8.7"));
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("this rank by Kymo " KYMO_VERSION));
    is_over = true;
    rank_zero.join();
  }
}

TEST_F(RankLinkTest, AProofHoldsForOneConnectionAndOneRank) {
  const JobSecret secret(kToken);
  const Deadline end = In(std::chrono::minutes(1));
  for (const int64_t rank : {2, 3, -1}) {
    const OwnedDescriptor socket = Connect();
    Greeting greeting;
    ASSERT_TRUE(ReceiveAll(socket.get(), &greeting, sizeof(greeting), end));
    Hello hello = {.magic = kRankMagic, .rank = rank, .challenge = {1, 2}};
    // Rank 2 shows a proof of rank 1; the others are no ranks of the job.
    hello.proof = Prove(secret, ProofOf::kRank, greeting.challenge,
                        hello.challenge, rank == 2 ? 1 : rank);
    ASSERT_TRUE(SendAll(socket.get(), &hello, sizeof(hello), end));
    char nothing;
    EXPECT_FALSE(ReceiveAll(socket.get(), &nothing, 1, end));
    EXPECT_LT(std::chrono::steady_clock::now(), end);
  }
  const OwnedDescriptor first = Connect();
  const OwnedDescriptor second = Connect();
  Greeting greetings[2];
  ASSERT_TRUE(ReceiveAll(first.get(), &greetings[0], sizeof(Greeting), end));
  ASSERT_TRUE(ReceiveAll(second.get(), &greetings[1], sizeof(Greeting), end));
  EXPECT_NE(greetings[0].challenge, greetings[1].challenge);
}

TEST_F(RankLinkTest, WhoSaysNothingOrDiesKeepsNobodyWaiting) {
  const OwnedDescriptor silent = Connect();
  // A rank that gets its turn, and then measures nothing.
  const OwnedDescriptor dead = Connect();
  const Deadline end = In(std::chrono::minutes(1));
  Greeting greeting;
  ASSERT_TRUE(ReceiveAll(dead.get(), &greeting, sizeof(greeting), end));
  Hello hello = {.magic = kRankMagic, .rank = 1, .challenge = {1, 2}};
  hello.proof = Prove(JobSecret(kToken), ProofOf::kRank, greeting.challenge,
                      hello.challenge, 1);
  ASSERT_TRUE(SendAll(dead.get(), &hello, sizeof(hello), end));
  Welcome welcome;
  ASSERT_TRUE(ReceiveAll(dead.get(), &welcome, sizeof(welcome), end));
  const Ask ask = {.what = AskFor::kClock};
  ASSERT_TRUE(SendAll(dead.get(), &ask, sizeof(ask), end));

  RankLink::Options options = Rank(2);
  RankLink link(std::move(options));
  EXPECT_THAT(link.FinishClocks(), SizeIs(2));
}

TEST_F(RankLinkTest, ARankThatSharesNoFolderSendsItsTrace) {
  // Of an earlier run.
  fs::create_directories(folder_ + "/rank-1");
  std::ofstream(folder_ + "/rank-1/trace.json") << "{}";
  const std::string trace = folder_ + "/trace.json.gz";
  std::string content(3'000'000, 'x');
  for (size_t i = 0; i < content.size(); ++i) content[i] = i % 251;
  std::ofstream(trace) << content;
  RankLink::Options options = Rank(1);
  options.keeps_connection = true;
  RankLink link(std::move(options));
  EXPECT_THAT(link.FinishClocks(), SizeIs(2));
  EXPECT_TRUE(link.SendTrace(trace).ok());
  EXPECT_TRUE(ContentOf(folder_ + "/rank-1/trace.json.gz") == content);
  EXPECT_FALSE(fs::exists(folder_ + "/rank-1/trace.json"));
  link.SayBrokeOff(1'700'000'000'000'000'000);
  EXPECT_TRUE(link.SayDone(true).ok());
  EXPECT_GT(signs_, 0);
  server_.reset();
  EXPECT_EQ(broke_off_,
            (std::map<int64_t, int64_t>{{1, 1'700'000'000'000'000'000}}));
  EXPECT_EQ(done_, (std::map<int64_t, bool>{{1, true}}));
}

TEST_F(RankLinkTest, ARankZeroThatNeverComesKeepsNobodyWaiting) {
  RankLink link({.rank = 1,
                 .find = [] { return std::nullopt; },
                 .keeps_connection = true,
                 .patience = std::chrono::milliseconds(100)});
  EXPECT_THAT(link.FinishClocks(), IsEmpty());
  EXPECT_EQ(link.SayDone(true).code(), absl::StatusCode::kNotFound);
}

TEST(JobSecretTest, IsSipHash) {
  // The first and the 16th of the published test vectors.
  const std::array<uint64_t, 2> key = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
  std::string message;
  EXPECT_EQ(SipHash(key, message), 0x726fdb47dd0e0e31);
  for (char c = 0; c < 15; ++c) message += c;
  EXPECT_EQ(SipHash(key, message), 0xa129ca6149be45e5);
}

}  // namespace
}  // namespace kymo::tools
