#include "kymo/warning.h"

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace kymo {
namespace {

TEST(WarningTest, GoesToTheHandlerThatIsSet) {
  std::vector<std::string> seen;
  SetWarningHandler([&](std::string_view text) { seen.emplace_back(text); });
  const std::string one = "a text of some length with a \n in it";
  Warn(one);
  Warn("");
  const WarningHandler before = SetWarningHandler({});
  EXPECT_EQ(seen, (std::vector<std::string>{one, ""}));
  ASSERT_TRUE(before);
  const std::string text(1000, 'x');
  before(text);
  EXPECT_EQ(seen.back(), text);
}

TEST(WarningTest, IsALineOnStandardErrorByDefault) {
  testing::internal::CaptureStderr();
  Warn("100 %s of it");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "kymo: 100 %s of it\n");
}

TEST(WarningTest, SwallowsWhatAHandlerThrows) {
  SetWarningHandler(
      [](std::string_view) { throw std::runtime_error("handler"); });
  Warn("text");
  SetWarningHandler({});
}

TEST(WarningTest, AHandlerMayReplaceItselfAndWarn) {
  std::vector<std::string> seen;
  SetWarningHandler([&](std::string_view) {
    SetWarningHandler([&](std::string_view text) { seen.emplace_back(text); });
    Warn("from the handler");
  });
  Warn("text");
  SetWarningHandler({});
  EXPECT_EQ(seen, std::vector<std::string>{"from the handler"});
}

TEST(WarningTest, ThreadsWarnWhileTheHandlerChanges) {
  std::atomic<int> seen = 0;
  const auto count = [&](std::string_view) { ++seen; };
  SetWarningHandler(count);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 500; ++i) Warn("text");
    });
  }
  for (int i = 0; i < 200; ++i) SetWarningHandler(count);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(seen, 4 * 500);
  SetWarningHandler({});
}

}  // namespace
}  // namespace kymo
