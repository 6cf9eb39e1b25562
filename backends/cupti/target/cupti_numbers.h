// cupti_numbers.h - checks that our numbers for CUPTI's enums are CUPTI's.
//
// Only translate.cc includes it, after cupti.h; no other file sees that header.
#ifndef KYMO_BACKENDS_CUPTI_TARGET_CUPTI_NUMBERS_H_
#define KYMO_BACKENDS_CUPTI_TARGET_CUPTI_NUMBERS_H_

#include <cuda.h>
#include <cupti.h>

#include <cstddef>
#include <cstdint>

#include "backends/cupti/log/gpu_record.h"
#include "backends/cupti/target/cupti_api.h"
#include "backends/cupti/target/cupti_functions.h"

namespace kymo::cupti {

static_assert(CUPTI_TIMESTAMP_UNKNOWN == 0);  // as in gpu_record.h

#define KYMO_SAME(ours, theirs)                \
  static_assert(static_cast<uint32_t>(ours) == \
                static_cast<uint32_t>(CUPTI_##theirs))
KYMO_SAME(ActivityKind::kCopy, ACTIVITY_KIND_MEMCPY);
KYMO_SAME(ActivityKind::kSet, ACTIVITY_KIND_MEMSET);
KYMO_SAME(ActivityKind::kDriver, ACTIVITY_KIND_DRIVER);
KYMO_SAME(ActivityKind::kRuntime, ACTIVITY_KIND_RUNTIME);
KYMO_SAME(ActivityKind::kDevice, ACTIVITY_KIND_DEVICE);
KYMO_SAME(ActivityKind::kContext, ACTIVITY_KIND_CONTEXT);
KYMO_SAME(ActivityKind::kKernel, ACTIVITY_KIND_CONCURRENT_KERNEL);
KYMO_SAME(ActivityKind::kName, ACTIVITY_KIND_NAME);
KYMO_SAME(ActivityKind::kMarker, ACTIVITY_KIND_MARKER);
KYMO_SAME(ActivityKind::kMarkerData, ACTIVITY_KIND_MARKER_DATA);
KYMO_SAME(ActivityKind::kOverhead, ACTIVITY_KIND_OVERHEAD);
KYMO_SAME(ActivityKind::kPeerCopy, ACTIVITY_KIND_MEMCPY2);
KYMO_SAME(ActivityKind::kUnified, ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
KYMO_SAME(ActivityKind::kEvent, ACTIVITY_KIND_CUDA_EVENT);
KYMO_SAME(ActivityKind::kStream, ACTIVITY_KIND_STREAM);
KYMO_SAME(ActivityKind::kSync, ACTIVITY_KIND_SYNCHRONIZATION);
KYMO_SAME(ActivityKind::kExternal, ACTIVITY_KIND_EXTERNAL_CORRELATION);
KYMO_SAME(ActivityKind::kMemory, ACTIVITY_KIND_MEMORY2);
KYMO_SAME(ActivityKind::kPool, ACTIVITY_KIND_MEMORY_POOL);
KYMO_SAME(ActivityKind::kGraph, ACTIVITY_KIND_GRAPH_TRACE);
KYMO_SAME(ApiStatus::kNotInitialized, ERROR_NOT_INITIALIZED);
KYMO_SAME(ApiStatus::kInvalidKind, ERROR_INVALID_KIND);
KYMO_SAME(ApiStatus::kNotSupported, ERROR_NOT_SUPPORTED);
KYMO_SAME(ApiStatus::kUnifiedNotSupported, ERROR_UM_PROFILING_NOT_SUPPORTED);
KYMO_SAME(ApiStatus::kNoPrivileges, ERROR_INSUFFICIENT_PRIVILEGES);
KYMO_SAME(ApiStatus::kOtherSubscriber,
          ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
KYMO_SAME(ApiStatus::kUnknown, ERROR_UNKNOWN);
KYMO_SAME(kMarkerInstant, ACTIVITY_FLAG_MARKER_INSTANTANEOUS);
KYMO_SAME(kMarkerStart, ACTIVITY_FLAG_MARKER_START);
KYMO_SAME(kMarkerEnd, ACTIVITY_FLAG_MARKER_END);
KYMO_SAME(MarkerPayload::kDouble, METRIC_VALUE_KIND_DOUBLE);
KYMO_SAME(MarkerPayload::kUint64, METRIC_VALUE_KIND_UINT64);
KYMO_SAME(MarkerPayload::kInt64, METRIC_VALUE_KIND_INT64);
KYMO_SAME(MarkerPayload::kExtended, METRIC_VALUE_KIND_NVTX_EXTENDED_PAYLOAD);
KYMO_SAME(NamedObject::kThread, ACTIVITY_OBJECT_THREAD);
KYMO_SAME(kDefaultThreadIds, ACTIVITY_THREAD_ID_TYPE_DEFAULT);
KYMO_SAME(kSystemThreadIds, ACTIVITY_THREAD_ID_TYPE_SYSTEM);
#if CUPTI_API_VERSION >= 130300
KYMO_SAME(ClientAttribute::kLatency,
          ACTIVITY_ATTR_ENABLE_KERNEL_LATENCY_TIMESTAMPS);
KYMO_SAME(ClientAttribute::kAllSyncRecords,
          ACTIVITY_ATTR_ENABLE_ALL_SYNC_RECORDS);
KYMO_SAME(ClientAttribute::kEventTimes,
          ACTIVITY_ATTR_ENABLE_CUDA_EVENT_DEVICE_TIMESTAMPS);
KYMO_SAME(ClientAttribute::kWholeGraphs,
          ACTIVITY_ATTR_ENABLE_MULTI_SUBSCRIBER_GRAPH_TRACE);
KYMO_SAME(ClientAttribute::kThreadIdType, ACTIVITY_ATTR_THREAD_ID_TYPE);
KYMO_SAME(ClientAttribute::kTimestampCallback,
          ACTIVITY_ATTR_TIMESTAMP_CALLBACK);
static_assert(sizeof(SubscriberParams) == sizeof(CUpti_SubscriberParams));
static_assert(offsetof(SubscriberParams, allows_others) ==
              offsetof(CUpti_SubscriberParams, allowMultipleSubscribers));
#elif CUPTI_API_VERSION < 130200
static_assert(offsetof(SubscriberParams, allows_others) ==
              sizeof(CUpti_SubscriberParams));
#endif
static_assert(offsetof(SubscriberParams, other_size) ==
              offsetof(CUpti_SubscriberParams, oldSubscriberSize));
KYMO_SAME(kResourceDomain, CB_DOMAIN_RESOURCE);
KYMO_SAME(kCudaInitialized, CBID_RESOURCE_CU_INIT_FINISHED);
KYMO_SAME(NamedObject::kStream, ACTIVITY_OBJECT_STREAM);
#undef KYMO_SAME

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_TARGET_CUPTI_NUMBERS_H_
