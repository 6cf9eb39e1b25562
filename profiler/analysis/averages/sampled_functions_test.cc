#include "profiler/analysis/averages/sampled_functions.h"

#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "name self/total self_samples/samples", one per function.
std::vector<std::string> Rows(const model::Trace& trace,
                              std::optional<model::TrackIndex> track = {}) {
  std::vector<std::string> rows;
  for (const SampledFunction& f : SampledFunctions(trace, track)) {
    rows.push_back(std::string(trace.Name(f.name)) + " " +
                   std::to_string(f.self_cpu_time_ns) + "/" +
                   std::to_string(f.cpu_time_ns) + " " +
                   std::to_string(f.self_sample_count) + "/" +
                   std::to_string(f.sample_count));
  }
  return rows;
}

TEST(SampledFunctionsTest, LeafIsSelfAndEveryFrameIsTotal) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddSample(main, 10, 100, {"main", "f", "g"});
  t.AddSample(main, 20, 100, {"main", "f"});
  t.AddSample(main, 30, 50, {"main", "g"});
  EXPECT_THAT(Rows(std::move(t).Build()),
              ElementsAre("g 150/150 2/2", "f 100/200 1/2", "main 0/250 0/3"));
}

TEST(SampledFunctionsTest, RecursionCountsOncePerSample) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddSample(main, 10, 1, {"f", "g", "f", "g", "f"});
  t.AddSample(main, 20, 1, {"f", "g", "h"});
  t.AddSample(main, 30, 1, {"g", "f"});
  EXPECT_THAT(Rows(std::move(t).Build()),
              ElementsAre("f 2/3 2/3", "h 1/1 1/1", "g 0/3 0/3"));
}

// Stacks come in any order, and parts of a stack have samples of their own.
TEST(SampledFunctionsTest, TotalsAreThoseOfStackByStack) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  std::minstd_rand random(7);
  struct Sum {
    int64_t self_ns = 0, ns = 0, self_count = 0, count = 0;
  };
  std::map<std::string, Sum> sums;
  for (int i = 0; i < 300; ++i) {
    model::StackId stack = model::kEmptyStack;
    std::string leaf;
    std::set<std::string> names;
    for (size_t depth = random() % 9; depth > 0; --depth) {
      leaf = std::string(1, static_cast<char>('a' + random() % 3));
      names.insert(leaf);
      stack = t.data().stacks.Push(
          stack, t.data().stacks.AddFrame({.function = t.Intern(leaf)}));
    }
    if (names.empty()) names = {""};
    const auto ns = static_cast<DurationNs>(1 + random() % 50);
    t.data().samples.push_back({main, stack, i, ns});
    sums[leaf].self_ns += ns;
    ++sums[leaf].self_count;
    for (const std::string& name : names) {
      sums[name].ns += ns;
      ++sums[name].count;
    }
  }
  std::vector<std::string> expected;
  for (const auto& [name, sum] : sums) {
    expected.push_back(name + " " + std::to_string(sum.self_ns) + "/" +
                       std::to_string(sum.ns) + " " +
                       std::to_string(sum.self_count) + "/" +
                       std::to_string(sum.count));
  }
  EXPECT_THAT(Rows(std::move(t).Build()),
              ::testing::UnorderedElementsAreArray(expected));
}

TEST(SampledFunctionsTest, ModulesTellFunctionsApart) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddSample(main, 10, 3, {"init"}, "/lib/a.so");
  t.AddSample(main, 20, 2, {"init"}, "/lib/b.so");
  const model::Trace trace = std::move(t).Build();
  const auto rows = SampledFunctions(trace);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(trace.Name(rows[0].module), "/lib/a.so");
  EXPECT_EQ(trace.Name(rows[1].module), "/lib/b.so");
}

TEST(SampledFunctionsTest, OneTrackOnly) {
  TestTrace t;
  const auto one = t.AddThread(1, 1, "one");
  const auto two = t.AddThread(1, 2, "two");
  t.AddSample(one, 10, 1, {"f"});
  t.AddSample(two, 10, 2, {"g"});
  const model::Trace trace = std::move(t).Build();
  EXPECT_THAT(Rows(trace, one), ElementsAre("f 1/1 1/1"));
  EXPECT_THAT(Rows(trace, two), ElementsAre("g 2/2 1/1"));
}

TEST(SampledFunctionsTest, SamplesThatAreAddedUpCount) {
  TestTrace t;
  const auto one = t.AddThread(1, 1, "one");
  const auto two = t.AddThread(1, 2, "two");
  t.AddSample(one, 10, 100, {"main", "f"});
  t.AddSample(one, 20, 50, {"main", "f"});
  t.AddSample(two, 20, 20, {"main"});
  t.AddUpSamples();
  t.AddSample(one, 30, 1, {"main", "f"});
  const model::Trace trace = std::move(t).Build();
  EXPECT_THAT(Rows(trace), ElementsAre("f 151/151 3/3", "main 20/171 1/4"));
  EXPECT_THAT(Rows(trace, two), ElementsAre("main 20/20 1/1"));
}

TEST(SampledFunctionsTest, SamplesWithoutFramesAreKept) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddSample(main, 10, 7, {});
  EXPECT_THAT(Rows(std::move(t).Build()), ElementsAre(" 7/7 1/1"));
}

TEST(SampledFunctionsTest, NoSamplesNoFunctions) {
  EXPECT_THAT(Rows(TestTrace().Build()), IsEmpty());
}

TEST(SampledFunctionsTest, DeepStacksNeedNoRecursion) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  model::StackId stack = model::kEmptyStack;
  for (int i = 0; i < 200'000; ++i) {
    stack = t.data().stacks.Push(
        stack, t.data().stacks.AddFrame(
                   {.function = t.Intern(i % 2 ? "odd" : "even")}));
  }
  t.data().samples.push_back({main, stack, 10, 1});
  EXPECT_THAT(Rows(std::move(t).Build()),
              ElementsAre("odd 1/1 1/1", "even 0/1 0/1"));
}

}  // namespace
}  // namespace kymo::analysis
