#include "backends/cupti/target/cupti_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include <cstddef>

#include "backends/cupti/target/cupti_configure.h"
#include "backends/cupti/target/cupti_functions.h"
#include "backends/cupti/target/translate.h"

namespace kymo::cupti {

const bool kHasCupti = true;

namespace {

constinit CuptiFunctions cupti = {};
constinit void* subscriber = nullptr;
// Whether Kymo is one client among several: then functions that end in _v2 are
// used.
constinit bool is_one_of_several = false;

// The `client` of cupti_configure.h.
void* Client() noexcept { return is_one_of_several ? subscriber : nullptr; }

// A function of the capture, called when CUDA has been initialised.
using CudaIsUp = void (*)();
constinit CudaIsUp cuda_is_up = nullptr;

void OnCallback(void*, int domain, uint32_t id, const void*) {
  if (domain == kResourceDomain && id == kCudaInitialized) cuda_is_up();
}

ApiStatus SubscribeByName(char* other, size_t params_size) noexcept {
  SubscriberParams params = {.struct_size = params_size, .other = other};
  return ApiStatus{
      cupti.subscribe_v2(&subscriber, OnCallback, nullptr, &params)};
}

ApiStatus TakePlace(char* other) noexcept {
  if (HasClients(cupti)) {
    // An older driver refuses this, and so does a client that wants to be
    // alone.
    is_one_of_several =
        SubscribeByName(other, sizeof(SubscriberParams)) == ApiStatus::kOk;
    if (is_one_of_several) return ApiStatus::kOk;
  }
  // From CUDA 13.0 on, clients can have a name. From 13.3 on, only clients that
  // use the functions ending in _v2 can.
  const bool has_name =
      cupti.subscribe_v2 != nullptr && cupti.enable_v2 == nullptr;
  return has_name
             ? SubscribeByName(other, offsetof(SubscriberParams, allows_others))
             : ApiStatus{cupti.subscribe(&subscriber, OnCallback, nullptr)};
}

ApiStatus Subscribe(char* other, void (*on_cuda_is_up)()) noexcept {
  cuda_is_up = on_cuda_is_up;
  const ApiStatus status = TakePlace(other);
  if (status == ApiStatus::kOk && cupti.enable_callback != nullptr) {
    (void)cupti.enable_callback(1, subscriber, kResourceDomain,
                                kCudaInitialized);
  }
  return status;
}

void Unsubscribe() noexcept {
  if (subscriber != nullptr) cupti.unsubscribe(subscriber);
  subscriber = nullptr;
  is_one_of_several = false;
}

constinit RequestBuffer request_buffer = nullptr;
constinit CompleteBuffer complete_buffer = nullptr;

ApiStatus RegisterCallbacks(RequestBuffer request,
                            CompleteBuffer complete) noexcept {
  if (!is_one_of_several) {
    return ApiStatus{cupti.register_callbacks(request, complete)};
  }
  request_buffer = request;
  complete_buffer = complete;
  return ApiStatus{cupti.register_callbacks_v2(
      subscriber,
      [](uint8_t** buffer, size_t* size, size_t* max_records, void*) {
        request_buffer(buffer, size, max_records);
      },
      [](uint8_t* buffer, size_t size, size_t valid_bytes, void*) {
        complete_buffer(nullptr, 0, buffer, size, valid_bytes);
      })};
}

ApiStatus Enable(ActivityKind kind) noexcept {
  const uint32_t number = static_cast<uint32_t>(kind);
  return ApiStatus{is_one_of_several
                       ? cupti.enable_v2(subscriber, number, nullptr)
                       : cupti.enable(number)};
}

ApiStatus EnableAndDescribe(ActivityKind kind) noexcept {
  const uint32_t number = static_cast<uint32_t>(kind);
  if (is_one_of_several) {
    return ApiStatus{cupti.enable_and_dump_v2(subscriber, number, nullptr)};
  }
  return cupti.enable_and_dump == nullptr
             ? ApiStatus::kMissing
             : ApiStatus{cupti.enable_and_dump(number)};
}

ApiStatus Disable(ActivityKind kind) noexcept {
  const uint32_t number = static_cast<uint32_t>(kind);
  return ApiStatus{is_one_of_several
                       ? cupti.disable_v2(subscriber, number, nullptr)
                       : cupti.disable(number)};
}

int NextRecord(uint8_t* buffer, size_t valid_bytes, void** record) {
  return is_one_of_several
             ? cupti.next_record_v2(subscriber, buffer, valid_bytes, record)
             : cupti.next_record(buffer, valid_bytes, record);
}

int CallbackName(int domain, uint32_t cbid, const char** name) {
  return cupti.callback_name(domain, cbid, name);
}

constexpr RecordFunctions kRecordFunctions = {.next_record = NextRecord,
                                              .callback_name = CallbackName};

const char* Text(ApiStatus status) noexcept {
  const char* text = nullptr;
  return cupti.result_string(static_cast<int>(status), &text) == 0 ? text
                                                                   : nullptr;
}

ApiStatus SetClock(uint64_t (*now)()) noexcept;

constinit CuptiApi api = {
    .version = 0,
    .subscribe = Subscribe,
    .unsubscribe = Unsubscribe,
    .register_callbacks = RegisterCallbacks,
    .enable = Enable,
    .enable_and_describe = EnableAndDescribe,
    .disable = Disable,
    .configure =
        [](ApiSetting setting, bool on) noexcept {
          return Configure(cupti, Client(), setting, on);
        },
    .flush =
        [](bool forced) noexcept {
          return ApiStatus{cupti.flush_all(forced ? 1 : 0)};
        },
    .set_clock = SetClock,
    .timestamp =
        [](uint64_t* ns) noexcept {
          return ApiStatus{is_one_of_several
                               ? cupti.get_timestamp_v2(subscriber, ns)
                               : cupti.get_timestamp(ns)};
        },
    .dropped =
        [](void* context, uint32_t stream, size_t* count) noexcept {
          return ApiStatus{
              is_one_of_several
                  ? cupti.dropped_v2(subscriber, context, stream, count)
                  : cupti.dropped(context, stream, count)};
        },
    .translate =
        [](uint8_t* buffer, size_t valid_bytes, LogWriter& writer) noexcept {
          TranslateBuffer(kRecordFunctions, buffer, valid_bytes, writer);
        },
    .text = Text,
};

// Whether times now come from `now`: another client may have set its own clock.
bool IsClock(uint64_t (*now)()) noexcept {
  uint64_t time = 0;
  const uint64_t before = now();
  return api.timestamp(&time) == ApiStatus::kOk && before <= time &&
         time <= now();
}

ApiStatus SetClock(uint64_t (*now)()) noexcept {
  if (!TakesClocks(api.version)) return ApiStatus::kNotSupported;
  if (is_one_of_several) return ConfigureClock(cupti, Client(), now);
  // Once per process, because setting it again spoils the times of the next
  // kernels.
  static constinit bool is_set = false;
  if (!is_set) {
    is_set = ConfigureClock(cupti, Client(), now) == ApiStatus::kOk;
  }
  return IsClock(now) ? ApiStatus::kOk : ApiStatus::kNotSupported;
}

constexpr const char* kLoadedNames[] = {"libcupti.so.13", "libcupti.so.12"};

void* FindLoaded() noexcept {
  for (const char* const name : kLoadedNames) {
    void* const library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (library != nullptr) return library;
  }
  return nullptr;
}

// Loads the first library of the list that can be loaded.
void* LoadFirst(const char* paths, char* problem,
                size_t problem_size) noexcept {
  while (*paths != '\0') {
    char path[1024];
    const size_t size = strcspn(paths, ":");
    if (size > 0 && size < sizeof(path)) {
      memcpy(path, paths, size);
      path[size] = '\0';
      void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
      if (library != nullptr) return library;
    }
    paths += size + (paths[size] == ':' ? 1 : 0);
  }
  snprintf(problem, problem_size,
           "no libcupti.so.13 or .12: install CUDA's CUPTI, or set CUDA_HOME");
  return nullptr;
}

}  // namespace

const CuptiApi* LoadCupti(const char* paths, char* problem,
                          size_t problem_size) noexcept {
  if (api.version != 0) return &api;
  void* library = FindLoaded();
  if (library == nullptr) library = LoadFirst(paths, problem, problem_size);
  if (library == nullptr) return nullptr;
  if (!FindFunctions(library, cupti)) {
    snprintf(problem, problem_size,
             "libcupti lacks functions that Kymo needs; install CUDA 12 or 13");
    return nullptr;
  }
  // Since CUDA 13.3 the library does not even tell its version without a
  // driver.
  uint32_t version = 0;
  const int status = cupti.get_version(&version);
  if (status != 0 || version == 0) {
    snprintf(problem, problem_size,
             "libcupti cannot be used (%d): is there an NVIDIA driver, as new "
             "as this libcupti?",
             status);
    return nullptr;
  }
  api.version = version;
  return &api;
}

}  // namespace kymo::cupti
