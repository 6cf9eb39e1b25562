// cupti_api.h - what Kymo needs of CUPTI, in Kymo's own words.
//
//   const CuptiApi* api = LoadCupti(...);      // the library, cupti_library.h
//   const CuptiApi* api = &fake.api();         // or a script, test_cupti_api.h
//   api->enable(ActivityKind::kKernel);
//
// A table of functions. So only translate.cc includes cupti.h, nobody else
// needs to know who opens the library, and it works where there is no C++
// library. Statuses are CUPTI's numbers.
//
// Threads: as CUPTI says, everything may be called concurrently. CUPTI asks for
//   buffers and returns them on any thread, also during such a call.
#ifndef KYMO_BACKENDS_CUPTI_TARGET_CUPTI_API_H_
#define KYMO_BACKENDS_CUPTI_TARGET_CUPTI_API_H_

#include <cstddef>
#include <cstdint>

namespace kymo::cupti {

class LogWriter;

// CUptiResult, as far as Kymo tells results apart.
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

// CUpti_ActivityKind, as far as Kymo requests them.
enum class ActivityKind : uint32_t {
  kCopy = 1,
  kSet = 2,
  kDriver = 4,
  kRuntime = 5,
  kDevice = 8,
  kContext = 9,
  kKernel = 10,  // concurrent kernels
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

// Settings, either of this client or, in older versions, of the library.
enum class ApiSetting {
  kSystemThreads,       // thread ids are the system's
  kLatency,             // kernels have times of queueing and submission
  kEventTimes,          // CUDA events have times of the device
  kOnlyFulfilledWaits,  // no records of queries that found work left
  // All counters of unified memory. Needs CUDA initialised. Cannot be undone.
  kUnified,
  // Needed from each client if there are several. Cannot be undone.
  kWholeGraphs,
};

// Gives CUPTI a buffer to fill, 8-byte aligned. *buffer null: there is none,
// and CUPTI drops records and counts them.
using RequestBuffer = void (*)(uint8_t** buffer, size_t* size,
                               size_t* max_records);
// CUPTI returns a buffer. `context` and `stream` are for `dropped`.
using CompleteBuffer = void (*)(void* context, uint32_t stream, uint8_t* buffer,
                                size_t size, size_t valid_bytes);

inline constexpr size_t kSubscriberNameBytes = 128;

struct CuptiApi {
  uint32_t version;  // 130000 is CUDA 13.0's

  // Makes Kymo a client. If the library supports several clients (CUDA 13.3)
  // and no other client has forbidden it, Kymo is one of several, else the only
  // one. kOtherSubscriber: `other` is the client already (kSubscriberNameBytes;
  // may stay empty). `cuda_is_up` is called when CUDA has been initialised, on
  // the thread that does so, in the middle of it.
  ApiStatus (*subscribe)(char* other, void (*cuda_is_up)()) noexcept;
  void (*unsubscribe)() noexcept;

  ApiStatus (*register_callbacks)(RequestBuffer request,
                                  CompleteBuffer complete) noexcept;
  ApiStatus (*enable)(ActivityKind kind) noexcept;
  // Enables the kind, and also has records made of the devices, contexts or
  // streams that exist already.
  ApiStatus (*enable_and_describe)(ActivityKind kind) noexcept;
  ApiStatus (*disable)(ActivityKind kind) noexcept;
  // Off: goes back to the value before, or to the default.
  ApiStatus (*configure)(ApiSetting setting, bool on) noexcept;
  // Has CUPTI return the buffers whose activities have finished; `forced`: all.
  ApiStatus (*flush)(bool forced) noexcept;

  // Sets CUPTI's clock to `now`, in ns of CLOCK_MONOTONIC. kNotSupported in
  // versions that then lose the times of kernels (CUDA 12.6 to 13.3).
  ApiStatus (*set_clock)(uint64_t (*now)()) noexcept;
  ApiStatus (*timestamp)(uint64_t* ns) noexcept;

  // How many records CUPTI had no buffer for since the previous call.
  ApiStatus (*dropped)(void* context, uint32_t stream, size_t* count) noexcept;
  // Writes the buffer's records as Kymo's records.
  void (*translate)(uint8_t* buffer, size_t valid_bytes,
                    LogWriter& writer) noexcept;
  // CUPTI's text for a status; lives forever.
  const char* (*text)(ApiStatus status) noexcept;
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_TARGET_CUPTI_API_H_
