#include "importers/chrome/import_document.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "importers/chrome/test_import.h"
#include "profiler/base/parallel.h"
#include "profiler/model/op_inputs.h"

namespace kymo::chrome_import {
namespace {

using model::ActivityType;
using model::EventIndex;
using model::Loss;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
  EXPECT_EQ(detail.forward_thread, 2u);
  EXPECT_EQ(got.trace->stacks().depth(detail.stack), 1u);
  EXPECT_EQ(model::InputShapesText(got.trace->Name(detail.inputs)), "[[2, 3]]");
  EXPECT_TRUE(got.trace->args(0).empty());
}

TEST(ImportDocumentTest, ModulesOfPythonAreFlagged) {
  const Imported got = ImportText(
      R"([{"ph":"X","cat":"python_function","name":"nn.Module: M_0","ts":1,
          "dur":1,"args":{"Python id":1,"Python module id":0}}])");
  ASSERT_TRUE(got.status.ok());
  EXPECT_EQ(got.trace->flags()[0], model::kEventModule);
  EXPECT_EQ(ArgText(*got.trace, 0, "Python module id"), "int:0");
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

TEST(ImportDocumentTest, CountersAreOnePerSeries) {
  const Imported got = ImportText(
      R"([{"ph":"C","name":"q","pid":1,"tid":1,"ts":1,"args":{"value":2.5}},
         {"ph":"C","name":"m","pid":1,"ts":2,"args":{"a":1,"b":"2"}},
         {"ph":"C","name":"bad","pid":1,"ts":2,"args":{"a":[1]}}])");
  ASSERT_TRUE(got.status.ok());
  std::vector<std::string> names;
  for (const auto& counter : got.trace->counters()) {
    names.emplace_back(got.trace->Name(counter.name));
  }
  EXPECT_THAT(names, testing::UnorderedElementsAre("q", "m a", "m b"));
  EXPECT_EQ(got.Count("counter_no_number"), 1u);
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

TEST(ImportDocumentTest, MembersOfTheFileAreMetadata) {
  const Imported got = ImportText(
      R"({"schemaVersion":1,"distributedInfo":{"rank": 0},"traceEvents":[],
          "host":"a\"b","traceName":"x","kymo_loss_ledger":
          {"samples_lost":3,"ranges_open_at_end":9,"unknown":1}})");
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
}

TEST(ImportDocumentTest, WhatATraceCannotKeepIsCounted) {
  const Imported got = ImportText(
      R"([{"ph":"N","name":"object","ts":1},
         {"ph":"s","cat":"mine","id":1,"ts":1},
         {"ph":"f","cat":"ac2g","id":1,"ts":1},
         {"ph":"X","name":"a","ts":1,"dur":1,"tts":5}])");
  ASSERT_TRUE(got.status.ok());
  EXPECT_EQ(got.Count("phase_unknown"), 1u);
  EXPECT_EQ(got.Count("flow_not_kept"), 1u);
  EXPECT_EQ(got.Count("member_ignored"), 1u);
  EXPECT_EQ(got.trace->ledger().Get(Loss::kEventsNotImported), 2u);
}

TEST(ImportDocumentTest, SaysWhatIsNoTraceAndWhere) {
  struct Case {
    std::string_view text;
    std::string_view message;
  };
  for (const Case& c : std::vector<Case>{
           {"", "empty"},
           {"  \n", "empty"},
           {"hello", "byte 0 is 'h'"},
           {"\x7f\x45LF", "byte 0 is byte 0x7f"},
           {"{}", "no member traceEvents"},
           {R"({"a": 1, "b": [2]})", "no member traceEvents"},
           {R"({"traceEvents": {}})", "byte 16 is '{'"},
           {R"({"a" 1})", "byte 5 is '1'"},
           {R"({a: 1})", "byte 1 is 'a'"},
           {R"({"a": })", "byte 6 is '}'"},
           {R"({"a": [1,2)", "ends at byte 6 before its member traceEvents"},
           {"\"text\"", "byte 0 is '\"'"}}) {
    const Imported got = ImportText(c.text);
    EXPECT_EQ(got.status.code(), absl::StatusCode::kInvalidArgument) << c.text;
    EXPECT_THAT(std::string(got.status.message()),
                HasSubstr(std::string(c.message)));
  }
}

TEST(ImportDocumentTest, BrokenEventsAreLeftOutAndCounted) {
  const Imported got = ImportText(R"([
      {"ph":"X","name":"a","ts":1,"dur":1},
      {"ph":"X","name":"b","ts":}, 7, "text", [1], null,
      {"ph":"X","name":"c","ts":3,"dur":1} {"ph":"X","name":"d","ts":5,"dur":1},
      {"name":"no phase","ts":1},
      {"ph":"X","name":"no time","dur":1},
      {"ph":"X","name":"bad time","ts":"x","dur":1},
      {"ph":"X","name":"e","ts":"7","dur":"1.5"}])");
  ASSERT_TRUE(got.status.ok());
  EXPECT_THAT(got.Ranges(), ElementsAre("a@1000+1000", "c@3000+1000",
                                        "d@5000+1000", "e@7000+1500"));
  EXPECT_EQ(got.Count("element_unreadable"), 1u);
  EXPECT_EQ(got.Offset("element_unreadable"), 52u);
  EXPECT_EQ(got.Count("element_no_object"), 4u);
  EXPECT_EQ(got.Count("phase_missing"), 1u);
  EXPECT_EQ(got.Count("time_missing"), 2u);
  EXPECT_EQ(got.trace->ledger().Get(Loss::kRecordsCorrupt), 8u);
}

TEST(ImportDocumentTest, DurationsThatCannotBeAreZero) {
  const Imported got = ImportText(
      R"([{"ph":"X","name":"a","ts":1,"dur":-5},{"ph":"X","name":"b","ts":3},
          {"ph":"X","name":"c","ts":5,"dur":1,"dur":2}])");
  ASSERT_TRUE(got.status.ok());
  EXPECT_THAT(got.Ranges(), ElementsAre("a@1000+0", "b@3000+0", "c@5000+2000"));
  EXPECT_EQ(got.Count("duration_negative"), 1u);
  EXPECT_EQ(got.Count("duration_missing"), 1u);
  EXPECT_EQ(got.Count("member_repeated"), 1u);
  EXPECT_EQ(got.trace->ledger().Get(Loss::kImpossibleTimestamps), 1u);
}

TEST(ImportDocumentTest, OfAMemberThatStandsTwiceTheLastCounts) {
  const Imported got = ImportText(
      R"({"traceEvents":[{"ph":"X","name":"first","ts":1,"dur":1,"args":{},
          "name":"last","ts":2,"args":{}},
          {"ph":"i","s":"t","s":"t","name":"i","ts":1,"id":1,"id2":{}}],
          "traceEvents":[{"ph":"X","name":"b","ts":5,"dur":1}]})");
  ASSERT_TRUE(got.status.ok());
  EXPECT_THAT(got.Ranges(),
              ElementsAre("i@1000+0", "last@2000+1000", "b@5000+1000"));
  EXPECT_EQ(got.Count("member_repeated"), 3u);
  EXPECT_EQ(got.Offset("member_repeated"), 16u);
}

TEST(ImportDocumentTest, EventsOutOfOrderAreSorted) {
  const Imported got = ImportText(
      R"([{"ph":"X","name":"b","ts":5,"dur":1},{"ph":"X","name":"in","ts":1,
          "dur":1},{"ph":"X","name":"a","ts":1,"dur":9}])");
  ASSERT_TRUE(got.status.ok());
  EXPECT_THAT(got.Ranges(),
              ElementsAre("a@1000+9000", "in@1000+1000", "b@5000+1000"));
  EXPECT_EQ(got.Count("out_of_order"), 1u);
}

TEST(ImportDocumentTest, TimesBeforeTheEpochAreMoved) {
  const Imported got = ImportText(
      R"([{"ph":"X","name":"a","ts":-5,"dur":1},{"ph":"X","name":"b","ts":0,
          "dur":0}])");
  ASSERT_TRUE(got.status.ok());
  EXPECT_THAT(got.Ranges(), ElementsAre("a@1000+1000", "b@6000+0"));
  EXPECT_EQ(got.Count("times_shifted"), 1u);
}

TEST(ImportDocumentTest, AFileThatIsCutOffGivesEveryCompleteEvent) {
  std::string text = "{\"traceEvents\": [\n";
  std::vector<size_t> ends;
  for (int i = 0; i < 20; ++i) {
    text += "{\"ph\":\"X\",\"name\":\"a},{\",\"ts\":" + std::to_string(i) +
            ",\"dur\":1,\"args\":{\"l\":[{\"x\":1},{\"x\":2}]}}";
    ends.push_back(text.size());
    text += ",\n";
  }
  text.resize(text.size() - 2);
  text += "],\"z\":{\"a\":1}}";
  for (size_t size = 18; size < text.size(); ++size) {
    const Imported got = ImportText(text.substr(0, size));
    ASSERT_TRUE(got.status.ok()) << got.status;
    const auto complete = static_cast<size_t>(
        std::upper_bound(ends.begin(), ends.end(), size) - ends.begin());
    EXPECT_EQ(got.trace->event_count(), complete) << size;
    EXPECT_EQ(got.Count("truncated"), 1u) << size;
    EXPECT_EQ(got.trace->ledger().Get(Loss::kFilesCutOff), 1u);
  }
  EXPECT_TRUE(ImportText(text).findings.empty());
}

TEST(ImportDocumentTest, OddTextIsRepaired) {
  const Imported got = ImportText(
      "[{\"ph\":\"X\",\"name\":\"a\nb\xFF\",\"ts\":1,\"dur\":1},"
      "{\"ph\":\"X\",\"name\":\"c\",\"ts\":3,\"dur\":1,\"args\":{\"x\":NaN}}]");
  ASSERT_TRUE(got.status.ok());
  EXPECT_THAT(got.Ranges(), ElementsAre("a\nb\uFFFD@1000+1000", "c@3000+1000"));
  EXPECT_GE(got.Count("text_repaired"), 1u);
}

// Whatever the sizes of windows and stretches and the number of threads: one
// result.
TEST(ImportDocumentTest, TheResultDoesNotDependOnHowTheTextIsCut) {
  std::string text = "{\"a\":[{\"b\":1},{\"b\":2}],\"traceEvents\":[";
  for (int i = 0; i < 300; ++i) {
    text += "{\"ph\":\"X\",\"name\":\"" + std::string(i % 3 ? "op" : "},{") +
            std::to_string(i % 17) +
            "\",\"pid\":1,\"tid\":" + std::to_string(i % 3) +
            ",\"ts\":" + std::to_string(i) +
            ",\"dur\":0.5,\"args\":{\"l\":[{\"x\":" + std::to_string(i) +
            "},{\"x\":2}],\"External id\":" + std::to_string(i + 1) + "}}" +
            (i % 50 == 7 ? ", {\"ph\":\"X\" \"name\"}" : "") +
            (i % 40 == 9 ? ", \"},{\\\"\"" : "") + (i == 299 ? "" : " ,\n");
  }
  text += "],\"c\":[{\"b\":1},{\"b\":2}]}";
  const Imported whole = ImportText(text);
  ASSERT_TRUE(whole.status.ok()) << whole.status;
  EXPECT_EQ(whole.trace->event_count(), 300u);
  EXPECT_EQ(whole.trace->metadata().size(), 2u);
  for (const int threads : {1, 4}) {
    const ParallelismLimit limit(threads);
    for (size_t window = 1; window < 3'000; window = window * 5 / 4 + 1) {
      const Imported got = ImportText(
          text, {.window_bytes = window, .stretch_bytes = window / 3 + 1});
      ASSERT_TRUE(got.status.ok()) << got.status;
      EXPECT_EQ(got.Ranges(), whole.Ranges()) << window;
      EXPECT_EQ(got.trace->metadata().size(), 2u);
      EXPECT_EQ(got.Count("element_unreadable"),
                whole.Count("element_unreadable"));
      EXPECT_EQ(got.Offset("element_unreadable"),
                whole.Offset("element_unreadable"));
      EXPECT_EQ(got.Count("element_no_object"),
                whole.Count("element_no_object"));
    }
  }
}

TEST(ImportDocumentTest, ElementsWithoutAnEndCostOnlyThemselves) {
  const std::string event = R"({"ph":"X","name":"a","ts":1,"dur":1})";
  std::string text = "[" + event + ",{\"ph\":\"X\",\"name\":\"" +
                     std::string(100'000, 'x') + "},{\"ph\":\"X\",\"nam," +
                     event + "," + event + "," + event + "]";
  const Imported got = ImportText(text, {.window_bytes = 1'000,
                                         .stretch_bytes = 300,
                                         .max_element_bytes = 5'000});
  ASSERT_TRUE(got.status.ok());
  EXPECT_GE(got.trace->event_count(), 3u);
  EXPECT_GE(got.Count("element_unreadable"), 1u);
}

TEST(ImportDocumentTest, DepthIsNoMatter) {
  const std::string deep(1'000'000, '[');
  EXPECT_FALSE(ImportText(deep).trace->event_count());
  EXPECT_FALSE(ImportText("{\"a\":" + deep).status.ok());
  const Imported got = ImportText(
      "[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1,\"args\":{\"x\":" +
      deep + std::string(1'000'000, ']') + "}}]");
  ASSERT_TRUE(got.status.ok());
  EXPECT_EQ(got.trace->event_count(), 1u);
  std::string objects;
  for (int i = 0; i < 1'000'000; ++i) objects += "{\"a\":";
  EXPECT_TRUE(ImportText("[" + objects).status.ok());
}

TEST(ImportDocumentTest, LongMembersAreLeftOut) {
  const std::string text = "{\"long\":[" + std::string(50'000, '1') +
                           "],\"traceEvents\":[],\"short\":1}";
  const Imported got =
      ImportText(text, {.window_bytes = 512, .max_element_bytes = 10'000});
  ASSERT_TRUE(got.status.ok());
  EXPECT_EQ(got.Count("member_too_long"), 1u);
  EXPECT_EQ(got.trace->metadata().size(), 1u);
}

TEST(ImportDocumentTest, ManyElementsWithoutAnEndTakeNoQuadraticTime) {
  std::string text = "[";
  for (int i = 0; i < 100'000; ++i) text += "{{},{\"";
  const Imported got = ImportText(text, {.max_element_bytes = 100'000});
  EXPECT_TRUE(got.status.ok());
}

}  // namespace
}  // namespace kymo::chrome_import
