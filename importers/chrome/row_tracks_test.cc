#include "importers/chrome/row_tracks.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "importers/chrome/test_import.h"

namespace kymo::chrome_import {
namespace {

using model::TrackKind;
using ::testing::ElementsAre;

// "pid/tid name" of threads, "pid/device:stream" of streams.
std::vector<std::string> Tracks(const model::Trace& trace) {
  std::vector<std::string> texts;
  for (const model::Track& track : trace.tracks()) {
    std::string text = std::to_string(track.pid) + "/";
    if (track.kind == TrackKind::kStream) {
      text +=
          std::to_string(track.device_index) + ":" + std::to_string(track.id);
    } else {
      text +=
          std::to_string(track.id) + " " + std::string(trace.Name(track.name));
    }
    texts.push_back(text);
  }
  return texts;
}

TEST(RowTracksTest, WorkOfADeviceStandsOnItsStreams) {
  const Imported got = ImportText(R"([
      {"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,
       "ts":1,"dur":1,"args":{"External id":3,"cbid":211,"correlation":5}},
      {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":3,"dur":1,
       "args":{"device":0,"stream":7,"correlation":5,"grid":[1,1,1]}},
      {"ph":"X","cat":"gpu_user_annotation","name":"u","pid":0,"tid":7,"ts":3,
       "dur":1},
      {"ph":"M","name":"process_name","pid":0,"args":{"name":"app"}},
      {"ph":"M","name":"process_labels","pid":0,"args":{"labels":"GPU 0"}},
      {"ph":"M","name":"process_name","pid":1,"args":{"name":"app"}},
      {"ph":"M","name":"process_labels","pid":1,"args":{"labels":"GPU 1"}},
      {"ph":"M","name":"process_name","pid":9,"args":{"name":"app"}},
      {"ph":"M","name":"thread_name","pid":0,"tid":7,
       "args":{"name":"stream 7 "}}])");
  ASSERT_TRUE(got.status.ok());
  EXPECT_THAT(Tracks(*got.trace), ElementsAre("9/9 ", "9/0:7"));
  ASSERT_EQ(got.trace->processes().size(), 1u);
  EXPECT_EQ(got.trace->processes()[0].pid, 9);
  EXPECT_EQ(got.trace->detail(0)->correlation_id, 5u);
  EXPECT_EQ(got.trace->detail(1)->correlation_id, 5u);
}

// As Kineto writes them: the process is the device, and rows are not streams.
TEST(RowTracksTest, StreamsOfMtiaAreInTheArgs) {
  const Imported got = ImportText(R"([
      {"ph":"X","cat":"mtia_runtime","name":"runFunction","pid":865,"tid":2,
       "ts":1,"dur":1,"args":{"correlation":5,"device":17,"stream_id":101}},
      {"ph":"X","cat":"mtia_ccp_events","name":"remote","pid":17,"tid":3536,
       "ts":3,"dur":1,"args":{"correlation":5,"stream":101,"column":"0"}},
      {"ph":"X","cat":"mtia_ccp_events","name":"dma","pid":17,"tid":3910,
       "ts":5,"dur":1,"args":{"stream":101}},
      {"ph":"X","cat":"mtia_ccp_events","name":"wait","pid":17,"tid":3536,
       "ts":7,"dur":1,"args":{"stream":108}}])");
  ASSERT_TRUE(got.status.ok());
  EXPECT_THAT(Tracks(*got.trace),
              ElementsAre("865/2 ", "865/17:101", "865/17:108"));
  EXPECT_EQ(got.trace->track_end(1) - got.trace->track_begin(1), 2u);
}

TEST(RowTracksTest, StreamsOfSeveralDevicesOfMtiaStayApart) {
  const Imported got = ImportText(R"([
      {"ph":"X","cat":"mtia_runtime","name":"runFunction","pid":865,"tid":2,
       "ts":1,"dur":1,"args":{"correlation":5,"device":1,"stream_id":2}},
      {"ph":"X","cat":"mtia_ccp_events","name":"a","pid":1,"tid":36,"ts":3,
       "dur":1,"args":{"correlation":5,"stream":2}},
      {"ph":"X","cat":"mtia_ccp_events","name":"b","pid":12,"tid":36,"ts":4,
       "dur":1,"args":{"stream":2}},
      {"ph":"X","cat":"mtia_ccp_events","name":"c","pid":1,"tid":36,"ts":5,
       "dur":1,"args":{"stream":22}}])");
  ASSERT_TRUE(got.status.ok());
  EXPECT_THAT(Tracks(*got.trace),
              ElementsAre("865/2 ", "865/1:2", "865/1:22", "865/12:2"));
}

TEST(RowTracksTest, ThreadsOfSeveralProcessesStayApart) {
  // 1/11 and 11/1 have the same digits, 1/1 and 2/1 the same thread.
  const Imported got = ImportText(R"([
      {"ph":"X","name":"a","pid":1,"tid":11,"ts":1,"dur":1},
      {"ph":"X","name":"b","pid":11,"tid":1,"ts":1,"dur":1},
      {"ph":"X","name":"c","pid":1,"tid":1,"ts":1,"dur":1},
      {"ph":"X","name":"d","pid":2,"tid":1,"ts":1,"dur":1}])");
  ASSERT_TRUE(got.status.ok());
  EXPECT_THAT(Tracks(*got.trace),
              ElementsAre("1/1 ", "1/11 ", "2/1 ", "11/1 "));
}

TEST(RowTracksTest, StreamsOfSeveralProcessesGoByTheirCalls) {
  const Imported got = ImportText(R"([
      {"ph":"X","cat":"cuda_runtime","name":"l","pid":8,"tid":8,"ts":1,"dur":1,
       "args":{"correlation":5}},
      {"ph":"X","cat":"cuda_runtime","name":"l","pid":9,"tid":9,"ts":1,"dur":1,
       "args":{"correlation":6}},
      {"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":3,"dur":1,
       "args":{"device":0,"stream":7,"correlation":6}},
      {"ph":"X","cat":"kernel","name":"k","pid":1,"tid":7,"ts":3,"dur":1,
       "args":{"device":1,"stream":7,"correlation":5}}])");
  ASSERT_TRUE(got.status.ok());
  EXPECT_THAT(Tracks(*got.trace),
              ElementsAre("8/8 ", "8/1:7", "9/9 ", "9/0:7"));
}

TEST(RowTracksTest, ThreadsHaveTheirNames) {
  const Imported got = ImportText(R"json([
      {"ph":"X","name":"a","pid":9,"tid":12,"ts":1,"dur":1},
      {"ph":"X","name":"b","pid":9,"tid":13,"ts":1,"dur":1},
      {"ph":"X","name":"c","pid":9,"tid":1000000000,"ts":1,"dur":1},
      {"ph":"M","name":"thread_name","pid":9,"tid":12,
       "args":{"name":"thread 12 (old)"}},
      {"ph":"M","name":"thread_name","pid":9,"tid":12,
       "args":{"name":"thread 12 (worker)"}},
      {"ph":"M","name":"thread_name","pid":9,"tid":13,
       "args":{"name":"thread 77 (x)"}},
      {"ph":"M","name":"thread_name","pid":9,"tid":14,"args":{"name":"idle"}},
      {"ph":"M","name":"thread_name","pid":9,"tid":1000000000,
       "args":{"name":"thread 12 (worker) (lane 2)"}}])json");
  ASSERT_TRUE(got.status.ok());
  EXPECT_THAT(Tracks(*got.trace),
              ElementsAre("9/12 worker", "9/13 thread 77 (x)", "9/14 idle"));
  EXPECT_EQ(got.trace->track_end(0), 2u);
}

TEST(RowTracksTest, TextsAndOddNumbersAreIdsToo) {
  const Imported got = ImportText(R"([
      {"ph":"X","name":"a","pid":"browser","tid":"main","ts":1,"dur":1},
      {"ph":"X","name":"b","pid":"browser","tid":"io","ts":1,"dur":1},
      {"ph":"X","name":"c","pid":"5","tid":-7,"ts":1,"dur":1},
      {"ph":"X","name":"d","ts":1,"dur":1}])");
  ASSERT_TRUE(got.status.ok());
  EXPECT_THAT(Tracks(*got.trace),
              ElementsAre("5/-7 ", "1000000000/1000000001 ",
                          "1000000000/1000000002 ", "1000000003/1000000003 "));
}

TEST(RowTracksTest, FlowsTellTheNumbersOfThreads) {
  const Imported got = ImportText(R"([
      {"ph":"X","cat":"cpu_op","name":"f","pid":1,"tid":20,"ts":1,"dur":1,
       "args":{"Sequence number":0,"Fwd thread id":0}},
      {"ph":"s","cat":"fwdbwd","id":1,"pid":1,"tid":20,"ts":1},
      {"ph":"X","cat":"cpu_op","name":"b","pid":1,"tid":10,"ts":5,"dur":1,
       "args":{"Sequence number":0,"Fwd thread id":1}},
      {"ph":"f","bp":"e","cat":"fwdbwd","id":1,"pid":1,"tid":10,"ts":5}])");
  ASSERT_TRUE(got.status.ok());
  EXPECT_EQ(got.trace->tracks()[0].logical_id, 2u);
  EXPECT_EQ(got.trace->tracks()[1].logical_id, 1u);
}

// "tid:number" of each thread.
std::vector<std::string> Numbers(const std::string& events) {
  const Imported got = ImportText("[" + events + "]");
  EXPECT_TRUE(got.status.ok()) << got.status;
  std::vector<std::string> numbers;
  for (const model::Track& track : got.trace->tracks()) {
    numbers.push_back(std::to_string(track.id) + ":" +
                      std::to_string(track.logical_id));
  }
  return numbers;
}

std::string Operation(int pid, int tid, int time, const std::string& args) {
  return R"({"ph":"X","cat":"cpu_op","name":"f","dur":1,"pid":)" +
         std::to_string(pid) + ",\"tid\":" + std::to_string(tid) +
         ",\"ts\":" + std::to_string(time) + ",\"args\":{" + args + "}}";
}
std::string Forward(int pid, int tid, int time) {
  return Operation(pid, tid, time, R"("Sequence number":0)");
}
std::string Backward(int pid, int tid, int time, int thread) {
  return Operation(
      pid, tid, time,
      R"("Sequence number":0,"Fwd thread id":)" + std::to_string(thread));
}
std::string Flow(const char* phase, int id, int tid, int time) {
  return std::string(R"({"cat":"fwdbwd","pid":1,"ph":")") + phase +
         R"(","id":)" + std::to_string(id) + ",\"tid\":" + std::to_string(tid) +
         ",\"ts\":" + std::to_string(time) + "}";
}

TEST(RowTracksTest, TheOnlyForwardThreadHasTheOnlyNumber) {
  const std::string others = "," + Operation(1, 30, 1, "\"x\":1") + "," +
                             Operation(1, 31, 1, R"("Fwd thread id":9)") + "," +
                             Operation(2, 40, 1, "\"x\":1");
  EXPECT_THAT(Numbers(Forward(1, 10, 1) + "," + Backward(1, 20, 5, 5) + others),
              ElementsAre("10:5", "20:1", "30:2", "31:3", "40:0"));
  EXPECT_THAT(Numbers(Forward(1, 10, 1) + "," + Backward(1, 20, 5, 2) + others),
              ElementsAre("10:2", "20:1", "30:3", "31:4", "40:0"));
  // Two threads, or two numbers: which is which cannot be told.
  EXPECT_THAT(Numbers(Forward(1, 10, 1) + "," + Forward(1, 11, 1) + "," +
                      Backward(1, 20, 5, 5)),
              ElementsAre("10:0", "11:0", "20:0"));
  EXPECT_THAT(Numbers(Forward(1, 10, 1) + "," + Backward(1, 20, 5, 5) + "," +
                      Backward(1, 20, 7, 6)),
              ElementsAre("10:0", "20:0"));
  // Each process for itself.
  EXPECT_THAT(Numbers(Forward(1, 10, 1) + "," + Backward(1, 20, 5, 5) + "," +
                      Forward(2, 30, 1) + "," + Backward(2, 40, 5, 3)),
              ElementsAre("10:5", "20:1", "30:3", "40:1"));
}

TEST(RowTracksTest, AFlowLeadsToTheOperationThatBeginsThere) {
  const std::string threads =
      Forward(1, 10, 1) + "," + Forward(1, 11, 1) + "," +
      Operation(1, 20, 4, "\"x\":1") + "," + Backward(1, 20, 5, 6) + "," +
      R"({"ph":"X","name":"g","pid":1,"tid":20,"ts":7,"dur":3},)" +
      Operation(1, 20, 7, "\"x\":1") + "," + Backward(1, 20, 7, 4) + ",";
  // An end may stand before its start.
  EXPECT_THAT(
      Numbers(threads + Flow("f", 1, 20, 7) + "," + Flow("s", 1, 10, 1) + "," +
              Flow("s", 2, 11, 1) + "," + Flow("f", 2, 20, 5)),
      ElementsAre("10:4", "11:6", "20:1"));
  // The first start and the first end of an id count.
  EXPECT_THAT(
      Numbers(threads + Flow("s", 1, 10, 1) + "," + Flow("s", 1, 11, 1) + "," +
              Flow("f", 1, 20, 5) + "," + Flow("f", 1, 20, 7)),
      ElementsAre("10:6", "11:1", "20:2"));
  // No operation begins there, or none that knows its thread.
  EXPECT_THAT(Numbers(threads + Flow("s", 1, 10, 1) + "," +
                      Flow("f", 1, 20, 6) + "," + Flow("f", 1, 20, 8) + "," +
                      Flow("f", 1, 20, 4) + "," + Flow("f", 1, 11, 5) + "," +
                      Flow("f", 1, 99, 5) + "," + Flow("f", 2, 20, 5)),
              ElementsAre("10:0", "11:0", "20:0"));
}

TEST(RowTracksTest, StreamsHaveTheirDeviceAndProcess) {
  const Imported got = ImportText(R"json([
      {"ph":"X","name":"a","pid":9,"tid":9,"ts":1,"dur":1},
      {"ph":"X","name":"b","pid":3,"tid":4,"ts":1,"dur":1},
      {"ph":"M","name":"process_labels","pid":3,"args":{"labels":"GPU 3"}},
      {"ph":"X","name":"c","pid":5,"tid":6,"ts":1,"dur":1},
      {"ph":"M","name":"process_labels","pid":5,"args":{"labels":"CPU"}},
      {"ph":"X","name":"d","pid":0,"tid":7,"ts":1,"dur":1},
      {"ph":"M","name":"thread_name","pid":0,"tid":7,
       "args":{"name":"stream 70 of process 11 "}},
      {"ph":"X","cat":"kernel","name":"e","pid":1,"tid":8,"ts":1,"dur":1},
      {"ph":"M","name":"thread_name","pid":1,"tid":8,"args":{"name":"queue"}},
      {"ph":"X","cat":"kernel","name":"f","pid":2,"tid":8,"ts":1,"dur":1,
       "args":{"device":4,"stream":-1}},
      {"ph":"M","name":"thread_name","pid":2,"tid":8,
       "args":{"name":"stream 55 "}},
      {"ph":"M","name":"thread_name","pid":0,"tid":99,
       "args":{"name":"stream 99 "}}])json");
  ASSERT_TRUE(got.status.ok());
  EXPECT_THAT(Tracks(*got.trace), ElementsAre("1/1:8", "2/4:-1", "3/3:4",
                                              "5/6 ", "9/9 ", "11/0:70"));
  EXPECT_EQ(got.trace->Name(got.trace->tracks()[0].name), "queue");
  EXPECT_EQ(got.trace->Name(got.trace->tracks()[1].name), "");
}

TEST(RowTracksTest, NumbersThatNoDeviceHasStayArguments) {
  const Imported got = ImportText(R"([
      {"ph":"X","cat":"kernel","name":"b","pid":1,"tid":9,"ts":1,"dur":1,
       "args":{"device":4294967296,"stream":7}}])");
  ASSERT_TRUE(got.status.ok());
  EXPECT_THAT(Tracks(*got.trace), ElementsAre("1/1:7"));
}

TEST(RowTracksTest, MostOfItsCallsTellTheProcessOfAStream) {
  const auto call = [](int pid, int id) {
    return R"({"ph":"X","cat":"cuda_runtime","name":"l","ts":1,"dur":1,"pid":)" +
           std::to_string(pid) + R"(,"tid":1,"args":{"correlation":)" +
           std::to_string(id) + "}},";
  };
  const auto kernel = [](int id) {
    return R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":3,)"
           R"("dur":1,"args":{"device":0,"stream":7,"correlation":)" +
           std::to_string(id) + "}},";
  };
  const std::string calls =
      call(8, 1) + call(9, 2) + call(9, 3) + call(8, 4) + call(9, 4);
  const auto tracks_of = [&](const std::string& kernels) {
    const std::string text = calls + kernels;
    return Tracks(
        *ImportText("[" + text.substr(0, text.size() - 1) + "]").trace);
  };
  EXPECT_THAT(tracks_of(kernel(1) + kernel(2) + kernel(3)),
              ElementsAre("8/1 ", "9/1 ", "9/0:7"));
  EXPECT_THAT(tracks_of(kernel(1) + kernel(2)),
              ElementsAre("8/1 ", "8/0:7", "9/1 "));
  EXPECT_THAT(tracks_of(kernel(1) + kernel(2) + kernel(4)),
              ElementsAre("8/1 ", "8/0:7", "9/1 "));
  // No call has this id.
  EXPECT_THAT(tracks_of(kernel(77)), ElementsAre("0/0:7", "8/1 ", "9/1 "));
}

TEST(RowTracksTest, ProcessesAreThoseWithThreadsOrANumberAndAName) {
  const Imported got = ImportText(R"json([
      {"ph":"X","name":"a","pid":9,"tid":9,"ts":1,"dur":1},
      {"ph":"X","name":"b","pid":"x","tid":1,"ts":1,"dur":1},
      {"ph":"M","name":"process_name","pid":5,"args":{"name":"idle"}},
      {"ph":"M","name":"process_name","pid":"y","args":{"name":"text"}},
      {"ph":"M","name":"process_labels","pid":6,"args":{"labels":"CPU"}},
      {"ph":"M","name":"process_name","pid":7,"args":{"name":7}},
      {"ph":"M","name":"process_name","pid":8,"args":{"label":"none"}},
      {"ph":"M","name":"thread_name","pid":4,"tid":"z","args":{"name":"n"}},
      {"ph":"M","name":"thread_name","pid":"z","tid":4,"args":{"name":"n"}},
      {"ph":"M","name":"thread_name","pid":3,"tid":4,"args":{"name":"n"}}
      ])json");
  ASSERT_TRUE(got.status.ok());
  std::vector<std::string> processes;
  for (const model::Process& process : got.trace->processes()) {
    processes.push_back(std::to_string(process.pid) + " " +
                        std::string(got.trace->Name(process.name)));
  }
  EXPECT_THAT(processes, ElementsAre("3 ", "5 idle", "9 ", "1000000000 "));
  EXPECT_THAT(Tracks(*got.trace),
              ElementsAre("3/4 n", "9/9 ", "1000000000/1 "));
}

// From 1000000000 on, Kymo numbers rows that have no number of their own.
TEST(RowTracksTest, NamesTellThreadsOnlyOfRowsThatKymoNumbered) {
  const Imported got = ImportText(R"json([
      {"ph":"X","name":"a","pid":9,"tid":999999999,"ts":1,"dur":1},
      {"ph":"M","name":"thread_name","pid":9,"tid":999999999,
       "args":{"name":"thread 1 (x)"}},
      {"ph":"X","name":"b","pid":9,"tid":1000000000,"ts":1,"dur":1},
      {"ph":"M","name":"thread_name","pid":9,"tid":1000000000,
       "args":{"name":"thread 2 (y)"}},
      {"ph":"X","name":"c","pid":9,"tid":5,"ts":1,"dur":1},
      {"ph":"M","name":"thread_name","pid":9,"tid":5,
       "args":{"name":"thread 3 (z) (lane 2)"}},
      {"ph":"X","name":"d","pid":1000000000,"tid":"t","ts":1,"dur":1}])json");
  ASSERT_TRUE(got.status.ok());
  EXPECT_THAT(Tracks(*got.trace),
              ElementsAre("9/2 y", "9/3 z", "9/999999999 thread 1 (x)",
                          "1000000000/1000000001 "));
}

// The samples of a row that holds these slices.
size_t CountOfSamples(const std::string& slices) {
  std::string text = R"([{"ph":"M","name":"thread_name","pid":7,"tid":8,
                          "args":{"name":"thread 7 (xz) samples"}})";
  const Imported got = ImportText(text + slices + "]");
  EXPECT_TRUE(got.status.ok());
  EXPECT_EQ(got.trace->event_count(), 0u);
  return got.trace->samples().size();
}

std::string Slice(const std::string& members) {
  return R"(,{"cat":"cpu_sample","name":"f","pid":7,"tid":8,)" + members + "}";
}

TEST(RowTracksTest, FlameChartsWithoutTimeHaveNoSamples) {
  EXPECT_EQ(CountOfSamples(Slice(R"("ph":"X","ts":5,"dur":0)")), 0u);
  EXPECT_EQ(CountOfSamples(Slice(R"("ph":"X","ts":5,"dur":-1)")), 0u);
  EXPECT_EQ(CountOfSamples(Slice(R"("ph":"B","ts":5)")), 0u);
  EXPECT_EQ(CountOfSamples(Slice(R"("ph":"X","ts":5,"dur":2)") +
                           Slice(R"("ph":"X","ts":6,"dur":0)")),
            1u);
}

TEST(RowTracksTest, FlameChartsOfImpossibleTimesHaveAFewMillionSamples) {
  EXPECT_LT(CountOfSamples(Slice(R"("ph":"X","ts":1,"dur":0.001)") +
                           Slice(R"("ph":"X","ts":5,"dur":9e14)")),
            5'000'000u);
}

TEST(RowTracksTest, FlameChartsBecomeSamples) {
  const Imported got = ImportText(R"([
      {"ph":"M","name":"thread_name","pid":7,"tid":1000000000,
       "args":{"name":"thread 7 (xz) samples"}},
      {"ph":"X","cat":"cpu_sample","name":"main","pid":7,"tid":1000000000,
       "ts":1,"dur":4},
      {"ph":"X","cat":"cpu_sample","name":"f","pid":7,"tid":1000000000,"ts":1,
       "dur":2,"args":{"file":"f.c:12","module":"/bin/xz"}},
      {"ph":"X","cat":"cpu_sample","name":"f","pid":7,"tid":1000000000,"ts":4,
       "dur":1,"args":{"module":"/bin/xz"}}])");
  ASSERT_TRUE(got.status.ok());
  EXPECT_EQ(got.trace->event_count(), 0u);
  EXPECT_EQ(got.trace->sampling_period_ns(), 1000);
  std::vector<std::string> samples;
  for (const model::StackSample& sample : got.trace->samples()) {
    samples.push_back(std::to_string(sample.time_ns) + "+" +
                      std::to_string(sample.weight_ns) + ":" +
                      std::to_string(got.trace->stacks().depth(sample.stack)));
  }
  EXPECT_THAT(samples, ElementsAre("1000+1000:2", "2000+1000:2", "3000+1000:1",
                                   "4000+1000:2"));
  const model::Frame& frame = got.trace->stacks().frame(
      got.trace->stacks().leaf(got.trace->samples()[0].stack));
  EXPECT_EQ(got.trace->Name(frame.file), "f.c");
  EXPECT_EQ(frame.line, 12u);
  EXPECT_EQ(got.trace->Name(frame.module), "/bin/xz");
}

}  // namespace
}  // namespace kymo::chrome_import
