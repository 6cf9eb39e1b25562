#include "backends/off_cpu/cpu_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace kymo::off_cpu {
namespace {

namespace fs = std::filesystem;
using model::CpuLimit;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Folders as those of the kernel: `groups` for /sys/fs/cgroup, and 7 for
// /proc/7, whose own view has its root in 7/root.
class CpuLimitsTest : public testing::Test {
 protected:
  CpuLimitsTest() : top_(testing::TempDir() + "/cpu_limits") {
    fs::remove_all(top_);
    fs::create_directories(groups_);
  }

  void Write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(path).parent_path());
    std::ofstream(path) << text;
  }
  // A group of version 2 with a limit of half a CPU.
  void WriteGroup(const std::string& folder, int periods, int throttled,
                  int throttled_us, const std::string& max = "50000 100000") {
    Write(folder + "/cpu.max", max + "\n");
    Write(folder + "/cpu.stat",
          "usage_usec 9\nuser_usec 5\nsystem_usec 4\nnr_periods " +
              std::to_string(periods) + "\nnr_throttled " +
              std::to_string(throttled) + "\nthrottled_usec " +
              std::to_string(throttled_us) + "\nnr_bursts 0\nburst_usec 0\n");
  }
  std::vector<std::string> GroupsOf(const std::string& lines) {
    Write(process_ + "/cgroup", lines);
    return CpuGroupsOf(process_, groups_);
  }

  const std::string top_;
  const std::string groups_ = top_ + "/groups";
  const std::string process_ = top_ + "/7";
  const std::string own_view_ = process_ + "/root" + groups_;
};

TEST_F(CpuLimitsTest, CountsFromTheBeginningOn) {
  WriteGroup(groups_ + "/job", 100, 10, 5000);
  CpuLimits limits;
  limits.BeginIn({GroupsOf("0::/job\n")});
  WriteGroup(groups_ + "/job", 180, 51, 3'005'000);
  limits.Look();
  EXPECT_EQ(limits.Strongest(), (CpuLimit{.quota_ns = 50 * kNsPerMs,
                                          .period_ns = 100 * kNsPerMs,
                                          .periods = 80,
                                          .throttled_periods = 41,
                                          .throttled_ns = 3000 * kNsPerMs}));
  EXPECT_EQ(limits.Strongest().cpus(), 0.5);
}

// The target's user may have made the files of its view.
TEST_F(CpuLimitsTest, AFifoIsNotWaitedFor) {
  fs::create_directories(groups_ + "/job");
  ASSERT_EQ(mkfifo((groups_ + "/job/cpu.max").c_str(), 0600), 0);
  CpuLimits limits;
  limits.BeginIn({GroupsOf("0::/job\n")});
  EXPECT_EQ(limits.Strongest(), CpuLimit());
}

// As when a container ends before the recording.
TEST_F(CpuLimitsTest, OfAGroupThatEndedTheLastCountsStay) {
  WriteGroup(groups_ + "/job", 100, 10, 5000);
  CpuLimits limits;
  limits.BeginIn({GroupsOf("0::/job\n")});
  WriteGroup(groups_ + "/job", 110, 12, 6000);
  limits.Look(1'000 * kNsPerMs);
  WriteGroup(groups_ + "/job", 120, 13, 7000);
  limits.Look(1'499 * kNsPerMs);  // too soon
  EXPECT_EQ(limits.Strongest().periods, 10u);
  fs::remove_all(groups_ + "/job");
  limits.Look(1'500 * kNsPerMs);
  limits.Look();
  EXPECT_EQ(limits.Strongest().periods, 10u);
  EXPECT_EQ(limits.Strongest().throttled_periods, 2u);
}

TEST_F(CpuLimitsTest, GroupsOfVersion1StandBelowTheirController) {
  Write(groups_ + "/cpu/job/cpu.cfs_quota_us", "150000\n");
  Write(groups_ + "/cpu/job/cpu.cfs_period_us", "100000\n");
  Write(groups_ + "/cpu/job/cpu.stat",
        "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n");
  Write(groups_ + "/cpu/cpu.cfs_quota_us", "-1\n");
  Write(groups_ + "/cpu/cpu.cfs_period_us", "100000\n");
  Write(groups_ + "/cpu/cpu.stat",
        "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n");
  const auto folders = GroupsOf("5:cpuset:/x\n4:cpu,cpuacct:/job\n0::/\n");
  EXPECT_THAT(folders, ElementsAre(groups_ + "/cpu/job", groups_ + "/cpu"));
  CpuLimits limits;
  limits.BeginIn({folders});
  Write(groups_ + "/cpu/job/cpu.stat",
        "nr_periods 8\nnr_throttled 3\nthrottled_time 70\n");
  limits.Look();
  EXPECT_EQ(limits.Strongest(), (CpuLimit{.quota_ns = 150 * kNsPerMs,
                                          .period_ns = 100 * kNsPerMs,
                                          .periods = 8,
                                          .throttled_periods = 3,
                                          .throttled_ns = 70}));
}

TEST_F(CpuLimitsTest, TheLimitThatStoppedThreadsMostCounts) {
  WriteGroup(groups_ + "/pod", 0, 0, 0, "200000 100000");
  WriteGroup(groups_ + "/pod/app", 0, 0, 0, "400000 100000");
  WriteGroup(groups_ + "/pod/app/part", 0, 0, 0, "max 100000");
  CpuLimits limits;
  limits.BeginIn({GroupsOf("0::/pod/app/part\n")});
  EXPECT_EQ(limits.Strongest().cpus(), 2);  // the smallest
  WriteGroup(groups_ + "/pod", 9, 1, 100, "200000 100000");
  WriteGroup(groups_ + "/pod/app", 9, 2, 200, "400000 100000");
  limits.Look();
  EXPECT_EQ(limits.Strongest().cpus(), 4);
}

TEST_F(CpuLimitsTest, OfSeveralProcessesTheLimitsOfAllCount) {
  WriteGroup(groups_ + "/pod", 0, 0, 0, "200000 100000");
  WriteGroup(groups_ + "/pod/a", 0, 0, 0);
  WriteGroup(groups_ + "/pod/b", 0, 0, 0);
  const auto a = GroupsOf("0::/pod/a\n");
  CpuLimits limits;
  limits.BeginIn({a, a});
  EXPECT_EQ(limits.Strongest().cpus(), 0.5);
  limits.BeginIn({a, GroupsOf("0::/pod/b\n")});
  EXPECT_EQ(limits.Strongest().cpus(), 2);
  limits.BeginIn({a, GroupsOf("0::/\n")});
  EXPECT_EQ(limits.Strongest(), CpuLimit());
}

TEST_F(CpuLimitsTest, AContainerSeesItsOwnGroupAsTheTop) {
  WriteGroup(own_view_, 0, 0, 0);
  // With a namespace of groups, without one, and seen from another container.
  for (const char* const path : {"/", "/docker/0123", "/../0123"}) {
    EXPECT_THAT(GroupsOf(std::string("0::") + path + "\n"),
                ElementsAre(own_view_))
        << path;
  }
  fs::create_directories(own_view_ + "/part");
  EXPECT_THAT(GroupsOf("0::/part\n"),
              ElementsAre(own_view_ + "/part", own_view_));
  // From outside, the groups around the container are seen, too.
  fs::create_directories(groups_ + "/docker/0123");
  EXPECT_THAT(
      GroupsOf("0::/docker/0123\n"),
      ElementsAre(groups_ + "/docker/0123", groups_ + "/docker", groups_));
}

// This process is in a container, and the other one is not.
TEST_F(CpuLimitsTest, AProcessOutsideOfTheContainerDoesNotHaveItsLimit) {
  WriteGroup(groups_, 0, 0, 0);
  fs::create_directories(fs::path(own_view_).parent_path());
  fs::create_directory_symlink(groups_, own_view_);
  EXPECT_THAT(GroupsOf("0::/../user.slice\n"), IsEmpty());
}

TEST_F(CpuLimitsTest, WhatCannotBeReadIsNoLimit) {
  CpuLimits limits;
  EXPECT_THAT(CpuGroupsOf(top_ + "/none", groups_), IsEmpty());
  for (const char* const lines :
       {"", "\n", "0::", ":::\n", "0::/gone\n", "4:cpu\n", "x", "0::gone\n"}) {
    limits.BeginIn({GroupsOf(lines)});
    limits.Look();
    EXPECT_EQ(limits.Strongest(), CpuLimit()) << lines;
  }
  for (const char* const max :
       {"", "max 100000", "x 100000", "50000", "50000 0", "-1 100000"}) {
    WriteGroup(groups_ + "/job", 0, 0, 0, max);
    limits.BeginIn({GroupsOf("0::/job\n")});
    EXPECT_EQ(limits.Strongest(), CpuLimit()) << max;
  }
  WriteGroup(groups_ + "/job", 0, 0, 0);
  Write(groups_ + "/job/cpu.stat", "usage_usec 9\nnr_periods 4\n");
  limits.BeginIn({GroupsOf("0::/job\n")});
  EXPECT_EQ(limits.Strongest(), CpuLimit());
}

}  // namespace
}  // namespace kymo::off_cpu
