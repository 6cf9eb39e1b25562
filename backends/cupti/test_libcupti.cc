// test_libcupti.cc - a libcupti without a driver, like CUDA 12.5's, except that
// clients have names as in CUDA 13.0. test_cupti.h says what it imitates. A
// program tells what it does through the kymo_test_ functions.
#include <cuda.h>
#include <cupti.h>
#include <string.h>

#include <cstddef>

#include "backends/cupti/test_cupti.h"

namespace {

// Clients come one after the other. When one goes, its settings stay, and so do
// buffers that have not come back.
TestClient& OneClient() {
  static TestClient& client = TestCupti::Get().AddClient("");
  return client;
}
bool is_subscribed = false;

// The two sets of functions must not be mixed.
CUptiResult Result() {
  return TestCupti::Get().is_side_by_side
             ? CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
             : CUPTI_SUCCESS;
}

CUpti_SubscriberHandle Handle() {
  return reinterpret_cast<CUpti_SubscriberHandle>(&OneClient());
}

}  // namespace

extern "C" {

void kymo_test_launch(const char* name) { TestCupti::Get().Launch(name); }
void kymo_test_copy(uint64_t bytes) { TestCupti::Get().Copy(bytes); }
void kymo_test_slow_down(uint64_t ns) { TestCupti::Get().SlowDown(ns); }
void kymo_test_wait() { TestCupti::Get().Wait(); }
int kymo_test_flushes() { return TestCupti::Get().flushes(); }
int kymo_test_is_up() { return TestCupti::Get().is_up(); }

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* handle,
                           CUpti_CallbackFunc callback, void*) {
  if (is_subscribed) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  if (Result() != CUPTI_SUCCESS) return Result();
  is_subscribed = true;
  OneClient().callback = callback;
  *handle = Handle();
  return CUPTI_SUCCESS;
}
#ifndef KYMO_TEST_SIDE_BY_SIDE
CUptiResult cuptiGetVersion(uint32_t* version) {
  *version = 23;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* handle,
                              CUpti_CallbackFunc callback, void* userdata,
                              CUpti_SubscriberParams* params) {
  // The struct as it was before CUDA 13.2, whatever the header says.
  if (params->structSize !=
      offsetof(CUpti_SubscriberParams, oldSubscriberSize) +
          sizeof(params->oldSubscriberSize)) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  if (is_subscribed && params->oldSubscriberName != nullptr) {
    strncpy(params->oldSubscriberName, OneClient().name.c_str(),
            params->oldSubscriberSize - 1);
  }
  const CUptiResult result = cuptiSubscribe(handle, callback, userdata);
  if (result == CUPTI_SUCCESS) OneClient().name = params->subscriberName;
  return result;
}
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) {
  OneClient().wants_init = false;
  is_subscribed = false;
  return CUPTI_SUCCESS;
}
#endif
CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle,
                                CUpti_CallbackDomain domain,
                                CUpti_CallbackId id) {
  if (domain == CUPTI_CB_DOMAIN_RESOURCE &&
      id == CUPTI_CBID_RESOURCE_CU_INIT_FINISHED) {
    reinterpret_cast<TestClient*>(handle)->wants_init = enable != 0;
  }
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(
    CUpti_BuffersCallbackRequestFunc request,
    CUpti_BuffersCallbackCompleteFunc complete) {
  if (Result() != CUPTI_SUCCESS) return Result();
  OneClient().request = [request](uint8_t** buffer, size_t* size) {
    size_t max_records = 0;
    request(buffer, size, &max_records);
  };
  OneClient().complete = [complete](uint8_t* buffer, size_t size, size_t used) {
    complete(nullptr, 0, buffer, size, used);
  };
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  if (Result() != CUPTI_SUCCESS) return Result();
  TestCupti::Get().Enable(OneClient(), kind, /*dumps=*/false);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind) {
  if (Result() != CUPTI_SUCCESS) return Result();
  TestCupti::Get().Enable(OneClient(), kind, /*dumps=*/true);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  if (Result() != CUPTI_SUCCESS) return Result();
  TestCupti::Get().Disable(OneClient(), kind);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityConfigureUnifiedMemoryCounter(
    CUpti_ActivityUnifiedMemoryCounterConfig*, uint32_t) {
  return TestCupti::Get().ConfigureUnified();
}
CUptiResult cuptiActivityFlushAll(uint32_t flag) {
  TestCupti::Get().Flush(flag == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterTimestampCallback(
    CUpti_TimestampCallbackFunc function) {
  if (Result() != CUPTI_SUCCESS) return Result();
  if (function == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  OneClient().clock = function;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  if (Result() != CUPTI_SUCCESS) return Result();
  OneClient().has_system_threads = type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType* type) {
  if (Result() != CUPTI_SUCCESS) return Result();
  *type = OneClient().has_system_threads
              ? CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
              : CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetTimestamp(uint64_t* ns) {
  if (Result() != CUPTI_SUCCESS) return Result();
  *ns = TestCupti::Get().Timestamp(OneClient());
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t,
                                              size_t* dropped) {
  if (Result() != CUPTI_SUCCESS) return Result();
  *dropped = OneClient().dropped.exchange(0);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
  *text = "a result";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(uint8_t* from, size_t valid,
                                       CUpti_Activity** record) {
  return TestCupti::NextRecord(from, valid, record);
}
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain, uint32_t cbid,
                                 const char** name) {
  *name = cbid == 211 ? "cudaLaunchKernel_v7000" : "cudaMemcpyAsync_v3020";
  return CUPTI_SUCCESS;
}

}  // extern "C"
