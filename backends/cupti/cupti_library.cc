#include "backends/cupti/cupti_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "backends/cupti/translate.h"

namespace kymo::cupti {

const bool kHasCupti = true;

namespace {

// The library's functions, with int for its enums and void* for its types.
struct Functions {
  int (*get_version)(uint32_t*);
  int (*subscribe)(void**, void (*)(void*, int, uint32_t, const void*), void*);
  int (*subscribe_v2)(void**, void (*)(void*, int, uint32_t, const void*),
                      void*, void*);
  int (*unsubscribe)(void*);
  int (*register_callbacks)(RequestBuffer, CompleteBuffer);
  int (*enable)(uint32_t);
  int (*disable)(uint32_t);
  int (*configure_unified)(void*, uint32_t);
  int (*enable_latency)(uint8_t);
  int (*set_thread_id_type)(int);
  int (*flush_all)(uint32_t);
  int (*set_clock)(uint64_t (*)());
  int (*get_timestamp)(uint64_t*);
  int (*dropped)(void*, uint32_t, size_t*);
  int (*result_string)(int, const char**);
  RecordFunctions records;
};
constinit Functions cupti = {};
constinit void* subscriber = nullptr;

template <typename F>
bool Find(void* library, const char* name, F*& function) noexcept {
  function = reinterpret_cast<F*>(dlsym(library, name));
  return function != nullptr;
}

// The newer ones may be missing; their callers then get kMissing.
bool FindAll(void* library) noexcept {
  Find(library, "cuptiSubscribe_v2", cupti.subscribe_v2);
  Find(library, "cuptiActivityRegisterTimestampCallback", cupti.set_clock);
  Find(library, "cuptiActivityConfigureUnifiedMemoryCounter",
       cupti.configure_unified);
  Find(library, "cuptiActivityEnableLatencyTimestamps", cupti.enable_latency);
  Find(library, "cuptiSetThreadIdType", cupti.set_thread_id_type);
  return Find(library, "cuptiGetVersion", cupti.get_version) &&
         Find(library, "cuptiSubscribe", cupti.subscribe) &&
         Find(library, "cuptiUnsubscribe", cupti.unsubscribe) &&
         Find(library, "cuptiActivityRegisterCallbacks",
              cupti.register_callbacks) &&
         Find(library, "cuptiActivityEnable", cupti.enable) &&
         Find(library, "cuptiActivityDisable", cupti.disable) &&
         Find(library, "cuptiActivityFlushAll", cupti.flush_all) &&
         Find(library, "cuptiGetTimestamp", cupti.get_timestamp) &&
         Find(library, "cuptiActivityGetNumDroppedRecords", cupti.dropped) &&
         Find(library, "cuptiGetResultString", cupti.result_string) &&
         Find(library, "cuptiActivityGetNextRecord",
              cupti.records.next_record) &&
         Find(library, "cuptiGetCallbackName", cupti.records.callback_name);
}

// CUpti_SubscriberParams.
struct SubscriberParams {
  size_t struct_size = sizeof(SubscriberParams);
  const char* name = "Kymo";
  char* other = nullptr;
  size_t other_size = 0;
};

// Nothing is asked for that it could be told.
void Ignore(void*, int, uint32_t, const void*) {}

ApiStatus Subscribe(char* other) noexcept {
  if (cupti.subscribe_v2 != nullptr) {
    SubscriberParams params;
    params.other = other;
    params.other_size = kSubscriberNameBytes;
    return ApiStatus{cupti.subscribe_v2(&subscriber, Ignore, nullptr, &params)};
  }
  return ApiStatus{cupti.subscribe(&subscriber, Ignore, nullptr)};
}

void Unsubscribe() noexcept {
  if (subscriber != nullptr) cupti.unsubscribe(subscriber);
  subscriber = nullptr;
}

ApiStatus ConfigureUnified() noexcept {
  if (cupti.configure_unified == nullptr) return ApiStatus::kMissing;
  // CUpti_ActivityUnifiedMemoryCounterConfig: scope, kind, device, enable.
  // Scope and device are there for versions before CUDA 7.0: it is all devices.
  struct Config {
    uint32_t scope, kind, device, enable;
  };
  constexpr uint32_t kOneDevice = 1;
  Config configs[] = {
      {kOneDevice, 1, 0, 1},  // bytes to the device
      {kOneDevice, 2, 0, 1},  // bytes to the host
      {kOneDevice, 3, 0, 1},  // page faults of the host
      {kOneDevice, 4, 0, 1},  // page faults of the device
  };
  return ApiStatus{cupti.configure_unified(configs, 4)};
}

const char* Text(ApiStatus status) noexcept {
  const char* text = nullptr;
  return cupti.result_string(static_cast<int>(status), &text) == 0 ? text
                                                                   : nullptr;
}

constinit CuptiApi api = {
    .version = 0,
    .subscribe = Subscribe,
    .unsubscribe = Unsubscribe,
    .register_callbacks =
        [](RequestBuffer request, CompleteBuffer complete) noexcept {
          return ApiStatus{cupti.register_callbacks(request, complete)};
        },
    .enable =
        [](ActivityKind kind) noexcept {
          return ApiStatus{cupti.enable(static_cast<uint32_t>(kind))};
        },
    .disable =
        [](ActivityKind kind) noexcept {
          return ApiStatus{cupti.disable(static_cast<uint32_t>(kind))};
        },
    .configure_unified = ConfigureUnified,
    .enable_latency =
        [](bool on) noexcept {
          return cupti.enable_latency == nullptr
                     ? ApiStatus::kMissing
                     : ApiStatus{cupti.enable_latency(on)};
        },
    .use_system_threads =
        []() noexcept {
          return cupti.set_thread_id_type == nullptr
                     ? ApiStatus::kMissing
                     : ApiStatus{cupti.set_thread_id_type(1)};
        },
    .flush =
        [](bool forced) noexcept {
          return ApiStatus{cupti.flush_all(forced ? 1 : 0)};
        },
    .set_clock =
        [](uint64_t (*now)()) noexcept {
          return cupti.set_clock == nullptr ? ApiStatus::kMissing
                                            : ApiStatus{cupti.set_clock(now)};
        },
    .timestamp =
        [](uint64_t* ns) noexcept {
          return ApiStatus{cupti.get_timestamp(ns)};
        },
    .dropped =
        [](void* context, uint32_t stream, size_t* count) noexcept {
          return ApiStatus{cupti.dropped(context, stream, count)};
        },
    .translate =
        [](uint8_t* buffer, size_t valid_bytes, LogWriter& writer) noexcept {
          TranslateBuffer(cupti.records, buffer, valid_bytes, writer);
        },
    .text = Text,
};

constexpr const char* kLoadedNames[] = {"libcupti.so.13", "libcupti.so.12"};

void* FindLoaded() noexcept {
  for (const char* const name : kLoadedNames) {
    void* const library = dlopen(name, RTLD_NOW | RTLD_NOLOAD);
    if (library != nullptr) return library;
  }
  return nullptr;
}

// The first of the list that can be loaded.
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
  uint32_t version = 0;
  if (!FindAll(library) || cupti.get_version(&version) != 0 || version == 0) {
    snprintf(problem, problem_size,
             "libcupti lacks functions that Kymo needs; install CUDA 12 or 13");
    return nullptr;
  }
  api.version = version;
  return &api;
}

}  // namespace kymo::cupti
