#include "exporters/tensorboard/xspace/xspace.h"

#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporters/tensorboard/test_xspace.h"
#include "exporters/timeline/test_random_trace.h"
#include "profiler/base/op_inputs.h"
#include "tests/support/test_event_file.h"
#include "tests/support/test_trace.h"

namespace kymo::tensorboard {
namespace {

using model::ActivityType;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kHost[] = "/host:CPU";

// What XProf asks of every file.
void CheckSpace(const schema::XSpace& space) {
  ASSERT_EQ(space.hostnames_size(), 1);
  for (const schema::XPlane& plane : space.planes()) {
    std::set<std::string> names;
    for (const auto& [id, metadata] : plane.stat_metadata()) {
      EXPECT_EQ(id, metadata.id());
      EXPECT_GT(id, 0);
      EXPECT_NE(metadata.name(), "group_id");  // XProf would not group
      names.insert(metadata.name());
    }
    EXPECT_EQ(names.size(), plane.stat_metadata().size()) << plane.name();
    for (const auto& [id, metadata] : plane.event_metadata()) {
      EXPECT_EQ(id, metadata.id());
      EXPECT_GT(id, 0);
    }
    std::set<int64_t> ids;
    for (const schema::XLine& line : plane.lines()) {
      EXPECT_TRUE(ids.insert(line.id()).second) << line.name();
      EXPECT_GE(line.id(), 0);
      EXPECT_LT(line.id(), int64_t{1} << 31);
      EXPECT_EQ(line.timestamp_ns(), 0);
      for (const schema::XEvent& event : line.events()) {
        EXPECT_TRUE(plane.event_metadata().contains(event.metadata_id()));
        EXPECT_EQ(event.data_case(), schema::XEvent::kOffsetPs);
        EXPECT_GE(event.offset_ps(), 0);
        EXPECT_GE(event.duration_ps(), 0);
        EXPECT_GE(event.offset_ps() + event.duration_ps(), 0);
        std::set<int64_t> stats;
        for (const schema::XStat& stat : event.stats()) {
          EXPECT_TRUE(stats.insert(stat.metadata_id()).second);
          EXPECT_TRUE(plane.stat_metadata().contains(stat.metadata_id()));
          if (stat.value_case() == schema::XStat::kRefValue) {
            EXPECT_TRUE(plane.stat_metadata().contains(
                static_cast<int64_t>(stat.ref_value())));
          }
        }
      }
    }
  }
}

// Events by start, longer first, each within those that are open.
void CheckNesting(const schema::XLine& line) {
  std::vector<const schema::XEvent*> open;
  const schema::XEvent* before = nullptr;
  for (const schema::XEvent& event : line.events()) {
    const auto end = [](const schema::XEvent& e) {
      return e.offset_ps() + e.duration_ps();
    };
    if (before != nullptr) {
      EXPECT_GE(event.offset_ps(), before->offset_ps());
      // What has no length holds nothing, and may stand before.
      if (event.offset_ps() == before->offset_ps() &&
          before->duration_ps() > 0) {
        EXPECT_LE(event.duration_ps(), before->duration_ps());
      }
    }
    before = &event;
    while (!open.empty() && end(*open.back()) <= event.offset_ps()) {
      open.pop_back();
    }
    if (!open.empty()) {
      EXPECT_LE(end(event), end(*open.back()));
    }
    open.push_back(&event);
  }
}

XSpaceView View(TestTrace t, const ExportOptions& options = {}) {
  const model::Trace trace = std::move(t).Build();
  XSpaceView view(ExportXSpace(trace, options));
  CheckSpace(view.space());
  return view;
}

std::vector<std::string> PlaneNames(const XSpaceView& view) {
  std::vector<std::string> names;
  for (const schema::XPlane& plane : view.space().planes()) {
    names.push_back(plane.name());
  }
  return names;
}

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
  t.data().details.back().forward_thread = 1;
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

TEST(XSpaceTest, NumbersThatJsonLacksAreTexts) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  TestTrace t;
  const auto main = t.AddThread(7, 42, "main");
  t.AddRange(main, "f", 0, 10);
  t.Describe(0, {model::Arg::Double(t.Intern("a"), std::nan("")),
                 model::Arg::Double(t.Intern("b"), -kInfinity)});
  t.AddCounter(main, "rate", 1, 0.5);
  t.AddCounter(main, "rate", 2, kInfinity);
  t.AddCounter(main, "rate", 3, std::nan(""));
  const XSpaceView view = View(std::move(t));
  EXPECT_THAT(view.Texts(kHost, "main"),
              ElementsAre("f:f(f) 0+10 a=NaN b=-Infinity"));
  constexpr char kCounters[] = "/device:CUSTOM:counters";
  EXPECT_THAT(view.Texts(kCounters, "_counters_"),
              ElementsAre("rate 1+0 value=0.5d"));
  EXPECT_THAT(view.Texts(kCounters, "rate, not finite"),
              ElementsAre("Infinity 2+0", "NaN 3+0"));
}

TEST(XSpaceTest, RangesOfReservedNamesMeanNothing) {
  TestTrace t;
  const auto main = t.AddThread(7, 42, "main");
  t.AddAnnotation(main, "MemoryAllocation", 0, 10);
  t.AddAnnotation(main, "train batch", 10, 20);
  EXPECT_THAT(View(std::move(t)).Texts(kHost, "main"),
              ElementsAre("range MemoryAllocation(MemoryAllocation) 0+10",
                          "range train batch(train batch) 10+10"));
}

TEST(XSpaceTest, LinesAreToldApart) {
  TestTrace t;
  for (const int64_t tid : {1, 2}) {
    t.AddRange(t.AddThread(7, tid, "worker"), "f", 0, 1);
  }
  t.AddRange(t.AddThread(7, 2, "worker"), "second lane", 0, 1);
  t.AddRange(t.AddThread(8, int64_t{1} << 40, "other"), "g", 0, 1);
  const XSpaceView view = View(std::move(t));
  std::vector<std::string> names;
  for (const schema::XLine& line : view.Plane(kHost).lines()) {
    names.push_back(line.name());
  }
  EXPECT_THAT(names, ElementsAre("worker/1 (process 7)", "worker/2 (process 7)",
                                 "worker/2 (process 7)", "other (process 8)"));
}

TEST(XSpaceTest, LossesAreWarnings) {
  TestTrace t;
  t.data().ledger.Add(model::Loss::kSamplesLost, 7);
  t.data().ledger.Add(model::Loss::kRangesOpenAtEnd, 1);  // a note
  const XSpaceView view = View(std::move(t));
  ASSERT_EQ(view.space().warnings_size(), 1);
  EXPECT_THAT(view.space().warnings(0), HasSubstr("samples_lost: 7."));
}

TEST(XSpaceTest, AnEmptyTraceHasAHost) {
  const XSpaceView view = View(TestTrace());
  EXPECT_THAT(PlaneNames(view), ElementsAre(kHost, "Task Environment"));
  EXPECT_EQ(view.Plane(kHost).lines_size(), 0);
}

TEST(XSpaceTest, AnEventAtTheEndOfAYear) {
  constexpr TimeNs kYear = 365 * 86'400 * kNsPerSecond;
  TestTrace t;
  t.SetWindow(0, kYear);
  const auto main = t.AddThread(7, 42, "main");
  t.AddRange(main, "late", kYear - 100, kYear - 50);
  EXPECT_THAT(View(std::move(t)).Texts(kHost, "main"),
              ElementsAre("late:late(late) 0+50"));

  TestTrace both;
  both.SetWindow(0, kYear);
  const auto track = both.AddThread(7, 42, "main");
  both.AddRange(track, "early", 5, 10);
  both.AddRange(track, "late", kYear - 100, kYear - 50);
  EXPECT_THAT(View(std::move(both)).Texts(kHost, "main"),
              ElementsAre("early:early(early) 0+5",
                          HasSubstr("late:late(late) 9000000000000000+0")));
}

TEST(XSpaceTest, WhatBeganBeforeTheWindowIsNotNegative) {
  TestTrace t;
  t.SetWindow(1'000, 2'000);
  const auto main = t.AddThread(7, 42, "main");
  t.AddRange(main, "f", 900, 1'100);
  EXPECT_THAT(View(std::move(t)).Texts(kHost, "main"),
              ElementsAre("f:f(f) 0+200"));
}

TEST(XSpaceTest, NamesOfAllKindsSurvive) {
  const std::vector<std::string> names = {"", "\"quoted\" \\ \n\t", "😀",
                                          std::string(65'536, 'x'),
                                          std::string("nul\0nul", 7)};
  TestTrace t;
  const auto main = t.AddThread(7, 42, "main");
  for (size_t i = 0; i < names.size(); ++i) {
    t.AddAnnotation(main, names[i], static_cast<TimeNs>(10 * i),
                    static_cast<TimeNs>(10 * i + 5));
  }
  t.AddAnnotation(main, "bad \xFF\xC3", 100, 105);
  const XSpaceView view = View(std::move(t));
  const schema::XPlane& plane = view.Plane(kHost);
  const schema::XLine& line = view.Line(kHost, "main");
  ASSERT_EQ(line.events_size(), names.size() + 1);
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(plane.event_metadata()
                  .at(line.events(static_cast<int>(i)).metadata_id())
                  .name(),
              names[i]);
  }
  EXPECT_THAT(view.Texts(kHost, "main"),
              Contains("bad \xEF\xBF\xBD\xEF\xBF\xBD 100+5"));
}

// Events but for those of memory and counters and the slices of samples.
size_t CountTraceEvents(const schema::XSpace& space) {
  size_t count = 0;
  for (const schema::XPlane& plane : space.planes()) {
    if (plane.name() == "/device:CUSTOM:counters") continue;
    for (const schema::XLine& line : plane.lines()) {
      if (line.name().find(" samples") != std::string::npos) continue;
      for (const schema::XEvent& event : line.events()) {
        const std::string& name =
            plane.event_metadata().at(event.metadata_id()).name();
        count += name != "MemoryAllocation" && name != "MemoryDeallocation" &&
                 name != "OutOfMemory";
      }
    }
  }
  return count;
}

TEST(XSpaceTest, RandomTracesKeepTheRules) {
  for (uint64_t seed = 1; seed <= 20 && !::testing::Test::HasFailure();
       ++seed) {
    SCOPED_TRACE(seed);
    const model::Trace trace = RandomTrace(seed).Make();
    for (const auto& [name, bytes] : Export(*NewTensorboardExporter(), trace)) {
      if (!name.ends_with(".xplane.pb")) {
        EXPECT_GT(ReadEventFile(bytes).size(), 2u);
        continue;
      }
      const XSpaceView view(bytes);
      CheckSpace(view.space());
      EXPECT_EQ(CountTraceEvents(view.space()), trace.event_count());
      for (const schema::XPlane& plane : view.space().planes()) {
        for (const schema::XLine& line : plane.lines()) {
          const bool is_flat =
              line.name().find("(async)") != std::string::npos ||
              line.name() == "_counters_";
          if (!is_flat) CheckNesting(line);
        }
      }
    }
  }
}

}  // namespace
}  // namespace kymo::tensorboard
