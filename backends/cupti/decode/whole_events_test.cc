// The whole event that each kind of record becomes: its row, its times and all
// of its arguments. decode_test.cc says why they are as they are.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/cupti/decode/test_decoded.h"

namespace kymo::cupti {
namespace {

using model::ActivityType;
using model::Loss;
using Texts = std::vector<std::string>;

// Times, device, context, stream and correlation, where a record has them.
template <typename R>
R On(uint64_t start, uint64_t end) {
  R record = {};
  record.start = start;
  record.end = end;
  record.device = 1;
  record.context = 2;
  record.stream = 3;
  record.correlation = 4;
  return record;
}

class WholeEventsTest : public DecodedLogTest {
 protected:
  // "name, type, row, start-end, correlation, flags: arguments by key".
  Texts Events(const DecodeOptions& options = {.epoch_offset_ns = 1'000}) {
    shard_ = model::TraceShard();
    DecodeLog(facts_, log_.bytes(), options, shard_);
    Texts texts;
    for (const DecodedEvent& e : EventsOf(shard_)) {
      std::string text =
          e.name + ", " + std::string(model::ActivityTypeName(e.type)) + ", ";
      text +=
          e.track.kind == model::TrackKind::kThread
              ? "thread "
              : "device " + std::to_string(e.track.device_index) + " stream ";
      text += std::to_string(e.track.id) + ", " + std::to_string(e.start_ns) +
              "-" + std::to_string(e.end_ns) + ", " +
              std::to_string(e.correlation) + ", " + std::to_string(e.flags) +
              ":";
      for (const auto& [key, value] : e.args) text += " " + key + "=" + value;
      texts.push_back(text);
      EXPECT_EQ(e.track.pid, 42);
    }
    return texts;
  }
  std::string Only() {
    const Texts texts = Events();
    EXPECT_EQ(texts.size(), 1u);
    return texts.empty() ? "" : texts[0];
  }
  // Its records go to the memory that it has now.
  void NewLog() {
    std::destroy_at(&log_);
    std::construct_at(&log_);
  }
  uint64_t Lost(Loss loss) const { return shard_.ledger.Get(loss); }
};

// Of a device that is not known: it has 0 multiprocessors.
TEST_F(WholeEventsTest, Kernel) {
  auto kernel = On<KernelRecord>(5'000, 6'000);
  kernel.queued = 2'000;
  kernel.submitted = 3'500;
  kernel.grid[0] = 7;
  kernel.grid[1] = 8;
  kernel.grid[2] = 9;
  kernel.block[0] = 10;
  kernel.block[1] = 11;
  kernel.block[2] = 1;
  kernel.static_shared = 12;
  kernel.dynamic_shared = 13;
  kernel.registers = 14;
  kernel.graph = 15;
  kernel.graph_node = 16;
  kernel.channel = 17;
  kernel.channel_type = 18;
  kernel.cluster[0] = 2;
  kernel.cluster[1] = 3;
  kernel.cluster[2] = 4;
  log_.Add(RecordKind::kKernel, kernel, "k");
  ExternalRecord external = {};
  external.correlation = 4;
  external.kind = 3;
  external.id = 99;
  log_.Add(RecordKind::kExternal, external);
  EXPECT_EQ(Only(),
            "k, kernel, device 1 stream 3, 6000-7000, 4, 0: External id=99 "
            "block=[10, 11, 1] blocks per SM=inf channel=17 "
            "channel_type=18 cluster=[2, 3, 4] context=2 "
            "est. achieved occupancy %=0 graph id=15 graph node id=16 "
            "grid=[7, 8, 9] queued=3000 registers per thread=14 "
            "shared memory=25 static shared memory=12 "
            "time from submission to start (us)=1.500000 "
            "time in queue (us)=1.500000 warps per SM=inf");
}

TEST_F(WholeEventsTest, CopiesAndSets) {
  auto copy = On<CopyRecord>(5'000, 5'010);
  copy.bytes = 25;
  copy.copy_kind = 2;  // to the host
  copy.from_kind = 3;
  copy.to_kind = 2;
  log_.Add(RecordKind::kCopy, copy);
  EXPECT_EQ(Only(),
            "Memcpy DtoH (Device -> Pinned), gpu_memcpy, device 1 stream 3, "
            "6000-6010, 4, 0: bytes=25 context=2 "
            "memory bandwidth (GB/s)=2.500000");
  NewLog();
  copy.is_peer = 1;
  copy.copy_kind = 10;
  copy.to_kind = 3;
  copy.from_device = 5;
  copy.from_context = 6;
  copy.to_device = 7;
  copy.to_context = 8;
  copy.graph = 9;
  copy.end = copy.start;
  log_.Add(RecordKind::kCopy, copy);
  EXPECT_EQ(Only(),
            "Memcpy PtoP (Device -> Device), gpu_memcpy, device 1 stream 3, "
            "6000-6000, 4, 0: bytes=25 fromContext=6 fromDevice=5 graph id=9 "
            "graph node id=0 inContext=2 inDevice=1 toContext=8 toDevice=7");
  NewLog();
  auto set = On<SetRecord>(5'000, 5'010);
  set.bytes = 100;
  set.memory_kind = 3;
  set.channel_type = 1;
  log_.Add(RecordKind::kSet, set);
  EXPECT_EQ(Only(),
            "Memset (Device), gpu_memset, device 1 stream 3, 6000-6010, 4, 0: "
            "bytes=100 channel=0 channel_type=1 context=2 "
            "memory bandwidth (GB/s)=10.000000");
}

TEST_F(WholeEventsTest, Calls) {
  log_.Call("cudaLaunchKernel", 7, 100, 200);
  log_.Call("cuLaunchKernel", 8, 110, 120, 43, CallDomain::kDriver);
  CallRecord failed = {};
  failed.start = 300;
  failed.end = 310;
  failed.thread = 42;
  failed.correlation = 9;
  failed.cbid = 5;
  failed.result = 2;
  log_.Add(RecordKind::kCall, failed, "cudaMalloc_v3020");
  EXPECT_EQ(Events(),
            (Texts{"cudaLaunchKernel, cuda_runtime, thread 42, 1100-1200, 7, "
                   "0: cbid=211",
                   "cudaMalloc, cuda_runtime, thread 42, 1300-1310, 9, 0: "
                   "cbid=5 result=2",
                   "cuLaunchKernel, cuda_driver, thread 43, 1110-1120, 8, 0: "
                   "cbid=211"}));
}

TEST_F(WholeEventsTest, QueriesAreShownOnRequest) {
  log_.Call("cudaGetDevice", 7, 100, 200);
  EXPECT_EQ(Events(), Texts());
  EXPECT_EQ(Events({.with_queries = true}),
            (Texts{"cudaGetDevice, cuda_runtime, thread 42, 100-200, 7, 0: "
                   "cbid=211"}));
}

TEST_F(WholeEventsTest, WaitsAndEvents) {
  log_.Context(2, 1);
  SyncRecord sync = {};
  sync.start = 100;
  sync.end = 200;
  sync.type = 3;  // of a stream
  sync.context = 2;
  sync.stream = 3;
  sync.correlation = 4;
  log_.Add(RecordKind::kSync, sync);
  sync.type = 2;  // of a stream for an event
  sync.start = 300;
  sync.end = 310;
  sync.event = 6;
  log_.Add(RecordKind::kSync, sync);
  sync.result = 1;  // work was left
  log_.Add(RecordKind::kSync, sync);
  EventRecord event = {};
  event.time = 50;
  event.context = 2;
  event.stream = 9;
  event.correlation = 3;
  event.event = 6;
  log_.Add(RecordKind::kEvent, event);
  const std::string row =
      "device 1 stream " + std::to_string(model::kSyncRows + 3);
  Texts events = Events();
  std::sort(events.begin(), events.end());
  EXPECT_EQ(
      events,
      (Texts{"Stream Sync, cuda_sync, " + row +
                 ", 1100-1200, 4, 0: context=2 cuda_sync_kind=Stream "
                 "Sync",
             "Stream Wait Event, cuda_sync, " + row +
                 ", 1300-1310, 4, 0: context=2 cuda_sync_kind=Stream Wait "
                 "Event wait_on_cuda_event_id=6 "
                 "wait_on_cuda_event_record_corr_id=3 wait_on_stream=9",
             "cudaEvent, cuda_event, device 1 stream " +
                 std::to_string(model::kSyncRows + 9) +
                 ", 1050-1051, 3, 0: context=2 event_id=6"}));
}

// Of an event that CUPTI has no time of, the call's time counts.
TEST_F(WholeEventsTest, EventsWithoutATimeAreWhereTheirCallWas) {
  EventRecord event = {};
  event.correlation = 7;
  event.has_device = 1;
  event.device = 5;
  log_.Add(RecordKind::kEvent, event);
  EXPECT_EQ(Events(), Texts());
  EXPECT_EQ(Lost(Loss::kDeviceTimesMissing), 1u);
  log_.Call("cudaEventRecord", 7, 100, 200);
  Texts events = Events();
  ASSERT_EQ(events.size(), 2u);
  std::sort(events.begin(), events.end());
  EXPECT_EQ(events[0], "cudaEvent, cuda_event, device 5 stream " +
                           std::to_string(model::kSyncRows) +
                           ", 1100-1101, 7, 0: context=0 event_id=0");
  EXPECT_EQ(Lost(Loss::kDeviceTimesMissing), 0u);
}

TEST_F(WholeEventsTest, GraphsOverheadAndUnifiedMemory) {
  auto graph = On<GraphRecord>(100, 200);
  graph.graph = 5;
  log_.Add(RecordKind::kGraph, graph);
  EXPECT_EQ(Only(),
            "CUDA Graph, kernel, device 1 stream 3, 1100-1200, 4, 0: context=2 "
            "graph id=5");
  for (const uint32_t thread : {0, 43}) {
    NewLog();
    OverheadRecord overhead = {};
    overhead.start = 100;
    overhead.end = 200;
    overhead.overhead = 1 << 16;
    overhead.thread = thread;
    log_.Add(RecordKind::kOverhead, overhead);
    EXPECT_EQ(Only(), "Buffer Flush, overhead, thread " +
                          std::string(thread == 0 ? "42" : "43") +
                          ", 1100-1200, 0, 4:");
  }
  for (const uint32_t counter : {1, 2}) {
    NewLog();
    UnifiedRecord unified = {};
    unified.start = 100;
    unified.end = counter == 1 ? 110 : 100;
    unified.value = 40;
    unified.address = 77;
    unified.counter = counter;
    unified.from = 5;
    unified.to = 6;
    log_.Add(RecordKind::kUnified, unified);
    const std::string text = Only();
    EXPECT_NE(text.find(counter == 1
                            ? ", gpu_memcpy, device 6 stream -1, 1100-1110, 0, "
                              "0: address=77 bytes=40 memory bandwidth "
                              "(GB/s)=4.000000"
                            : ", gpu_memcpy, device 5 stream -1, 1100-1100, 0, "
                              "0: address=77 bytes=40"),
              std::string::npos)
        << text;
  }
}

// A time of 0 was not measured, whichever it is.
TEST_F(WholeEventsTest, WhatHasNoTimesIsCounted) {
  for (const auto& [start, end] :
       {std::pair<uint64_t, uint64_t>(0, 9), {9, 0}, {0, 0}}) {
    NewLog();
    log_.Add(RecordKind::kKernel, On<KernelRecord>(start, end));
    log_.Add(RecordKind::kCopy, On<CopyRecord>(start, end));
    log_.Add(RecordKind::kSet, On<SetRecord>(start, end));
    log_.Add(RecordKind::kGraph, On<GraphRecord>(start, end));
    EXPECT_EQ(Events(), Texts());
    EXPECT_EQ(Lost(Loss::kDeviceTimesMissing), 4u);
  }
}

TEST_F(WholeEventsTest, WorkIsNotBeforeItsLaunch) {
  log_.Call("cudaLaunchKernel", 4, 5'000, 5'100);
  log_.Add(RecordKind::kKernel, On<KernelRecord>(5'000, 6'000), "same time");
  log_.Add(RecordKind::kCopy, On<CopyRecord>(4'999, 6'000));
  log_.Add(RecordKind::kSet, On<SetRecord>(4'900, 6'000));
  log_.Add(RecordKind::kGraph, On<GraphRecord>(4'950, 6'000));
  const DecodedLog decoded = Decode();
  EXPECT_EQ(Lost(Loss::kDeviceBeforeLaunch), 3u);
  EXPECT_EQ(decoded.early_ns, 100);
  EXPECT_EQ(EventsOf(shard_).size(), 2u);
}

// Anchors of CUPTI's own clock, in any order, put its times right.
TEST_F(WholeEventsTest, TimesOfCuptisClockAreConverted) {
  for (const uint64_t log_ns : {20'000, 10'000}) {
    AnchorRecord anchor = {};
    anchor.clock = LogClock::kCupti;
    anchor.log_ns = log_ns;
    anchor.monotonic_ns = log_ns + (log_ns == 10'000 ? 100 : 300);
    anchor.uncertainty_ns = 7;
    log_.Add(RecordKind::kAnchor, anchor);
  }
  log_.Call("cudaLaunchKernel", 4, 15'000, 25'000);
  EXPECT_EQ(Only(),
            "cudaLaunchKernel, cuda_runtime, thread 42, 16200-26300, 4, 0: "
            "cbid=211");
  shard_ = model::TraceShard();
  EXPECT_EQ(Decode().clock_error_ns, 7 + 200);
}

}  // namespace
}  // namespace kymo::cupti
