#include "exporters/tensorboard/call_paths.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/test_trace.h"

namespace kymo::tensorboard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "parent/name count total self", a number for the parent.
std::vector<std::string> Paths(TestTrace t, size_t max_paths = 100) {
  const model::Trace trace = std::move(t).Build();
  std::vector<std::string> texts;
  for (const CallPath& path :
       FindCallPaths(trace, StepNames(trace.strings()),
                     NameFamilies(trace.strings()), max_paths)) {
    std::string text =
        path.parent == kNoPath ? "" : std::to_string(path.parent) + "/";
    text += path.is_device  ? "(device)"
            : path.is_other ? "(" + std::to_string(path.left_out) + " other)"
                            : std::string(trace.Name(path.name));
    for (const int64_t number : {path.count, path.total_ns, path.self_ns}) {
      text += " " + std::to_string(number);
    }
    texts.push_back(text);
  }
  return texts;
}

TEST(CallPathsTest, ReplaysTheExample) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (int step = 0; step < 3; ++step) {
    const TimeNs at = 1'000 * step;
    t.AddRange(main, "ProfilerStep#" + std::to_string(step), at, at + 900);
    t.AddRange(main, "forward", at, at + 500);
    for (int i = 0; i < 3; ++i) {
      t.AddRange(main, "matmul", at + 100 * i, at + 100 * i + 90);
    }
    t.AddRange(main, "backward", at + 500, at + 600);
  }
  const auto stream = t.AddStream(0, 7);
  t.AddRange(stream, "sgemm", 0, 50, model::ActivityType::kConcurrentKernel);
  t.AddRange(stream, "sgemm", 50, 80, model::ActivityType::kConcurrentKernel);
  EXPECT_THAT(Paths(std::move(t)),
              ElementsAre("ProfilerStep#0 3 2700 900",  //
                          "0/forward 3 1500 690",       //
                          "1/matmul 9 810 810",         //
                          "0/backward 3 300 300",       //
                          "(device) 1 80 0",            //
                          "4/sgemm 2 80 80"));
}

TEST(CallPathsTest, ManyNamesThatDifferInNumbersAreOnePath) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  for (int i = 0; i <= 100; ++i) {
    t.AddRange(main, "request " + std::to_string(i) + " of 101", 10 * i,
               10 * i + 5);
  }
  for (int i = 0; i < 100; ++i) {
    t.AddRange(main, "layer" + std::to_string(i), 2'000 + i, 2'001 + i);
  }
  const std::vector<std::string> paths = Paths(std::move(t), 1'000);
  ASSERT_EQ(paths.size(), 101u);
  EXPECT_EQ(paths[0], "request 0 of 101 101 505 505");
  EXPECT_EQ(paths[1], "layer0 1 1 1");
}

TEST(CallPathsTest, AFoldedRangeCountsAsManyTimes) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "f", 0, 50, model::ActivityType::kCpuOp,
             model::kEventFolded);
  t.Describe(0);
  t.SetRare({.calls = 7});
  t.AddRange(main, "f", 60, 70);
  EXPECT_THAT(Paths(std::move(t)), ElementsAre("f 8 60 60"));
}

TEST(CallPathsTest, ThreadsShareTheirPaths) {
  TestTrace t;
  for (const int64_t tid : {1, 2}) {
    const auto thread = t.AddThread(1, tid, "worker");
    t.AddRange(thread, "work", 0, 10);
  }
  EXPECT_THAT(Paths(std::move(t)), ElementsAre("work 2 20 20"));
}

TEST(CallPathsTest, TheLongestStayAndTheOthersAreSums) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "f", 0, 1'000);
  t.AddRange(main, "long", 0, 500);
  t.AddRange(main, "short", 500, 600);
  t.AddRange(main, "within", 510, 520);
  t.AddRange(main, "shorter", 600, 650);
  t.AddRange(main, "top", 2'000, 2'001);
  EXPECT_THAT(Paths(std::move(t), 2),
              ElementsAre("f 1 1000 350", "0/long 1 500 500",
                          "0/(3 other) 3 150 150", "(1 other) 1 1 1"));
}

TEST(CallPathsTest, VeryDeepPathsAreLeftOut) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  constexpr int kDepth = 1'000;
  for (int i = 0; i < kDepth; ++i) {
    t.AddRange(main, "f", i, 2 * kDepth - i);
  }
  const auto paths = Paths(std::move(t));
  ASSERT_EQ(paths.size(), CallPath::kMaxDepth + 1);
  // 950 ranges, of which the outermost lasts for all of them.
  EXPECT_EQ(paths.back(), "49/(1 other) 950 1900 1900");
}

TEST(CallPathsTest, MemoryBelongsToTheInnermostPath) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddRange(main, "f", 0, 100);
  t.AddRange(main, "g", 10, 20);
  const auto add = [&](TimeNs time_ns, int64_t bytes, int8_t device_type) {
    t.data().memory.push_back({.track = main,
                               .device_type = device_type,
                               .time_ns = time_ns,
                               .bytes = bytes});
  };
  add(5, 100, 0);
  add(15, 1'000, 0);
  add(16, -1'000, 0);
  add(17, 64, 1);
  add(200, 7, 0);
  const model::Trace trace = std::move(t).Build();
  const auto paths = FindCallPaths(trace, StepNames(trace.strings()),
                                   NameFamilies(trace.strings()), 10);
  ASSERT_EQ(paths.size(), 2);
  EXPECT_EQ(paths[0].host_bytes, 100);
  EXPECT_EQ(paths[1].host_bytes, 1'000);
  EXPECT_EQ(paths[1].device_bytes, 64);
}

TEST(CallPathsTest, AnEmptyTraceHasNone) {
  EXPECT_THAT(Paths(TestTrace()), IsEmpty());
}

}  // namespace
}  // namespace kymo::tensorboard
