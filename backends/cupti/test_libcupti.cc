// test_libcupti.cc - a libcupti without a driver: what kymo_test_launch and
// kymo_test_copy say that a device did is handed over in CUPTI's own records
// and buffers.
#include <cuda.h>
#include <cupti.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <mutex>

namespace {

std::mutex lock;
CUpti_BuffersCallbackRequestFunc request_buffer;
CUpti_BuffersCallbackCompleteFunc complete_buffer;
uint8_t* buffer;
size_t buffer_size, buffer_used;
uint32_t next_correlation = 1;
CUpti_TimestampCallbackFunc timestamp;
uint64_t stream_free = 0;  // when its last activity ended

size_t SizeOf(const CUpti_Activity* record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy6);
    default:
      return sizeof(CUpti_ActivityDevice5);
  }
}

// REQUIRES: `lock` is held: flushes come from another thread than launches.
void HandBack() {
  if (buffer == nullptr) return;
  uint8_t* const full = buffer;
  buffer = nullptr;
  complete_buffer(nullptr, 0, full, buffer_size, buffer_used);
}

void Put(const void* record, size_t size) {
  const std::lock_guard locked(lock);
  if (buffer != nullptr && buffer_used + size > buffer_size) HandBack();
  if (buffer == nullptr) {
    size_t max_records = 0;
    request_buffer(&buffer, &buffer_size, &max_records);
    buffer_used = 0;
  }
  memcpy(buffer + buffer_used, record, size);
  buffer_used += size;
}

template <typename T>
T Zero(CUpti_ActivityKind kind) {
  T record;
  memset(static_cast<void*>(&record), 0, sizeof(record));
  record.kind = kind;
  return record;
}

// Of 500 ns, ended when it returns.
CUpti_ActivityAPI PutCall(uint32_t cbid) {
  auto call = Zero<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME);
  call.cbid = cbid;
  call.start = timestamp();
  call.end = call.start + 500;
  while (timestamp() < call.end) {
  }
  call.processId = static_cast<uint32_t>(getpid());
  call.threadId = static_cast<uint32_t>(syscall(SYS_gettid));
  call.correlationId = next_correlation++;
  Put(&call, sizeof(call));
  return call;
}

// 1 us after the call began, or when the stream is free; sets both times.
template <typename T>
void PutOnStream(T& activity, const CUpti_ActivityAPI& call,
                 uint64_t duration) {
  activity.start = call.start + 1000;
  if (activity.start < stream_free) activity.start = stream_free;
  activity.end = stream_free = activity.start + duration;
  activity.contextId = 1;
  activity.streamId = 7;
  activity.correlationId = call.correlationId;
  Put(&activity, sizeof(activity));
}

void PutDevice() {
  auto device = Zero<CUpti_ActivityDevice5>(CUPTI_ACTIVITY_KIND_DEVICE);
  device.name = "Scripted GPU";
  device.globalMemorySize = uint64_t{16} << 30;
  device.computeCapabilityMajor = 9;
  device.numMultiprocessors = 4;
  device.numThreadsPerWarp = 32;
  device.maxWarpsPerMultiprocessor = 64;
  device.maxBlocksPerMultiprocessor = 32;
  device.maxThreadsPerBlock = 1024;
  device.maxRegistersPerMultiprocessor = 65536;
  device.maxRegistersPerBlock = 65536;
  device.maxSharedMemoryPerMultiprocessor = 233472;
  device.maxSharedMemoryPerBlock = 49152;
  device.coreClockRate = 1'000'000;
  Put(&device, sizeof(device));
}

}  // namespace

extern "C" {

// A kernel of 2 us on stream 7 of device 0.
void kymo_test_launch(const char* name) {
  const CUpti_ActivityAPI call = PutCall(211);
  auto kernel =
      Zero<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  kernel.name = name;
  kernel.gridX = 4;
  kernel.gridY = kernel.gridZ = 1;
  kernel.blockX = 128;
  kernel.blockY = kernel.blockZ = 1;
  kernel.registersPerThread = 32;
  kernel.staticSharedMemory = 2048;
  PutOnStream(kernel, call, 2000);
}

// A copy of 1 us to the device.
void kymo_test_copy(uint64_t bytes) {
  const CUpti_ActivityAPI call = PutCall(41);
  auto copy = Zero<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY);
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
  copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  copy.bytes = bytes;
  PutOnStream(copy, call, 1000);
}

// Until the device has done everything, and a microsecond.
void kymo_test_wait() {
  while (timestamp() < stream_free + 1000) {
  }
}

CUptiResult cuptiGetVersion(uint32_t* version) {
  *version = CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityRegisterCallbacks(
    CUpti_BuffersCallbackRequestFunc request,
    CUpti_BuffersCallbackCompleteFunc complete) {
  request_buffer = request;
  complete_buffer = complete;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  if (kind == CUPTI_ACTIVITY_KIND_DEVICE) PutDevice();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityFlushAll(uint32_t) {
  const std::lock_guard locked(lock);
  HandBack();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterTimestampCallback(
    CUpti_TimestampCallbackFunc function) {
  timestamp = function;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetTimestamp(uint64_t* ns) {
  *ns = timestamp();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t,
                                              size_t* dropped) {
  *dropped = 0;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
  *text = "a result";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(uint8_t* from, size_t valid,
                                       CUpti_Activity** record) {
  uint8_t* const next =
      *record == nullptr
          ? from
          : reinterpret_cast<uint8_t*>(*record) + SizeOf(*record);
  if (next >= from + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain, uint32_t cbid,
                                 const char** name) {
  *name = cbid == 211 ? "cudaLaunchKernel_v7000" : "cudaMemcpyAsync_v3020";
  return CUPTI_SUCCESS;
}

}  // extern "C"
