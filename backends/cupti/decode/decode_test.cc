#include "backends/cupti/decode/decode.h"

#include <gtest/gtest.h>

#include "backends/cupti/decode/test_decoded.h"

namespace kymo::cupti {
namespace {

using model::ActivityType;

class DecodeTest : public DecodedLogTest {};

TEST_F(DecodeTest, LinksAKernelToTheCallThatLaunchedIt) {
  log_.Device(0, "A100");
  log_.Call("cudaLaunchKernel_v7000", 7, 1000, 2000);
  log_.Kernel("_Z4axpyfPf", 7, 3000, 9000);
  Decode({.epoch_offset_ns = 500});
  auto call = Find(shard_, "cudaLaunchKernel");
  const auto kernel = Find(shard_, "axpy(float, float*)");
  ASSERT_TRUE(call && kernel);
  EXPECT_EQ(call->type, ActivityType::kCudaRuntime);
  EXPECT_EQ(call->track.kind, model::TrackKind::kThread);
  EXPECT_EQ(call->track.id, 42);
  EXPECT_EQ(call->start_ns, 1500);
  EXPECT_EQ(call->args["cbid"], "211");
  EXPECT_EQ(kernel->type, ActivityType::kConcurrentKernel);
  EXPECT_EQ(kernel->track.kind, model::TrackKind::kStream);
  EXPECT_EQ(kernel->track.pid, 42);
  EXPECT_EQ(kernel->track.device_index, 0);
  EXPECT_EQ(kernel->track.id, 7);
  EXPECT_EQ(kernel->start_ns, 3500);
  EXPECT_EQ(kernel->end_ns, 9500);
  EXPECT_EQ(kernel->correlation, 7u);
  EXPECT_EQ(call->correlation, 7u);
  EXPECT_FALSE(shard_.ledger.AnythingLost());
}

TEST_F(DecodeTest, GivesAKernelKinetosArguments) {
  log_.Device(0, "A100");
  log_.Kernel("k", 7, 3000, 9000);
  Decode();
  auto kernel = *Find(shard_, "k");
  EXPECT_EQ(kernel.args["queued"], "0");
  EXPECT_EQ(kernel.args["context"], "1");
  EXPECT_EQ(kernel.args["registers per thread"], "32");
  EXPECT_EQ(kernel.args["shared memory"], "0");
  EXPECT_EQ(kernel.args["grid"], "[216, 1, 1]");
  EXPECT_EQ(kernel.args["block"], "[256, 1, 1]");
  EXPECT_EQ(kernel.args["blocks per SM"], "2.000000");
  EXPECT_EQ(kernel.args["warps per SM"], "16.000000");
  EXPECT_EQ(kernel.args["est. achieved occupancy %"], "25");
  EXPECT_FALSE(kernel.args.contains("graph id"));
}

TEST_F(DecodeTest, SaysHowLongAKernelWaitedWhereThatWasMeasured) {
  KernelRecord kernel = TestLog::SomeKernel(7, 30'000, 90'000);
  kernel.queued = 10'000;
  kernel.submitted = 12'500;
  log_.Add(RecordKind::kKernel, kernel, "k");
  Decode();
  auto event = *Find(shard_, "k");
  EXPECT_EQ(event.args["queued"], "10000");
  EXPECT_EQ(event.args["time in queue (us)"], "2.500000");
  EXPECT_EQ(event.args["time from submission to start (us)"], "17.500000");
}

TEST_F(DecodeTest, CallsAnOperationsNodeByItsGraph) {
  KernelRecord kernel = TestLog::SomeKernel(7, 3000, 9000);
  kernel.graph = 3;
  kernel.graph_node = (uint64_t{3} << 32) | 5;
  log_.Add(RecordKind::kKernel, kernel, "node");
  Decode();
  auto event = *Find(shard_, "node");
  EXPECT_EQ(event.args["graph id"], "3");
  EXPECT_EQ(event.args["graph node id"], "12884901893");
}

TEST_F(DecodeTest, NamesCopiesByKindAndGivesTheirBandwidth) {
  CopyRecord copy = {};
  copy.start = 1000;
  copy.end = 3048;
  copy.bytes = 4096;
  copy.stream = 7;
  copy.correlation = 9;
  copy.copy_kind = 1;
  copy.from_kind = 2;
  copy.to_kind = 3;
  log_.Add(RecordKind::kCopy, copy);
  SetRecord set = {};
  set.start = 4000;
  set.end = 5000;
  set.bytes = 10;
  set.stream = 7;
  set.memory_kind = 3;
  log_.Add(RecordKind::kSet, set);
  Decode();
  auto copied = *Find(shard_, "Memcpy HtoD (Pinned -> Device)");
  EXPECT_EQ(copied.type, ActivityType::kGpuMemcpy);
  EXPECT_EQ(copied.args["bytes"], "4096");
  EXPECT_EQ(copied.args["memory bandwidth (GB/s)"], "2.000000");
  EXPECT_EQ(Find(shard_, "Memset (Device)")->type, ActivityType::kGpuMemset);
}

// Bytes in no time are no bandwidth: JSON has no infinity.
TEST_F(DecodeTest, ATransferThatTookNoTimeHasNoBandwidth) {
  CopyRecord copy = {};
  copy.start = copy.end = 1000;
  copy.bytes = 4096;
  copy.copy_kind = 1;
  copy.from_kind = 2;
  copy.to_kind = 3;
  log_.Add(RecordKind::kCopy, copy);
  Decode();
  const auto event = Find(shard_, "Memcpy HtoD (Pinned -> Device)");
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->args.at("bytes"), "4096");
  EXPECT_FALSE(event->args.contains("memory bandwidth (GB/s)"));
}

TEST_F(DecodeTest, TellsThePeersOfACopyBetweenDevices) {
  CopyRecord copy = {};
  copy.start = 1000;
  copy.end = 2000;
  copy.bytes = 64;
  copy.device = 1;
  copy.copy_kind = 10;
  copy.from_kind = copy.to_kind = 3;
  copy.is_peer = 1;
  copy.from_device = 1;
  copy.to_device = 2;
  log_.Add(RecordKind::kCopy, copy);
  Decode();
  auto event = *Find(shard_, "Memcpy PtoP (Device -> Device)");
  EXPECT_EQ(event.args["fromDevice"], "1");
  EXPECT_EQ(event.args["inDevice"], "1");
  EXPECT_EQ(event.args["toDevice"], "2");
}

TEST_F(DecodeTest, PutsWaitsBesideTheirStreamWithWhatTheyWaitFor) {
  log_.Context(1, 3);
  EventRecord recorded = {};
  recorded.context = 1;
  recorded.stream = 7;
  recorded.event = 11;
  recorded.correlation = 20;
  log_.Add(RecordKind::kEvent, recorded);
  log_.Call("cudaEventRecord", 20, 500, 600);
  SyncRecord wait = {};
  wait.start = 1000;
  wait.end = 2000;
  wait.type = 2;
  wait.context = 1;
  wait.stream = 9;
  wait.correlation = 30;
  wait.event = 11;
  log_.Add(RecordKind::kSync, wait);
  wait.type = 4;
  wait.stream = kNoStream;
  log_.Add(RecordKind::kSync, wait);
  Decode();
  auto waited = *Find(shard_, "Stream Wait Event");
  EXPECT_EQ(waited.type, ActivityType::kCudaSync);
  EXPECT_EQ(waited.track.device_index, 3);
  EXPECT_EQ(waited.track.id, 1'000'009);
  EXPECT_EQ(shard_.strings.Get(waited.track.name), "stream 9 (sync)");
  EXPECT_EQ(waited.args["cuda_sync_kind"], "Stream Wait Event");
  EXPECT_EQ(waited.args["wait_on_stream"], "7");
  EXPECT_EQ(waited.args["wait_on_cuda_event_record_corr_id"], "20");
  EXPECT_EQ(waited.args["wait_on_cuda_event_id"], "11");
  EXPECT_EQ(Find(shard_, "Context Sync")->track.id, -1);
  const auto event = Find(shard_, "cudaEvent");
  EXPECT_EQ(event->start_ns, 500) << "the call's";
  EXPECT_EQ(event->end_ns, 501);
}

TEST_F(DecodeTest, LeavesOutCallsThatOnlyAsk) {
  log_.Call("cudaGetDevice_v3020", 1, 100, 200);
  log_.Call("cudaMalloc_v3020", 2, 300, 400);
  Decode();
  EXPECT_EQ(EventsOf(shard_).size(), 1u);
  model::TraceShard all;
  DecodeLog(facts_, log_.bytes(), {.with_queries = true}, all);
  EXPECT_EQ(EventsOf(all).size(), 2u);
}

TEST_F(DecodeTest, GivesTheProgramsOwnIds) {
  ExternalRecord external = {};
  external.id = 1234;
  external.kind = 3;
  external.correlation = 7;
  log_.Add(RecordKind::kExternal, external);
  log_.Call("cudaLaunchKernel", 7, 1000, 2000);
  log_.Kernel("k", 7, 3000, 9000);
  Decode();
  EXPECT_EQ(Find(shard_, "k")->args["External id"], "1234");
  EXPECT_EQ(Find(shard_, "cudaLaunchKernel")->args["External id"], "1234");
}

TEST_F(DecodeTest, OwnIdsOfOtherKindsHaveArgumentsOfTheirOwn) {
  for (uint32_t kind = 1; kind < 7; ++kind) {
    ExternalRecord external = {};
    external.id = 100 + kind;
    external.kind = kind;
    external.correlation = 7;
    log_.Add(RecordKind::kExternal, external);
  }
  log_.Kernel("k", 7, 3000, 9000);
  log_.Kernel("other", 8, 9000, 9500);
  Decode();
  auto args = Find(shard_, "k")->args;
  EXPECT_EQ(args["External id (unknown)"], "101");
  EXPECT_EQ(args["External id (OpenACC)"], "102");
  EXPECT_EQ(args["External id"], "103");
  EXPECT_EQ(args["External id (custom 1)"], "104");
  EXPECT_EQ(args["External id (custom 2)"], "105");
  EXPECT_EQ(args["External id (other)"], "106");
  EXPECT_FALSE(Find(shard_, "other")->args.contains("External id"));
}

TEST_F(DecodeTest, SharedMemoryIsStaticAndDynamicAndSaysWhatOfItIsStatic) {
  KernelRecord kernel = TestLog::SomeKernel(7, 3000, 9000);
  kernel.static_shared = 2'048;
  kernel.dynamic_shared = 1'000;
  log_.Add(RecordKind::kKernel, kernel, "k");
  Decode();
  auto args = Find(shard_, "k")->args;
  EXPECT_EQ(args["shared memory"], "3048");
  EXPECT_EQ(args["static shared memory"], "2048");
}

TEST_F(DecodeTest, SortsWhatComesOutOfOrder) {
  log_.Kernel("b", 2, 5000, 6000);
  log_.Kernel("a", 1, 1000, 2000);
  log_.Kernel("c", 3, 7000, 8000);
  Decode();
  const auto events = EventsOf(shard_);
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].name, "a");
  EXPECT_EQ(events[1].name, "b");
  EXPECT_EQ(events[2].name, "c");
  EXPECT_EQ(events[0].correlation, 1u);
}

TEST_F(DecodeTest, WaitsMeanTheRecordingThatTheyName) {
  log_.Context(1, 0);
  for (uint32_t i = 1; i < 4; ++i) {
    EventRecord recorded = {};
    recorded.time = 100 * i;
    recorded.context = 1;
    recorded.stream = i;
    recorded.event = 11;
    recorded.event_sync = 50 + i;
    recorded.correlation = i;
    log_.Add(RecordKind::kEvent, recorded);
  }
  SyncRecord wait = {};
  wait.start = 1000;
  wait.end = 2000;
  wait.type = 1;
  wait.context = 1;
  wait.stream = 9;
  wait.correlation = 30;
  wait.event = 11;
  wait.event_sync = 52;
  log_.Add(RecordKind::kSync, wait);
  Decode();
  EXPECT_EQ(Find(shard_, "Event Sync")->args["wait_on_stream"], "2");
}

TEST_F(DecodeTest, AQueryThatFoundWorkLeftIsNoWait) {
  SyncRecord query = {};
  query.start = 1000;
  query.end = 1100;
  query.type = 3;
  query.result = 600;  // CUDA_ERROR_NOT_READY
  log_.Add(RecordKind::kSync, query);
  Decode();
  EXPECT_TRUE(EventsOf(shard_).empty());
  EXPECT_FALSE(shard_.ledger.AnythingLost());
}

TEST_F(DecodeTest, ALaunchedGraphCanBeOneEvent) {
  log_.Call("cudaGraphLaunch_v10000", 7, 1000, 2000);
  GraphRecord graph = {};
  graph.start = 3000;
  graph.end = 5000;
  graph.stream = 7;
  graph.correlation = 7;
  graph.graph = 4;
  log_.Add(RecordKind::kGraph, graph);
  Decode();
  auto event = *Find(shard_, "CUDA Graph");
  EXPECT_EQ(event.type, ActivityType::kConcurrentKernel);
  EXPECT_EQ(event.correlation, 7u);
  EXPECT_EQ(event.args["graph id"], "4");
}

TEST_F(DecodeTest, CallsOfTheDriverAreTheirOwnKind) {
  log_.Call("cuLaunchKernel", 3, 1000, 2000, 42, CallDomain::kDriver);
  Decode();
  EXPECT_EQ(Find(shard_, "cuLaunchKernel")->type, ActivityType::kCudaDriver);
}

TEST_F(DecodeTest, OverheadNestsWithNothing) {
  OverheadRecord overhead = {};
  overhead.start = 1000;
  overhead.end = 2000;
  overhead.overhead = 1 << 16;
  overhead.thread = 43;
  log_.Add(RecordKind::kOverhead, overhead);
  Decode();
  const auto event = Find(shard_, "Buffer Flush");
  EXPECT_EQ(event->type, ActivityType::kOverhead);
  EXPECT_EQ(event->track.id, 43);
  EXPECT_EQ(event->flags, model::kEventAsync);
}

}  // namespace
}  // namespace kymo::cupti
