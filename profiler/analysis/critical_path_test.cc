#include "profiler/analysis/critical_path.h"

#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "tests/support/test_trace.h"

namespace kymo::analysis {
namespace {

using model::ActivityType;
using model::Arg;

// A thread with its calls; streams are added behind it.
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
  void Stream(int64_t id, int32_t device = 0) {
    stream_ = t_.AddStream(device, id, pid_);
  }
  // Whatever follows is of another process.
  void Process(int64_t pid) {
    pid_ = pid;
    main_ = t_.AddThread(pid, pid, "main");
  }
  // Another thread, before any stream.
  void Thread(int64_t tid) { main_ = t_.AddThread(pid_, tid, "thread"); }
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
  int64_t pid_ = 1;
  model::TrackIndex main_;
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

// The names are CUDA's calls that return when the device has done something.
TEST(CriticalPathTest, OnlyCallsThatWaitForTheDeviceAreNoWork) {
  for (const char* name :
       {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventQuery",
        "cudaEventSynchronize", "cudaMemcpy", "cudaMemcpyAsync",
        "cudaLaunchKernel"}) {
    Work work;
    work.Op("before", 0, 10);
    work.Call(name, 20, 100, 1);
    work.Op("after", 110, 115);
    const bool is_work = std::string(name) == "cudaLaunchKernel";
    EXPECT_EQ(PathOf(std::move(work).Build()),
              is_work ? "host(before)10 host(cudaLaunchKernel)80 host(after)5"
                      : "host(before)10 host(after)5")
        << name;
  }
}

// Two streams, and one of another process whose work ends last.
Work TwoStreams(const char* call, const char* sync) {
  Work work;
  work.Call("cudaLaunchKernel", 10, 15, 1);
  work.Call("cudaLaunchKernel", 16, 18, 2);
  work.Call(call, 20, 205, 3);
  work.Op("after", 210, 300);
  work.Stream(7);
  work.Kernel("gemm", 18, 100, 1);
  if (sync != nullptr) work.Sync(sync, 21, 201, 3);
  work.Stream(8, /*device=*/1);
  work.Kernel("copy", 20, 200, 2);
  work.Process(2);
  work.Call("cudaLaunchKernel", 28, 29, 2);
  work.Stream(9);
  work.Kernel("other", 30, 204, 2);
  return work;
}

TEST(CriticalPathTest, WaitsAreForAStreamOrForAllOfTheProcess) {
  const std::string all =
      "host(cudaLaunchKernel)5 launch(cudaLaunchKernel)4 kernel(copy)180 "
      "host(after)90";
  const std::string none =
      "host(cudaLaunchKernel)5 launch(cudaLaunchKernel)4 kernel(copy)180";
  EXPECT_EQ(PathOf(TwoStreams("cudaDeviceSynchronize", "Context Sync").Build()),
            all);
  // The other stream's work is longer than what was waited for.
  EXPECT_EQ(PathOf(TwoStreams("cudaStreamSynchronize", "Stream Sync").Build()),
            none);
  EXPECT_EQ(PathOf(TwoStreams("cudaStreamSynchronize", "Other Sync").Build()),
            none);
  // Without records of synchronisation the call's name says it.
  for (const char* call :
       {"cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaMemcpy"}) {
    EXPECT_EQ(PathOf(TwoStreams(call, nullptr).Build()), all);
  }
  EXPECT_EQ(PathOf(TwoStreams("cudaEventSynchronize", nullptr).Build()), none);
}

TEST(CriticalPathTest, StepsSayFromWhenToWhen) {
  Work work;
  work.Call("cudaLaunchKernel", 10, 15, 1);
  work.Call("cudaDeviceSynchronize", 20, 105, 2);
  work.Op("after", 110, 200);
  work.Stream(7);
  work.Kernel("gemm", 18, 100, 1);
  work.Sync("Context Sync", 21, 101, 2);
  const model::Trace trace = std::move(work).Build();
  std::string text;
  for (const PathStep& step :
       FindCriticalPath(trace, Launches(trace), {}).steps) {
    text += std::string(PathCauseName(step.cause)) + "(" +
            std::string(trace.EventName(step.event)) + ") " +
            std::to_string(step.start_ns) + "-" + std::to_string(step.end_ns) +
            "=" + std::to_string(step.weight_ns) + "\n";
  }
  EXPECT_EQ(text,
            "launch(cudaLaunchKernel) 10-18=8\n"
            "kernel(gemm) 18-100=82\n"
            "dependency(cudaDeviceSynchronize) 100-105=0\n"
            "dependency(after) 105-110=0\n"
            "host(after) 110-200=90\n");
}

// What is launched after the wait, by the thread that waits, begins after it.
TEST(CriticalPathTest, AWaitForAnEventHoldsBackTheThreadsNextWork) {
  const auto path = [](TimeNs second_launch, bool is_other_thread) {
    Work work;
    work.Call("cudaLaunchKernel", 10, 15, 1);
    work.Call("cudaEventRecord", 16, 18, 2);
    work.Call("cudaStreamWaitEvent", 20, 22, 3);
    if (is_other_thread) work.Thread(2);
    work.Call("cudaLaunchKernel", second_launch, second_launch + 1, 4);
    work.Stream(7);
    work.Kernel("gemm", 18, 100, 1);
    work.Kernel("later", 100, 101, 9);
    work.Stream(8);
    work.Sync("Stream Wait Event", 20, 21, 3, /*record=*/2, /*on_stream=*/7);
    work.Kernel("relu", 102, 150, 4);
    return PathOf(std::move(work).Build());
  };
  const std::string waited =
      "launch(cudaLaunchKernel)8 kernel(gemm)82 kernel(relu)48";
  EXPECT_EQ(path(25, false), waited);
  // Another thread's work is not held back: it was launched at 25, for 77.
  EXPECT_EQ(path(25, true), "launch(cudaLaunchKernel)77 kernel(relu)48");
}

TEST(CriticalPathTest, ARecordBeforeAnyWorkIsWaitedForByNobody) {
  // At 10, the time of the launch, nothing had been launched yet.
  for (const TimeNs record : {10, 11}) {
    Work work;
    work.Call("cudaEventRecord", 8, 9, 9);
    work.Call("cudaLaunchKernel", 10, 10, 1);
    work.Call("cudaEventRecord", record, record + 1, 2);
    work.Call("cudaEventSynchronize", 20, 105, 3);
    work.Op("after", 110, 130);
    work.Stream(7);
    work.Kernel("gemm", 18, 100, 1);
    work.Sync("Event Sync", 20, 104, 3, /*record=*/2, /*on_stream=*/7);
    EXPECT_EQ(PathOf(std::move(work).Build()),
              std::string("host(cudaEventRecord)1 launch(cudaLaunchKernel)8 "
                          "kernel(gemm)82") +
                  (record == 10 ? "" : " host(after)20"));
  }
}

TEST(CriticalPathTest, AWindowHasWhatBeginsAtItsBounds) {
  Work work;
  work.Op("a", 10, 20);
  work.Op("b", 30, 40);
  work.Op("c", 50, 60);
  const model::Trace trace = std::move(work).Build();
  EXPECT_EQ(PathOf(trace, {.start_ns = 10, .end_ns = 50}),
            "host(a)10 host(b)10 host(c)10");
  EXPECT_EQ(PathOf(trace, {.start_ns = 11, .end_ns = 49}), "host(b)10");
  EXPECT_EQ(PathOf(trace, {.start_ns = 0, .end_ns = 30}),
            "host(a)10 host(b)10");
}

TEST(CriticalPathTest, AnnotationsInstantsAndAsynchronousRangesAreNoWork) {
  TestTrace t;
  const auto main = t.AddThread(1, 1, "main");
  t.AddAnnotation(main, "step", 0, 100);
  t.AddRange(main, "nvtx", 10, 20, ActivityType::kNvtxRange);
  t.AddRange(main, "driver", 30, 40, ActivityType::kCudaDriver);
  t.AddRange(main, "python", 50, 60, ActivityType::kPythonFunction);
  t.AddInstant(main, "instant", 65);
  t.AddRange(main, "async", 70, 300, ActivityType::kCpuOp, model::kEventAsync);
  t.AddRange(main, "op", 80, 90);
  EXPECT_EQ(PathOf(std::move(t).Build()),
            "host(nvtx)10 host(driver)10 host(op)10");
}

}  // namespace
}  // namespace kymo::analysis
