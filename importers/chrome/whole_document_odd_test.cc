// Documents that few programs write, and everything that the trace of each has.
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "importers/chrome/test_document.h"
#include "importers/chrome/test_import.h"
#include "profiler/base/strings.h"
#include "profiler/model/loss_ledger.h"

namespace kymo::chrome_import {
namespace {

// Totals of the heap and of mappings follow from their records.
TEST(WholeDocumentTest, OfMemory) {
  EXPECT_EQ(TextOf(R"json({"traceEvents":[
{"ph":"i","name":"[memory]","pid":7,"tid":8,"ts":2,"args":{"Bytes":64,
 "Total Reserved":9,"Total Allocated":65,"Addr":4096,"Device Id":1,
 "Device Type":2,"Source":"heap","Stack":1}},
{"ph":"i","name":"[memory]","pid":7,"tid":8,"ts":3,"args":{"Bytes":32,
 "Addr":"18446744073709551615","Device Id":128,"Device Type":-129,
 "Source":"mapped","Stack":2}},
{"ph":"i","name":"[memory]","pid":7,"tid":8,"ts":4,"args":{"Bytes":1,
 "Bytes":5,"Addr":-1,"Device Id":-128,"Device Type":127,"Source":"other",
 "Total Reserved":8,"Total Allocated":6,"Stack":-1}},
{"ph":"i","name":"[OutOfMemory]","pid":7,"tid":8,"ts":5,
 "args":{"Bytes":6,"Stack":4294967297}},
{"ph":"i","name":"[OutOfMemory]","pid":7,"tid":8,"ts":6},
{"ph":"i","name":"[memory]","pid":7,"tid":8,"args":{"Bytes":6}}],
"kymo_records_0":{"names":["f"],"frames":[[1,0,0,0,0,0]],
 "stacks":[[0,0],[1,0]],"rows":[[7,9]],"samples":[[0,9000,500,2]],
 "allocations":[[7,9,1,2,3],[7,10,4,5,6]]}})json"),
            R"json(window 2000-9000
process 7 
thread 7/8 device -1 '' logical 0
  0 [OutOfMemory] 6000-6000 cpu_instant_event flags 1
thread 7/9 device -1 '' logical 0
thread 7/10 device -1 '' logical 0
memory 0 2000 64 at 4096 event 0 of 2:1 total 64/9 source 1 depth 1
memory 0 3000 32 at 18446744073709551615 event 0 of -128:127 total 32/0 source 2 depth 2
memory 0 4000 5 at 18446744073709551615 event 0 of 127:-128 total 6/8 source 0 depth 0
memory 0 5000 6 at 0 event 1 of 0:0 total 0/0 source 0 depth 0
counts 1 1 2 3
counts 2 4 5 6
sample 1 9000+500 depth 2
lost records_corrupt 1
finding time_missing 1
)json");
}

TEST(WholeDocumentTest, OfCounters) {
  EXPECT_EQ(TextOf(R"json([
{"ph":"C","name":"one","pid":7,"tid":8,"ts":5,"args":{"value":2.5}},
{"ph":"C","name":"two","pid":7,"tid":8,"ts":6,"args":{"bytes":3}},
{"ph":"C","name":"three","pid":7,"tid":8,"ts":7,"args":{"other":4}},
{"ph":"C","name":"four","pid":7,"tid":8,"ts":8,"args":{"value":1,"a\"b":"2"}},
{"ph":"C","name":"five","pid":7,"tid":9,"ts":9,"args":{"value":[1],"x":"y"}},
{"ph":"C","name":"six","pid":7,"tid":9,"ts":10},
{"ph":"C","name":"seven","pid":7,"tid":9,"args":{"value":1}},
{"ph":"C","name":"Memory: cpu","pid":7,"tid":8,"ts":11,"args":{"bytes":12}}
])json"),
            R"json(window 5000-11000
process 7 
thread 7/8 device -1 '' logical 0
counter 0 one 5000 2.5
counter 0 two 6000 3
counter 0 three other 7000 4
counter 0 four value 8000 1
counter 0 four a"b 8000 2
counter 0 Memory: cpu 11000 12
lost records_corrupt 3
finding time_missing 1
finding counter_no_number 2
)json");
}

// The counters of memory that Kymo writes follow from the records of memory.
TEST(WholeDocumentTest, OfCountersThatKymoWrote) {
  const auto counters = [](std::string_view member) {
    return TextOf(absl::StrCat(R"json({"kymo_loss_ledger":{},)json",
                               ToAbsl(member), R"json("traceEvents":[
{"ph":"C","name":"Memory: cpu","pid":7,"tid":8,"ts":5,"args":{"bytes":1}},
{"ph":"C","name":"Memory: cpu","pid":7,"tid":8,"ts":6,"args":{"value":2}},
{"ph":"C","name":"Memory","pid":7,"tid":8,"ts":7,"args":{"bytes":3}},
{"ph":"C","name":"Memory: heap","pid":7,"tid":8,"ts":8,"args":{"bytes":4}}
]})json"));
  };
  const std::string head = R"json(window 5000-8000
process 7 
thread 7/8 device -1 '' logical 0
counter 0 Memory: cpu 6000 2
counter 0 Memory 7000 3
)json";
  EXPECT_EQ(counters(""), head);
  EXPECT_EQ(counters(R"json("kymo_heap_records_left_out":3,)json"),
            head +
                "counter 0 Memory: heap 8000 4\n"
                "lost memory_records_left_out 3\n");
  EXPECT_EQ(counters(R"json("kymo_heap_records_left_out":-3,)json"),
            head + "counter 0 Memory: heap 8000 4\n");
}

// A pair of asynchronous ends has one category, one id and one scope.
TEST(WholeDocumentTest, OfAsynchronousRanges) {
  EXPECT_EQ(TextOf(R"json([
{"ph":"b","cat":"net","id":1,"name":"r","pid":7,"tid":8,"ts":1},
{"ph":"b","cat":"disk","id":1,"name":"r","pid":7,"tid":8,"ts":2},
{"ph":"b","cat":"net","id":2,"name":"r","pid":7,"tid":8,"ts":3},
{"ph":"b","cat":"net","id":1,"scope":"s","name":"r","pid":7,"tid":8,"ts":4},
{"ph":"b","cat":"net","id":1,"name":"r","pid":9,"tid":8,"ts":5},
{"ph":"e","cat":"net","id":1,"name":"r","pid":7,"tid":8,"ts":11},
{"ph":"e","cat":"disk","id":1,"name":"r","pid":7,"tid":8,"ts":12},
{"ph":"e","cat":"net","id":2,"name":"r","pid":7,"tid":8,"ts":13},
{"ph":"e","cat":"net","id":1,"scope":"s","name":"r","pid":7,"tid":8,"ts":14},
{"ph":"e","cat":"net","id":1,"name":"r","pid":9,"tid":8,"ts":15},
{"ph":"S","cat":"net","id2":{"local":3},"name":"s","pid":7,"tid":8,"ts":6},
{"ph":"F","cat":"net","id2":{"local":3},"name":"s","pid":7,"tid":8,"ts":16},
{"ph":"F","cat":"net","id":4,"name":"s","pid":7,"tid":8,"ts":17},
{"ph":"e","cat":"net","id":5,"name":"s","pid":7,"tid":8,"ts":18},
{"ph":"E","name":"s","pid":7,"tid":8,"ts":19}])json"),
            R"json(window 1000-16000
process 7 
process 9 
thread 7/8 device -1 '' logical 0
thread 7/8 device -1 '' logical 0
  0 r 1000-11000 cpu_op flags 4 cat='net'
thread 7/8 device -1 '' logical 0
  1 r 2000-12000 cpu_op flags 4 cat='disk'
thread 7/8 device -1 '' logical 0
  2 r 3000-13000 cpu_op flags 4 cat='net'
thread 7/8 device -1 '' logical 0
  3 r 4000-14000 cpu_op flags 4 cat='net'
thread 7/8 device -1 '' logical 0
  4 s 6000-16000 cpu_op flags 4 cat='net'
thread 9/8 device -1 '' logical 0
thread 9/8 device -1 '' logical 0
  5 r 5000-15000 cpu_op flags 4 cat='net'
lost ends_without_begin 3
finding end_without_begin 3
)json");
}

TEST(WholeDocumentTest, OfMarks) {
  EXPECT_EQ(TextOf(R"json([
{"ph":"X","name":"a","pid":7,"tid":8,"ts":50,"dur":1},
{"ph":"X","cat":"Trace","name":"Other (0)","pid":"Spans","tid":"x","ts":30,
 "dur":10},
{"ph":"i","name":"Iteration Start: Other","pid":"Traces","tid":"y","ts":20},
{"ph":"X","cat":"Trace","name":"Other (1)","pid":"Spans","tid":"x"},
{"ph":"i","name":"Record Window End","pid":"","tid":"","ts":90},
{"ph":"i","name":"Iteration End","pid":"Traces","tid":"y","ts":60},
{"ph":"i","name":"Iteration Start: x","pid":"Trace","tid":"y","ts":61},
{"ph":"i","name":"Record Window End","pid":"7","tid":"8","ts":62},
{"ph":"i","name":"Record Window","pid":"","tid":"","ts":63},
{"ph":"i","name":"PyTorch Profiler","pid":"Spans","tid":"z","ts":64},
{"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":7,"tid":8,"ts":65,
 "dur":1},
{"ph":"X","cat":"cpu_op","name":"PyTorch Profiler","pid":"Spans","tid":"z",
 "ts":66,"dur":1}])json"),
            R"json(window 20000-90000
process 7 
process 1000000000 
process 1000000002 
process 1000000003 
process 1000000004 
thread 7/8 device -1 '' logical 0
  0 a 50000-51000 cpu_op
  1 Record Window End 62000-62000 cpu_instant_event flags 1
  2 PyTorch Profiler (0) 65000-66000 cpu_op cat='Trace'
thread 1000000000/1000000001 device -1 '' logical 0
  3 Iteration End 60000-60000 cpu_instant_event flags 1
thread 1000000002/1000000001 device -1 '' logical 0
  4 Iteration Start: x 61000-61000 cpu_instant_event flags 1
thread 1000000003/1000000003 device -1 '' logical 0
  5 Record Window 63000-63000 cpu_instant_event flags 1
thread 1000000004/1000000005 device -1 '' logical 0
  6 PyTorch Profiler 64000-64000 cpu_instant_event flags 1
  7 PyTorch Profiler 66000-67000 cpu_op
)json");
}

// What a member cannot be is counted; the rest of the event remains.
TEST(WholeDocumentTest, OfOddMembers) {
  EXPECT_EQ(TextOf(R"json([
{"ph":"X","name":[1],"cat":{},"pid":[],"tid":{},"ts":1,"dur":1,"args":[1]},
{"ph":"X","name":"a","cat":"cpu_op","pid":7,"tid":8,"ts":[2],"dur":1},
{"ph":"X","name":"a","pid":7,"tid":8,"ts":3,"dur":[1]},
{"ph":5,"name":"a","ts":4},{"ph":"XX","name":"a","ts":4},{"ph":"","ts":4},
{"ph":"X","name":"b","cat":"cpu_op","pid":7,"tid":8,"ts":5,"dur":1,"id":1,
 "id2":2,"bp":"e","s":"t","scope":"x","args":{},
 "x":1,"xx":2,"xxx":3,"xxxx":4,"xxxxx":5,"xxxxxx":[6],"":7},
{"ph":"X","ph":"X","name":"x","name":"c","cat":"x","cat":"cpu_op","pid":1,
 "pid":7,"tid":1,"tid":8,"ts":1,"ts":7,"dur":9,"dur":1,"id":1,"id":2,"id2":1,
 "id2":2,"args":{"a":1},"args":{"b":2},"scope":1,"scope":2,"bp":1,"bp":2,
 "s":1,"s":2,"x":1,"x":2}])json"),
            R"json(window 1000-8000
process 7 
process 1000000000 
thread 7/8 device -1 '' logical 0
  0 a 3000-3000 cpu_op
  1 b 5000-6000 cpu_op
  2 c 7000-8000 cpu_op a=1 b=2
thread 1000000000/1000000000 device -1 '' logical 0
  3  1000-2000 cpu_op
lost records_corrupt 5
  of chrome 1 durations that are no numbers or out of range (set to 0)
finding phase_missing 3
finding time_missing 1
finding duration_unreadable 1
finding value_unreadable 5
finding member_ignored 9
finding member_repeated 11
)json");
}

// The window and the ranges of a document whose times count from `base`.
std::string Times(std::string_view base, std::string_view events) {
  const Imported got =
      ImportText(absl::StrCat(R"({"baseTimeNanoseconds":)", ToAbsl(base),
                              R"(,"traceEvents":[)", ToAbsl(events), "]}"));
  EXPECT_TRUE(got.status.ok()) << got.status;
  if (!got.status.ok()) return "";
  return absl::StrCat(got.trace->start_ns(), "-", got.trace->end_ns(), " ",
                      absl::StrJoin(got.Ranges(), " "),
                      got.Count("times_shifted") == 0 ? "" : " shifted");
}

std::string Complete(std::string_view time, std::string_view duration) {
  return absl::StrCat(R"({"ph":"X","name":"a","ts":)", ToAbsl(time),
                      R"(,"dur":)", ToAbsl(duration), "}");
}

// No range ends at 0, since that means that it is open.
TEST(DocumentTimesTest, TimesBeforeTheEpochAreMovedBehindIt) {
  EXPECT_EQ(Times("0", Complete("0", "1")), "0-1000 a@0+1000");
  EXPECT_EQ(Times("0", Complete("0", "0")), "1000-1000 a@1000+0 shifted");
  EXPECT_EQ(Times("0", R"({"ph":"B","name":"a","ts":0},
                          {"ph":"i","name":"b","ts":5})"),
            "0-5000 a@0+5000? b@5000+0");
  EXPECT_EQ(Times("5000", Complete("-5", "5")), "0-5000 a@0+5000");
  EXPECT_EQ(Times("5000", Complete("-5", "0")), "1000-1000 a@1000+0 shifted");
  EXPECT_EQ(Times("5000", Complete("-5.001", "1")),
            "1000-2000 a@1000+1000 shifted");
  EXPECT_EQ(Times("-5000", Complete("5", "1")), "0-1000 a@0+1000");
  EXPECT_EQ(Times("-5000", Complete("4", "2")),
            "1000-3000 a@1000+2000 shifted");
}

// A quarter of what a number of 64 bits holds is the most.
TEST(DocumentTimesTest, TimesBeyondAnEpochAreMovedToWhereTheyFit) {
  EXPECT_EQ(Times("0", Complete("2305843009213693.950", "0.001")),
            "2305843009213693950-2305843009213693951 "
            "a@2305843009213693950+1");
  EXPECT_EQ(Times("0", Complete("2305843009213693.951", "0.001")),
            "1000-1001 a@1000+1 shifted");
  EXPECT_EQ(Times("2305843009213693950", Complete("0", "0.001")),
            "2305843009213693950-2305843009213693951 "
            "a@2305843009213693950+1");
  EXPECT_EQ(Times("9223372036854775807", Complete("1", "1")),
            "1000-2000 a@1000+1000 shifted");
  EXPECT_EQ(Times("0", Complete("-2305843009213693.951", "1")),
            "1000-2000 a@1000+1000 shifted");
  EXPECT_EQ(Times("0", Complete("-2305843009213693.952", "1")),
            "0-999 a@0+999 shifted");
  // The last time but one that the type holds.
  EXPECT_EQ(Times("0", Complete("-2305843009213693.952", "1") + "," +
                           Complete("9223372036854775.807", "0")),
            "0-9223372036854775806 a@0+999 a@9223372036854775806+0 shifted");
}

TEST(DocumentTimesTest, EverythingIsWithinTheWindow) {
  EXPECT_EQ(Times("5000", ""), "0-0 ");
  EXPECT_EQ(Times("5000", R"({"ph":"C","name":"c","ts":5,"args":{"value":1}},
                             {"ph":"C","name":"c","ts":9,"args":{"value":1}})"),
            "10000-14000 ");
  EXPECT_EQ(Times("5000", R"({"ph":"i","name":"[memory]","ts":5,
                              "args":{"Bytes":1}},
                             {"ph":"i","name":"[memory]","ts":9,
                              "args":{"Bytes":1}})"),
            "10000-14000 ");
  EXPECT_EQ(Times("5000", R"json({"ph":"X","cat":"Trace","pid":"Spans","ts":2,
                              "dur":3,"name":"PyTorch Profiler (0)"
})json"),
            "7000-10000 ");
}

// Slices of a flame chart that never ended reach to the end of the file.
TEST(WholeDocumentTest, OfFlameCharts) {
  const std::string_view rows = R"json(
{"ph":"M","name":"thread_name","pid":7,"tid":1000000000,
 "args":{"name":"thread 8 (x) samples"}},
{"ph":"X","cat":"cpu_sample","name":"plain","pid":7,"tid":8,"ts":5,"dur":4},
{"ph":"B","cat":"cpu_sample","name":"f","pid":7,"tid":1000000000,"ts":5},
{"ph":"X","cat":"cpu_op","name":"op","pid":7,"tid":1000000000,"ts":6,"dur":1})json";
  EXPECT_EQ(
      TextOf(absl::StrCat(R"({"baseTimeNanoseconds":1000,"traceEvents":[)",
                          ToAbsl(rows), "]}")),
      R"json(window 6000-10000
process 7 
thread 7/8 device -1 'x' logical 0
  0 plain 6000-10000 cpu_sample
  1 op 7000-8000 cpu_op in 0
sample 0 6000+4000 depth 1
finding begin_without_end 1
)json");
  // If the file has the samples themselves, the slices only show them.
  EXPECT_EQ(TextOf(absl::StrCat(
                R"({"baseTimeNanoseconds":1000,"traceEvents":[)", ToAbsl(rows),
                R"(],"kymo_records_0":{"names":["g"],"unknown":{},
                   "frames":[[1,0,0,0,0,0]],"stacks":[[0,0],[1,0]],
                   "rows":[[7,9],[7,8]],"samples":[[1,5000,7,2],
                   [0,8000,6,1]]}})")),
            R"json(window 6000-10000
process 7 
thread 7/8 device -1 'x' logical 0
  0 plain 6000-10000 cpu_sample
  1 op 7000-8000 cpu_op in 0
thread 7/9 device -1 '' logical 0
sample 0 6000+7 depth 2
sample 1 9000+6 depth 1
finding begin_without_end 1
)json");
}

TEST(WholeDocumentTest, OfFlows) {
  const auto findings = [](std::string_view flow) {
    const Imported got = ImportText(absl::StrCat("[{", ToAbsl(flow), "}]"));
    EXPECT_EQ(got.Count("flow_not_kept"),
              got.trace->ledger().Get(model::Loss::kEventsNotImported));
    return got.findings.size();
  };
  for (const char* const kept :
       {R"("ph":"s","cat":"ac2g","name":"x")",
        R"("ph":"t","cat":"async_cpu_to_gpu","name":"x")",
        R"("ph":"f","cat":"async_gpu","name":"x")",
        R"("ph":"s","cat":"async","name":"launch")",
        R"("ph":"s","cat":"fwdbwd","name":"x","ts":1)",
        R"("ph":"f","cat":"fwd_bwd","name":"x","ts":1)",
        R"("ph":"s","cat":"forward_backward","name":"x","ts":1)"}) {
    EXPECT_EQ(findings(kept), 0u) << kept;
  }
  for (const char* const left_out :
       {R"("ph":"s","cat":"async","name":"x","ts":1)",
        R"("ph":"s","cat":"x","name":"launch","ts":1)",
        R"("ph":"s","name":"fwdbwd","ts":1)",
        R"("ph":"t","cat":"fwdbwd","name":"x","ts":1)",
        R"("ph":"s","cat":"fwdbwd","name":"x")",
        R"("ph":"s","cat":"fwdbwd","name":"x","ts":"x")"}) {
    EXPECT_EQ(findings(left_out), 1u) << left_out;
  }
}

}  // namespace
}  // namespace kymo::chrome_import
