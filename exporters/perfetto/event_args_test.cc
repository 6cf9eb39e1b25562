#include "exporters/perfetto/event_args.h"

#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporters/perfetto/perfetto_exporter.h"
#include "exporters/perfetto/test_reader.h"
#include "profiler/base/op_inputs.h"
#include "tests/support/test_golden.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using perfetto::DecodedSlice;
using perfetto::DecodedTrace;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

DecodedTrace Decode(TestTrace t) {
  return perfetto::ReadTrace(
      Export(*NewPerfettoExporter(), std::move(t).Build())["trace.pftrace"]);
}

std::string Encoded(std::initializer_list<Input> inputs) {
  std::string bytes(EncodedInputBytes(inputs.begin(), inputs.size()), '\0');
  EncodeInputs(inputs.begin(), inputs.size(), bytes.data());
  return bytes;
}

TEST(PerfettoEventArgsTest, ProgramsArgumentsKeepTheirTypes) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  t.AddRange(0, "a", 0, 10);
  const auto key = [&](const char* text) { return t.Intern(text); };
  t.Describe(
      0,
      {model::Arg::Int(key("int"), -5), model::Arg::Double(key("double"), 0.25),
       model::Arg::String(key("text"), key("quo\"te")),
       model::Arg::Double(key("nan"), std::numeric_limits<double>::quiet_NaN()),
       model::Arg::Double(key("inf"), -std::numeric_limits<double>::infinity()),
       model::Arg::Int(key("int"), 7)});
  EXPECT_THAT(
      Decode(std::move(t)).Find("main").slices[0].args,
      ElementsAre(Pair("double", "0.25"), Pair("inf", "-inf"), Pair("int", "7"),
                  Pair("nan", "nan"), Pair("text", "quo\"te")));
}

TEST(PerfettoEventArgsTest, OperationsShowWhatWasRecorded) {
  const int64_t a[] = {64, 32};
  const int64_t b[] = {32, 16};
  const int64_t strides[] = {32, 1};
  TestTrace t;
  t.AddThread(1, 1, "main");
  t.AddRange(0, "aten::mm", 0, 10);
  t.Describe(9);
  model::Detail& detail = t.data().details.back();
  detail.inputs = t.Intern(
      Encoded({TensorMeta{a, DType::kFloat, strides},
               TensorMeta{b, DType::kFloat, strides}, Input(6), Input("x")}));
  detail.sequence_nr = 12;
  t.SetRare({.forward_thread = 1});
  detail.stack = t.data().stacks.Push(
      t.data().stacks.Push(
          model::kEmptyStack,
          t.data().stacks.AddFrame({.function = t.Intern("main")})),
      t.data().stacks.AddFrame(
          {.function = t.Intern("mm"), .file = t.Intern("mm.cc"), .line = 7}));
  const DecodedTrace trace = Decode(std::move(t));
  const DecodedSlice& slice = trace.Find("main").slices[0];
  EXPECT_THAT(
      slice.args,
      ElementsAre(Pair("Call stack", "mm.cc(7): mm;main;"),
                  Pair("Concrete Inputs", R"(["", "", "6", "x"])"),
                  Pair("External id", "9"), Pair("Fwd thread id", "1"),
                  Pair("Input Dims", "[[64, 32], [32, 16], [], []]"),
                  Pair("Input Strides", "[[32, 1], [32, 1], [], []]"),
                  Pair("Input type", R"(["float", "float", "Scalar", ""])"),
                  Pair("Sequence number", "12"),
                  Pair("flops", std::to_string(2 * 64 * 32 * 16))));
  EXPECT_EQ(slice.callstack, "main;mm");
}

TEST(PerfettoEventArgsTest, ProgramsArgumentsCountBeforeOurs) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  t.AddRange(0, "a", 0, 10);
  t.Describe(9, {model::Arg::Int(t.Intern("External id"), 1)});
  EXPECT_THAT(Decode(std::move(t)).Find("main").slices[0].args,
              ElementsAre(Pair("External id", "1")));
}

TEST(PerfettoEventArgsTest, ModulesAroundAnEventAreItsHierarchy) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  t.AddRange(0, "Net", 0, 100, model::ActivityType::kCpuOp,
             model::kEventModule);
  t.AddRange(0, "Conv", 10, 90, model::ActivityType::kCpuOp,
             model::kEventModule);
  t.AddRange(0, "aten::conv2d", 20, 80);
  const DecodedTrace trace = Decode(std::move(t));
  EXPECT_THAT(trace.Find("main").slices[0].args, IsEmpty());
  EXPECT_THAT(trace.Find("main").slices[2].args,
              ElementsAre(Pair("Module Hierarchy", "Net.Conv.")));
}

TEST(PerfettoFlowsTest, LeadFromForwardToBackward) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  t.data().tracks[0].logical_id = 1;
  t.AddRange(0, "forward", 0, 10);
  t.Describe(1);
  t.data().details.back().sequence_nr = 5;
  t.AddRange(0, "backward", 20, 30);
  t.Describe(2);
  t.data().details.back().sequence_nr = 5;
  t.SetRare({.forward_thread = 1});
  const DecodedTrace trace = Decode(std::move(t));
  const auto& slices = trace.Find("main").slices;
  ASSERT_EQ(slices[0].flow_ids.size(), 1u);
  EXPECT_EQ(slices[1].terminating_flow_ids, slices[0].flow_ids);
}

TEST(PerfettoFlowsTest, LeadFromALaunchToAllThatItStarted) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  t.AddRange(0, "cudaGraphLaunch", 0, 10, model::ActivityType::kCudaRuntime);
  t.Describe(77);
  t.AddRange(0, "no launch", 20, 30);
  t.Describe(78);
  t.AddStream(0, 7, /*pid=*/1);
  t.AddRange(1, "first", 5, 15, model::ActivityType::kConcurrentKernel);
  t.Describe(77);
  t.AddRange(1, "second", 16, 17, model::ActivityType::kGpuMemcpy);
  t.Describe(77);
  t.AddRange(1, "unknown", 20, 21, model::ActivityType::kConcurrentKernel);
  t.Describe(78);
  const DecodedTrace trace = Decode(std::move(t));
  const auto& calls = trace.Find("main").slices;
  const auto& kernels = trace.Find("Stream 7").slices;
  ASSERT_EQ(calls[0].flow_ids.size(), 2u);
  EXPECT_THAT(kernels[0].terminating_flow_ids,
              ElementsAre(calls[0].flow_ids[0]));
  EXPECT_THAT(kernels[1].terminating_flow_ids,
              ElementsAre(calls[0].flow_ids[1]));
  EXPECT_THAT(kernels[2].terminating_flow_ids, IsEmpty());
  EXPECT_THAT(kernels[0].args, ElementsAre(Pair("correlation", "77")));
}

// A rank of a job, whose calls have arguments.
class RankWriter {
 public:
  RankWriter(TestTrace& t, int64_t rank) : t_(t) {
    track_ =
        t.AddThread(100 + rank, 100 + rank, "rank " + std::to_string(rank));
    t.AddInstant(track_, "MPI ranks", 0);
    Describe({{"rank", rank}, {"size", 2}});
  }
  void Call(const std::string& name, TimeNs begin, TimeNs end,
            std::initializer_list<std::pair<const char*, int64_t>> args,
            uint8_t flags = 0) {
    t_.AddRange(track_, name, begin, end, model::ActivityType::kCpuOp, flags);
    Describe(args);
  }

 private:
  void Describe(std::initializer_list<std::pair<const char*, int64_t>> args) {
    model::TraceData& data = t_.data();
    const auto begin = static_cast<uint32_t>(data.args.size());
    for (const auto& [key, value] : args) {
      data.args.push_back(model::Arg::Int(t_.Intern(key), value));
    }
    data.detail.back() = static_cast<model::DetailIndex>(data.details.size());
    data.details.push_back(
        {.args_begin = begin,
         .args_end = static_cast<uint32_t>(data.args.size())});
  }

  TestTrace& t_;
  model::TrackIndex track_ = 0;
};

TEST(PerfettoFlowsTest, LeadFromASentMessageToTheEndOfItsReceive) {
  TestTrace t;
  // The receivers wait before anything is sent: in a call within another
  // range, and in a request.
  RankWriter receiver(t, 0);
  receiver.Call("step", 10, 200, {});
  receiver.Call("MPI_Recv", 20, 60,
                {{"comm", 0}, {"from", 1}, {"tag", 1}, {"bytes", 4}});
  receiver.Call("MPI_Irecv", 30, 90,
                {{"comm", 0}, {"from", 1}, {"tag", 2}, {"bytes", 4}},
                model::kEventAsync);
  // A clock is wrong: this one would lead back in time.
  receiver.Call("MPI_Recv", 100, 110,
                {{"comm", 0}, {"from", 1}, {"tag", 3}, {"bytes", 4}});
  RankWriter sender(t, 1);
  sender.Call("MPI_Send", 50, 55,
              {{"comm", 0}, {"to", 0}, {"tag", 1}, {"bytes", 4}});
  sender.Call("MPI_Send", 70, 75,
              {{"comm", 0}, {"to", 0}, {"tag", 2}, {"bytes", 4}});
  sender.Call("MPI_Send", 120, 130,
              {{"comm", 0}, {"to", 0}, {"tag", 3}, {"bytes", 4}});
  const DecodedTrace trace = Decode(std::move(t));
  const auto& sends = trace.Find("rank 1").slices;
  const auto& receives = trace.Find("rank 0").slices;
  const auto flows_of = [](const auto& slices, std::string_view name) {
    std::vector<std::vector<uint64_t>> flows;
    for (const DecodedSlice& slice : slices) {
      if (slice.name != name) continue;
      flows.push_back(name == "MPI_Send" ? slice.flow_ids
                                         : slice.terminating_flow_ids);
    }
    return flows;
  };
  const auto sent = flows_of(sends, "MPI_Send");
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[0].size(), 1u);
  EXPECT_EQ(sent[1].size(), 1u);
  EXPECT_THAT(sent[2], IsEmpty());
  EXPECT_THAT(flows_of(receives, "MPI_Recv"),
              ElementsAre(sent[0], std::vector<uint64_t>{}));
  EXPECT_THAT(flows_of(trace.Find("asynchronous").slices, "MPI_Irecv"),
              ElementsAre(sent[1]));
}

TEST(PerfettoFlowsTest, ArrowsBackInTimeAreLeftOut) {
  TestTrace t;
  t.AddThread(1, 1, "main");
  t.AddRange(0, "launch", 10, 20, model::ActivityType::kCudaRuntime);
  t.Describe(1);
  t.AddStream(0, 7, /*pid=*/1);
  t.AddRange(1, "earlier", 5, 15, model::ActivityType::kConcurrentKernel);
  t.Describe(1);
  EXPECT_THAT(
      Decode(std::move(t)).Find("Stream 7").slices[0].terminating_flow_ids,
      IsEmpty());
}

}  // namespace
}  // namespace kymo
