// Long, because each way to break a document is a case.
// Text that is broken, cut off or odd.
#include "importers/chrome/import_document.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "importers/chrome/test_import.h"
#include "profiler/base/parallel.h"
#include "profiler/model/thread_states.h"

namespace kymo::chrome_import {
namespace {

using model::Loss;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ImportDocumentTest, SaysWhatIsNoTraceAndWhere) {
  struct Case {
    std::string_view text;
    std::string_view message;
  };
  for (const Case& c : std::vector<Case>{
           {"", "the file is empty"},
           {"  \n", "the file is empty"},
           {"hello", "byte 0 is 'h' where '{' or '[' should be"},
           {" ~", "byte 1 is '~' where '{' or '[' should be"},
           {"\x7f\x45LF", "byte 0 is byte 0x7f where '{' or '[' should be"},
           {"\x05", "byte 0 is byte 0x05 where '{' or '[' should be"},
           {"\"text\"", "byte 0 is '\"' where '{' or '[' should be"},
           {"\xEF\xBB\xBF ",
            "byte 4 is the end of the file where '{' or '[' should be"},
           {"{}", "the file is JSON, but has no member traceEvents"},
           {R"({"a": 1, "b": [2]})",
            "the file is JSON, but has no member traceEvents"},
           {R"({"traceEvents": {}})",
            "byte 16 is '{' where a list of events should be"},
           {R"({"a" 1})", "byte 5 is '1' where ':' should be"},
           {R"({a: 1})", "byte 1 is 'a' where a member's name should be"},
           {R"({"a": })", "byte 6 is '}' where a value should be"},
           {"{", "the file ends at byte 1 before its member traceEvents"},
           {R"({"a": [1,2)",
            "the file ends at byte 6 before its member traceEvents"}}) {
    const Imported got = ImportText(c.text);
    EXPECT_EQ(got.status.code(), absl::StatusCode::kInvalidArgument) << c.text;
    EXPECT_THAT(std::string(got.status.message()),
                HasSubstr(std::string(c.message)));
  }
}

// Numbers count through, so what follows a broken place would have wrong names.
TEST(ImportDocumentTest, BrokenExactRecordsAreNotUsedInPart) {
  const std::string_view good =
      R"("kymo_records_0": {"sampling_period_ns":1000,"names":["main","f"],
         "frames":[[1,0,0,0,0,0]],"stacks":[[0,0]],"rows":[[1,2]],
         "samples":[[0,10,1000,1]]},)";
  const std::string_view later =
      R"("kymo_records_2": {"names":["g"],"frames":[[3,0,0,0,0,0]],
         "stacks":[[0,1]],"samples":[[0,20,1000,2]]},)";
  const auto import = [&](std::string_view middle) {
    return ImportText("{" + std::string(good) + std::string(middle) +
                      std::string(later) + R"("traceEvents": []})");
  };
  EXPECT_EQ(import("").trace->samples().size(), 2u);
  for (const std::string_view bad :
       {R"("kymo_records_1": {"names":[7]},)",
        R"("kymo_records_1": {"names":"main"},)",
        R"("kymo_records_1": {"frames":[[9,0,0,0,0,0]]},)",
        R"("kymo_records_1": {"frames":[[1,0,0,-1,0,0]]},)",
        R"("kymo_records_1": {"frames":[[1,0,0]]},)",
        R"("kymo_records_1": {"stacks":[[7,0]]},)",
        R"("kymo_records_1": {"rows":[["a","b"]]},)",
        R"("kymo_records_1": {"samples":[[0,10,1000,9]]},)",
        R"("kymo_records_1": {"samples":[[5,10,1000,1]]},)",
        R"("kymo_records_1": {"samples":[[0,18446744073709551615,0,1]]},)",
        R"("kymo_records_1": {"allocations":[[1,2,3]]},)",
        R"("kymo_records_1": {"sampling_period_ns":-1},)",
        R"("kymo_records_1": [],)"}) {
    const Imported got = import(bad);
    ASSERT_TRUE(got.status.ok()) << bad;
    EXPECT_EQ(got.trace->samples().size(), 0u) << bad;
    EXPECT_EQ(got.trace->ledger().Get(Loss::kRecordsCorrupt), 1u) << bad;
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

TEST(ImportDocumentTest, DurationsThatCannotBeReadAreCounted) {
  for (const char* const duration :
       {"1e999", "1e30", "NaN", "Infinity", "null", "\"long\"", "[1]"}) {
    SCOPED_TRACE(duration);
    const Imported got =
        ImportText(std::string(R"([{"ph":"X","name":"a","ts":1,"dur":)") +
                   duration + R"(},{"ph":"X","name":"b","ts":3,"dur":1}])");
    ASSERT_TRUE(got.status.ok());
    EXPECT_THAT(got.Ranges(), ElementsAre("a@1000+0", "b@3000+1000"));
    EXPECT_EQ(got.Count("duration_unreadable"), 1u);
    EXPECT_EQ(got.Count("duration_missing"), 0u);
    EXPECT_EQ(model::LossText(got.trace->ledger(), Loss::kRecordsCorrupt),
              "records that could not be read: of chrome, 1 durations that are "
              "no numbers or out of range (set to 0)");
  }
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

TEST(ImportDocumentTest, OfAMemberOfTheFileTheLastCounts) {
  const Imported got =
      ImportText(R"({"rank":1,"host":"a","traceEvents":[],"rank":2,"rank":3})");
  ASSERT_TRUE(got.status.ok());
  ASSERT_EQ(got.trace->metadata().size(), 2u);
  EXPECT_EQ(got.trace->Name(got.trace->metadata()[0].json_value), "\"a\"");
  EXPECT_EQ(got.trace->Name(got.trace->metadata()[1].json_value), "3");
  EXPECT_EQ(got.Count("member_repeated"), 2u);
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

TEST(ImportDocumentTest, AFileMayBeCutOffBetweenItsMembers) {
  const std::string head =
      "{\"traceEvents\":[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1}]";
  const std::string tail = " , \"member\" : 1 , \"other\" : \"text\" }";
  for (size_t size = 0; size < tail.size(); ++size) {
    const Imported got = ImportText(head + tail.substr(0, size));
    ASSERT_TRUE(got.status.ok()) << size << ": " << got.status;
    EXPECT_THAT(got.Ranges(), ElementsAre("a@1000+1000")) << size;
    EXPECT_EQ(got.Count("truncated"), 1u) << size;
  }
  EXPECT_TRUE(ImportText(head + tail).findings.empty());
  for (const std::string_view text :
       {"{\"traceEvents\"", "{\"traceEvents\" ",
        "{\"traceEvents\":", "{\"traceEvents\": "}) {
    const Imported got = ImportText(text);
    EXPECT_NE(got.status.message().find("the file ends at byte"),
              absl::string_view::npos)
        << text << ": " << got.status;
  }
}

// A trace with samples as exporters/chrome writes them; `bad` replaces `good`.
// The name with the number 0 is empty; those of "names" follow.
Imported WithRecords(std::string_view good, std::string_view bad) {
  std::string text =
      R"({"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":2,"ts":1,"dur":9}],
          "kymo_records_0":{"sampling_period_ns":1000,
          "memory_sample_interval":0.5,"names":["f","f.c","lib"],
          "frames":[[0,1,2,4294967295,64,0]],"stacks":[[0,0]],"rows":[[1,2]],
          "samples":[[0,2000,1000,1]],"allocations":[[1,2,3,4,5]],
          "cpu_count":8,"cpu_limits":[[150,100,9,4,70]],"kymo_cpu_ns":40,
          "threads":[[1,2,60,30,20,4,6,7,8,2,5000,5060,1,3]],
          "wait_rows":[[1,3]],"sample_sums":[[0,1,70,80]]}})";
  const size_t at = text.find(good);
  EXPECT_NE(at, text.npos) << good;
  text.replace(at, good.size(), bad);
  return ImportText(text);
}

uint64_t CorruptRecords(std::string_view good, std::string_view bad) {
  const Imported got = WithRecords(good, bad);
  EXPECT_TRUE(got.status.ok()) << got.status;
  return got.trace->ledger().Get(Loss::kRecordsCorrupt);
}

TEST(ImportDocumentTest, SamplesComeBackAsTheyWere) {
  const Imported got = WithRecords("[0,1,2,", "[1,2,3,");
  ASSERT_TRUE(got.status.ok()) << got.status;
  EXPECT_EQ(got.trace->ledger().Get(Loss::kRecordsCorrupt), 0u);
  EXPECT_EQ(got.trace->sampling_period_ns(), 1000);
  EXPECT_EQ(got.trace->memory_sample_interval(), 0.5);
  ASSERT_EQ(got.trace->samples().size(), 1u);
  const model::StackSample& sample = got.trace->samples()[0];
  EXPECT_EQ(sample.time_ns, 2000);
  EXPECT_EQ(sample.weight_ns, 1000);
  ASSERT_EQ(got.trace->stacks().depth(sample.stack), 1u);
  const model::Frame& frame =
      got.trace->stacks().frame(got.trace->stacks().leaf(sample.stack));
  EXPECT_EQ(got.trace->Name(frame.function), "f");
  EXPECT_EQ(got.trace->Name(frame.file), "f.c");
  EXPECT_EQ(got.trace->Name(frame.module), "lib");
  EXPECT_EQ(frame.line, 4294967295u);
  EXPECT_EQ(frame.address, 64u);
  EXPECT_TRUE(frame.is_resolved);
  EXPECT_FALSE(frame.is_kernel);
  EXPECT_FALSE(frame.is_inlined);
  ASSERT_EQ(got.trace->sample_sums().size(), 1u);
  const model::SampleSum& sum = got.trace->sample_sums()[0];
  EXPECT_EQ(got.trace->tracks()[sum.track].id, 3);
  EXPECT_EQ(sum.stack, sample.stack);
  EXPECT_EQ(sum.count, 70u);
  EXPECT_EQ(sum.weight_ns, 80);
  ASSERT_EQ(got.trace->allocation_counts().size(), 1u);
  EXPECT_EQ(got.trace->allocation_counts()[0].allocations, 3u);
  EXPECT_EQ(got.trace->allocation_counts()[0].frees, 4u);
  EXPECT_EQ(got.trace->allocation_counts()[0].allocated_bytes, 5u);
  ASSERT_NE(got.trace->thread_states(), nullptr);
  EXPECT_EQ(got.trace->thread_states()->cpu_count, 8u);
  EXPECT_EQ(got.trace->thread_states()->kymo_cpu_ns, 40);
  EXPECT_EQ(got.trace->thread_states()->cpu_limit,
            (model::CpuLimit{.quota_ns = 150,
                             .period_ns = 100,
                             .periods = 9,
                             .throttled_periods = 4,
                             .throttled_ns = 70}));
  const model::ThreadTimes times = {
      .track = got.trace->allocation_counts()[0].track,
      .wall_ns = 60,
      .on_cpu_ns = 30,
      .runnable_ns = 20,
      .unknown_ns = 4,
      .open_wait_ns = 6,
      .voluntary_switches = 7,
      .involuntary_switches = 8,
      .run_queue = model::RunQueueTime::kWhole,
      .begin_ns = 5000,
      .end_ns = 5060,
      .creator = sum.track};
  EXPECT_THAT(got.trace->thread_states()->threads, ElementsAre(times));
}

// States that last longer than the thread, more than 64 bits can add up, and a
// kind of run queue time that there is not.
TEST(ImportDocumentTest, ThreadTimesThatCannotBeAreCounted) {
  EXPECT_EQ(CorruptRecords("8,2,5", "8,0,5"), 0u);
  EXPECT_EQ(CorruptRecords("8,2,5", "8,3,5"), 1u);
  EXPECT_EQ(CorruptRecords("[1,2,60,", "[1,2,59,"), 1u);
  EXPECT_EQ(CorruptRecords("4,6,7", "18446744073709551615,6,7"), 1u);
  EXPECT_EQ(CorruptRecords("[1,2,60,", "[1,2,576460752303423487,"), 0u);
  EXPECT_EQ(CorruptRecords("[1,2,60,", "[1,2,576460752303423488,"), 1u);
  EXPECT_EQ(CorruptRecords("[[1,2,60,",
                           "[[1,2,576460752303423487,0,0,0,0,0,0,0],[1,2,60,"),
            1u);
  EXPECT_EQ(CorruptRecords("7,8,2,", "18446744073709551615,8,2,"), 1u);
  EXPECT_EQ(CorruptRecords("7,8,2,", "7,18446744073709551615,2,"), 1u);
  EXPECT_EQ(CorruptRecords(",8,2,", ",2,"), 1u);
  EXPECT_EQ(CorruptRecords("\"cpu_count\":8", "\"cpu_count\":4294967296"), 1u);
  EXPECT_EQ(CorruptRecords("\"kymo_cpu_ns\":40", "\"kymo_cpu_ns\":-1"), 1u);
  for (const char* const limit :
       {"[0,100,9,4,70]", "[150,0,9,4,70]", "[150,100,9,10,70]",
        "[150,100,9,4]", "[150,100,9,4,9223372036854775808]"}) {
    EXPECT_EQ(CorruptRecords("[150,100,9,4,70]", limit), 1u) << limit;
  }
  EXPECT_EQ(CorruptRecords(",5060,", ",9223372036854775808,"), 1u);
  // Older files do not have a thread's begin, end and creator.
  EXPECT_EQ(CorruptRecords(",5000,5060,1,3]]", "]]"), 0u);
  // The sums of the threads before it would be taken for those of all.
  const Imported got = WithRecords("1,3]]", "1,3],[1,3,1]]");
  ASSERT_TRUE(got.status.ok()) << got.status;
  EXPECT_EQ(got.trace->ledger().Get(Loss::kRecordsCorrupt), 1u);
  EXPECT_EQ(got.trace->thread_states(), nullptr);
}

TEST(ImportDocumentTest, SamplesThatCannotBeAreCounted) {
  EXPECT_EQ(CorruptRecords("1000", "0"), 0u);
  EXPECT_EQ(CorruptRecords("0.5", "0"), 0u);
  for (const auto& [good, bad] :
       std::vector<std::pair<std::string_view, std::string_view>>{
           {"_ns\":1000", "_ns\":-1"},
           {"_ns\":1000", "_ns\":\"x\""},
           {"0.5", "-0.5"},
           {"0.5", "\"x\""},
           {"[\"f\",", "[7,"},
           {"[\"f\",\"f.c\",\"lib\"]", "7"},
           {"[0,1,2,", "[4,1,2,"},
           {"[0,1,2,", "[0,4,2,"},
           {"[0,1,2,", "[0,1,4,"},
           {"4294967295", "4294967296"},
           {",64,0]", ",64]"},
           {",64,0]", ",64,0],[0]"},
           {",64,0]", ",64,0],7"},
           {"\"stacks\":[[0,0]]", "\"stacks\":[[1,0]]"},
           {"\"stacks\":[[0,0]]", "\"stacks\":[[0,1]]"},
           {"[[1,2]]", "[[1]]"},
           {"[[0,2000,", "[[1,2000,"},
           {"[[0,2000,", "[[0,9223372036854775808,"},
           {",1000,1]", ",9223372036854775808,1]"},
           {",1000,1]", ",576460752303423488,1]"},
           {",1000,1]", ",576460752303423487,1],[0,1,1,1]"},
           {",1000,1]", ",1000,2]"},
           {",1000,1]", ",-1000,1]"},
           {"[[0,1,70,", "[[1,1,70,"},
           {"[[0,1,70,", "[[0,2,70,"},
           {"[[0,1,70,", "[[0,1,0,"},
           {"[[0,1,70,", "[[0,1,281474976710657,"},
           {"70,80]", "70,80],[0,0,281474976710656,1]"},
           {"70,80]", "70,576460752303423489]"},
           {"70,80]", "70]"},
           {"[[1,2,3,4,5]]", "[[1,2,3,4]]"},
           {"[[1,2,3,4,5]]", "[[1,2,3,4,4611686018427387905]]"}}) {
    EXPECT_EQ(CorruptRecords(good, bad), 1u) << good << " -> " << bad;
  }
}

TEST(ImportDocumentTest, OddTextIsRepaired) {
  const Imported got = ImportText(
      "[{\"ph\":\"X\",\"name\":\"a\nb\xFF\",\"ts\":1,\"dur\":1},"
      "{\"ph\":\"X\",\"name\":\"c\",\"ts\":3,\"dur\":1,\"args\":{\"x\":NaN}}]");
  ASSERT_TRUE(got.status.ok());
  EXPECT_THAT(got.Ranges(), ElementsAre("a\nb\uFFFD@1000+1000", "c@3000+1000"));
  EXPECT_EQ(got.Count("text_repaired"), 1u);
  EXPECT_EQ(got.Offset("text_repaired"), 1u);
}

// The result is the same for all sizes of windows and stretches and all numbers
// of threads.
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
  // The first event behind the broken ones begins within a string.
  EXPECT_EQ(got.trace->event_count(), 3u);
  EXPECT_EQ(got.Count("element_unreadable"), 1u);
  EXPECT_EQ(got.Offset("element_unreadable"), event.size() + 2);
}

}  // namespace
}  // namespace kymo::chrome_import
