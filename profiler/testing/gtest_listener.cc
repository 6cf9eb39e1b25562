#include "profiler/testing/gtest_listener.h"

#include <stdio.h>

#include <algorithm>
#include <functional>

#include "absl/strings/str_format.h"
#include "profiler/base/time.h"

namespace kymo {
namespace {

constexpr size_t kMostTests = 5;
constexpr double kBytesPerMib = 1 << 20;

double Milliseconds(int64_t ns) {
  return static_cast<double>(ns) / static_cast<double>(kNsPerMs);
}

using Test = std::pair<std::string, TestAmounts>;

// A list of the tests with the largest amounts.
template <typename Amount, typename Line>
void AppendList(const char* title, std::vector<Test> tests, Amount amount,
                Line line, std::string& text) {
  std::erase_if(tests,
                [&](const Test& test) { return amount(test.second) <= 0; });
  std::ranges::stable_sort(tests, std::greater<>(), [&](const Test& test) {
    return amount(test.second);
  });
  if (tests.empty()) return;
  absl::StrAppendFormat(&text, "kymo: %s\n", title);
  for (size_t i = 0; i < std::min(tests.size(), kMostTests); ++i) {
    text += line(tests[i].first, tests[i].second);
  }
}

}  // namespace

std::string TestsText(const std::vector<Test>& tests) {
  std::string text;
  AppendList(
      "slowest tests", tests,
      [](const TestAmounts& amounts) { return amounts.duration_ns; },
      [](const std::string& name, const TestAmounts& amounts) {
        return absl::StrFormat("%10.1f ms   %s\n",
                               Milliseconds(amounts.duration_ns), name);
      },
      text);
  AppendList(
      "tests that allocate most", tests,
      [](const TestAmounts& amounts) { return amounts.allocated_bytes; },
      [](const std::string& name, const TestAmounts& amounts) {
        return absl::StrFormat(
            "%10.1f MiB  %s, %d allocations\n",
            static_cast<double>(amounts.allocated_bytes) / kBytesPerMib, name,
            amounts.allocations);
      },
      text);
  AppendList(
      "tests that wait most", tests,
      [](const TestAmounts& amounts) { return amounts.wait_ns; },
      [](const std::string& name, const TestAmounts& amounts) {
        return absl::StrFormat("%10.1f ms   %s, %d waits, mostly in %s\n",
                               Milliseconds(amounts.wait_ns), name,
                               amounts.waits, amounts.waited_in);
      },
      text);
  return text;
}

void TestListener::OnTestStart(const testing::TestInfo& /*test*/) {
  session_.Start();
}

void TestListener::OnTestEnd(const testing::TestInfo& test) {
  const TestAmounts amounts = session_.Stop();
  if (!amounts.error.empty()) return;
  const auto property = [](const char* name, int64_t amount) {
    testing::Test::RecordProperty(name, std::to_string(amount));
  };
  property("kymo_allocations", amounts.allocations);
  property("kymo_allocated_bytes", amounts.allocated_bytes);
  property("kymo_peak_bytes", amounts.peak_bytes);
  property("kymo_ranges", amounts.ranges);
  property("kymo_waits", amounts.waits);
  property("kymo_wait_ns", amounts.wait_ns);
  tests_.emplace_back(
      absl::StrFormat("%s.%s", test.test_suite_name(), test.name()), amounts);
}

void TestListener::OnTestProgramEnd(const testing::UnitTest& /*program*/) {
  fputs(TestsText(tests_).c_str(), stdout);
}

}  // namespace kymo
