// test_libcupti_v2.cc - libcupti's functions for clients that work side by
// side, like CUDA 13.4's. With test_libcupti.cc they make a library.
//
// The toolkit's header may be older than that, so this declares what it lacks.
#include <cuda.h>
#include <cupti.h>
#include <string.h>

#include "backends/cupti/test_cupti.h"

#if CUPTI_API_VERSION < 130200
struct CUpti_ActivityConfig;
struct CUpti_BufferCallbackRequestInfo;
struct CUpti_BufferCallbackCompleteInfo;
using CUpti_BuffersCallbackRequestFunc_v2 =
    void (*)(uint8_t**, size_t*, size_t*, CUpti_BufferCallbackRequestInfo*);
using CUpti_BuffersCallbackCompleteFunc_v2 =
    void (*)(uint8_t*, size_t, size_t, CUpti_BufferCallbackCompleteInfo*);
#endif

namespace {

// CUpti_SubscriberParams since CUDA 13.2.
struct Params {
  size_t struct_size;
  const char* name;
  char* old_name;
  size_t old_size;
  uint8_t allows_others;
  uint8_t padding[7];
};

// CUpti_ActivityAttribute.
constexpr int kLatency = 15;
constexpr int kAllSyncs = 16;
constexpr int kEventTimes = 17;
constexpr int kWholeGraphs = 20;
constexpr int kThreadIds = 21;
constexpr int kClock = 22;

TestClient& Of(CUpti_SubscriberHandle handle) {
  return *reinterpret_cast<TestClient*>(handle);
}

}  // namespace

extern "C" {

CUptiResult cuptiGetVersion(uint32_t* version) {
  *version = 130'400;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* handle,
                              CUpti_CallbackFunc callback, void*,
                              CUpti_SubscriberParams* params) {
  const auto* const wanted = reinterpret_cast<const Params*>(params);
  TestCupti& cupti = TestCupti::Get();
  const bool fits = wanted->struct_size == sizeof(Params) &&
                    wanted->allows_others == 1 &&
                    (cupti.is_side_by_side || cupti.clients().empty());
  if (!fits) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  cupti.is_side_by_side = true;
  TestClient& client = cupti.AddClient(wanted->name);
  client.callback = callback;
  *handle = reinterpret_cast<CUpti_SubscriberHandle>(&client);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle) {
  TestCupti::Get().RemoveClient(&Of(handle));
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterCallbacks_v2(
    CUpti_SubscriberHandle handle, CUpti_BuffersCallbackRequestFunc_v2 request,
    CUpti_BuffersCallbackCompleteFunc_v2 complete) {
  Of(handle).request = [request](uint8_t** buffer, size_t* size) {
    size_t max_records = 0;
    request(buffer, size, &max_records, nullptr);
  };
  Of(handle).complete = [complete](uint8_t* buffer, size_t size, size_t used) {
    complete(buffer, size, used, nullptr);
  };
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable_v2(CUpti_SubscriberHandle handle,
                                   CUpti_ActivityKind kind,
                                   CUpti_ActivityConfig*) {
  TestCupti::Get().Enable(Of(handle), kind, /*dumps=*/false);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableAndDump_v2(CUpti_SubscriberHandle handle,
                                          CUpti_ActivityKind kind,
                                          CUpti_ActivityConfig*) {
  TestCupti::Get().Enable(Of(handle), kind, /*dumps=*/true);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityDisable_v2(CUpti_SubscriberHandle handle,
                                    CUpti_ActivityKind kind,
                                    CUpti_ActivityConfig*) {
  TestCupti::Get().Disable(Of(handle), kind);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivitySetAttribute_v2(CUpti_SubscriberHandle handle,
                                         CUpti_ActivityAttribute attribute,
                                         size_t* size, void* value) {
  switch (static_cast<int>(attribute)) {
    case kLatency:
    case kAllSyncs:
    case kEventTimes:
    case kWholeGraphs:
      return *size == 1 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
    case kThreadIds: {
      int type = 0;
      if (*size != sizeof(type)) return CUPTI_ERROR_INVALID_PARAMETER;
      memcpy(&type, value, sizeof(type));
      Of(handle).has_system_threads =
          type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
      return CUPTI_SUCCESS;
    }
    case kClock:
      if (*size != sizeof(Of(handle).clock)) {
        return CUPTI_ERROR_INVALID_PARAMETER;
      }
      memcpy(&Of(handle).clock, value, sizeof(Of(handle).clock));
      return CUPTI_SUCCESS;
    default:
      return CUPTI_ERROR_INVALID_PARAMETER;
  }
}
CUptiResult cuptiGetTimestamp_v2(CUpti_SubscriberHandle handle, uint64_t* ns) {
  *ns = TestCupti::Get().Timestamp(Of(handle));
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords_v2(CUpti_SubscriberHandle handle,
                                                 CUcontext, uint32_t,
                                                 size_t* dropped) {
  *dropped = Of(handle).dropped.exchange(0);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord_v2(CUpti_SubscriberHandle, uint8_t* from,
                                          size_t valid,
                                          CUpti_Activity** record) {
  return TestCupti::NextRecord(from, valid, record);
}

}  // extern "C"
