#include "exporters/tensorboard/xspace/xspace.h"

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporters/tensorboard/test_xspace.h"
#include "exporters/tensorboard/test_xspace_rules.h"
#include "profiler/base/op_inputs.h"
#include "tests/support/test_trace.h"

namespace kymo::tensorboard {
namespace {

using model::ActivityType;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(XSpaceTest, OperationsStepsAndPlainRanges) {
  TestTrace t;
  t.SetWindow(1'000'000, 1'002'000);
  const auto main = t.AddThread(7, 42, "main");
  t.AddAnnotation(main, "ProfilerStep#5", 1'000'010, 1'001'000);
  t.AddRange(main, "aten::addmm", 1'000'020, 1'000'520);
  t.AddAnnotation(main, "loss", 1'000'030, 1'000'040);
  t.AddInstant(main, "mark", 1'000'530);
  const XSpaceView view = View(std::move(t));
  EXPECT_THAT(PlaneNames(view), ElementsAre(kHost, "Task Environment"));
  EXPECT_EQ(view.Line(kHost, "main").id(), 42);
  EXPECT_THAT(view.Texts(kHost, "main"),
              ElementsAre("ProfilerStep(ProfilerStep#5) 10+990 _r=1 step_num=5",
                          "aten/addmm:addmm(aten::addmm) 20+500", "loss 30+10",
                          "mark 530+0"));
  CheckNesting(view.Line(kHost, "main"));
  std::vector<std::string> environment;
  const schema::XPlane& plane = view.Plane("Task Environment");
  for (const schema::XStat& stat : plane.stats()) {
    environment.push_back(XSpaceView::Text(plane, stat));
  }
  EXPECT_THAT(environment, ElementsAre("profile_start_time=1000000u",
                                       "profile_stop_time=1002000u"));
}

TEST(XSpaceTest, WhatOperationsCarry) {
  const int64_t sizes[] = {64, 32};
  const TensorMeta tensor = {.sizes = sizes, .dtype = DType::kFloat};
  const Input inputs[] = {tensor, Input(1), tensor};
  std::string encoded(EncodedInputBytes(inputs, std::size(inputs)), '\0');
  EncodeInputs(inputs, std::size(inputs), encoded.data());
  TestTrace t;
  const auto main = t.AddThread(7, 42, "main");
  t.AddRange(main, "f", 0, 10, ActivityType::kCpuOp, model::kEventOpen);
  t.Describe(9, {model::Arg::Int(t.Intern("rows"), -4),
                 model::Arg::Int(t.Intern("rows"), 8),
                 model::Arg::Double(t.Intern("rate"), 0.5),
                 model::Arg::String(t.Intern("mode"), t.Intern("shape"))});
  model::Detail& detail = t.data().details.back();
  detail.inputs = t.Intern(encoded);
  detail.stack = t.data().stacks.Push(
      model::kEmptyStack,
      t.data().stacks.AddFrame({.function = t.Intern("Run()"),
                                .file = t.Intern("run.cc"),
                                .line = 12}));
  EXPECT_THAT(View(std::move(t)).Texts(kHost, "main"),
              ElementsAre("f:f(f) 0+10 External id=9u "
                          "shape->float[64,32], float[64,32] "
                          "source->run.cc:12 source_stack->run.cc(12): Run() "
                          "rows=8 rate=0.5d mode->shape finished=0"));
}

TEST(XSpaceTest, ArgumentsOfReservedNamesMeanNothing) {
  TestTrace t;
  const auto main = t.AddThread(7, 42, "main");
  t.AddRange(main, "f", 0, 10);
  t.Describe(0, {model::Arg::Int(t.Intern("group_id"), 1),
                 model::Arg::Int(t.Intern("_r"), 1),
                 model::Arg::String(t.Intern("tf_op"), t.Intern("_r"))});
  EXPECT_THAT(View(std::move(t)).Texts(kHost, "main"),
              ElementsAre("f:f(f) 0+10 argument group_id=1 argument _r=1 "
                          "argument tf_op->_r"));
}

TEST(XSpaceTest, AsynchronousRangesHaveALineOfTheirOwn) {
  TestTrace t;
  const auto main = t.AddThread(7, 42, "main");
  t.AddRange(main, "f", 0, 10);
  t.AddRange(main, "a", 5, 20, ActivityType::kCpuOp, model::kEventAsync);
  t.AddRange(main, "b", 6, 30, ActivityType::kCpuOp, model::kEventAsync);
  t.AddRange(main, "g", 11, 12);
  const XSpaceView view = View(std::move(t));
  EXPECT_THAT(view.Texts(kHost, "main"),
              ElementsAre("f:f(f) 0+10", "g:g(g) 11+1"));
  EXPECT_THAT(view.Texts(kHost, "main (async)"),
              ElementsAre(HasSubstr("a 5+15 _a=1 flow="),
                          HasSubstr("b 6+24 _a=1 flow=")));
}

TEST(XSpaceTest, FlowsFromForwardToBackward) {
  TestTrace t;
  const auto main = t.AddThread(7, 42, "main");
  t.data().tracks[main].logical_id = 1;
  t.AddRange(main, "forward", 0, 10);
  t.Describe(0);
  t.data().details.back().sequence_nr = 3;
  t.AddRange(main, "backward", 20, 30);
  t.Describe(0);
  t.data().details.back().sequence_nr = 3;
  t.SetRare({.forward_thread = 1});
  // Flow 1: out of the first, into the second.
  EXPECT_THAT(View(std::move(t)).Texts(kHost, "main"),
              ElementsAre("forward:forward(forward) 0+10 flow=6u "
                          "Sequence number=3 Fwd thread id=0u",
                          "backward:backward(backward) 20+10 flow=5u "
                          "Sequence number=3 Fwd thread id=1u"));
}

TEST(XSpaceTest, KernelsCopiesAndTheirLaunches) {
  TestTrace t;
  const auto main = t.AddThread(7, 42, "main");
  t.AddRange(main, "matmul", 0, 100);
  t.AddRange(main, "cudaLaunchKernel", 10, 20, ActivityType::kCudaRuntime);
  t.Describe(77);
  t.AddRange(main, "cudaMemcpyAsync", 120, 130, ActivityType::kCudaRuntime);
  t.Describe(78);
  const auto stream = t.AddStream(1, 7, /*pid=*/7);
  t.AddRange(stream, "sgemm<128>", 50, 90, ActivityType::kConcurrentKernel);
  t.Describe(77,
             {model::Arg::String(t.Intern("grid"), t.Intern("[64, 2]")),
              model::Arg::Json(t.Intern("block"), t.Intern("[256, 1, 1]")),
              model::Arg::Int(t.Intern("registers per thread"), 32),
              model::Arg::Int(t.Intern("shared memory"), 1'024),
              model::Arg::Double(t.Intern("est. achieved occupancy %"), 50.0)});
  t.AddRange(stream, "Memcpy HtoD (Pageable -> Device)", 140, 140,
             ActivityType::kGpuMemcpy);
  t.Describe(78, {model::Arg::Int(t.Intern("bytes"), 4'096)});
  const XSpaceView view = View(std::move(t));
  EXPECT_THAT(PlaneNames(view),
              ElementsAre(kHost, "/device:GPU:1", "Task Environment"));
  EXPECT_EQ(view.Plane("/device:GPU:1").id(), 1);
  EXPECT_THAT(view.Texts(kHost, "main"),
              ElementsAre("matmul:matmul(matmul) 0+100",
                          "cudaLaunchKernel 10+10 correlation_id=77u "
                          "device_id=1",
                          "cudaMemcpyAsync 120+10 correlation_id=78u "
                          "device_id=1"));
  EXPECT_THAT(
      view.Texts("/device:GPU:1", "Stream #7(Compute)"),
      ElementsAre(
          HasSubstr("sgemm<128> 50+40 correlation_id=77u tf_op->matmul:matmul "
                    "kernel_details->regs:32 static_shared:0 "
                    "dynamic_shared:1024 grid:64,2,1 block:256,1,1 occ_pct:50"),
          // Not less than a nanosecond.
          HasSubstr("MemcpyHToD(Memcpy HtoD (Pageable -> Device)) 140+1 "
                    "correlation_id=78u memcpy_details->num_bytes:4096\n")));
}

TEST(XSpaceTest, ADeviceThatWaitsComputesNothing) {
  TestTrace t;
  const model::TrackIndex main = t.AddThread(7, 42, "main");
  t.AddRange(main, "cudaStreamSynchronize", 10, 100,
             ActivityType::kCudaRuntime);
  t.Describe(5);
  const model::TrackIndex row = t.AddStream(0, model::kSyncRows + 7);
  t.AddRange(row, "Stream Sync", 11, 99, ActivityType::kCudaSync);
  t.Describe(5);
  const XSpaceView view = View(std::move(t));
  EXPECT_THAT(view.Texts("/device:GPU:0", "Stream #1000007(Sync)"),
              ElementsAre("Stream Sync 11+88"));
}

TEST(XSpaceTest, TooLargeIsAnErrorThatSaysWhatToDo) {
  TestTrace t;
  t.AddRange(t.AddThread(7, 42, "main"), "f", 0, 10);
  const model::Trace trace = std::move(t).Build();
  const StepNames steps(trace.strings());
  std::string bytes;
  const auto sink = NewStringSink(&bytes);
  const absl::Status status =
      WriteXSpace(trace, steps, {.host = "host", .most_bytes = 100}, {}, *sink);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), HasSubstr("at most 100"));
  EXPECT_THAT(std::string(status.message()), HasSubstr("--max_file_mib"));
  EXPECT_EQ(bytes, "");
}

TEST(XSpaceTest, WarningsSayWhatWasFoldedForTheSize) {
  TestTrace t;
  const auto main = t.AddThread(7, 42, "main");
  for (int i = 0; i < 50'000; ++i) {
    t.data().memory.push_back({.track = main,
                               .source = model::MemorySource::kHeap,
                               .time_ns = i,
                               .bytes = 1});
  }
  const model::Trace trace = std::move(t).Build();
  const StepNames steps(trace.strings());
  std::string bytes;
  const auto sink = NewStringSink(&bytes);
  EXPECT_TRUE(
      WriteXSpace(trace, steps,
                  {.host = "h", .max_heap_records = 0, .folded_ranges = 7}, {},
                  *sink)
          .ok());
  EXPECT_THAT(XSpaceView(bytes).space().warnings(),
              ElementsAre(testing::StartsWith("--max_size: "),
                          testing::StartsWith("7 ranges are folded")));
}

TEST(XSpaceTest, SamplesAreNestedSlices) {
  TestTrace t;
  const auto main = t.AddThread(7, 42, "main");
  t.data().sampling_period_ns = 100;
  t.AddSample(main, 0, 1, {"main()", "f()"});
  t.AddSample(main, 100, 1, {"main()"});
  const XSpaceView view = View(std::move(t));
  EXPECT_THAT(view.Texts(kHost, "main samples"),
              ElementsAre("main() 0+200", "f() 0+100"));
  CheckNesting(view.Line(kHost, "main samples"));
}

TEST(XSpaceTest, AThreadsWaitsAreALine) {
  TestTrace t;
  const auto main = t.AddThread(7, 42, "main");
  const auto other = t.AddThread(7, 43, "other");
  const auto add = [&](model::TrackIndex track, model::WaitKind kind,
                       TimeNs begin_ns, DurationNs duration_ns) {
    t.AddWait({.track = track,
               .kind = kind,
               .begin_ns = begin_ns,
               .duration_ns = duration_ns});
  };
  add(main, model::WaitKind::kLock, 0, 10);
  add(main, model::WaitKind::kPageFault, 20, 5);
  add(other, model::WaitKind::kLock, 7, 3);
  t.SetThreadTimes({{.track = main}, {.track = other}});
  const XSpaceView view = View(std::move(t));
  EXPECT_THAT(view.Texts(kHost, "main waits"),
              ElementsAre("lock wait 0+10", "page fault wait 20+5"));
  EXPECT_THAT(view.Texts(kHost, "other waits"), ElementsAre("lock wait 7+3"));
}

TEST(XSpaceTest, CountersAreCurvesOfACustomDevice) {
  TestTrace t;
  const auto a = t.AddThread(7, 42, "a");
  const auto b = t.AddThread(7, 43, "b");
  t.AddCounter(a, "queue", 10, 1);
  t.AddCounter(a, "queue", 20, 2.5);
  t.AddCounter(b, "queue", 15, 7);
  t.data().memory.push_back({.track = a,
                             .source = model::MemorySource::kHeap,
                             .time_ns = 30,
                             .address = 64,
                             .bytes = 100,
                             .total_allocated = 100});
  const XSpaceView view = View(std::move(t));
  const schema::XPlane& plane = view.Plane("/device:CUSTOM:counters");
  std::vector<std::string> texts;
  for (const schema::XLine& line : plane.lines()) {
    EXPECT_EQ(line.name(), "_counters_");
    for (const schema::XEvent& event : line.events()) {
      texts.push_back(XSpaceView::Text(plane, event));
    }
  }
  EXPECT_THAT(texts, ElementsAre("queue (thread 42) 10+0 value=1d",
                                 "queue (thread 42) 20+0 value=2.5d",
                                 "queue (thread 43) 15+0 value=7d",
                                 "Memory: heap 30+0 value=100d"));
}

TEST(XSpaceTest, CountersOfSeveralProcessesHaveNamesOfTheirOwn) {
  TestTrace t;
  const auto add_process = [&](int64_t pid) {
    const auto track = t.AddThread(pid, 1, "");
    t.AddCounter(track, "queue", 10, 1);
    t.data().memory.push_back({.track = track,
                               .source = model::MemorySource::kHeap,
                               .time_ns = 30,
                               .address = 64,
                               .bytes = 100,
                               .total_allocated = 100});
  };
  add_process(7);
  add_process(8);
  const XSpaceView view = View(std::move(t));
  const schema::XPlane& plane = view.Plane("/device:CUSTOM:counters");
  std::vector<std::string> texts;
  for (const schema::XLine& line : plane.lines()) {
    texts.push_back(XSpaceView::Text(plane, line.events(0)));
  }
  EXPECT_THAT(texts, ElementsAre("queue (thread 1 of process 7) 10+0 value=1d",
                                 "queue (thread 1 of process 8) 10+0 value=1d",
                                 "Memory: heap (process 7) 30+0 value=100d",
                                 "Memory: heap (process 8) 30+0 value=100d"));
}

TEST(XSpaceTest, LossesAreOneWarning) {
  TestTrace t;
  t.data().ledger.Add(model::Loss::kSamplesLost, 7);
  t.data().ledger.Add(model::Loss::kStacksTruncated, 2);
  t.data().ledger.Add(model::Loss::kRangesOpenAtEnd, 1);  // a note
  const XSpaceView view = View(std::move(t));
  ASSERT_EQ(view.space().warnings_size(), 1);
  EXPECT_THAT(view.space().warnings(0), HasSubstr("samples_lost: 7 ("));
  EXPECT_THAT(view.space().warnings(0), HasSubstr("; stacks_truncated: 2 ("));
}

}  // namespace
}  // namespace kymo::tensorboard
