// Tests of the work of a device: copies, memory, pools, graphs, streams.
#include "backends/cupti/target/translate.h"

#include <cuda.h>
#include <cupti.h>
#include <gtest/gtest.h>

#include <climits>

#include "backends/cupti/target/test_translate.h"

namespace kymo::cupti {
namespace {

TEST_F(TranslateTest, CopiesMemoryAndDevices) {
  auto copy = Zero<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY);
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
  copy.bytes = 12;
  Put(copy);
  auto memory = Zero<CUpti_ActivityMemory4>(CUPTI_ACTIVITY_KIND_MEMORY2);
  memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
  memory.address = 0x1234;
  memory.bytes = 55;
  memory.memoryPoolConfig.memoryPoolType =
      CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  memory.memoryPoolConfig.utilizedSize = 66;
  Put(memory);
  auto device = Zero<CUpti_ActivityDevice5>(CUPTI_ACTIVITY_KIND_DEVICE);
  device.name = "NVIDIA H100";
  device.numMultiprocessors = 132;
  device.isCudaVisible = 1;
  Put(device);
  Translate();
  EXPECT_EQ(Get<CopyRecord>(RecordKind::kCopy).copy_kind, 2);
  EXPECT_EQ(Get<CopyRecord>(RecordKind::kCopy).bytes, 12u);
  const auto got = Get<MemoryRecord>(RecordKind::kMemory);
  EXPECT_EQ(got.operation, 1);
  EXPECT_EQ(got.address, 0x1234u);
  EXPECT_EQ(got.pool_used, 66u);
  EXPECT_EQ(Get<DeviceRecord>(RecordKind::kDevice).multiprocessors, 132u);
  EXPECT_EQ(Get<DeviceRecord>(RecordKind::kDevice).is_hidden, 0u);
}

TEST_F(TranslateTest, AKernelHasTimesOfQueueingAndItsGraphsNode) {
  auto kernel =
      Zero<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  kernel.queued = 10;
  kernel.submitted = 20;
  kernel.graphId = 3;
  kernel.graphNodeId = 4;
  Put(kernel);
  Translate();
  const auto got = Get<KernelRecord>(RecordKind::kKernel);
  EXPECT_EQ(got.queued, 10u);
  EXPECT_EQ(got.submitted, 20u);
  EXPECT_EQ(got.graph, 3u);
  EXPECT_EQ(got.graph_node, 4u);
}

TEST_F(TranslateTest, PeerCopiesSayBetweenWhom) {
  auto copy = Zero<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2);
  copy.deviceId = 1;
  copy.srcDeviceId = 1;
  copy.srcContextId = 11;
  copy.dstDeviceId = 2;
  copy.dstContextId = 12;
  copy.bytes = 64;
  Put(copy);
  Translate();
  const auto got = Get<CopyRecord>(RecordKind::kCopy);
  EXPECT_EQ(got.is_peer, 1u);
  EXPECT_EQ(got.from_device, 1u);
  EXPECT_EQ(got.from_context, 11u);
  EXPECT_EQ(got.to_device, 2u);
  EXPECT_EQ(got.to_context, 12u);
  EXPECT_EQ(got.bytes, 64u);
}

TEST_F(TranslateTest, GraphsThatBeginOnTheHostAreWhereTheyEnd) {
  auto graph = Zero<CUpti_ActivityGraphTrace2>(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  graph.graphId = 7;
  graph.streamId = 5;
  graph.deviceId = INT_MAX;
  graph.contextId = INT_MAX;
  graph.endDeviceId = 1;
  graph.endContextId = 2;
  Put(graph);
  Translate();
  const auto got = Get<GraphRecord>(RecordKind::kGraph);
  EXPECT_EQ(got.graph, 7u);
  EXPECT_EQ(got.stream, 5u);
  EXPECT_EQ(got.device, 1u);
  EXPECT_EQ(got.context, 2u);
}

TEST_F(TranslateTest, OverheadIsOfAThreadOrAProcessAndFreesWhatCuptiMade) {
  auto overhead = Zero<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD);
  overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL;
  overhead.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  overhead.objectId.pt.processId = 42;
  overhead.objectId.pt.threadId = 43;
  overhead.start = 1;
  overhead.end = 2;
  overhead.overheadData = malloc(64);  // if it stayed, asan would report a leak
  Put(overhead);
  Translate();
  const auto got = Get<OverheadRecord>(RecordKind::kOverhead);
  EXPECT_EQ(got.process, 42u);
  EXPECT_EQ(got.thread, 43u);
  EXPECT_EQ(got.end, 2u);
}

TEST_F(TranslateTest, OnlyPoolsOfThisProcessSayWhatTheyHold) {
  auto pool = Zero<CUpti_ActivityMemoryPool3>(CUPTI_ACTIVITY_KIND_MEMORY_POOL);
  pool.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  pool.memoryPoolOperationType =
      CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED;
  pool.address = 0x10;
  pool.utilizedSize = 99;
  Put(pool);
  auto memory = Zero<CUpti_ActivityMemory4>(CUPTI_ACTIVITY_KIND_MEMORY2);
  memory.memoryPoolConfig.memoryPoolType =
      CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED;
  memory.memoryPoolConfig.utilizedSize = 1234;  // not valid in such records
  Put(memory);
  Translate();
  const auto got = Get<PoolRecord>(RecordKind::kPool);
  EXPECT_EQ(got.operation, 3u);
  EXPECT_EQ(got.pool_type, 1u);
  EXPECT_EQ(got.used, 99u);
  EXPECT_EQ(Get<MemoryRecord>(RecordKind::kMemory).pool_used, 0u);
}

TEST_F(TranslateTest, UnifiedMemoryAndStreamsAreKept) {
  auto unified = Zero<CUpti_ActivityUnifiedMemoryCounter3>(
      CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
  unified.counterKind =
      CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH;
  unified.value = 4096;
  unified.srcId = 1;
  unified.start = 5;
  unified.end = 6;
  Put(unified);
  auto stream = Zero<CUpti_ActivityStream>(CUPTI_ACTIVITY_KIND_STREAM);
  stream.streamId = 13;
  stream.contextId = 2;
  stream.priority = 4;
  Put(stream);
  Translate();
  const auto got = Get<UnifiedRecord>(RecordKind::kUnified);
  EXPECT_EQ(got.counter, 2u);
  EXPECT_EQ(got.value, 4096u);
  EXPECT_EQ(got.from, 1u);
  EXPECT_EQ(Get<StreamRecord>(RecordKind::kStream).id, 13u);
}

}  // namespace
}  // namespace kymo::cupti
