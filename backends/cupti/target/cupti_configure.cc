#include "backends/cupti/target/cupti_configure.h"

#include <cstddef>
#include <iterator>

namespace kymo::cupti {
namespace {

template <typename F, typename V>
ApiStatus Call(F* function, V value) noexcept {
  return function == nullptr ? ApiStatus::kMissing : ApiStatus{function(value)};
}

ApiStatus ConfigureUnified(const CuptiFunctions& cupti) noexcept {
  if (cupti.configure_unified == nullptr) return ApiStatus::kMissing;
  // CUpti_ActivityUnifiedMemoryCounterConfig: scope, kind, device, enable.
  // Scope and device matter only before CUDA 7.0: the setting is for all
  // devices.
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
  return ApiStatus{cupti.configure_unified(configs, std::size(configs))};
}

// Sets the type of thread ids. Another client of the library may have set it
// before.
ApiStatus ConfigureThreads(const CuptiFunctions& cupti, bool on) noexcept {
  static constinit int before = kDefaultThreadIds;
  if (on && cupti.get_thread_id_type != nullptr) {
    (void)cupti.get_thread_id_type(&before);
  }
  return Call(cupti.set_thread_id_type, on ? kSystemThreadIds : before);
}

ApiStatus ConfigureLibrary(const CuptiFunctions& cupti, ApiSetting setting,
                           bool on) noexcept {
  switch (setting) {
    case ApiSetting::kSystemThreads:
      return ConfigureThreads(cupti, on);
    case ApiSetting::kLatency:
      return Call(cupti.enable_latency, uint8_t{on});
    case ApiSetting::kEventTimes:
      return Call(cupti.enable_event_times, uint8_t{on});
    case ApiSetting::kOnlyFulfilledWaits:
      return Call(cupti.enable_all_sync, uint8_t{!on});
    case ApiSetting::kUnified:
      return on ? ConfigureUnified(cupti) : ApiStatus::kOk;
    case ApiSetting::kWholeGraphs:
      return ApiStatus::kOk;
  }
  return ApiStatus::kMissing;
}

template <typename V>
ApiStatus SetAttribute(const CuptiFunctions& cupti, void* client,
                       ClientAttribute attribute, V value) noexcept {
  size_t size = sizeof(value);
  return ApiStatus{cupti.set_attribute_v2(
      client, static_cast<uint32_t>(attribute), &size, &value)};
}

}  // namespace

ApiStatus Configure(const CuptiFunctions& cupti, void* client,
                    ApiSetting setting, bool on) noexcept {
  if (client == nullptr) return ConfigureLibrary(cupti, setting, on);
  const auto set = [&](ClientAttribute attribute, auto value) noexcept {
    return SetAttribute(cupti, client, attribute, value);
  };
  switch (setting) {
    case ApiSetting::kSystemThreads:
      return set(ClientAttribute::kThreadIdType,
                 on ? kSystemThreadIds : kDefaultThreadIds);
    case ApiSetting::kLatency:
      return set(ClientAttribute::kLatency, uint8_t{on});
    case ApiSetting::kEventTimes:
      return set(ClientAttribute::kEventTimes, uint8_t{on});
    case ApiSetting::kOnlyFulfilledWaits:
      // Without a request, a client gets no other records of waits.
      return set(ClientAttribute::kAllSyncRecords, uint8_t{0});
    case ApiSetting::kUnified:
      return on ? ConfigureUnified(cupti) : ApiStatus::kOk;
    case ApiSetting::kWholeGraphs:
      return on ? set(ClientAttribute::kWholeGraphs, uint8_t{1})
                : ApiStatus::kOk;
  }
  return ApiStatus::kMissing;
}

bool TakesClocks(uint32_t version) noexcept {
  return version < 24 || version >= 130'400;
}

ApiStatus ConfigureClock(const CuptiFunctions& cupti, void* client,
                         uint64_t (*now)()) noexcept {
  return client == nullptr
             ? Call(cupti.set_clock, now)
             : SetAttribute(cupti, client, ClientAttribute::kTimestampCallback,
                            now);
}

}  // namespace kymo::cupti
