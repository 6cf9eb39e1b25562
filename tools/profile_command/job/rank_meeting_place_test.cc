#include "tools/profile_command/job/rank_meeting_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace kymo::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kRanksToken[] = "0123456789abcdef";

absl::StatusOr<std::optional<NetworkPlace>> Find(
    std::map<std::string, std::string> set, int64_t rank = 1,
    const std::string& job = "7") {
  return FindNetworkPlace(
      [set](const char* name) -> const char* {
        const auto at = set.find(name);
        return at == set.end() ? nullptr : at->second.c_str();
      },
      {.rank = rank, .size = 4, .job = job});
}

TEST(RankMeetingPlaceTest, WithoutATokenTheRanksShareAFolder) {
  const auto found = Find({{"MASTER_ADDR", "node1"}});
  ASSERT_TRUE(found.ok());
  EXPECT_FALSE(found->has_value());
}

TEST(RankMeetingPlaceTest, AllRanksTryThePortsThatRankZeroTries) {
  const std::map<std::string, std::string> set = {
      {"KYMO_RANKS_TOKEN", kRanksToken}, {"MASTER_ADDR", "node1"}};
  const auto zero = Find(set, 0);
  const auto two = Find(set, 2);
  ASSERT_TRUE(zero.ok() && two.ok());
  EXPECT_THAT((*zero)->ports, SizeIs(4));
  EXPECT_EQ((*zero)->ports, (*two)->ports);
  ASSERT_THAT((*two)->place.endpoints, SizeIs(4));
  EXPECT_EQ((*two)->place.endpoints[3].host, "node1");
  EXPECT_EQ((*two)->place.endpoints[3].port, (*zero)->ports[3]);
  EXPECT_NE((*Find(set, 0, "8"))->ports, (*zero)->ports);
}

TEST(RankMeetingPlaceTest, AnAddressThatIsGivenCounts) {
  const auto place = [](const std::string& address) {
    return (*Find({{"KYMO_RANKS_TOKEN", kRanksToken},
                   {"MASTER_ADDR", "node1"},
                   {"KYMO_RANKS_ADDRESS", address}}))
        ->place;
  };
  ASSERT_THAT(place("node2:4000").endpoints, SizeIs(1));
  EXPECT_EQ(place("node2:4000").endpoints[0].host, "node2");
  EXPECT_EQ(place("node2:4000").endpoints[0].port, 4000);
  EXPECT_EQ(place("[fd00::1]:4000").endpoints[0].host, "fd00::1");
  EXPECT_EQ(place("[fd00::1]:4000").endpoints[0].port, 4000);
  EXPECT_EQ(place("fd00::1").endpoints[0].host, "fd00::1");
  EXPECT_THAT(place("node2").endpoints, SizeIs(4));
}

TEST(RankMeetingPlaceTest, SlurmNamesTheNodeOfRankZero) {
  const auto found = Find({{"KYMO_RANKS_TOKEN", kRanksToken},
                           {"SLURM_JOB_NODELIST", "node[03-05,7],other"}});
  EXPECT_EQ((*found)->place.endpoints[0].host, "node03");
  EXPECT_EQ(FirstOfHostList("a,b"), "a");
  EXPECT_EQ(FirstOfHostList("a[2,4-6]-x,b"), "a2-x");
  EXPECT_EQ(FirstOfHostList("a[7]"), "a7");
  EXPECT_EQ(FirstOfHostList("a[2,"), "a2");
  EXPECT_EQ(FirstOfHostList(""), "");
}

TEST(RankMeetingPlaceTest, ErrorsSayWhatToSet) {
  const auto message = [](std::map<std::string, std::string> set) {
    const auto found = Find(std::move(set));
    EXPECT_EQ(found.status().code(), absl::StatusCode::kInvalidArgument);
    return std::string(found.status().message());
  };
  EXPECT_THAT(message({{"KYMO_RANKS_TOKEN", "short"}}), HasSubstr("openssl"));
  EXPECT_THAT(message({{"KYMO_RANKS_TOKEN", kRanksToken}}),
              HasSubstr("KYMO_RANKS_ADDRESS"));
  EXPECT_THAT(message({{"KYMO_RANKS_TOKEN", kRanksToken},
                       {"KYMO_RANKS_ADDRESS", "a:b"}}),
              HasSubstr("'a:b'"));
}

TEST(RankMeetingPlaceTest, TheFileIsTheOwnersAlone) {
  const std::string folder = ::testing::TempDir();
  const std::string path = folder + "/address";
  std::filesystem::remove(path);
  EXPECT_FALSE(ReadMeetingPlace(folder).has_value());
  ASSERT_TRUE(WriteMeetingPlace(folder, {.token = kRanksToken,
                                         .endpoints = {{"10.0.0.1", 4000},
                                                       {"fd00::1", 4000}}})
                  .ok());
  struct stat facts;
  ASSERT_EQ(stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
  const auto place = ReadMeetingPlace(folder);
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->token, kRanksToken);
  ASSERT_THAT(place->endpoints, SizeIs(2));
  EXPECT_EQ(place->endpoints[1].host, "fd00::1");
  EXPECT_EQ(place->endpoints[1].port, 4000);
  std::ofstream(path) << "token\n10.0.0.1 4";  // not whole
  EXPECT_FALSE(ReadMeetingPlace(folder).has_value());
}

}  // namespace
}  // namespace kymo::tools
