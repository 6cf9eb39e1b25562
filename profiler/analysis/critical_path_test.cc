#include "profiler/analysis/critical_path.h"

#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::ActivityType;
using model::Arg;

// One thread with its calls; streams are added behind it.
class Work {
 public:
  Work() : main_(t_.AddThread(1, 1, "main")) {}

  void Op(const char* name, TimeNs start, TimeNs end) {
    t_.AddRange(main_, name, start, end);
  }
  void Call(const char* name, TimeNs start, TimeNs end, uint64_t id) {
    t_.AddRange(main_, name, start, end, ActivityType::kCudaRuntime);
    t_.Describe(id);
  }
  void Stream(int64_t id) { stream_ = t_.AddStream(0, id, 1); }
  void Kernel(const char* name, TimeNs start, TimeNs end, uint64_t id) {
    t_.AddRange(stream_, name, start, end, ActivityType::kConcurrentKernel);
    t_.Describe(id);
  }
  void Sync(const char* name, TimeNs start, TimeNs end, uint64_t id,
            int64_t record = -1, int64_t on_stream = -1) {
    t_.AddRange(stream_, name, start, end, ActivityType::kCudaSync,
                model::kEventAsync);
    t_.Describe(
        id, {Arg::Int(t_.Intern("wait_on_cuda_event_record_corr_id"), record),
             Arg::Int(t_.Intern("wait_on_stream"), on_stream)});
  }
  model::Trace Build() && { return std::move(t_).Build(); }

 private:
  TestTrace t_;
  const model::TrackIndex main_;
  model::TrackIndex stream_ = 0;
};

// "host(mm)10 kernel(gemm)50": the steps that take time.
std::string Text(const model::Trace& trace, const CriticalPath& path) {
  std::string text;
  for (const PathStep& step : path.steps) {
    if (step.weight_ns == 0) continue;
    if (!text.empty()) text += ' ';
    text += std::string(PathCauseName(step.cause)) + "(" +
            std::string(trace.EventName(step.event)) + ")" +
            std::to_string(step.weight_ns);
  }
  return text;
}

std::string PathOf(const model::Trace& trace,
                   const CriticalPathOptions& options = {}) {
  return Text(trace, FindCriticalPath(trace, Launches(trace), options));
}

TEST(CriticalPathTest, AThreadAloneIsItsOwnPath) {
  Work work;
  work.Op("A", 0, 100);
  work.Op("B", 20, 50);
  work.Op("C", 60, 90);
  work.Op("D", 120, 130);  // the time before D is no work
  const model::Trace trace = std::move(work).Build();
  const CriticalPath path = FindCriticalPath(trace, Launches(trace), {});
  EXPECT_EQ(Text(trace, path),
            "host(A)20 host(B)30 host(A)10 host(C)30 host(A)10 host(D)10");
  EXPECT_EQ(path.length_ns, 110);
  EXPECT_EQ(path.steps.front().start_ns, 0);
  EXPECT_EQ(path.steps.back().end_ns, 130);
}

TEST(CriticalPathTest, ALaunchToAnEmptyStreamThenAQueue) {
  Work work;
  work.Op("mm", 0, 60);
  work.Call("cudaLaunchKernel", 10, 15, 1);
  work.Call("cudaLaunchKernel", 20, 25, 2);
  work.Stream(7);
  work.Kernel("gemm", 18, 100, 1);
  work.Kernel("relu", 103, 150, 2);
  EXPECT_EQ(PathOf(std::move(work).Build()),
            "host(mm)10 launch(cudaLaunchKernel)8 kernel(gemm)82 "
            "queue(relu)3 kernel(relu)47");
}

// By arithmetic: from the first start at 18 to the last end at 150, without a
// nanosecond counted twice.
TEST(CriticalPathTest, WorkThatBeginsBeforeItsStreamsLastEnded) {
  for (const TimeNs early : {1, 40}) {
    Work work;
    work.Op("mm", 0, 60);
    work.Call("cudaLaunchKernel", 10, 15, 1);
    work.Call("cudaLaunchKernel", 16, 17, 2);
    work.Call("cudaLaunchKernel", 17, 18, 3);
    work.Stream(7);
    work.Kernel("gemm", 18, 100, 1);
    work.Kernel("relu", 100 - early, 130, 2);
    work.Kernel("add", 131, 150, 3);
    EXPECT_EQ(PathOf(std::move(work).Build()),
              "host(mm)10 launch(cudaLaunchKernel)8 kernel(gemm)" +
                  std::to_string(82 - early) + " kernel(relu)" +
                  std::to_string(30 + early) + " queue(add)1 kernel(add)19");
  }
}

TEST(CriticalPathTest, AnOverlapAfterALateLaunchIsTheLaunchs) {
  Work work;
  work.Call("cudaLaunchKernel", 10, 15, 1);
  work.Op("think", 20, 40);
  work.Call("cudaLaunchKernel", 50, 55, 2);
  work.Stream(7);
  work.Kernel("gemm", 18, 62, 1);
  work.Kernel("relu", 60, 150, 2);
  EXPECT_EQ(PathOf(std::move(work).Build()),
            "host(cudaLaunchKernel)5 host(think)20 "
            "launch(cudaLaunchKernel)10 kernel(relu)90");
}

TEST(CriticalPathTest, ALateHostIsOnThePath) {
  Work work;
  work.Op("mm", 0, 260);
  work.Call("cudaLaunchKernel", 10, 15, 1);
  work.Call("cudaLaunchKernel", 200, 205, 2);
  work.Stream(7);
  work.Kernel("gemm", 18, 30, 1);
  work.Kernel("relu", 210, 400, 2);
  EXPECT_EQ(PathOf(std::move(work).Build()),
            "host(mm)10 host(cudaLaunchKernel)5 host(mm)185 "
            "launch(cudaLaunchKernel)10 kernel(relu)190");
}

TEST(CriticalPathTest, ACallThatWaitsGoesOnWhereTheDeviceEnded) {
  for (const bool has_syncs : {true, false}) {
    Work work;
    work.Call("cudaLaunchKernel", 10, 15, 1);
    work.Call("cudaStreamSynchronize", 20, 102, 2);
    work.Op("after", 110, 200);
    work.Stream(7);
    work.Kernel("gemm", 18, 100, 1);
    if (has_syncs) work.Sync("Stream Sync", 21, 101, 2);
    EXPECT_EQ(PathOf(std::move(work).Build()),
              "launch(cudaLaunchKernel)8 kernel(gemm)82 host(after)90")
        << has_syncs;
  }
}

TEST(CriticalPathTest, AStreamWaitsForAnEventOfAnother) {
  Work work;
  work.Call("cudaLaunchKernel", 10, 15, 1);
  work.Call("cudaEventRecord", 16, 18, 2);
  work.Call("cudaStreamWaitEvent", 20, 22, 3);
  work.Call("cudaLaunchKernel", 25, 30, 4);
  work.Stream(7);
  work.Kernel("gemm", 18, 100, 1);
  work.Stream(8);
  work.Sync("Stream Wait Event", 20, 21, 3, /*record=*/2, /*on_stream=*/7);
  work.Kernel("relu", 102, 150, 4);
  EXPECT_EQ(PathOf(std::move(work).Build()),
            "launch(cudaLaunchKernel)8 kernel(gemm)82 kernel(relu)48");
}

TEST(CriticalPathTest, WaitsInARowBesideTheirStreamAreAboutTheStream) {
  Work work;
  work.Call("cudaLaunchKernel", 10, 15, 1);
  work.Call("cudaStreamSynchronize", 20, 105, 3);
  work.Op("after", 110, 200);
  work.Stream(7);
  work.Kernel("gemm", 18, 100, 1);
  work.Stream(8);
  work.Kernel("copy", 18, 104, 9);
  work.Stream(model::kSyncRows + 7);
  work.Sync("Stream Sync", 20, 104, 3);
  EXPECT_EQ(PathOf(std::move(work).Build()),
            "launch(cudaLaunchKernel)8 kernel(gemm)82 host(after)90");
}

TEST(CriticalPathTest, ACallWaitsForAnEvent) {
  Work work;
  work.Call("cudaLaunchKernel", 10, 15, 1);
  work.Call("cudaEventRecord", 16, 18, 2);
  work.Call("cudaEventSynchronize", 20, 105, 3);
  work.Op("after", 110, 200);
  work.Stream(7);
  work.Kernel("gemm", 18, 100, 1);
  work.Sync("Event Sync", 20, 104, 3, /*record=*/2, /*on_stream=*/7);
  EXPECT_EQ(PathOf(std::move(work).Build()),
            "launch(cudaLaunchKernel)8 kernel(gemm)82 host(after)90");
}

TEST(CriticalPathTest, AWindowCutsTheTrace) {
  Work work;
  work.Op("first", 0, 100);
  work.Op("second", 200, 230);
  const model::Trace trace = std::move(work).Build();
  EXPECT_EQ(PathOf(trace, {.start_ns = 150, .end_ns = 250}), "host(second)30");
}

// Work launched before the window keeps the stream busy. So the first work in
// the window does not follow from its launch.
TEST(CriticalPathTest, WhatAWindowLaunchedMayRunBehindIt) {
  Work work;
  work.Call("cudaLaunchKernel", 10, 15, 1);
  work.Call("cudaLaunchKernel", 50, 55, 2);
  work.Stream(7);
  work.Kernel("early", 60, 100, 1);
  work.Kernel("late", 100, 180, 2);
  EXPECT_EQ(PathOf(std::move(work).Build(), {.start_ns = 40, .end_ns = 70}),
            "kernel(late)80");
}

TEST(CriticalPathTest, NothingOnThePathOfAnEmptyTrace) {
  const model::Trace trace = TestTrace().Build();
  EXPECT_TRUE(FindCriticalPath(trace, Launches(trace), {}).steps.empty());
}

// The edges: work that begins before its call, and waits that end before the
// work that they wait for.
TEST(CriticalPathTest, EdgesBackInTimeAreLeftOut) {
  Work work;
  work.Call("cudaLaunchKernel", 100, 105, 1);
  work.Call("cudaStreamSynchronize", 110, 120, 2);
  work.Stream(7);
  work.Kernel("gemm", 18, 300, 1);
  work.Sync("Stream Sync", 111, 119, 2);
  EXPECT_EQ(PathOf(std::move(work).Build()), "kernel(gemm)282");
}

}  // namespace
}  // namespace kymo::analysis
