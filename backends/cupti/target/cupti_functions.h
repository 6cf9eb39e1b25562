// cupti_functions.h - the functions of a loaded libcupti.
//
//   CuptiFunctions cupti;
//   if (!FindFunctions(library, cupti)) ...   // the library is too old
//
// The types are int for CUPTI's enums and void* for its types, because
// libraries of several versions are loaded, also newer ones than the toolkit's
// header. Functions that only newer versions have are null in older ones.
//
// There are two sets of functions. Since CUDA 13.3, functions that end in _v2
// are for one client among several. A process uses either these or the others.
//
// Standard library: nothing that needs linking.
#ifndef KYMO_BACKENDS_CUPTI_TARGET_CUPTI_FUNCTIONS_H_
#define KYMO_BACKENDS_CUPTI_TARGET_CUPTI_FUNCTIONS_H_

#include <cstddef>
#include <cstdint>

#include "backends/cupti/target/cupti_api.h"

namespace kymo::cupti {

using CuptiCallback = void (*)(void*, int, uint32_t, const void*);
// CUpti_BuffersCallbackRequestFunc_v2, CUpti_BuffersCallbackCompleteFunc_v2.
using RequestBufferV2 = void (*)(uint8_t**, size_t*, size_t*, void*);
using CompleteBufferV2 = void (*)(uint8_t*, size_t, size_t, void*);

// CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CU_INIT_FINISHED.
inline constexpr int kResourceDomain = 3;
inline constexpr uint32_t kCudaInitialized = 5;

// CUpti_SubscriberParams. Before CUDA 13.2 it ended behind `other_size`.
struct SubscriberParams {
  size_t struct_size;
  const char* name = "Kymo";
  char* other;
  size_t other_size = kSubscriberNameBytes;
  uint8_t allows_others = 1;
  uint8_t padding[7] = {};
};

// CUpti_ActivityAttribute, for one client among several.
enum class ClientAttribute : uint32_t {
  kLatency = 15,
  kAllSyncRecords = 16,
  kEventTimes = 17,
  kWholeGraphs = 20,
  kThreadIdType = 21,
  kTimestampCallback = 22,
};

// CUpti_ActivityThreadIdType.
inline constexpr int kDefaultThreadIds = 0;
inline constexpr int kSystemThreadIds = 1;

struct CuptiFunctions {
  int (*get_version)(uint32_t*);
  int (*unsubscribe)(void*);
  int (*flush_all)(uint32_t);
  int (*result_string)(int, const char**);
  int (*callback_name)(int, uint32_t, const char**);

  int (*subscribe)(void**, CuptiCallback, void*);
  int (*register_callbacks)(RequestBuffer, CompleteBuffer);
  int (*enable)(uint32_t);
  int (*disable)(uint32_t);
  int (*next_record)(uint8_t*, size_t, void**);
  int (*dropped)(void*, uint32_t, size_t*);
  int (*get_timestamp)(uint64_t*);
  // The following functions may be missing.
  int (*subscribe_v2)(void**, CuptiCallback, void*, void*);  // CUDA 13.0
  int (*enable_and_dump)(uint32_t);
  int (*set_clock)(uint64_t (*)());
  int (*configure_unified)(void*, uint32_t);
  int (*enable_latency)(uint8_t);
  int (*enable_event_times)(uint8_t);
  int (*enable_all_sync)(uint8_t);
  int (*set_thread_id_type)(int);
  int (*get_thread_id_type)(int*);
  int (*enable_callback)(uint32_t, void*, int, uint32_t);

  // For one client among several; a library has all of them or none
  // (HasClients).
  int (*register_callbacks_v2)(void*, RequestBufferV2, CompleteBufferV2);
  int (*enable_v2)(void*, uint32_t, void*);
  int (*disable_v2)(void*, uint32_t, void*);
  int (*enable_and_dump_v2)(void*, uint32_t, void*);
  int (*next_record_v2)(void*, uint8_t*, size_t, void**);
  int (*dropped_v2)(void*, void*, uint32_t, size_t*);
  int (*get_timestamp_v2)(void*, uint64_t*);
  int (*set_attribute_v2)(void*, uint32_t, size_t*, void*);
};

// False if a function is missing that every version from CUDA 12 on has.
bool FindFunctions(void* library, CuptiFunctions& functions) noexcept;

// Whether the library lets several clients work side by side.
bool HasClients(const CuptiFunctions& functions) noexcept;

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_TARGET_CUPTI_FUNCTIONS_H_
