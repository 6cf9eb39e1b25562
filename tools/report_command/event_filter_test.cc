#include "tools/report_command/event_filter.h"

#include <utility>

#include <gtest/gtest.h>

#include "tests/support/test_trace.h"

namespace kymo::tools {
namespace {

using model::ActivityType;

// Two steps on a thread, a kernel launched in each, a second thread.
model::Trace SomeTrace() {
  TestTrace t;
  const auto main = t.AddThread(1, 10, "main");
  t.AddAnnotation(main, "ProfilerStep#1", 100, 200);  // 0
  t.AddRange(main, "aten::mm", 110, 190);             // 1
  t.AddRange(main, "cudaLaunchKernel", 120, 130,      // 2
             ActivityType::kCudaRuntime);
  t.Describe(5);
  t.AddAnnotation(main, "ProfilerStep#2", 200, 300);  // 3
  t.AddRange(main, "aten::add", 210, 290);            // 4
  t.AddRange(main, "cudaLaunchKernel", 220, 230,      // 5
             ActivityType::kCudaRuntime);
  t.Describe(6);
  const auto worker = t.AddThread(1, 11, "worker");
  t.AddRange(worker, "aten::mm", 150, 250);  // 6
  const auto stream = t.AddStream(0, 7, 1);
  t.AddRange(stream, "gemm", 205, 215, ActivityType::kConcurrentKernel);  // 7
  t.Describe(5);
  t.AddRange(stream, "add", 240, 250, ActivityType::kConcurrentKernel);  // 8
  t.Describe(6);
  t.SetWindow(100, 300);
  return std::move(t).Build();
}

std::vector<int> Chosen(const EventFilter& filter) {
  const auto chosen = ChooseEvents(SomeTrace(), filter);
  EXPECT_TRUE(chosen.ok()) << chosen.status();
  std::vector<int> events;
  for (size_t i = 0; chosen.ok() && i < chosen->size(); ++i) {
    if ((*chosen)[i]) events.push_back(static_cast<int>(i));
  }
  return events;
}

using Events = std::vector<int>;

TEST(EventFilterTest, WorkOfADeviceBelongsToTheStepThatLaunchedIt) {
  EXPECT_EQ(Chosen({.steps = {{1, 1}}}), (Events{0, 1, 2, 6, 7}));
  EXPECT_EQ(Chosen({.categories = {"kernel"}, .steps = {{2, 5}}}), (Events{8}));
}

TEST(EventFilterTest, NamesAreRegularExpressions) {
  EXPECT_EQ(Chosen({.name = "^aten::(mm|mul)$"}), (Events{1, 6}));
  EXPECT_EQ(Chosen({.name = "add"}), (Events{4, 8}));
}

TEST(EventFilterTest, ThreadsAreIdsOrNames) {
  EXPECT_EQ(Chosen({.threads = {"worker"}}), (Events{6}));
  EXPECT_EQ(Chosen({.threads = {"1/11", "7"}}), (Events{6, 7, 8}));
  EXPECT_EQ(Chosen({.threads = {"stream 7"}}), (Events{7, 8}));
}

TEST(EventFilterTest, TimesCountFromTheStart) {
  EXPECT_EQ(Chosen({.begin_ns = 10, .end_ns = 20}), (Events{1}));
  EXPECT_EQ(Chosen({.begin_ns = 120}), (Events{5, 8}));
}

TEST(EventFilterTest, SaysWhatTheTraceHas) {
  const model::Trace trace = SomeTrace();
  EXPECT_EQ(ChooseEvents(trace, {.threads = {"3"}}).status().message(),
            "--thread: the trace has no thread '3'; it has 1/10 main, "
            "1/11 worker, 1/7 stream 7");
  EXPECT_EQ(ChooseEvents(trace, {.steps = {{7, 8}}}).status().message(),
            "--step: the trace has only the steps 1 to 2");
  EXPECT_EQ(ChooseEvents(trace, {.name = "("}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(EventFilterTest, ListsAThreadOnceWhateverItsLanes) {
  TestTrace t;
  for (int lane = 0; lane < 3; ++lane) {
    t.AddRange(t.AddThread(1, 10, "main"), "overlaps", 100, 150 + lane);
  }
  t.AddThread(1, 11, "worker");
  t.SetWindow(100, 300);
  EXPECT_EQ(
      ChooseEvents(std::move(t).Build(), {.threads = {"3"}}).status().message(),
      "--thread: the trace has no thread '3'; it has 1/10 main, "
      "1/11 worker");
}

// A step lasts until its process's next one, and the last one to the end.
TEST(EventFilterTest, StepsAreThoseOfTheProcess) {
  TestTrace t;
  const auto first = t.AddThread(1, 10, "first");
  t.AddRange(first, "early", 50, 60);                  // 0
  t.AddAnnotation(first, "ProfilerStep#1", 100, 150);  // 1
  t.AddRange(first, "between", 160, 170);              // 2
  t.AddAnnotation(first, "ProfilerStep#2", 200, 250);  // 3
  t.AddRange(first, "late", 380, 400);                 // 4
  const auto second = t.AddThread(2, 20, "second");
  t.AddAnnotation(second, "ProfilerStep#2", 120, 130);  // 5
  t.AddRange(second, "between", 165, 166);              // 6
  const auto third = t.AddThread(3, 30, "without steps");
  t.AddRange(third, "mine", 165, 166);  // 7
  t.SetWindow(50, 400);
  const model::Trace trace = std::move(t).Build();
  const auto in_steps = [&](int64_t begin, int64_t end) {
    Events events;
    const auto chosen = *ChooseEvents(trace, {.steps = {{begin, end}}});
    for (size_t i = 0; i < chosen.size(); ++i) {
      if (chosen[i]) events.push_back(static_cast<int>(i));
    }
    return events;
  };
  EXPECT_EQ(in_steps(1, 1), (Events{1, 2}));
  EXPECT_EQ(in_steps(2, 2), (Events{3, 4, 5, 6}));
  EXPECT_EQ(in_steps(0, 9), (Events{1, 2, 3, 4, 5, 6}));
}

TEST(EventFilterTest, TheListOfThreadsIsShort) {
  const auto error_with = [](int threads) {
    TestTrace t;
    for (int i = 1; i <= threads; ++i) t.AddThread(1, i, "");
    return std::string(ChooseEvents(std::move(t).Build(), {.threads = {"none"}})
                           .status()
                           .message());
  };
  EXPECT_TRUE(error_with(20).ends_with(", 1/19, 1/20")) << error_with(20);
  EXPECT_TRUE(error_with(22).ends_with(", 1/20, and 2 more")) << error_with(22);
  TestTrace t;
  t.AddThread(1, 1, "");
  EXPECT_EQ(ChooseEvents(std::move(t).Build(), {.steps = {{1, 1}}})
                .status()
                .message(),
            "--step: the trace has no steps (ranges ProfilerStep#N)");
}

TEST(EventFilterTest, ATraceOfTheFilterHasRecordsOfEveryKind) {
  TestTrace t;
  const auto main = t.AddThread(1, 10, "main");
  const auto worker = t.AddThread(1, 11, "worker");
  t.AddSample(main, 100, 1, {"f"});
  t.AddSample(main, 149, 1, {"f"});
  t.AddSample(main, 150, 1, {"f"});
  t.AddSample(worker, 120, 1, {"f"});
  t.SetThreadTimes(
      {{.track = main, .wall_ns = 100}, {.track = worker, .wall_ns = 90}});
  t.SetWindow(100, 200);
  const auto chosen =
      ChosenTrace(std::move(t).Build(), {.threads = {"main"}, .end_ns = 50});
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  ASSERT_EQ(chosen->samples().size(), 2u);
  EXPECT_EQ(chosen->samples()[1].time_ns, 149);
  const std::vector<model::ThreadTimes>& threads =
      chosen->thread_states()->threads;
  ASSERT_EQ(threads.size(), 1u);
  EXPECT_EQ(threads[0].track, main);
}

TEST(EventFilterTest, TheChosenTraceIsValidAndKeepsNesting) {
  const auto chosen = ChosenTrace(SomeTrace(), {.name = "Step|cuda"});
  ASSERT_TRUE(chosen.ok()) << chosen.status();
  EXPECT_TRUE(model::ValidateTrace(*chosen).ok())
      << model::ValidateTrace(*chosen);
  ASSERT_EQ(chosen->event_count(), 4);
  EXPECT_EQ(chosen->EventName(1), "cudaLaunchKernel");
  EXPECT_EQ(chosen->parent()[1], 0);
  EXPECT_EQ(chosen->detail(1)->correlation_id, 5);
  EXPECT_EQ(chosen->start_ns(), 100);
}

}  // namespace
}  // namespace kymo::tools
