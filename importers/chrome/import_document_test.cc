// Long, because each kind of event has its tests.
#include "importers/chrome/import_document.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "importers/chrome/test_import.h"
#include "profiler/model/op_inputs.h"
#include "profiler/model/recorded_by.h"

namespace kymo::chrome_import {
namespace {

using model::ActivityType;
using model::EventIndex;
using model::Loss;
using ::testing::ElementsAre;

// An argument of the first event, as `kind:value`.
std::string ArgText(const model::Trace& trace, EventIndex event,
                    std::string_view key) {
  for (const model::Arg& arg : trace.args(event)) {
    if (trace.Name(arg.key) != key) continue;
    switch (arg.type) {
      case model::ArgType::kInt:
        return "int:" + std::to_string(arg.int_value());
      case model::ArgType::kDouble:
        return "double:" + std::to_string(arg.double_value());
      case model::ArgType::kString:
        return "string:" + std::string(trace.Name(arg.string_value()));
      case model::ArgType::kJson:
        return "json:" + std::string(trace.Name(arg.string_value()));
    }
  }
  return "";
}

TEST(ImportDocumentTest, ReadsCompleteEvents) {
  const Imported got = ImportText(
      R"({"baseTimeNanoseconds": 1000, "traceEvents": [
          {"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":2,"ts":1.5,"dur":3},
          {"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":2,"ts":2,"dur":1}
         ]})");
  ASSERT_TRUE(got.status.ok()) << got.status;
  EXPECT_TRUE(got.findings.empty());
  EXPECT_THAT(got.Ranges(), ElementsAre("a@2500+3000", "b@3000+1000"));
  EXPECT_EQ(got.trace->parent()[1], 0u);
  EXPECT_EQ(got.trace->tracks()[0].pid, 1);
  EXPECT_EQ(got.trace->tracks()[0].id, 2);
}

TEST(ImportDocumentTest, ReadsAListWithOrWithoutItsEnd) {
  const std::string event = R"({"ph":"X","name":"a","ts":1,"dur":1})";
  for (const std::string& text :
       {"[" + event + "]", "[" + event, "[" + event + ",",
        "\xEF\xBB\xBF [" + event + ",\n]\n"}) {
    const Imported got = ImportText(text);
    ASSERT_TRUE(got.status.ok()) << got.status;
    EXPECT_THAT(got.Ranges(), ElementsAre("a@1000+1000"));
    EXPECT_TRUE(got.findings.empty()) << text;
  }
}

TEST(ImportDocumentTest, TheBaseOfTimesMayStandBehindTheEvents) {
  const Imported got = ImportText(
      R"({"traceEvents": [{"ph":"X","name":"a","ts":4353551411402.791,
          "dur":0.001}], "baseTimeNanoseconds": "1790857026000000000"})");
  ASSERT_TRUE(got.status.ok());
  EXPECT_THAT(got.Ranges(), ElementsAre("a@1795210577411402791+1"));
}

TEST(ImportDocumentTest, TheLeastBaseMovesTimes) {
  const Imported got = ImportText(
      R"({"baseTimeNanoseconds": -9223372036854775808, "traceEvents": [
          {"ph":"X","name":"a","ts":1,"dur":1},
          {"ph":"X","name":"b","ts":3,"dur":1}]})");
  ASSERT_TRUE(got.status.ok());
  EXPECT_THAT(got.Ranges(), ElementsAre("a@1000+1000", "b@3000+1000"));
  EXPECT_EQ(got.Count("times_shifted"), 1u);
}

TEST(ImportDocumentTest, BeginsAndEndsMakeRanges) {
  const Imported got = ImportText(R"([
      {"ph":"B","name":"outer","pid":1,"tid":1,"ts":1,"args":{"a":1}},
      {"ph":"B","name":"inner","pid":1,"tid":1,"ts":2},
      {"ph":"E","pid":1,"tid":1,"ts":3,"args":{"b":2}},
      {"ph":"E","pid":1,"tid":1,"ts":4,"args":{"c":3}},
      {"ph":"E","pid":1,"tid":1,"ts":5},
      {"ph":"B","name":"open","pid":1,"tid":1,"ts":6},
      {"ph":"i","name":"last","pid":1,"tid":1,"ts":9}])");
  ASSERT_TRUE(got.status.ok());
  EXPECT_THAT(got.Ranges(), ElementsAre("outer@1000+3000", "inner@2000+1000",
                                        "open@6000+3000?", "last@9000+0"));
  EXPECT_EQ(ArgText(*got.trace, 0, "a"), "int:1");
  EXPECT_EQ(ArgText(*got.trace, 0, "c"), "int:3");
  EXPECT_EQ(ArgText(*got.trace, 1, "b"), "int:2");
  EXPECT_EQ(got.Count("end_without_begin"), 1u);
  EXPECT_EQ(got.Count("begin_without_end"), 1u);
  EXPECT_EQ(got.trace->ledger().Get(Loss::kEndsWithoutBegin), 1u);
}

TEST(ImportDocumentTest, AsynchronousRangesGoByCategoryAndId) {
  const Imported got = ImportText(R"([
      {"ph":"b","cat":"cpu_op","id":1,"name":"a","pid":1,"tid":1,"ts":1},
      {"ph":"b","cat":"cpu_op","id":"0x2","name":"b","pid":1,"tid":1,"ts":2},
      {"ph":"e","cat":"cpu_op","id":1,"name":"a","pid":1,"tid":2,"ts":3},
      {"ph":"e","cat":"cpu_op","id":"0x2","name":"b","pid":1,"tid":1,"ts":4}])");
  ASSERT_TRUE(got.status.ok());
  EXPECT_THAT(got.Ranges(), ElementsAre("a@1000+2000", "b@2000+2000"));
  EXPECT_EQ(got.trace->flags()[0], model::kEventAsync);
  EXPECT_TRUE(got.findings.empty());
}

TEST(ImportDocumentTest, CategoriesBecomeTypes) {
  const Imported got = ImportText(R"([
      {"ph":"X","cat":"user_annotation","name":"a","ts":1,"dur":1},
      {"ph":"X","cat":"Runtime","name":"b","ts":3,"dur":1},
      {"ph":"X","cat":"blink","name":"c","ts":5,"dur":1},
      {"ph":"X","cat":"blink","name":"d","ts":7,"dur":1,"args":{"x":1}},
      {"ph":"i","name":"e","ts":9}])");
  ASSERT_TRUE(got.status.ok());
  EXPECT_THAT(
      got.trace->type(),
      ElementsAre(ActivityType::kUserAnnotation, ActivityType::kCudaRuntime,
                  ActivityType::kCpuOp, ActivityType::kCpuOp,
                  ActivityType::kCpuInstantEvent));
  EXPECT_EQ(got.trace->scope()[0], RecordScope::kUserScope);
  EXPECT_EQ(ArgText(*got.trace, 1, "cat"), "string:Runtime");
  EXPECT_EQ(ArgText(*got.trace, 2, "cat"), "string:blink");
  EXPECT_EQ(ArgText(*got.trace, 3, "cat"), "string:blink");
  EXPECT_EQ(got.trace->detail(0), nullptr);
}

TEST(ImportDocumentTest, ArgumentsKeepTheirKinds) {
  const Imported got = ImportText(
      R"([{"ph":"X","name":"a","ts":1,"dur":1,"args":{"i":-7,"d":0.25,
          "s":"x\ty","l":[1, {"a":null}],"b":true,"n":null,
          "u":18446744073709551615,"k\n":1}}])");
  ASSERT_TRUE(got.status.ok());
  const model::Trace& trace = *got.trace;
  EXPECT_EQ(ArgText(trace, 0, "i"), "int:-7");
  EXPECT_EQ(ArgText(trace, 0, "d"), "double:0.250000");
  EXPECT_EQ(ArgText(trace, 0, "s"), "string:x\ty");
  EXPECT_EQ(ArgText(trace, 0, "l"), R"(json:[1, {"a":null}])");
  EXPECT_EQ(ArgText(trace, 0, "b"), "json:true");
  EXPECT_EQ(ArgText(trace, 0, "n"), "json:null");
  EXPECT_EQ(ArgText(trace, 0, "u"), "json:18446744073709551615");
  EXPECT_EQ(ArgText(trace, 0, "k\n"), "int:1");
}

TEST(ImportDocumentTest, OperationsGetWhatTheirArgumentsSay) {
  const Imported got = ImportText(
      R"([{"ph":"X","cat":"cpu_op","name":"a","ts":1,"dur":1,"args":{
          "External id":12,"Record function id":0,"Sequence number":4,
          "Fwd thread id":2,"Ev Idx":3,"Call stack":"f.py(1): f;",
          "Input Dims":[[2,3]],"Input type":["float"]}}])");
  ASSERT_TRUE(got.status.ok());
  const model::Detail& detail = *got.trace->detail(0);
  EXPECT_EQ(detail.correlation_id, 12u);
  EXPECT_EQ(detail.sequence_nr, 4);
  EXPECT_EQ(got.trace->rare(detail).forward_thread, 2u);
  EXPECT_EQ(got.trace->stacks().depth(detail.stack), 1u);
  EXPECT_EQ(model::InputShapesText(got.trace->Name(detail.inputs)), "[[2, 3]]");
  EXPECT_TRUE(got.trace->args(0).empty());
}

// As long as a known name, with its first and its last letter.
TEST(ImportDocumentTest, ArgumentsWithSimilarNamesStayArguments) {
  const Imported got = ImportText(
      R"([{"ph":"X","cat":"cpu_op","name":"a","ts":1,"dur":1,"args":{
          "External_id":12,"Evil_x":3,"":4}}])");
  ASSERT_TRUE(got.status.ok());
  EXPECT_EQ(got.trace->detail(0)->correlation_id, 0u);
  EXPECT_EQ(ArgText(*got.trace, 0, "External_id"), "int:12");
  EXPECT_EQ(ArgText(*got.trace, 0, "Evil_x"), "int:3");
  EXPECT_EQ(ArgText(*got.trace, 0, ""), "int:4");
}

TEST(ImportDocumentTest, ModulesOfPythonAreFlagged) {
  const Imported got = ImportText(
      R"([{"ph":"X","cat":"python_function","name":"nn.Module: M_0","ts":1,
          "dur":1,"args":{"Python id":1,"Python module id":0}}])");
  ASSERT_TRUE(got.status.ok());
  EXPECT_EQ(got.trace->flags()[0], model::kEventModule);
  EXPECT_EQ(ArgText(*got.trace, 0, "Python module id"), "int:0");
}

TEST(ImportDocumentTest, RangesThatStandForOthersHaveTheirNumber) {
  const Imported got = ImportText(
      R"([{"ph":"X","name":"a","ts":1,"dur":9,"args":{"kymo_folded":3}},
          {"ph":"X","name":"b","ts":20,"dur":9,"args":{"kymo_folded":0}},
          {"ph":"X","name":"c","ts":40,"dur":9,"args":{"kymo_folded":"3"}}])");
  ASSERT_TRUE(got.status.ok());
  EXPECT_EQ(got.trace->flags()[0], model::kEventFolded);
  EXPECT_EQ(got.trace->rare(*got.trace->detail(0)).calls, 3u);
  EXPECT_TRUE(got.trace->args(0).empty());
  // What is no such number stays an argument.
  EXPECT_EQ(got.trace->flags()[1], 0);
  EXPECT_EQ(ArgText(*got.trace, 1, "kymo_folded"), "int:0");
  EXPECT_EQ(got.trace->flags()[2], 0);
  EXPECT_TRUE(model::ValidateTrace(*got.trace).ok());
}

TEST(ImportDocumentTest, MemoryRecordsAreThoseOfTheirThread) {
  const Imported got = ImportText(
      R"([{"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":1,
          "tid":1,"ts":2,"args":{"Total Reserved":8,"Total Allocated":6,
          "Bytes":4,"Device Id":0,"Device Type":1,
          "Addr":18446744073709551615}},
         {"ph":"i","name":"[OutOfMemory]","pid":1,"tid":1,"ts":3,
          "args":{"Bytes":9}},
         {"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":4}])");
  ASSERT_TRUE(got.status.ok());
  ASSERT_EQ(got.trace->memory().size(), 2u);
  const model::MemoryRecord& record = got.trace->memory()[0];
  EXPECT_EQ(record.address, ~uint64_t{0});
  EXPECT_EQ(record.bytes, 4);
  EXPECT_EQ(record.total_allocated, 6);
  EXPECT_EQ(record.total_reserved, 8);
  EXPECT_EQ(record.device_type, 1);
  EXPECT_EQ(record.device_index, 0);
  EXPECT_EQ(got.trace->memory()[1].event, model::MemoryEvent::kOutOfMemory);
  EXPECT_THAT(got.Ranges(), ElementsAre("[memory]@4000+0"));
}

TEST(ImportDocumentTest, SumsOfClangAreNoRanges) {
  const Imported got = ImportText(
      R"([{"ph":"X","name":"Total Frontend","pid":1,"tid":9,"ts":0,"dur":9,
           "args":{"count":2,"avg ms":4}},
          {"ph":"X","name":"Total Frontend","pid":1,"tid":1,"ts":1,"dur":9,
           "args":{"count":2}}])");
  ASSERT_TRUE(got.status.ok());
  EXPECT_THAT(got.Ranges(), ElementsAre("Total Frontend@1000+9000"));
  EXPECT_EQ(got.Count("total_left_out"), 1u);
}

TEST(ImportDocumentTest, SumsOfBytesFit) {
  const Imported got = ImportText(
      R"([{"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":2,
           "args":{"Addr":1,"Bytes":-9223372036854775808}},
          {"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":3,
           "args":{"Addr":2,"Bytes":4611686018427387904}},
          {"ph":"i","name":"[memory]","pid":1,"tid":1,"ts":4,
           "args":{"Addr":3,"Bytes":1}}])");
  ASSERT_TRUE(got.status.ok());
  EXPECT_EQ(got.trace->ledger().Get(Loss::kRecordsCorrupt), 2u);
  ASSERT_EQ(got.trace->memory().size(), 3u);
  EXPECT_EQ(got.trace->memory()[2].bytes, 0);
}

TEST(ImportDocumentTest, ProcessesKeepWhoStartedThem) {
  const auto with_parents = [](const std::string& parents) {
    return ImportText(
        R"({"traceEvents":[{"ph":"X","name":"f","pid":7,"tid":7,"ts":1,"dur":1},
            {"ph":"X","name":"f","pid":8,"tid":8,"ts":1,"dur":1}],
            "kymo_records_0": {"parents":)" +
        parents + "}}");
  };
  const Imported got = with_parents("[[8,7],[6,7]]");
  ASSERT_TRUE(got.status.ok());
  ASSERT_EQ(got.trace->processes().size(), 2u);
  EXPECT_EQ(got.trace->processes()[0].parent_pid, 0);
  EXPECT_EQ(got.trace->processes()[1].parent_pid, 7);
  for (const char* const bad : {"[[8]]", "[[8,-1]]", "7"}) {
    EXPECT_EQ(with_parents(bad).trace->ledger().Get(Loss::kRecordsCorrupt), 1u)
        << bad;
  }
}

TEST(ImportDocumentTest, CountersAreOnePerSeries) {
  const Imported got = ImportText(
      R"([{"ph":"C","name":"q","pid":1,"tid":1,"ts":1,"args":{"value":2.5}},
         {"ph":"C","name":"m","pid":1,"ts":2,"args":{"a":1,"b":"2"}},
         {"ph":"C","name":"of","id":7,"pid":1,"ts":3,"args":{"value":1}},
         {"ph":"C","name":"of","id":"8","pid":1,"ts":3,"args":{"x":1,"y":2}},
         {"ph":"C","name":"bad","pid":1,"ts":2,"args":{"a":[1]}}])");
  ASSERT_TRUE(got.status.ok());
  std::vector<std::string> names;
  for (const auto& counter : got.trace->counters()) {
    names.emplace_back(got.trace->Name(counter.name));
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("q", "m a", "m b", "of[7]",
                                                   "of[8] x", "of[8] y"));
  EXPECT_EQ(got.Count("counter_no_number"), 1u);
}

TEST(ImportDocumentTest, ACounterOfSeveralThreadsIsOneOfTheirProcess) {
  const auto series_of = [](const std::string& end) {
    const Imported got = ImportText(
        R"({"traceEvents":[
           {"ph":"C","name":"q","pid":1,"tid":2,"ts":1,"args":{"value":1}},
           {"ph":"C","name":"q","pid":1,"tid":1,"ts":2,"args":{"value":2}},
           {"ph":"C","name":"q","pid":3,"tid":1,"ts":3,"args":{"value":3}},
           {"ph":"C","name":"r","id":1,"pid":1,"tid":1,"ts":4,
            "args":{"value":4}},
           {"ph":"C","name":"r","id":2,"pid":1,"tid":2,"ts":5,
            "args":{"value":5}}])" +
        end);
    std::vector<std::string> series;
    EXPECT_TRUE(got.status.ok()) << got.status;
    if (!got.status.ok()) return series;
    for (const auto& counter : got.trace->counters()) {
      const model::Track& track = got.trace->tracks()[counter.track];
      series.push_back(absl::StrCat(track.pid, "/", track.id, " ",
                                    std::string(got.trace->Name(counter.name)),
                                    " at ", counter.time_ns, ": ",
                                    counter.value));
    }
    return series;
  };
  EXPECT_THAT(
      series_of("}"),
      ElementsAre("1/1 r[1] at 4000: 4", "1/2 q at 1000: 1", "1/2 q at 2000: 2",
                  "1/2 r[2] at 5000: 5", "3/1 q at 3000: 3"));
  // Kymo's are their threads', whose numbers are their ids.
  EXPECT_THAT(
      series_of(R"(,"kymo_loss_ledger":{}})"),
      ElementsAre("1/1 q at 2000: 2", "1/1 r at 4000: 4", "1/2 q at 1000: 1",
                  "1/2 r at 5000: 5", "3/1 q at 3000: 3"));
}

TEST(ImportDocumentTest, MarksOfTheProfilerAreTheWindow) {
  const Imported got = ImportText(R"json([
      {"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":5,"dur":1},
      {"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans",
       "tid":"PyTorch Profiler","ts":2,"dur":5},
      {"ph":"i","s":"g","name":"Iteration Start: PyTorch Profiler",
       "pid":"Traces","tid":"Trace PyTorch Profiler","ts":2},
      {"ph":"i","s":"g","name":"Record Window End","pid":"","tid":"","ts":9}])json");
  ASSERT_TRUE(got.status.ok());
  EXPECT_EQ(got.trace->event_count(), 1u);
  EXPECT_EQ(got.trace->start_ns(), 2000);
  EXPECT_EQ(got.trace->end_ns(), 9000);
  EXPECT_EQ(got.trace->tracks().size(), 1u);
}

TEST(ImportDocumentTest, TheWindowReachesToTheEndOfItsMarks) {
  const auto window_of = [](const std::string& duration) {
    const std::string text =
        R"json([{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":5,
                 "dur":1},
                {"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)",
                 "pid":"Spans","tid":"PyTorch Profiler","ts":4)json" +
        duration + "}]";
    const Imported got = ImportText(text);
    EXPECT_TRUE(got.status.ok()) << got.status;
    return std::pair(got.trace->start_ns(), got.trace->end_ns());
  };
  EXPECT_EQ(window_of(",\"dur\":50"), std::pair(TimeNs{4000}, TimeNs{54000}));
  // The event is not outside, whatever the mark says.
  EXPECT_EQ(window_of(",\"dur\":-50"), std::pair(TimeNs{4000}, TimeNs{6000}));
  EXPECT_EQ(window_of(""), std::pair(TimeNs{4000}, TimeNs{6000}));
}

TEST(ImportDocumentTest, MembersOfTheFileAreMetadata) {
  const Imported got = ImportText(
      R"({"schemaVersion":1,"distributedInfo":{"rank": 0},"traceEvents":[],
          "host":"a\"b","traceName":"x","kymo_loss_ledger":
          {"samples_lost":3,"ranges_open_at_end":9,"unknown":1,
           "backend_records_lost":5,"parts":[
           {"loss":"backend_records_lost","of":"a","what":"b","count":2},
           {"loss":"backend_records_lost","of":"c","what":"d","count":4},
           {"loss":"unknown","of":"a","what":"b","count":1},{"loss":1}, 7]}})");
  ASSERT_TRUE(got.status.ok());
  std::vector<std::string> entries;
  for (const model::Metadata& entry : got.trace->metadata()) {
    entries.push_back(std::string(got.trace->Name(entry.key)) + "=" +
                      std::string(got.trace->Name(entry.json_value)));
  }
  EXPECT_THAT(entries, testing::UnorderedElementsAre(
                           R"(distributedInfo={"rank": 0})", R"(host="a\"b")"));
  EXPECT_EQ(got.trace->ledger().Get(Loss::kSamplesLost), 3u);
  EXPECT_EQ(got.trace->ledger().Get(Loss::kRangesOpenAtEnd), 0u);
  // The parts of a counter are not more than it.
  EXPECT_EQ(got.trace->ledger().Get(Loss::kBackendRecordsLost), 5u);
  EXPECT_EQ(model::LossText(got.trace->ledger(), Loss::kBackendRecordsLost),
            "records that a backend could not keep: of a, 2 b");
}

// Kineto writes "schemaVersion": 1, and PyTorch names the recording's span.
TEST(ImportDocumentTest, TracesOfPyTorchAreMarked) {
  const auto is_marked = [](std::string_view text) {
    const Imported got = ImportText(text);
    EXPECT_TRUE(got.status.ok()) << got.status;
    return got.status.ok() && model::IsOfPyTorch(*got.trace);
  };
  EXPECT_TRUE(is_marked(R"json({"schemaVersion":1,"traceEvents":[]})json"));
  EXPECT_TRUE(is_marked(R"json({"traceEvents":[],"schemaVersion":1})json"));
  EXPECT_TRUE(is_marked(R"json([{"ph":"X","cat":"Trace","pid":"Spans","ts":2,
      "name":"PyTorch Profiler (0)","tid":"PyTorch Profiler"}])json"));
  // Paddle's is a text; clang and others have none.
  EXPECT_FALSE(
      is_marked(R"json({"schemaVersion":"1.0.2","traceEvents":[]})json"));
  EXPECT_FALSE(is_marked(R"json([{"ph":"X","name":"f","ts":2}])json"));
  EXPECT_FALSE(is_marked(R"json({"schemaVersion":1,"kymo_loss_ledger":{},
      "traceEvents":[{"ph":"X","cat":"Trace","pid":"Spans","ts":2,
      "name":"PyTorch Profiler (0)","tid":"PyTorch Profiler"}]})json"));
  // Kymo keeps the mark of a trace that it converts.
  EXPECT_TRUE(is_marked(R"json({"schemaVersion":1,"kymo_loss_ledger":{},
      "kymo_recorded_by":"PyTorch","traceEvents":[]})json"));
}

// Kineto of 2021 and 2022 (output_json.cpp: "launch", flow_names).
TEST(ImportDocumentTest, FlowsUnderTheirOldNamesAreKnown) {
  const Imported got = ImportText(R"json([
      {"ph":"s","cat":"async","name":"launch","id":1,"ts":1},
      {"ph":"f","cat":"async","name":"launch","id":1,"ts":1},
      {"ph":"s","cat":"async_cpu_to_gpu","name":"async_gpu","id":2,"ts":1},
      {"ph":"f","cat":"async_gpu","name":"async_cpu_to_gpu","id":2,"ts":1},
      {"ph":"s","cat":"forward_backward","name":"fwd_bwd","id":3,"ts":1,
       "pid":1,"tid":5},
      {"ph":"f","cat":"fwd_bwd","name":"forward_backward","id":3,"ts":4,
       "pid":1,"tid":6},
      {"ph":"X","name":"mm","ts":1,"dur":1,"pid":1,"tid":5,"cat":"cpu_op",
       "args":{"Sequence number":8}},
      {"ph":"X","name":"mmBackward","ts":4,"dur":1,"pid":1,"tid":6,
       "cat":"cpu_op","args":{"Sequence number":8,"Fwd thread id":3}}
      ])json");
  ASSERT_TRUE(got.status.ok());
  EXPECT_EQ(got.Count("flow_not_kept"), 0u);
  EXPECT_EQ(got.trace->ledger().Get(Loss::kEventsNotImported), 0u);
  EXPECT_EQ(got.trace->tracks()[0].logical_id, 3u);
}

TEST(ImportDocumentTest, WhatATraceCannotKeepIsCounted) {
  const Imported got = ImportText(
      R"([{"ph":"N","name":"object","ts":1},
         {"ph":"s","cat":"mine","id":1,"ts":1},
         {"ph":"f","cat":"ac2g","id":1,"ts":1},
         {"ph":"s","cat":"mpi","name":"mpi","id":1,"ts":1},
         {"ph":"X","name":"a","ts":1,"dur":1,"tts":5}])");
  ASSERT_TRUE(got.status.ok());
  EXPECT_EQ(got.Count("phase_unknown"), 1u);
  EXPECT_EQ(got.Count("flow_not_kept"), 1u);
  EXPECT_EQ(got.Count("member_ignored"), 1u);
  EXPECT_EQ(got.trace->ledger().Get(Loss::kEventsNotImported), 2u);
}

}  // namespace
}  // namespace kymo::chrome_import
