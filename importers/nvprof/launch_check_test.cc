#include "importers/nvprof/launch_check.h"

#include "gtest/gtest.h"

namespace kymo::nvprof {
namespace {

class LaunchCheckTest : public testing::Test {
 protected:
  void AddRange(int64_t id, TimeNs start, TimeNs end) {
    EXPECT_TRUE(check_.AddMarkerStart(id, start));
    EXPECT_TRUE(check_.AddMarkerEnd(id, end));
  }
  void AddCall(int64_t row, int64_t cbid, TimeNs start, TimeNs end) {
    check_.AddCall({.row = row,
                    .cbid = cbid,
                    .start_ns = start,
                    .end_ns = end,
                    .correlation = row + 67});
  }

  sqlite::Findings findings_;
  LaunchCheck check_{findings_};
};

TEST_F(LaunchCheckTest, AcceptsWhatPyTorchAccepts) {
  AddRange(1, 100, 500);
  AddCall(10, 211, 150, 200);
  AddCall(11, 430, 210, 220);
  check_.AddKernel(77);
  check_.AddKernel(78);
  EXPECT_TRUE(check_.Run().ok());
  EXPECT_TRUE(findings_.list().empty());
}

TEST_F(LaunchCheckTest, AKernelOfAnotherCallIsRefused) {
  AddRange(1, 100, 500);
  AddCall(10, 13, 150, 200);
  check_.AddKernel(77);
  EXPECT_EQ(check_.Run().message(), "Expected cbid to be 211, but got 13");
  ASSERT_EQ(findings_.list().size(), 1u);
  EXPECT_EQ(findings_.list()[0].rule, "launch_cbid");
}

TEST_F(LaunchCheckTest, OutsideOfAllRangesAnythingGoes) {
  AddRange(1, 100, 500);
  AddRange(2, 600, 700);
  AddCall(10, 13, 100, 200);  // begins with the range: not inside
  AddCall(11, 13, 450, 500);
  AddCall(12, 13, 520, 530);
  AddCall(13, 13, 650, 800);
  for (const int64_t correlation : {77, 78, 79, 80, 999}) {
    check_.AddKernel(correlation);
  }
  EXPECT_TRUE(check_.Run().ok());
}

TEST_F(LaunchCheckTest, AnOuterRangeCountsBehindAShortOne) {
  AddRange(1, 100, 500);
  AddRange(2, 110, 120);
  AddCall(10, 13, 150, 200);
  check_.AddKernel(77);
  EXPECT_FALSE(check_.Run().ok());
}

TEST_F(LaunchCheckTest, AMarkersIdComesOnce) {
  EXPECT_TRUE(check_.AddMarkerStart(1, 100));
  EXPECT_FALSE(check_.AddMarkerStart(1, 110));
  EXPECT_TRUE(check_.AddMarkerEnd(1, 200));
  EXPECT_FALSE(check_.AddMarkerEnd(1, 210));
  EXPECT_EQ(check_.Run().message(), "duplicate key: (1,)");
  ASSERT_EQ(findings_.list().size(), 1u);
  EXPECT_EQ(findings_.list()[0].count, 2u);
}

TEST_F(LaunchCheckTest, ACallInARangeLaunchesOneKernel) {
  AddRange(5, 10, 20);
  AddRange(3, 100, 500);
  AddCall(10, 311, 150, 200);
  check_.AddKernel(77);
  check_.AddKernel(77);
  check_.AddKernel(77);
  EXPECT_EQ(check_.Run().message(), "duplicate key: (3, 10)");
  EXPECT_EQ(findings_.list()[0].count, 2u);
}

// The message names the first marker of the table that is around the call.
TEST_F(LaunchCheckTest, AMarkerThatTouchesTheCallIsNotAroundIt) {
  EXPECT_TRUE(check_.AddMarkerStart(8, 120));
  EXPECT_TRUE(check_.AddMarkerEnd(9, 400));
  AddRange(5, 150, 500);
  AddRange(6, 100, 200);
  AddRange(3, 149, 201);
  AddRange(2, 100, 500);
  AddCall(10, 211, 150, 200);
  check_.AddKernel(77);
  check_.AddKernel(77);
  EXPECT_EQ(check_.Run().message(), "duplicate key: (3, 10)");
}

TEST_F(LaunchCheckTest, TheFirstErrorIsTheResult) {
  AddRange(1, 100, 500);
  AddCall(10, 13, 150, 200);
  AddCall(11, 311, 150, 200);
  for (const int64_t correlation : {77, 78, 77, 78}) {
    check_.AddKernel(correlation);
  }
  EXPECT_EQ(check_.Run().message(), "Expected cbid to be 211, but got 13");
  ASSERT_EQ(findings_.list().size(), 2u);
  EXPECT_EQ(findings_.list()[0].rule, "launch_cbid");
  EXPECT_EQ(findings_.list()[0].count, 2u);
  EXPECT_EQ(findings_.list()[1].rule, "duplicate_key");
  EXPECT_EQ(findings_.list()[1].message, "duplicate key: (1, 10)");
  EXPECT_EQ(findings_.list()[1].count, 2u);
  EXPECT_EQ(findings_.list()[1].severity, sqlite::Severity::kWarning);
}

TEST_F(LaunchCheckTest, OfCallsWithOneIdTheFirstCounts) {
  AddRange(1, 100, 500);
  AddCall(10, 211, 150, 200);
  check_.AddCall({.row = 11,
                  .cbid = 13,
                  .start_ns = 210,
                  .end_ns = 220,
                  .correlation = 77});
  check_.AddKernel(77);
  EXPECT_TRUE(check_.Run().ok());
}

}  // namespace
}  // namespace kymo::nvprof
