#include "profiler/base/control_group.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

namespace kymo {
namespace {

constexpr uint64_t kUnlimited = std::numeric_limits<uint64_t>::max();

class ControlGroupTest : public testing::Test {
 protected:
  ControlGroupTest() : top_(testing::TempDir() + "/groups") {
    std::filesystem::remove_all(top_);
    std::filesystem::create_directories(top_);
  }

  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = top_ + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  uint64_t LeftFor(const std::string& groups) {
    Write("cgroup", groups);
    return ControlGroupMemoryLeft(top_ + "/cgroup", top_);
  }

  const std::string top_;
};

TEST_F(ControlGroupTest, GroupsOfVersion2HaveLeftWhatTheyDoNotNeed) {
  Write("job/memory.max", "1000\n");
  Write("job/memory.current", "700\n");
  Write("job/memory.stat",
        "anon 300\nfile 400\nshmem 250\ninactive_file 100\nactive_file 50\n");
  EXPECT_EQ(LeftFor("0::/job\n"), 1000 - (700 - 150));
}

TEST_F(ControlGroupTest, TheTightestGroupAroundItCounts) {
  Write("a/memory.max", "500\n");
  Write("a/memory.current", "450\n");
  Write("a/b/memory.max", "max\n");
  Write("a/b/c/memory.max", "900\n");
  Write("a/b/c/memory.current", "300\n");
  EXPECT_EQ(LeftFor("0::/a/b/c\n"), 50);
}

TEST_F(ControlGroupTest, GroupsOfVersion1StandBelowTheirController) {
  Write("memory/job/memory.limit_in_bytes", "1000\n");
  Write("memory/job/memory.usage_in_bytes", "600\n");
  Write("memory/job/memory.stat",
        "active_file 7\ntotal_active_file 20\ntotal_inactive_file 30\n");
  EXPECT_EQ(LeftFor("5:devices:/x\n4:cpu,memory:/job\n0::/\n"), 450);
}

TEST_F(ControlGroupTest, AContainerSeesOnlyItsOwnGroup) {
  Write("memory/memory.limit_in_bytes", "1000\n");
  Write("memory/memory.usage_in_bytes", "100\n");
  EXPECT_EQ(LeftFor("4:memory:/docker/0123\n"), 900);
}

TEST_F(ControlGroupTest, GroupsOfVersion1MayHaveNoLimit) {
  Write("memory/memory.limit_in_bytes", "9223372036854771712\n");
  Write("memory/memory.usage_in_bytes", "100\n");
  EXPECT_EQ(LeftFor("4:memory:/\n"), kUnlimited);
}

TEST_F(ControlGroupTest, AGroupThatIsOverItsLimitHasNothingLeft) {
  Write("memory.max", "1000\n");
  Write("memory.current", "1100\n");
  EXPECT_EQ(LeftFor("0::/\n"), 0);
}

TEST_F(ControlGroupTest, WhatCannotBeReadIsNoLimit) {
  EXPECT_EQ(ControlGroupMemoryLeft(top_ + "/none", top_), kUnlimited);
  for (const char* const text : {"", "\n", "0::", ":::\n", "0::/gone\n",
                                 "4:memory\n", "x", "0::gone\n"}) {
    EXPECT_EQ(LeftFor(text), kUnlimited) << text;
  }
}

}  // namespace
}  // namespace kymo
