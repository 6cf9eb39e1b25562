#include "profiler/analysis/memory/memory_profile.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/test_memory.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::MemorySource;
using model::StackId;

class MemoryProfileTest : public testing::Test {
 protected:
  MemoryProfileTest() {
    builder_.SetWindow(0, 1'000);
    main_ = builder_.AddThread(1, 1, "main");
  }

  StackId Stack(std::string_view function) {
    return builder_.data().stacks.Push(
        model::kEmptyStack, builder_.data().stacks.AddFrame(
                                {.function = builder_.Intern(function)}));
  }

  std::vector<MemoryProfile> Profile() {
    std::move(memory_).AddTo(builder_.data());
    trace_.emplace(std::move(builder_).Build());
    EXPECT_TRUE(ValidateTrace(*trace_).ok()) << ValidateTrace(*trace_);
    return ProfileMemory(*trace_);
  }
  MemoryProfile ProfileOfHeap() {
    const std::vector<MemoryProfile> profiles = Profile();
    EXPECT_EQ(profiles.size(), 1u);
    return profiles.empty() ? MemoryProfile() : profiles[0];
  }

  TestTrace builder_;
  TestMemory memory_;
  std::optional<model::Trace> trace_;
  model::TrackIndex main_ = 0;
};

TEST_F(MemoryProfileTest, TotalsAreExact) {
  const auto a = memory_.Allocate({.track = main_, .bytes = 100}, 10);
  const auto b = memory_.Allocate({.track = main_, .bytes = 30}, 20);
  memory_.OutOfMemory({.track = main_, .bytes = 1 << 30}, 25);
  memory_.Free(a, main_, 30);
  memory_.Replace(b, main_, 40);  // frees b, allocates 30 again
  const MemoryProfile profile = ProfileOfHeap();
  EXPECT_EQ(profile.pool,
            (MemoryPool{.pid = 1, .source = MemorySource::kHeap}));
  EXPECT_EQ(profile.detail, MemoryDetail::kRecords);
  EXPECT_EQ(profile.totals, (MemoryTotals{.allocations = 3,
                                          .frees = 2,
                                          .allocated_bytes = 160,
                                          .freed_bytes = 130,
                                          .alive_bytes = 30,
                                          .out_of_memory = 1}));
}

TEST_F(MemoryProfileTest, ThePeakIsMadeOfTheBlocksAliveThen) {
  const auto other = builder_.AddThread(1, 2, "other");
  TestTrace& t = builder_;
  t.AddRange(other, "load", 0, 100);
  t.AddRange(other, "decode", 20, 50);
  const StackId read = Stack("read");
  const StackId parse = Stack("parse");
  const auto early =
      memory_.Allocate({.track = main_, .bytes = 500, .stack = read}, 5);
  memory_.Free(early, main_, 6);
  memory_.Allocate({.track = main_, .bytes = 100, .stack = read}, 10);
  memory_.Allocate({.track = other, .bytes = 250, .stack = parse}, 30);
  const auto last =
      memory_.Allocate({.track = other, .bytes = 200, .stack = read}, 60);
  memory_.Free(last, main_, 70);
  memory_.Allocate({.track = other, .bytes = 150, .stack = parse}, 80);

  const MemoryPeak peak = ProfileOfHeap().peak;
  EXPECT_EQ(peak.bytes, 550);
  EXPECT_EQ(peak.time_ns, 60);
  EXPECT_EQ(peak.by_stack,
            (std::vector<StackMemory>{{read, 2, 300}, {parse, 1, 250}}));
  const auto name = [&](std::string_view text) {
    return *trace_->strings().Find(text);
  };
  EXPECT_EQ(peak.by_operation,
            (std::vector<OperationMemory>{{name("decode"), 1, 250},
                                          {name("load"), 1, 200},
                                          {model::kEmptyName, 1, 100}}));
}

TEST_F(MemoryProfileTest, ThePeakIsAddedUpByTheProgramsFunction) {
  auto& stacks = builder_.data().stacks;
  const auto inside = [&](StackId caller, std::string_view function) {
    return stacks.Push(
        caller, stacks.AddFrame({.function = builder_.Intern(function)}));
  };
  const StackId read = Stack("read");
  const StackId grow = inside(
      inside(read, "std::vector<int>::push_back(int&&)"), "operator new");
  const StackId other_read = inside(Stack("main"), "read");
  memory_.Allocate({.track = main_, .bytes = 100, .stack = grow}, 10);
  memory_.Allocate({.track = main_, .bytes = 20, .stack = other_read}, 20);
  memory_.Allocate({.track = main_, .bytes = 50, .stack = Stack("parse")}, 30);
  memory_.Allocate({.track = main_, .bytes = 1}, 40);
  const MemoryProfile profile = ProfileOfHeap();
  ASSERT_EQ(profile.peak.by_stack.size(), 4u);
  const auto name = [&](std::string_view text) {
    return *trace_->strings().Find(text);
  };
  EXPECT_EQ(profile.peak_by_function,
            (std::vector<FunctionMemory>{{name("read"), 2, 120},
                                         {name("parse"), 1, 50},
                                         {model::kEmptyName, 1, 1}}));
}

TEST_F(MemoryProfileTest, OfEqualPeaksTheFirstCounts) {
  const auto block = memory_.Allocate({.track = main_, .bytes = 100}, 10);
  memory_.Free(block, main_, 20);
  memory_.Allocate({.track = main_, .bytes = 100}, 30);
  EXPECT_EQ(ProfileOfHeap().peak.time_ns, 10);
}

TEST_F(MemoryProfileTest, LeaksAreBlocksWithoutAnEnd) {
  const StackId leaky = Stack("leaky");
  const StackId clean = Stack("clean");
  memory_.Allocate({.track = main_, .bytes = 10, .stack = leaky}, 10);
  memory_.Allocate({.track = main_, .bytes = 20, .stack = leaky}, 20);
  const auto lost =
      memory_.Allocate({.track = main_, .bytes = 40, .stack = clean}, 30);
  memory_.Free(memory_.Replace(lost, main_, 40), main_, 50);
  EXPECT_EQ(ProfileOfHeap().leaks, (std::vector<StackMemory>{{leaky, 2, 30}}));
}

TEST_F(MemoryProfileTest, NothingIsLeakedWhereAllIsFreed) {
  const auto other = builder_.AddThread(1, 2, "other");
  memory_.Free(memory_.Allocate({.track = main_, .bytes = 10}, 10), other, 20);
  const MemoryProfile profile = ProfileOfHeap();
  EXPECT_TRUE(profile.leaks.empty());
  EXPECT_EQ(profile.totals.alive_bytes, 0);
}

TEST_F(MemoryProfileTest, TemporaryIsWhatItsThreadFreesBeforeItAllocatesAgain) {
  const auto other = builder_.AddThread(1, 2, "other");
  const StackId stack = Stack("format");
  const auto allocate = [&](TimeNs now) {
    return memory_.Allocate({.track = main_, .bytes = 8, .stack = stack}, now);
  };
  memory_.Free(allocate(10), main_, 20);  // temporary

  const auto outer = allocate(30);
  memory_.Free(allocate(40), main_, 50);  // temporary
  memory_.Free(outer, main_, 60);         // another one came in between

  const auto across = allocate(70);
  memory_.Allocate({.track = other, .bytes = 1}, 75);  // another thread's
  memory_.Free(across, main_, 80);                     // temporary

  const auto mapping = allocate(90);
  memory_.Allocate(
      {.track = main_, .bytes = 4096, .source = MemorySource::kMapped}, 95);
  memory_.Free(mapping, main_, 100);  // temporary

  memory_.Free(allocate(110), other, 120);  // freed by another thread

  const std::vector<MemoryProfile> profiles = Profile();
  ASSERT_EQ(profiles.size(), 2u);
  EXPECT_EQ(profiles[0].temporary.count, 4);
  EXPECT_EQ(profiles[0].temporary.bytes, 32);
  EXPECT_EQ(profiles[0].temporary.by_stack,
            (std::vector<StackMemory>{{stack, 4, 32}}));
}

TEST_F(MemoryProfileTest, HistogramsAreInPowersOfTwo) {
  TimeNs now = 0;
  const std::pair<int64_t, DurationNs> blocks[] = {{0, 1}, {1, 2}, {2, 3},
                                                   {3, 4}, {4, 0}, {7, 1'000}};
  for (const auto& [bytes, lifetime] : blocks) {
    now += 10;
    const auto block = memory_.Allocate({.track = main_, .bytes = bytes}, now);
    now += lifetime;
    memory_.Free(block, main_, now);
  }
  const auto lost = memory_.Allocate({.track = main_, .bytes = 8}, 5'000);
  memory_.Replace(lost, main_, 5'001);  // how long it lived is not known
  builder_.SetWindow(0, 10'000);

  const MemoryProfile profile = ProfileOfHeap();
  EXPECT_EQ(std::vector(profile.sizes.begin(), profile.sizes.begin() + 6),
            (std::vector<int64_t>{1, 1, 2, 2, 2, 0}));
  EXPECT_EQ(
      std::vector(profile.lifetimes.begin(), profile.lifetimes.begin() + 5),
      (std::vector<int64_t>{1, 1, 2, 1, 0}));
  EXPECT_EQ(profile.lifetimes[10], 1);
  EXPECT_LE(HistogramBegin(10), 1'000);
  EXPECT_GT(HistogramBegin(11), 1'000);
  EXPECT_EQ(HistogramBegin(0), 0);
}

TEST_F(MemoryProfileTest, StepsHaveWhatHappenedWithinThem) {
  builder_.AddAnnotation(main_, "ProfilerStep#4", 100, 200);
  builder_.AddAnnotation(main_, "ProfilerStep#5", 200, 300);
  builder_.AddAnnotation(main_, "ProfilerStep#x", 400, 500);
  const auto other = builder_.AddThread(1, 2, "other");
  memory_.Allocate({.track = main_, .bytes = 1}, 50);
  const auto kept = memory_.Allocate({.track = other, .bytes = 10}, 100);
  memory_.Free(memory_.Allocate({.track = main_, .bytes = 100}, 110), main_,
               120);
  memory_.Free(kept, main_, 250);
  memory_.Allocate({.track = main_, .bytes = 1'000}, 300);
  memory_.Allocate({.track = main_, .bytes = 5}, 301);
  EXPECT_EQ(ProfileOfHeap().steps,
            (std::vector<MemoryStep>{{.number = 4,
                                      .start_ns = 100,
                                      .end_ns = 200,
                                      .live_begin_bytes = 1,
                                      .live_end_bytes = 11,
                                      .allocations = 2,
                                      .allocated_bytes = 110},
                                     {.number = 5,
                                      .start_ns = 200,
                                      .end_ns = 300,
                                      .live_begin_bytes = 11,
                                      .live_end_bytes = 1'001,
                                      .allocations = 1,
                                      .allocated_bytes = 1'000}}));
}

TEST_F(MemoryProfileTest, StepsOfOtherProcessesAreTheirs) {
  const auto child = builder_.AddThread(2, 2, "child");
  builder_.AddAnnotation(child, "ProfilerStep#0", 0, 100);
  memory_.Allocate({.track = main_, .bytes = 1}, 10);
  memory_.Allocate({.track = child, .bytes = 2}, 20);
  const std::vector<MemoryProfile> profiles = Profile();
  ASSERT_EQ(profiles.size(), 2u);
  EXPECT_TRUE(profiles[0].steps.empty());
  ASSERT_EQ(profiles[1].steps.size(), 1u);
  EXPECT_EQ(profiles[1].steps[0].live_end_bytes, 2);
}

TEST_F(MemoryProfileTest, SamplesAreEstimates) {
  builder_.data().memory_sample_interval = 1'000;
  for (int i = 0; i < 100; ++i) {
    memory_.Allocate({.track = main_, .bytes = 100}, i);
  }
  const MemoryProfile profile = ProfileOfHeap();
  EXPECT_EQ(profile.detail, MemoryDetail::kSamples);
  // 1 / (1 - exp(-0.1)) = 10.508 allocations each.
  EXPECT_EQ(profile.totals.allocations, 1'051);
  EXPECT_NEAR(profile.totals.allocated_bytes, 105'083, 50);
  EXPECT_NEAR(profile.peak.bytes, 105'083, 50);
  EXPECT_EQ(profile.leaks[0].count, 1'051);
  EXPECT_EQ(profile.sizes[7], 1'051);
}

TEST_F(MemoryProfileTest, SamplesDoNotTellWhatIsTemporary) {
  builder_.data().memory_sample_interval = 1'000;
  memory_.Free(memory_.Allocate({.track = main_, .bytes = 100}, 10), main_, 20);
  EXPECT_EQ(ProfileOfHeap().temporary, TemporaryAllocations());
}

TEST_F(MemoryProfileTest, CountsAreTotals) {
  const auto other = builder_.AddThread(1, 2, "other");
  builder_.data().allocation_counts = {{main_, 10, 8, 1'000},
                                       {other, 5, 5, 50}};
  const MemoryProfile profile = ProfileOfHeap();
  EXPECT_EQ(profile.detail, MemoryDetail::kCounts);
  EXPECT_EQ(profile.pool,
            (MemoryPool{.pid = 1, .source = MemorySource::kHeap}));
  EXPECT_EQ(
      profile.totals,
      (MemoryTotals{.allocations = 15, .frees = 13, .allocated_bytes = 1'050}));
}

TEST_F(MemoryProfileTest, RecordsTellMoreThanCounts) {
  builder_.data().allocation_counts = {{main_, 10, 8, 1'000}};
  memory_.Allocate({.track = main_, .bytes = 7}, 1);
  EXPECT_EQ(ProfileOfHeap().totals.allocations, 1);
}

TEST_F(MemoryProfileTest, WithoutMemoryThereIsNothing) {
  EXPECT_TRUE(Profile().empty());
}

}  // namespace
}  // namespace kymo::analysis
