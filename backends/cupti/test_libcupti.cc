// test_libcupti.cc - a libcupti without a driver: what kymo_test_launch says
// that a device did is handed over in CUPTI's own records and buffers.
#include <cuda.h>
#include <cupti.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace {

CUpti_BuffersCallbackRequestFunc request_buffer;
CUpti_BuffersCallbackCompleteFunc complete_buffer;
uint8_t* buffer;
size_t buffer_size, buffer_used;
uint32_t next_correlation = 1;
CUpti_TimestampCallbackFunc timestamp;

size_t SizeOf(const CUpti_Activity* record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(CUpti_ActivityKernel10);
    default:
      return sizeof(CUpti_ActivityDevice5);
  }
}

void HandBack() {
  if (buffer == nullptr) return;
  uint8_t* const full = buffer;
  buffer = nullptr;
  complete_buffer(nullptr, 0, full, buffer_size, buffer_used);
}

void Put(const void* record, size_t size) {
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

}  // namespace

extern "C" {

void kymo_test_launch(const char* name) {
  auto call = Zero<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME);
  call.cbid = 211;
  call.start = timestamp();
  call.end = call.start + 500;
  call.processId = static_cast<uint32_t>(getpid());
  call.threadId = static_cast<uint32_t>(syscall(SYS_gettid));
  call.correlationId = next_correlation;
  Put(&call, sizeof(call));
  auto kernel =
      Zero<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  kernel.start = call.start + 1000;
  kernel.end = call.start + 3000;
  kernel.name = name;
  kernel.streamId = 7;
  kernel.correlationId = next_correlation++;
  kernel.gridX = kernel.gridY = kernel.gridZ = 1;
  kernel.blockX = kernel.blockY = kernel.blockZ = 1;
  Put(&kernel, sizeof(kernel));
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
CUptiResult cuptiActivityEnable(CUpti_ActivityKind) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityDisable(CUpti_ActivityKind) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityFlushAll(uint32_t) {
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
CUptiResult cuptiActivityPushExternalCorrelationId(
    CUpti_ExternalCorrelationKind, uint64_t) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind,
                                                  uint64_t*) {
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
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain, uint32_t,
                                 const char** name) {
  *name = "cudaLaunchKernel_v7000";
  return CUPTI_SUCCESS;
}

}  // extern "C"
