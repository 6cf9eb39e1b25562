#include "backends/stream/decode/program_starts.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "profiler/base/clock.h"
#include "profiler/base/time.h"

namespace kymo::stream {
namespace {

class ProgramStartsTest : public testing::Test {
 protected:
  ~ProgramStartsTest() override { arena_.Unmap(); }

  void Attach(int32_t pid, int64_t time_ns) {
    record::ProcessEntry* const entry = arena_.AddProcess();
    entry->attach_monotonic_ns = time_ns;
    entry->pid.store(pid);
  }

  std::vector<std::string> Unrecorded() const {
    std::vector<std::string> paths;
    for (const UnrecordedProgram& program : UnrecordedPrograms(arena_)) {
      paths.push_back(program.path);
    }
    return paths;
  }

  record::Arena arena_ = record::Arena::CreateAnonymous({});
};

using Paths = std::vector<std::string>;

TEST_F(ProgramStartsTest, WhoAttachesIsRecorded) {
  arena_.AddStart(7, "/bin/dynamic", 100);
  arena_.AddStart(8, "/bin/static", 110);
  Attach(7, 105);
  EXPECT_EQ(Unrecorded(), Paths{"/bin/static"});
  EXPECT_EQ(CountUnrecorded(arena_), 1);
}

TEST_F(ProgramStartsTest, AnEarlierProgramOfTheProcessDoesNotSpeakForIt) {
  Attach(7, 50);
  arena_.AddStart(7, "/bin/static", 100);
  EXPECT_EQ(Unrecorded(), Paths{"/bin/static"});
}

TEST_F(ProgramStartsTest, NorDoesALaterOne) {
  arena_.AddStart(7, "/bin/static", 100);
  arena_.AddStart(7, "/bin/dynamic, of the same number", 200);
  Attach(7, 210);
  EXPECT_EQ(Unrecorded(), Paths{"/bin/static"});
}

TEST_F(ProgramStartsTest, WhatCouldNotBeRunIsNotLost) {
  arena_.AddStart(7, "/bin/nothing", 100)->pid.store(0);
  EXPECT_EQ(Unrecorded(), Paths());
  EXPECT_EQ(CountUnrecorded(arena_), 0);
}

TEST_F(ProgramStartsTest, TablesThatAreFullLeaveWhatIsCertain) {
  while (arena_.AddStart(7, "/bin/dynamic", 100) != nullptr) {
  }
  Attach(7, 100);
  const uint64_t starts = arena_.start_count();
  // All but the last of one process, and one without a place.
  EXPECT_EQ(CountUnrecorded(arena_), starts);
  arena_.header().processes_without_entry.store(10);
  EXPECT_EQ(CountUnrecorded(arena_), starts - 10);
  arena_.header().processes_without_entry.store(~uint64_t{0});
  EXPECT_EQ(CountUnrecorded(arena_), 0);
}

TEST_F(ProgramStartsTest, IsAwaitedOnlyWhileItMayAttach) {
  const int64_t begin_ns = MonotonicNs();
  arena_.AddStart(getpid(), "/bin/long_ago", begin_ns - 1000 * kNsPerMs);
  arena_.AddStart(0x3fffffff, "/bin/dead", begin_ns);
  AwaitAttaching(arena_);
  const int64_t waited_ns = MonotonicNs() - begin_ns;
  arena_.AddStart(getpid(), "/bin/alive", MonotonicNs());
  AwaitAttaching(arena_);
  EXPECT_GT(MonotonicNs() - begin_ns - waited_ns, 100 * kNsPerMs);
  EXPECT_LT(waited_ns, 100 * kNsPerMs);
}

TEST_F(ProgramStartsTest, IsDescribedOnceAndNotWithoutEnd) {
  for (int i = 0; i < 3; ++i) arena_.AddStart(10 + i, "/none/here", 100 + i);
  for (int i = 0; i < 6; ++i) {
    arena_.AddStart(20 + i, "/none/" + std::to_string(i), 200 + i);
  }
  const std::vector<std::string> sentences = DescribeUnrecorded(arena_);
  ASSERT_EQ(sentences.size(), 6);
  EXPECT_EQ(
      sentences[0].rfind("/none/here was not recorded (3 times): it runs", 0),
      0)
      << sentences[0];
  EXPECT_EQ(sentences[5], "2 further programs were not recorded");
  const std::vector<std::string> sampled =
      DescribeUnrecorded(arena_, /*are_sampled=*/true);
  ASSERT_EQ(sampled.size(), 6);
  EXPECT_EQ(sampled[0].rfind("/none/here was sampled only (3 times): it", 0), 0)
      << sampled[0];
  EXPECT_EQ(sampled[5], "2 further programs were sampled only");
}

TEST_F(ProgramStartsTest, EachEnvironmentIsDescribed) {
  using enum record::StartEnvironment;
  arena_.AddStart(10, "/none/here", 100, kNoPreload);
  arena_.AddStart(11, "/none/here", 101, kNoArena);
  arena_.AddStart(12, "/none/here", 102, kNoPreload);
  arena_.AddStart(13, "/none/here", 103, kComplete);
  // A broken target.
  arena_.AddStart(14, "/none/here", 104, record::StartEnvironment{99});
  const std::vector<std::string> sentences = DescribeUnrecorded(arena_);
  ASSERT_EQ(sentences.size(), 4u);
  EXPECT_EQ(sentences[0],
            "/none/here was not recorded (2 times): it was started without "
            "Kymo's runtime in LD_PRELOAD");
  EXPECT_EQ(sentences[1],
            "/none/here was not recorded: it was started without KYMO_ARENA in "
            "its environment");
  for (int i = 2; i < 4; ++i) {
    EXPECT_EQ(sentences[i].rfind("/none/here was not recorded: it runs as", 0),
              0)
        << sentences[i];
  }
}

TEST_F(ProgramStartsTest, ProgramsWithMoreRightsAreNotSampledEither) {
  const std::string path = testing::TempDir() + "/set_group";
  std::ofstream(path) << "#";
  // Of a group that is not ours.
  if (chown(path.c_str(), static_cast<uid_t>(-1), getegid() + 1) != 0 ||
      chmod(path.c_str(), 02755) != 0) {
    GTEST_SKIP() << "only root may give a file to another group";
  }
  arena_.AddStart(10, path, 100);
  arena_.AddStart(11, "/none/here", 100);
  EXPECT_EQ(CountUnsampled(arena_), 1u);
  const std::vector<std::string> sentences =
      DescribeUnrecorded(arena_, /*are_sampled=*/true);
  ASSERT_EQ(sentences.size(), 2);
  EXPECT_EQ(sentences[0].rfind(path + " was not recorded", 0), 0)
      << sentences[0];
}

}  // namespace
}  // namespace kymo::stream
