// cupti_api.h - what Kymo needs of CUPTI, in Kymo's own words.
//
//   const CuptiApi* api = LoadCupti(...);      // the library, cupti_library.h
//   const CuptiApi* api = &fake.api();         // or a script, fake_cupti.h
//   api->enable(ActivityKind::kKernel);
//
// A table of functions, so that the one file that includes cupti.h
// (translate.cc) and whoever opens the library stay behind it, and so that it
// works where there is no C++ library. Statuses are CUPTI's numbers.
//
// Threads: as CUPTI says: everything may be called concurrently; buffers are
//   asked for and handed back from any thread, also while such a call runs.
#ifndef KYMO_BACKENDS_CUPTI_TARGET_CUPTI_API_H_
#define KYMO_BACKENDS_CUPTI_TARGET_CUPTI_API_H_

#include <cstddef>
#include <cstdint>

namespace kymo::cupti {

class LogWriter;

// CUptiResult; those that are told apart.
enum class ApiStatus : int32_t {
  kOk = 0,
  kNotInitialized = 15,
  kInvalidKind = 21,
  kNotSupported = 27,
  kUnifiedNotSupported = 28,
  kNoPrivileges = 35,
  kOtherSubscriber = 39,
  kUnknown = 999,
  kMissing = -1,  // this version of the library has no such function
};

// CUpti_ActivityKind; those that Kymo asks for.
enum class ActivityKind : uint32_t {
  kCopy = 1,
  kSet = 2,
  kDriver = 4,
  kRuntime = 5,
  kDevice = 8,
  kContext = 9,
  kKernel = 10,  // concurrent ones
  kName = 11,
  kMarker = 12,
  kMarkerData = 13,
  kOverhead = 17,
  kPeerCopy = 22,
  kUnified = 25,
  kEvent = 36,
  kStream = 37,
  kSync = 38,
  kExternal = 39,
  kMemory = 49,
  kPool = 50,
  kGraph = 51,
};

// What can be set, of this client or, in older versions, of the library.
enum class ApiSetting {
  kSystemThreads,       // threads are called by their system ids
  kLatency,             // kernels have times of queueing and submission
  kEventTimes,          // CUDA events have times of the device
  kOnlyFulfilledWaits,  // no records of queries that found work left
  // All counters of unified memory; needs CUDA initialised. Stays.
  kUnified,
  // Needed where several clients are at work, and of all of them. Stays.
  kWholeGraphs,
};

// Makes a buffer for CUPTI to fill, 8-byte aligned; *buffer null: there is
// none, and CUPTI drops and counts.
using RequestBuffer = void (*)(uint8_t** buffer, size_t* size,
                               size_t* max_records);
// CUPTI hands one back. `context`, `stream`: for `dropped`.
using CompleteBuffer = void (*)(void* context, uint32_t stream, uint8_t* buffer,
                                size_t size, size_t valid_bytes);

inline constexpr size_t kSubscriberNameBytes = 128;

struct CuptiApi {
  uint32_t version;  // 130000 is CUDA 13.0's

  // Takes a place for a client: one beside others where the library has such
  // (CUDA 13.3) and nobody has refused others, else the only one.
  // kOtherSubscriber: it is taken, by `other` (kSubscriberNameBytes; may stay
  // empty). `cuda_is_up` is called when CUDA has been initialised, in the midst
  // of the thread that does so.
  ApiStatus (*subscribe)(char* other, void (*cuda_is_up)()) noexcept;
  void (*unsubscribe)() noexcept;

  ApiStatus (*register_callbacks)(RequestBuffer request,
                                  CompleteBuffer complete) noexcept;
  ApiStatus (*enable)(ActivityKind kind) noexcept;
  // As well as enabling, has records made of those devices, contexts or streams
  // that there are already.
  ApiStatus (*enable_and_describe)(ActivityKind kind) noexcept;
  ApiStatus (*disable)(ActivityKind kind) noexcept;
  // Off: as it was, or as it is without being asked for.
  ApiStatus (*configure)(ApiSetting setting, bool on) noexcept;
  // Hands back the buffers whose activities have finished, or, `forced`, all.
  ApiStatus (*flush)(bool forced) noexcept;

  // CUPTI's clock becomes `now`, ns of CLOCK_MONOTONIC. kNotSupported in
  // versions (CUDA 12.6 to 13.3) that lose kernels' times then.
  ApiStatus (*set_clock)(uint64_t (*now)()) noexcept;
  ApiStatus (*timestamp)(uint64_t* ns) noexcept;

  // How many records there was no buffer for, since the last time.
  ApiStatus (*dropped)(void* context, uint32_t stream, size_t* count) noexcept;
  // Writes what the buffer holds as Kymo's records.
  void (*translate)(uint8_t* buffer, size_t valid_bytes,
                    LogWriter& writer) noexcept;
  // CUPTI's text for a status; lives for ever.
  const char* (*text)(ApiStatus status) noexcept;
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_TARGET_CUPTI_API_H_
