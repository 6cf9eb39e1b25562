// Every field of every record arrives: each has a value of its own, so that one
// that is forgotten, or taken from a neighbour, shows.
#include <cuda.h>
#include <cupti.h>
#include <gtest/gtest.h>

#include <climits>
#include <cstring>

#include "backends/cupti/target/test_translate.h"

namespace kymo::cupti {
namespace {

class TranslateFieldsTest : public TranslateTest {
 protected:
  // `from` alone becomes the fields of `expected`. Headers are not compared.
  template <typename From, typename R>
  void ExpectBecomes(const From& from, RecordKind kind, R expected) {
    buffer_.clear();
    log_.clear();
    lengths.clear();
    Put(from);
    Translate();
    R got = Get<R>(kind);
    got.header = expected.header = {};
    const auto* const a = reinterpret_cast<const uint32_t*>(&got);
    const auto* const b = reinterpret_cast<const uint32_t*>(&expected);
    for (size_t i = 0; i < sizeof(R) / sizeof(uint32_t); ++i) {
      EXPECT_EQ(a[i], b[i]) << "in the 4 bytes at " << 4 * i;
    }
  }
};

TEST_F(TranslateFieldsTest, Kernel) {
  auto from =
      Zero<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  KernelRecord to = {};
  to.start = from.start = 101;
  to.end = from.end = 102;
  to.queued = from.queued = 103;
  to.submitted = from.submitted = 104;
  to.device = from.deviceId = 105;
  to.context = from.contextId = 106;
  to.stream = from.streamId = 107;
  to.correlation = from.correlationId = 108;
  to.grid[0] = from.gridX = 109;
  to.grid[1] = from.gridY = 110;
  to.grid[2] = from.gridZ = 111;
  to.block[0] = from.blockX = 112;
  to.block[1] = from.blockY = 113;
  to.block[2] = from.blockZ = 114;
  to.static_shared = from.staticSharedMemory = 115;
  to.dynamic_shared = from.dynamicSharedMemory = 116;
  to.registers = from.registersPerThread = 117;
  to.local_memory = from.localMemoryPerThread = 118;
  to.graph_node = from.graphNodeId = uint64_t{119} << 32;
  to.graph = from.graphId = 120;
  to.channel = from.channelID = 121;
  to.channel_type = from.channelType = CUPTI_CHANNEL_TYPE_COMPUTE;
  to.cluster[0] = from.clusterX = 122;
  to.cluster[1] = from.clusterY = 123;
  to.cluster[2] = from.clusterZ = 124;
  ExpectBecomes(from, RecordKind::kKernel, to);
}

// The fields that copies and sets share.
template <typename From, typename To>
void FillTransfer(From& from, To& to) {
  to.start = from.start = 101;
  to.end = from.end = 102;
  to.bytes = from.bytes = uint64_t{103} << 32;
  to.device = from.deviceId = 104;
  to.context = from.contextId = 105;
  to.stream = from.streamId = 106;
  to.correlation = from.correlationId = 107;
  to.graph_node = from.graphNodeId = uint64_t{108} << 32;
  to.graph = from.graphId = 109;
  to.channel = from.channelID = 110;
  to.channel_type = from.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY;
  to.flags = from.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
}

TEST_F(TranslateFieldsTest, Copy) {
  auto from = Zero<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY);
  CopyRecord to = {};
  FillTransfer(from, to);
  to.copy_kind = from.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
  to.from_kind = from.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  to.to_kind = from.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
  ExpectBecomes(from, RecordKind::kCopy, to);
}

TEST_F(TranslateFieldsTest, PeerCopy) {
  auto from = Zero<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2);
  CopyRecord to = {};
  FillTransfer(from, to);
  to.copy_kind = from.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
  to.from_kind = from.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  to.to_kind = from.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_ARRAY;
  to.is_peer = 1;
  to.from_device = from.srcDeviceId = 111;
  to.from_context = from.srcContextId = 112;
  to.to_device = from.dstDeviceId = 113;
  to.to_context = from.dstContextId = 114;
  ExpectBecomes(from, RecordKind::kCopy, to);
}

TEST_F(TranslateFieldsTest, Set) {
  auto from = Zero<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET);
  SetRecord to = {};
  FillTransfer(from, to);
  to.memory_kind = from.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
  to.value = from.value = 111;
  ExpectBecomes(from, RecordKind::kSet, to);
}

TEST_F(TranslateFieldsTest, Call) {
  for (const bool is_driver : {false, true}) {
    auto from = Zero<CUpti_ActivityAPI>(
        is_driver ? CUPTI_ACTIVITY_KIND_DRIVER : CUPTI_ACTIVITY_KIND_RUNTIME);
    CallRecord to = {};
    to.start = from.start = 101;
    to.end = from.end = 102;
    to.process = from.processId = 103;
    to.thread = from.threadId = 104;
    to.correlation = from.correlationId = 105;
    to.cbid = from.cbid = 106;
    to.domain = is_driver ? CallDomain::kDriver : CallDomain::kRuntime;
    to.result = 2;
    from.returnValue = 2;
    ExpectBecomes(from, RecordKind::kCall, to);
  }
}

TEST_F(TranslateFieldsTest, Sync) {
  auto from =
      Zero<CUpti_ActivitySynchronization2>(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  SyncRecord to = {};
  to.start = from.start = 101;
  to.end = from.end = 102;
  to.type = from.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
  to.context = from.contextId = 103;
  to.stream = from.streamId = 104;
  to.correlation = from.correlationId = 105;
  to.event = from.cudaEventId = 106;
  to.event_sync = from.cudaEventSyncId = 107;
  to.result = 108;
  from.returnValue = 108;
  ExpectBecomes(from, RecordKind::kSync, to);
}

TEST_F(TranslateFieldsTest, Event) {
  auto from = Zero<CUpti_ActivityCudaEvent2>(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
  EventRecord to = {};
  to.time = from.deviceTimestamp = 101;
  to.device = from.deviceId = 102;
  to.context = from.contextId = 103;
  to.stream = from.streamId = 104;
  to.correlation = from.correlationId = 105;
  to.event = from.eventId = 106;
  to.event_sync = from.cudaEventSyncId = 107;
  to.has_device = 1;
  ExpectBecomes(from, RecordKind::kEvent, to);
}

TEST_F(TranslateFieldsTest, GraphOnADeviceAndFromTheHost) {
  for (const bool begins_on_host : {false, true}) {
    auto from =
        Zero<CUpti_ActivityGraphTrace2>(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
    GraphRecord to = {};
    to.start = from.start = 101;
    to.end = from.end = 102;
    from.deviceId = begins_on_host ? INT_MAX : 103;
    from.contextId = 104;
    from.endDeviceId = 105;
    from.endContextId = 106;
    to.device = begins_on_host ? 105 : 103;
    to.context = begins_on_host ? 106 : 104;
    to.stream = from.streamId = 107;
    to.correlation = from.correlationId = 108;
    to.graph = from.graphId = 109;
    ExpectBecomes(from, RecordKind::kGraph, to);
  }
}

TEST_F(TranslateFieldsTest, MemoryOfALocalAndOfAnImportedPool) {
  for (const auto pool : {CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL,
                          CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED}) {
    auto from = Zero<CUpti_ActivityMemory4>(CUPTI_ACTIVITY_KIND_MEMORY2);
    MemoryRecord to = {};
    to.time = from.timestamp = 101;
    to.address = from.address = uint64_t{102} << 32;
    to.bytes = from.bytes = uint64_t{103} << 32;
    to.pool_address = from.memoryPoolConfig.address = 104;
    from.memoryPoolConfig.memoryPoolType = pool;
    to.pool_type = static_cast<uint8_t>(pool);
    from.memoryPoolConfig.pool.size = 105;
    from.memoryPoolConfig.utilizedSize = 106;
    if (pool == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL) {
      to.pool_size = 105;
      to.pool_used = 106;
    }
    to.device = from.deviceId = 107;
    to.context = from.contextId = 108;
    to.stream = from.streamId = 109;
    to.correlation = from.correlationId = 110;
    to.process = from.processId = 111;
    from.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
    to.operation = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
    from.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    to.memory_kind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    from.isAsync = 1;
    to.is_async = 1;
    ExpectBecomes(from, RecordKind::kMemory, to);
  }
}

TEST_F(TranslateFieldsTest, Pool) {
  auto from = Zero<CUpti_ActivityMemoryPool3>(CUPTI_ACTIVITY_KIND_MEMORY_POOL);
  PoolRecord to = {};
  to.time = from.timestamp = 101;
  to.address = from.address = 102;
  to.size = from.size = 103;
  to.used = from.utilizedSize = 104;
  to.release_threshold = from.releaseThreshold = 105;
  to.keep_bytes = from.minBytesToKeep = 106;
  to.operation = from.memoryPoolOperationType =
      CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED;
  to.pool_type = from.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  to.process = from.processId = 107;
  to.device = from.deviceId = 108;
  to.correlation = from.correlationId = 109;
  ExpectBecomes(from, RecordKind::kPool, to);
}

TEST_F(TranslateFieldsTest, Unified) {
  auto from = Zero<CUpti_ActivityUnifiedMemoryCounter3>(
      CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
  UnifiedRecord to = {};
  to.start = from.start = 101;
  to.end = from.end = 102;
  to.value = from.value = 103;
  to.address = from.address = 104;
  to.counter = from.counterKind =
      CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH;
  to.from = from.srcId = 105;
  to.to = from.dstId = 106;
  to.stream = from.streamId = 107;
  to.process = from.processId = 108;
  to.flags = from.flags = 109;
  ExpectBecomes(from, RecordKind::kUnified, to);
}

TEST_F(TranslateFieldsTest, OverheadOfAThreadAProcessAndADevice) {
  for (const auto object :
       {CUPTI_ACTIVITY_OBJECT_THREAD, CUPTI_ACTIVITY_OBJECT_PROCESS,
        CUPTI_ACTIVITY_OBJECT_DEVICE}) {
    auto from = Zero<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD);
    OverheadRecord to = {};
    to.start = from.start = 101;
    to.end = from.end = 102;
    to.overhead = from.overheadKind =
        CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH;
    from.objectKind = object;
    from.objectId.pt.processId = 103;
    from.objectId.pt.threadId = 104;
    if (object != CUPTI_ACTIVITY_OBJECT_DEVICE) to.process = 103;
    if (object == CUPTI_ACTIVITY_OBJECT_THREAD) to.thread = 104;
    to.correlation = from.correlationId = 105;
    ExpectBecomes(from, RecordKind::kOverhead, to);
  }
}

TEST_F(TranslateFieldsTest, Device) {
  auto from = Zero<CUpti_ActivityDevice5>(CUPTI_ACTIVITY_KIND_DEVICE);
  DeviceRecord to = {};
  to.memory_bytes = from.globalMemorySize = uint64_t{101} << 32;
  to.memory_bandwidth = from.globalMemoryBandwidth = 102;
  to.id = from.id = 103;
  to.major = from.computeCapabilityMajor = 104;
  to.minor = from.computeCapabilityMinor = 105;
  to.multiprocessors = from.numMultiprocessors = 106;
  to.warp_size = from.numThreadsPerWarp = 107;
  to.max_warps = from.maxWarpsPerMultiprocessor = 108;
  to.max_blocks = from.maxBlocksPerMultiprocessor = 109;
  to.max_shared = from.maxSharedMemoryPerMultiprocessor = 110;
  to.max_registers = from.maxRegistersPerMultiprocessor = 111;
  to.block_shared = from.maxSharedMemoryPerBlock = 112;
  to.block_registers = from.maxRegistersPerBlock = 113;
  to.block_threads = from.maxThreadsPerBlock = 114;
  to.core_clock = from.coreClockRate = 115;
  to.l2_cache = from.l2CacheSize = 116;
  from.isCudaVisible = 1;
  ExpectBecomes(from, RecordKind::kDevice, to);
}

TEST_F(TranslateFieldsTest, ContextStreamAndOwnId) {
  auto context = Zero<CUpti_ActivityContext3>(CUPTI_ACTIVITY_KIND_CONTEXT);
  ContextRecord to_context = {};
  to_context.id = context.contextId = 101;
  to_context.device = context.deviceId = 102;
  to_context.null_stream = context.nullStreamId = 103;
  to_context.api = context.computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA;
  ExpectBecomes(context, RecordKind::kContext, to_context);
  auto stream = Zero<CUpti_ActivityStream>(CUPTI_ACTIVITY_KIND_STREAM);
  StreamRecord to_stream = {};
  to_stream.id = stream.streamId = 104;
  to_stream.context = stream.contextId = 105;
  to_stream.priority = stream.priority = 106;
  to_stream.flag = stream.flag = CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING;
  ExpectBecomes(stream, RecordKind::kStream, to_stream);
}

TEST_F(TranslateFieldsTest, MarkerOfAThread) {
  auto from = Zero<CUpti_ActivityMarker2>(CUPTI_ACTIVITY_KIND_MARKER);
  MarkerRecord to = {};
  to.time = from.timestamp = 101;
  to.id = from.id = 102;
  from.flags = CUPTI_ACTIVITY_FLAG_MARKER_END;
  to.phase = kMarkerEnd;
  from.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  to.process = from.objectId.pt.processId = 103;
  to.thread = from.objectId.pt.threadId = 104;
  ExpectBecomes(from, RecordKind::kMarker, to);
}

TEST_F(TranslateFieldsTest, NameOfAThreadAndOfAStream) {
  auto thread = Zero<CUpti_ActivityName>(CUPTI_ACTIVITY_KIND_NAME);
  NameRecord to_thread = {};
  to_thread.object = NamedObject::kThread;
  thread.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  to_thread.process = thread.objectId.pt.processId = 101;
  to_thread.thread = thread.objectId.pt.threadId = 102;
  ExpectBecomes(thread, RecordKind::kName, to_thread);
  auto stream = Zero<CUpti_ActivityName>(CUPTI_ACTIVITY_KIND_NAME);
  NameRecord to_stream = {};
  to_stream.object = NamedObject::kStream;
  stream.objectKind = CUPTI_ACTIVITY_OBJECT_STREAM;
  to_stream.device = stream.objectId.dcs.deviceId = 103;
  to_stream.context = stream.objectId.dcs.contextId = 104;
  to_stream.stream = stream.objectId.dcs.streamId = 105;
  ExpectBecomes(stream, RecordKind::kName, to_stream);
}

}  // namespace
}  // namespace kymo::cupti
