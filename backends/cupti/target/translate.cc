// translate.cc - from the records of CUPTI to those of our log.
//
// Long, because it has one function for each kind of record.
#include "backends/cupti/target/translate.h"

#include <cuda.h>
#include <cupti.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "backends/cupti/target/cupti_numbers.h"

namespace kymo::cupti {
namespace {

// The newest struct of a kind, of which the library has filled `size_bytes`.
template <typename T>
T Take(const void* record, size_t size_bytes) noexcept {
  T value;
  memset(static_cast<void*>(&value), 0, sizeof(value));
  memcpy(static_cast<void*>(&value), record, std::min(size_bytes, sizeof(T)));
  return value;
}

// An enum's number. A library that is newer than its header may use numbers
// that the header's enum lacks; and members of a packed struct cannot be
// referred to.
template <typename T>
uint32_t NumberAt(const T& record, size_t offset) noexcept {
  uint32_t number;
  memcpy(&number, reinterpret_cast<const char*>(&record) + offset,
         sizeof(number));
  return number;
}
#define KYMO_NUMBER(record, field) \
  NumberAt(record, offsetof(std::remove_cvref_t<decltype(record)>, field))

class Translator {
 public:
  Translator(const RecordFunctions& functions, LogWriter& writer)
      : functions_(functions), writer_(writer) {}

  void Translate(const void* record, size_t size) noexcept;
  // `is_whole`: the library could read the whole buffer.
  void Finish(bool is_whole) noexcept {
    AddLoss(unknown_, LossReason::kUnknown);
    AddLoss(is_whole ? 0 : 1, LossReason::kBroken);
  }

 private:
  void AddLoss(uint64_t count, LossReason reason) noexcept {
    if (count == 0) return;
    LossRecord to = {};
    to.count = count;
    to.reason = reason;
    writer_.Write(RecordKind::kLoss, to);
  }
  void Kernel(const CUpti_ActivityKernel10& from) noexcept;
  void Copy(const CUpti_ActivityMemcpy6& from) noexcept;
  void PeerCopy(const CUpti_ActivityMemcpyPtoP4& from) noexcept;
  void Set(const CUpti_ActivityMemset4& from) noexcept;
  void Call(const CUpti_ActivityAPI& from, CallDomain domain) noexcept;
  void Sync(const CUpti_ActivitySynchronization2& from) noexcept;
  void Event(const CUpti_ActivityCudaEvent2& from, size_t size) noexcept;
  void Graph(const CUpti_ActivityGraphTrace2& from) noexcept;
  void Memory(const CUpti_ActivityMemory4& from) noexcept;
  void Pool(const CUpti_ActivityMemoryPool3& from) noexcept;
  void Unified(const CUpti_ActivityUnifiedMemoryCounter3& from) noexcept;
  void Overhead(const CUpti_ActivityOverhead3& from) noexcept;
  void Device(const CUpti_ActivityDevice5& from, size_t size) noexcept;
  void Context(const CUpti_ActivityContext3& from) noexcept;
  void Stream(const CUpti_ActivityStream& from) noexcept;
  void External(const CUpti_ActivityExternalCorrelation& from) noexcept;
  void Marker(const CUpti_ActivityMarker2& from) noexcept;
  void MarkerData(const CUpti_ActivityMarkerData& from) noexcept;
  void Name(const CUpti_ActivityName& from) noexcept;

  const RecordFunctions& functions_;
  LogWriter& writer_;
  uint64_t unknown_ = 0;
};

void Translator::Kernel(const CUpti_ActivityKernel10& from) noexcept {
  KernelRecord to = {};
  to.header.name = writer_.TextId(from.name);
  to.start = from.start;
  to.end = from.end;
  to.queued = from.queued;
  to.submitted = from.submitted;
  to.device = from.deviceId;
  to.context = from.contextId;
  to.stream = from.streamId;
  to.correlation = from.correlationId;
  to.grid[0] = from.gridX;
  to.grid[1] = from.gridY;
  to.grid[2] = from.gridZ;
  to.block[0] = from.blockX;
  to.block[1] = from.blockY;
  to.block[2] = from.blockZ;
  to.static_shared = static_cast<uint32_t>(from.staticSharedMemory);
  to.dynamic_shared = static_cast<uint32_t>(from.dynamicSharedMemory);
  to.registers = from.registersPerThread;
  to.local_memory = from.localMemoryPerThread;
  to.graph_node = from.graphNodeId;
  to.graph = from.graphId;
  to.channel = from.channelID;
  to.channel_type = KYMO_NUMBER(from, channelType);
  to.cluster[0] = from.clusterX;
  to.cluster[1] = from.clusterY;
  to.cluster[2] = from.clusterZ;
  writer_.Write(RecordKind::kKernel, to);
}

// Fills in the fields that records of copies and sets share.
template <typename To, typename From>
void TakeTransfer(To& to, const From& from) noexcept {
  to.start = from.start;
  to.end = from.end;
  to.bytes = from.bytes;
  to.device = from.deviceId;
  to.context = from.contextId;
  to.stream = from.streamId;
  to.correlation = from.correlationId;
  to.graph_node = from.graphNodeId;
  to.graph = from.graphId;
  to.channel = from.channelID;
  to.channel_type = KYMO_NUMBER(from, channelType);
}

void Translator::Copy(const CUpti_ActivityMemcpy6& from) noexcept {
  CopyRecord to = {};
  TakeTransfer(to, from);
  to.copy_kind = from.copyKind;
  to.from_kind = from.srcKind;
  to.to_kind = from.dstKind;
  to.flags = from.flags;
  writer_.Write(RecordKind::kCopy, to);
}

void Translator::PeerCopy(const CUpti_ActivityMemcpyPtoP4& from) noexcept {
  CopyRecord to = {};
  TakeTransfer(to, from);
  to.copy_kind = from.copyKind;
  to.from_kind = from.srcKind;
  to.to_kind = from.dstKind;
  to.flags = from.flags;
  to.is_peer = 1;
  to.from_device = from.srcDeviceId;
  to.from_context = from.srcContextId;
  to.to_device = from.dstDeviceId;
  to.to_context = from.dstContextId;
  writer_.Write(RecordKind::kCopy, to);
}

void Translator::Set(const CUpti_ActivityMemset4& from) noexcept {
  SetRecord to = {};
  TakeTransfer(to, from);
  to.memory_kind = from.memoryKind;
  to.value = from.value;
  to.flags = from.flags;
  writer_.Write(RecordKind::kSet, to);
}

// The name of a call. The library's texts live forever.
const char* NameOfCall(const RecordFunctions& functions, CallDomain domain,
                       uint32_t cbid) noexcept {
  constexpr uint32_t kCached = 1024;
  static constinit const char* cached[2][kCached] = {};
  const size_t d = static_cast<size_t>(domain);
  if (cbid < kCached && cached[d][cbid] != nullptr) return cached[d][cbid];
  const char* name = nullptr;
  const int cupti_domain = domain == CallDomain::kRuntime
                               ? CUPTI_CB_DOMAIN_RUNTIME_API
                               : CUPTI_CB_DOMAIN_DRIVER_API;
  if (functions.callback_name(cupti_domain, cbid, &name) != 0) name = nullptr;
  if (cbid < kCached) cached[d][cbid] = name;
  return name;
}

void Translator::Call(const CUpti_ActivityAPI& from,
                      CallDomain domain) noexcept {
  CallRecord to = {};
  to.header.name = writer_.TextId(NameOfCall(functions_, domain, from.cbid));
  to.start = from.start;
  to.end = from.end;
  to.process = from.processId;
  to.thread = from.threadId;
  to.correlation = from.correlationId;
  to.cbid = from.cbid;
  to.domain = domain;
  to.result = static_cast<int32_t>(from.returnValue);
  writer_.Write(RecordKind::kCall, to);
}

uint64_t EventSync(uint64_t from) noexcept {
  return from == CUPTI_SYNCHRONIZATION_INVALID_VALUE ? kNoEventSync : from;
}

void Translator::Sync(const CUpti_ActivitySynchronization2& from) noexcept {
  SyncRecord to = {};
  to.start = from.start;
  to.end = from.end;
  to.type = KYMO_NUMBER(from, type);
  to.context = from.contextId;
  to.stream = from.streamId ==
                      static_cast<uint32_t>(CUPTI_SYNCHRONIZATION_INVALID_VALUE)
                  ? kNoStream
                  : from.streamId;
  to.correlation = from.correlationId;
  to.event = from.cudaEventId;
  to.event_sync = EventSync(from.cudaEventSyncId);
  to.result = static_cast<int32_t>(from.returnValue);
  writer_.Write(RecordKind::kSync, to);
}

void Translator::Event(const CUpti_ActivityCudaEvent2& from,
                       size_t size) noexcept {
  EventRecord to = {};
  to.time = from.deviceTimestamp;
  to.device = from.deviceId;
  to.context = from.contextId;
  to.stream = from.streamId;
  to.correlation = from.correlationId;
  to.event = from.eventId;
  to.has_device =
      size >= offsetof(CUpti_ActivityCudaEvent2, deviceId) + sizeof(uint32_t);
  to.event_sync = EventSync(from.cudaEventSyncId);
  writer_.Write(RecordKind::kEvent, to);
}

void Translator::Graph(const CUpti_ActivityGraphTrace2& from) noexcept {
  GraphRecord to = {};
  to.start = from.start;
  to.end = from.end;
  // A transfer that begins on the host is shown on the device where it ends.
  const bool begins_on_host = from.deviceId == INT_MAX;
  to.device = begins_on_host ? from.endDeviceId : from.deviceId;
  to.context = begins_on_host ? from.endContextId : from.contextId;
  to.stream = from.streamId;
  to.correlation = from.correlationId;
  to.graph = from.graphId;
  writer_.Write(RecordKind::kGraph, to);
}

void Translator::Memory(const CUpti_ActivityMemory4& from) noexcept {
  MemoryRecord to = {};
  to.header.name = writer_.TextId(from.name);
  to.time = from.timestamp;
  to.address = from.address;
  to.bytes = from.bytes;
  to.pool_address = from.memoryPoolConfig.address;
  to.pool_type =
      static_cast<uint8_t>(KYMO_NUMBER(from, memoryPoolConfig.memoryPoolType));
  if (to.pool_type == CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL) {
    to.pool_size = from.memoryPoolConfig.pool.size;
    to.pool_used = from.memoryPoolConfig.utilizedSize;
  }
  to.device = from.deviceId;
  to.context = from.contextId;
  to.stream = from.streamId;
  to.correlation = from.correlationId;
  to.process = from.processId;
  to.operation = static_cast<uint8_t>(KYMO_NUMBER(from, memoryOperationType));
  to.memory_kind = static_cast<uint8_t>(KYMO_NUMBER(from, memoryKind));
  to.is_async = from.isAsync != 0;
  writer_.Write(RecordKind::kMemory, to);
}

void Translator::Pool(const CUpti_ActivityMemoryPool3& from) noexcept {
  PoolRecord to = {};
  to.time = from.timestamp;
  to.address = from.address;
  to.size = from.size;
  to.used = from.utilizedSize;
  to.release_threshold = from.releaseThreshold;
  to.keep_bytes = from.minBytesToKeep;
  to.operation = KYMO_NUMBER(from, memoryPoolOperationType);
  to.pool_type = KYMO_NUMBER(from, memoryPoolType);
  to.process = from.processId;
  to.device = from.deviceId;
  to.correlation = from.correlationId;
  writer_.Write(RecordKind::kPool, to);
}

void Translator::Unified(
    const CUpti_ActivityUnifiedMemoryCounter3& from) noexcept {
  UnifiedRecord to = {};
  to.start = from.start;
  to.end = from.end;
  to.value = from.value;
  to.address = from.address;
  to.counter = KYMO_NUMBER(from, counterKind);
  to.from = from.srcId;
  to.to = from.dstId;
  to.stream = from.streamId;
  to.process = from.processId;
  to.flags = from.flags;
  writer_.Write(RecordKind::kUnified, to);
}

void Translator::Overhead(const CUpti_ActivityOverhead3& from) noexcept {
  OverheadRecord to = {};
  to.start = from.start;
  to.end = from.end;
  to.overhead = KYMO_NUMBER(from, overheadKind);
  to.process = from.objectId.pt.processId;
  if (KYMO_NUMBER(from, objectKind) == CUPTI_ACTIVITY_OBJECT_THREAD) {
    to.thread = from.objectId.pt.threadId;
  } else if (KYMO_NUMBER(from, objectKind) != CUPTI_ACTIVITY_OBJECT_PROCESS) {
    to.process = 0;
  }
  to.correlation = from.correlationId;
  // The client has to free it, by CUPTI's rules.
  free(from.overheadData);
  writer_.Write(RecordKind::kOverhead, to);
}

void Translator::Device(const CUpti_ActivityDevice5& from,
                        size_t size) noexcept {
  DeviceRecord to = {};
  to.header.name = writer_.TextId(from.name);
  to.memory_bytes = from.globalMemorySize;
  to.memory_bandwidth = from.globalMemoryBandwidth;
  to.id = from.id;
  to.major = from.computeCapabilityMajor;
  to.minor = from.computeCapabilityMinor;
  to.multiprocessors = from.numMultiprocessors;
  to.warp_size = from.numThreadsPerWarp;
  to.max_warps = from.maxWarpsPerMultiprocessor;
  to.max_blocks = from.maxBlocksPerMultiprocessor;
  to.max_shared = from.maxSharedMemoryPerMultiprocessor;
  to.max_registers = from.maxRegistersPerMultiprocessor;
  to.block_shared = from.maxSharedMemoryPerBlock;
  to.block_registers = from.maxRegistersPerBlock;
  to.block_threads = from.maxThreadsPerBlock;
  to.core_clock = from.coreClockRate;
  to.l2_cache = from.l2CacheSize;
  to.is_hidden = size >= offsetof(CUpti_ActivityDevice5, isCudaVisible) +
                             sizeof(from.isCudaVisible) &&
                 from.isCudaVisible == 0;
  writer_.Write(RecordKind::kDevice, to);
}

void Translator::Context(const CUpti_ActivityContext3& from) noexcept {
  ContextRecord to = {};
  to.id = from.contextId;
  to.device = from.deviceId;
  to.null_stream = from.nullStreamId;
  to.api = from.computeApiKind;
  writer_.Write(RecordKind::kContext, to);
}

void Translator::Stream(const CUpti_ActivityStream& from) noexcept {
  StreamRecord to = {};
  to.id = from.streamId;
  to.context = from.contextId;
  to.priority = from.priority;
  to.flag = KYMO_NUMBER(from, flag);
  writer_.Write(RecordKind::kStream, to);
}

void Translator::External(
    const CUpti_ActivityExternalCorrelation& from) noexcept {
  ExternalRecord to = {};
  to.id = from.externalId;
  to.kind = KYMO_NUMBER(from, externalKind);
  to.correlation = from.correlationId;
  writer_.Write(RecordKind::kExternal, to);
}

void Translator::Marker(const CUpti_ActivityMarker2& from) noexcept {
  MarkerRecord to = {};
  to.header.name = writer_.TextId(from.name);
  to.domain = writer_.TextId(from.domain);
  to.time = from.timestamp;
  to.id = from.id;
  to.phase = KYMO_NUMBER(from, flags);
  to.process = from.objectId.pt.processId;
  if (KYMO_NUMBER(from, objectKind) == CUPTI_ACTIVITY_OBJECT_THREAD) {
    to.thread = from.objectId.pt.threadId;
  }
  writer_.Write(RecordKind::kMarker, to);
}

void Translator::MarkerData(const CUpti_ActivityMarkerData& from) noexcept {
  MarkerDataRecord to = {};
  to.id = from.id;
  to.payload = from.payload.metricValueUint64;
  to.payload_kind = static_cast<MarkerPayload>(KYMO_NUMBER(from, payloadKind));
  to.has_color =
      (KYMO_NUMBER(from, flags) & CUPTI_ACTIVITY_FLAG_MARKER_COLOR_ARGB) != 0;
  to.color = from.color;
  to.category = from.category;
  writer_.Write(RecordKind::kMarkerData, to);
}

void Translator::Name(const CUpti_ActivityName& from) noexcept {
  NameRecord to = {};
  to.header.name = writer_.TextId(from.name);
  to.object = static_cast<NamedObject>(KYMO_NUMBER(from, objectKind));
  if (KYMO_NUMBER(from, objectKind) == CUPTI_ACTIVITY_OBJECT_THREAD) {
    to.process = from.objectId.pt.processId;
    to.thread = from.objectId.pt.threadId;
  } else if (KYMO_NUMBER(from, objectKind) == CUPTI_ACTIVITY_OBJECT_STREAM) {
    to.device = from.objectId.dcs.deviceId;
    to.context = from.objectId.dcs.contextId;
    to.stream = from.objectId.dcs.streamId;
  }
  writer_.Write(RecordKind::kName, to);
}

void Translator::Translate(const void* record, size_t size) noexcept {
  const CUpti_Activity& activity = *static_cast<const CUpti_Activity*>(record);
  switch (KYMO_NUMBER(activity, kind)) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL:
      return Kernel(Take<CUpti_ActivityKernel10>(record, size));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return Copy(Take<CUpti_ActivityMemcpy6>(record, size));
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return PeerCopy(Take<CUpti_ActivityMemcpyPtoP4>(record, size));
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return Set(Take<CUpti_ActivityMemset4>(record, size));
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return Call(Take<CUpti_ActivityAPI>(record, size), CallDomain::kRuntime);
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return Call(Take<CUpti_ActivityAPI>(record, size), CallDomain::kDriver);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return Sync(Take<CUpti_ActivitySynchronization2>(record, size));
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      return Event(Take<CUpti_ActivityCudaEvent2>(record, size), size);
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return Graph(Take<CUpti_ActivityGraphTrace2>(record, size));
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return Memory(Take<CUpti_ActivityMemory4>(record, size));
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
      return Pool(Take<CUpti_ActivityMemoryPool3>(record, size));
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
      return Unified(Take<CUpti_ActivityUnifiedMemoryCounter3>(record, size));
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return Overhead(Take<CUpti_ActivityOverhead3>(record, size));
    case CUPTI_ACTIVITY_KIND_DEVICE:
      return Device(Take<CUpti_ActivityDevice5>(record, size), size);
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      return Context(Take<CUpti_ActivityContext3>(record, size));
    case CUPTI_ACTIVITY_KIND_STREAM:
      return Stream(Take<CUpti_ActivityStream>(record, size));
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return External(Take<CUpti_ActivityExternalCorrelation>(record, size));
    case CUPTI_ACTIVITY_KIND_MARKER:
      return Marker(Take<CUpti_ActivityMarker2>(record, size));
    case CUPTI_ACTIVITY_KIND_MARKER_DATA:
      return MarkerData(Take<CUpti_ActivityMarkerData>(record, size));
    case CUPTI_ACTIVITY_KIND_NAME:
      return Name(Take<CUpti_ActivityName>(record, size));
    case CUPTI_ACTIVITY_KIND_DEVICE_ATTRIBUTE:
      return;  // comes with devices; DeviceRecord has what is useful
    default:
      ++unknown_;
  }
}

#undef KYMO_NUMBER

}  // namespace

void TranslateBuffer(const RecordFunctions& functions, uint8_t* buffer,
                     size_t valid_bytes, LogWriter& writer) noexcept {
  Translator translator(functions, writer);
  constexpr int kAtEnd = CUPTI_ERROR_MAX_LIMIT_REACHED;
  void* record = nullptr;
  int status = functions.next_record(buffer, valid_bytes, &record);
  while (status == 0) {
    void* next = record;
    status = functions.next_record(buffer, valid_bytes, &next);
    // If the next record cannot be read, nobody knows how long this one is.
    if (status != 0 && status != kAtEnd) break;
    const uint8_t* const end =
        status == 0 ? static_cast<uint8_t*>(next) : buffer + valid_bytes;
    translator.Translate(
        record, static_cast<size_t>(end - static_cast<uint8_t*>(record)));
    record = next;
  }
  translator.Finish(status == kAtEnd);
}

}  // namespace kymo::cupti
