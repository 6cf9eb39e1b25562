#include <stdio.h>
#include <stdlib.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kymo/record_function.h"
#include "profiler/testing/gtest_listener.h"
#include "profiler/testing/test_session.h"

namespace kymo {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

TEST(TestSessionTest, CountsAllocationsAndRanges) {
  TestSession session;
  session.Start();
  for (int i = 0; i < 7; ++i) {
    RecordFunction range("seven");
    const auto block = std::make_unique<std::vector<char>>(1000);
    ASSERT_NE(block->data(), nullptr);
  }
  const TestAmounts amounts = session.Stop();
  EXPECT_EQ(amounts.error, "");
  EXPECT_EQ(amounts.ranges, 7);
  EXPECT_EQ(amounts.allocations, 14);
  EXPECT_GE(amounts.peak_bytes, 1000);
}

// Run by PropertiesReachTheReport.
TEST(ListenedTest, AllocatesThrice) {
  for (int i = 0; i < 3; ++i) {
    const auto block = std::make_unique<std::array<char, 100>>();
    ASSERT_NE(block, nullptr);
  }
}

// This program once more, with the listener.
constexpr char kListens[] = "KYMO_TEST_LISTENS";
const bool listens = [] {
  if (getenv(kListens) == nullptr) return false;
  testing::UnitTest::GetInstance()->listeners().Append(new TestListener());
  return true;
}();

TEST(TestListenerTest, PropertiesReachTheReport) {
  if (listens) GTEST_SKIP();
  const std::string report = testing::TempDir() + "/listened.xml";
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  ASSERT_EQ(setenv(kListens, "1", 1), 0);
  EXPECT_EQ(
      system(("env -u XML_OUTPUT_FILE -u TEST_TOTAL_SHARDS " + self +
              " --gtest_filter=ListenedTest.* --gtest_output=xml:" + report)
                 .c_str()),
      0);
  unsetenv(kListens);
  std::ifstream file(report);
  const std::string xml(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(xml, ContainsRegex("name=\"kymo_allocations\" value=\"[3-9]\""));
  for (const char* const name :
       {"allocated_bytes", "peak_bytes", "ranges", "waits", "wait_ns"}) {
    EXPECT_THAT(xml, HasSubstr(std::string("name=\"kymo_") + name + "\""));
  }
}

TEST(TestsTextTest, NamesWhatTookMost) {
  std::vector<std::pair<std::string, TestAmounts>> tests;
  for (int i = 1; i <= 7; ++i) {
    tests.push_back(
        {"T.n" + std::to_string(i), {.duration_ns = i * 1'000'000}});
  }
  tests[0].second.allocations = 3;
  tests[0].second.allocated_bytes = 1 << 20;
  tests[1].second.waits = 2;
  tests[1].second.wait_ns = 5'000'000;
  tests[1].second.waited_in = "Cache::Get";
  EXPECT_EQ(TestsText(tests),
            "kymo: slowest tests\n"
            "       7.0 ms   T.n7\n"
            "       6.0 ms   T.n6\n"
            "       5.0 ms   T.n5\n"
            "       4.0 ms   T.n4\n"
            "       3.0 ms   T.n3\n"
            "kymo: tests that allocate most\n"
            "       1.0 MiB  T.n1, 3 allocations\n"
            "kymo: tests that wait most\n"
            "       5.0 ms   T.n2, 2 waits, mostly in Cache::Get\n");
}

TEST(BenchmarkMainTest, RowsHaveCounters) {
  const std::string command =
      std::string(getenv("KYMO_BENCHMARK")) + " --benchmark_min_time=0.01";
  FILE* const pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string out;
  char buffer[4096];
  while (const size_t got = fread(buffer, 1, sizeof(buffer), pipe)) {
    out.append(buffer, got);
  }
  EXPECT_EQ(pclose(pipe), 0);
  EXPECT_THAT(out, ContainsRegex("ThreeAllocations.*allocs=3 bytes=300 "));
  EXPECT_THAT(out, ContainsRegex("ThreeAllocations.*ranges=1 "));
  EXPECT_THAT(out, ContainsRegex("Nothing.*allocs=0 bytes=0 "));
}

}  // namespace
}  // namespace kymo
