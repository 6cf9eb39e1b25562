#include "tools/profile_command/job/job_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tools/profile_command/job/rank_presence.h"

namespace kymo::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

constexpr WaitLimits kAMoment = {.unseen = std::chrono::milliseconds(50),
                                 .silent = std::chrono::milliseconds(50)};

class JobFolderTest : public ::testing::Test {
 protected:
  JobFolderTest() { fs::remove_all(path_); }

  JobFolder Join(int64_t rank, const std::string& job = "7.1") {
    auto joined =
        JobFolder::Join(path_, "solver", {.rank = rank, .size = 3, .job = job});
    EXPECT_TRUE(joined.ok()) << joined.status();
    return *std::move(joined);
  }
  static void WriteTrace(const JobFolder& job, const char* name) {
    std::ofstream(job.RankPath() + "/" + name) << "{}";
  }

  const std::string path_ = ::testing::TempDir() + "/job";
};

TEST_F(JobFolderTest, EachRankHasAFolderAndIsAtTheMeeting) {
  const JobFolder job = Join(2);
  EXPECT_TRUE(fs::is_directory(path_ + "/rank-2"));
  EXPECT_EQ(job.RankPath(), path_ + "/rank-2");
  EXPECT_TRUE(fs::exists(job.MeetingPath() + "/rank-2"));
  EXPECT_FALSE(fs::exists(job.MeetingPath() + "/rank-0"));
}

TEST_F(JobFolderTest, VariablesThatNameNoRankAreShown) {
  setenv("RANK", "5", 1);
  setenv("WORLD_SIZE", "2", 1);
  const auto joined = JobFolder::Join(path_, "solver");
  unsetenv("RANK");
  unsetenv("WORLD_SIZE");
  EXPECT_THAT(std::string(joined.status().message()),
              HasSubstr("RANK is '5' and WORLD_SIZE is '2'"));
}

TEST_F(JobFolderTest, AnotherJobMeetsElsewhere) {
  const JobFolder first = Join(0, "7");
  const JobFolder second = Join(0, "8/../x");
  EXPECT_NE(first.MeetingPath(), second.MeetingPath());
  EXPECT_EQ(fs::path(second.MeetingPath()).parent_path(), path_);
}

TEST_F(JobFolderTest, RanksThatAreDoneAreInTheAnswer) {
  const JobFolder one = Join(1);  // before rank 0
  const JobFolder zero = Join(0);
  const JobFolder two = Join(2);
  WriteTrace(zero, "trace.json");
  WriteTrace(one, "trace.json.gz");
  WriteTrace(two, "trace.json");  // of an earlier run
  zero.SayDone(zero.rank().rank, true);
  one.SayDone(one.rank().rank, true);
  two.SayDone(two.rank().rank, false);
  const JobFiles files = zero.WaitForRanks(kAMoment);
  EXPECT_THAT(files.traces, ElementsAre(path_ + "/rank-0/trace.json",
                                        path_ + "/rank-1/trace.json.gz"));
  EXPECT_THAT(files.missing,
              ElementsAre(MissingRank{2, MissingReason::kNoTrace}));
}

TEST_F(JobFolderTest, ARankThatNeverEndsIsMissing) {
  const JobFolder zero = Join(0);
  const JobFolder one = Join(1);
  WriteTrace(zero, "trace.json");
  WriteTrace(one, "trace.json");  // of an earlier run, or half of one
  zero.SayDone(zero.rank().rank, true);
  const JobFiles files = zero.WaitForRanks(kAMoment);
  EXPECT_THAT(files.traces, ElementsAre(path_ + "/rank-0/trace.json"));
  EXPECT_THAT(files.missing,
              ElementsAre(MissingRank{1, MissingReason::kLost},
                          MissingRank{2, MissingReason::kNeverSeen}));
}

TEST_F(JobFolderTest, ARankWhoseCommandWasKilledHasItsRecords) {
  WriteTrace(Join(0), "trace.json");  // of an earlier run
  const JobFolder zero = Join(0);
  const JobFolder one = Join(1);
  const JobFolder two = Join(2);
  WriteTrace(zero, "kymo.raw");
  WriteTrace(two, "kymo.raw");  // of an earlier run
  zero.SayKilled();
  one.SayKilled();  // there was no room on the disk
  const JobFiles files = zero.WaitForRanks(kAMoment);
  EXPECT_THAT(files.traces, ElementsAre(path_ + "/rank-0/kymo.raw"));
  EXPECT_THAT(files.killed, ElementsAre(0));
  EXPECT_THAT(files.missing, ElementsAre(MissingRank{1, MissingReason::kLost},
                                         MissingRank{2, MissingReason::kLost}));
}

TEST_F(JobFolderTest, ARankWhoseCommandWasKilledAtItsEndHasItsTrace) {
  const JobFolder zero = Join(0);
  EXPECT_FALSE(zero.HasTrace());
  WriteTrace(zero, "trace.json");
  EXPECT_TRUE(zero.HasTrace());
  zero.SayKilled();
  const JobFiles files = zero.WaitForRanks(kAMoment);
  EXPECT_THAT(files.traces, ElementsAre(path_ + "/rank-0/trace.json"));
  EXPECT_THAT(files.killed, IsEmpty());
}

TEST_F(JobFolderTest, TheFirstRankToBreakOffIsKnown) {
  {
    const JobFolder zero = Join(0);
    zero.SayBrokeOff(1, 5);
    // Its command is killed, so it does not close the folder.
  }
  const JobFolder zero = Join(0);
  const JobFolder two = Join(2);
  EXPECT_EQ(zero.FirstToBreakOff(), std::nullopt);
  two.SayBrokeOff(2, 1'700'000'000'000'000'200);
  EXPECT_EQ(zero.FirstToBreakOff(), 2);
  zero.SayBrokeOff(1, 1'700'000'000'000'000'100);
  EXPECT_EQ(zero.FirstToBreakOff(), 1);
  // All have: a program that never ends in another way.
  zero.SayBrokeOff(0, 1'700'000'000'000'000'300);
  EXPECT_EQ(zero.FirstToBreakOff(), std::nullopt);
  // Nothing of it is left.
  zero.Close();
  EXPECT_FALSE(fs::exists(zero.MeetingPath()));
}

TEST_F(JobFolderTest, AnEarlierRunOfTheSameNameIsNotThisOne) {
  {
    const JobFolder zero = Join(0);
    const JobFolder one = Join(1);
    WriteTrace(one, "trace.json");
    zero.SayDone(zero.rank().rank, true);
    one.SayDone(one.rank().rank, true);
    // Its command is killed, so it does not close the folder.
  }
  const JobFolder zero = Join(0);
  zero.SayDone(zero.rank().rank, true);
  const JobFiles files = zero.WaitForRanks(kAMoment);
  EXPECT_THAT(files.traces, IsEmpty());
  EXPECT_THAT(files.missing,
              ElementsAre(MissingRank{0, MissingReason::kNoTrace},
                          MissingRank{1, MissingReason::kNeverSeen},
                          MissingRank{2, MissingReason::kNeverSeen}));
}

TEST_F(JobFolderTest, ARankThatLivesIsWaitedFor) {
  const JobFolder zero = Join(0);
  const JobFolder one = Join(1);
  const JobFolder two = Join(2);
  WriteTrace(one, "trace.json");
  EXPECT_THAT(zero.NotDone(), ElementsAre(0, 1, 2));
  zero.SayDone(zero.rank().rank, false);
  two.SayDone(two.rank().rank, false);
  EXPECT_THAT(zero.NotDone(), ElementsAre(1));
  int waits = 0;
  // No limit of time is left to it, but it gives signs.
  const JobFiles files =
      zero.WaitForRanks({.unseen = {}, .silent = std::chrono::hours(1)},
                        [&](const std::vector<int64_t>& awaited) {
                          EXPECT_THAT(awaited, ElementsAre(1));
                          SayPresence(one.PresencePath(), ++waits);
                          if (waits == 5) one.SayDone(one.rank().rank, true);
                        });
  EXPECT_EQ(waits, 5);
  EXPECT_THAT(zero.NotDone(), IsEmpty());
  EXPECT_THAT(files.traces, ElementsAre(path_ + "/rank-1/trace.json"));
}

TEST_F(JobFolderTest, AClosedFolderHasNothingOfTheMeeting) {
  const JobFolder zero = Join(0);
  const JobFolder one = Join(1);
  zero.Close();
  EXPECT_FALSE(fs::exists(zero.MeetingPath()));
  const JobFolder next = Join(0);
  zero.Close();  // it is another run's by now
  EXPECT_TRUE(fs::exists(next.MeetingPath() + "/token"));
}

TEST_F(JobFolderTest, AJobWithoutANameNeedsAFolder) {
  const JobRank rank = {.rank = 0, .size = 4, .local_size = 2};
  const auto none = JobFolder::Join("", "solver", rank);
  EXPECT_EQ(none.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(none.status().message()), HasSubstr("--output_dir"));
  const auto named = JobFolder::Join(path_, "solver", rank);
  ASSERT_TRUE(named.ok()) << named.status();
  EXPECT_EQ(named->MeetingPath(), path_ + "/.kymo-job");
}

TEST_F(JobFolderTest, AFolderThatCannotBeMadeIsNamed) {
  fs::create_directories(path_);
  std::ofstream(path_ + "/file") << "x";
  const auto joined = JobFolder::Join(path_ + "/file", "solver",
                                      {.rank = 0, .size = 1, .job = "7"});
  EXPECT_THAT(std::string(joined.status().message()),
              HasSubstr(path_ + "/file"));
}

}  // namespace
}  // namespace kymo::tools
