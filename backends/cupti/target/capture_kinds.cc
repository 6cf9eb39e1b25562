#include "backends/cupti/target/capture_kinds.h"

#include <iterator>

#include "backends/cupti/target/capture.h"

namespace kymo::cupti {
namespace {

enum class Need {
  kNice,   // nobody requested it by name
  kAsked,  // a refusal is reported
  kMust,   // without it there is no capture
};

struct WantedKind {
  ActivityKind kind;
  uint32_t flags;  // CaptureFlag bits, any one requests it; 0: always
  Need need;
  const char* name;
  bool is_description = false;  // describes what exists already
};

constexpr const char* kUnifiedName = "unified memory";

// In the order in which they are switched on: kinds that describe come first.
constexpr WantedKind kWantedKinds[] = {
    {ActivityKind::kDevice, 0, Need::kNice, "devices", true},
    {ActivityKind::kContext, 0, Need::kNice, "contexts", true},
    {ActivityKind::kStream, 0, Need::kNice, "streams", true},
    {ActivityKind::kExternal, 0, Need::kNice, "external ids"},
    {ActivityKind::kOverhead, 0, Need::kNice, "overhead"},
    {ActivityKind::kName, kCaptureMarkers, Need::kNice, "names"},
    {ActivityKind::kMarkerData, kCaptureMarkers, Need::kAsked, "marker data"},
    {ActivityKind::kMarker, kCaptureMarkers, Need::kAsked, "markers"},
    {ActivityKind::kSync, kCaptureSync, Need::kAsked, "waits"},
    {ActivityKind::kEvent, kCaptureSync, Need::kAsked, "CUDA events"},
    {ActivityKind::kMemory, kCaptureMemory, Need::kAsked, "memory"},
    {ActivityKind::kPool, kCaptureMemory, Need::kAsked, "memory pools"},
    {ActivityKind::kUnified, kCaptureUnified, Need::kAsked, kUnifiedName},
    {ActivityKind::kGraph, kCaptureGraphs, Need::kAsked, "whole graphs"},
    {ActivityKind::kDriver, 0, Need::kNice, "calls of the driver"},
    {ActivityKind::kRuntime, 0, Need::kMust, "calls of the runtime"},
    {ActivityKind::kSet, 0, Need::kMust, "sets"},
    {ActivityKind::kPeerCopy, 0, Need::kNice, "copies between devices"},
    {ActivityKind::kCopy, 0, Need::kMust, "copies"},
    {ActivityKind::kKernel, 0, Need::kMust, "kernels"},
};

static_assert(std::size(kWantedKinds) <= 32);

bool IsCall(ActivityKind kind) noexcept {
  return kind == ActivityKind::kDriver || kind == ActivityKind::kRuntime ||
         kind == ActivityKind::kSync;
}

}  // namespace

void CaptureKinds::Tell(const CuptiApi& api, uint32_t kind, const char* name,
                        ApiStatus status) noexcept {
  if (status != ApiStatus::kOk) refused_(api, kind, name, status);
}

ApiStatus CaptureKinds::EnableOne(const CuptiApi& api, size_t i,
                                  bool describes) noexcept {
  const WantedKind& wanted = kWantedKinds[i];
  ApiStatus status = ApiStatus::kMissing;
  if (describes && wanted.is_description) {
    status = api.enable_and_describe(wanted.kind);
  }
  if (status != ApiStatus::kOk) status = api.enable(wanted.kind);
  enabled_[i] = status == ApiStatus::kOk;
  if (wanted.need == Need::kAsked) {
    Tell(api, static_cast<uint32_t>(wanted.kind), wanted.name, status);
  }
  return status;
}

void CaptureKinds::DisableOne(const CuptiApi& api, size_t i) noexcept {
  if (enabled_[i]) (void)api.disable(kWantedKinds[i].kind);
  enabled_[i] = false;
}

ApiStatus CaptureKinds::Set(const CuptiApi& api, ApiSetting setting) noexcept {
  const ApiStatus status = api.configure(setting, true);
  if (status == ApiStatus::kOk) settings_ |= 1u << static_cast<int>(setting);
  return status;
}

ApiStatus CaptureKinds::Start(const CuptiApi& api, uint32_t flags,
                              bool describes, Refused refused) noexcept {
  flags_ = flags;
  refused_ = refused;
  // A refusal is no error: the thread ids that CUPTI then makes up are of no
  // use, but the device's work is.
  (void)Set(api, ApiSetting::kSystemThreads);
  if (flags & kCaptureSync) {
    (void)Set(api, ApiSetting::kEventTimes);
    (void)Set(api, ApiSetting::kOnlyFulfilledWaits);
  }
  if (flags & kCaptureLatency) {
    Tell(api, 0, "latency", Set(api, ApiSetting::kLatency));
  }
  if (flags & kCaptureGraphs) {
    Tell(api, 0, "whole graphs", Set(api, ApiSetting::kWholeGraphs));
  }
  const ApiStatus status = Enable(api, describes);
  if (status != ApiStatus::kOk) TakeBack(api);
  return status;
}

ApiStatus CaptureKinds::Enable(const CuptiApi& api, bool describes) noexcept {
  ApiStatus unified = ApiStatus::kOk;
  if (flags_ & kCaptureUnified) {
    // If nothing exists to describe, CUDA is not initialised yet.
    unified =
        describes ? Set(api, ApiSetting::kUnified) : ApiStatus::kNotInitialized;
  }
  awaits_cuda_ = unified == ApiStatus::kNotInitialized;
  if (!awaits_cuda_) Tell(api, 0, kUnifiedName, unified);
  for (size_t i = 0; i < std::size(kWantedKinds); ++i) {
    const WantedKind& wanted = kWantedKinds[i];
    const bool is_wanted = wanted.flags == 0 || (wanted.flags & flags_) != 0;
    const bool is_vain =
        wanted.kind == ActivityKind::kUnified && unified != ApiStatus::kOk;
    if (!is_wanted || is_vain) continue;
    const ApiStatus status = EnableOne(api, i, describes);
    if (status != ApiStatus::kOk && wanted.need == Need::kMust) {
      Disable(api);
      return status;
    }
  }
  return ApiStatus::kOk;
}

void CaptureKinds::CudaIsUp(const CuptiApi& api) noexcept {
  if (!awaits_cuda_) return;
  awaits_cuda_ = false;
  const ApiStatus status = Set(api, ApiSetting::kUnified);
  Tell(api, 0, kUnifiedName, status);
  if (status != ApiStatus::kOk) return;
  for (size_t i = 0; i < std::size(kWantedKinds); ++i) {
    if (kWantedKinds[i].kind == ActivityKind::kUnified) {
      (void)EnableOne(api, i, /*describes=*/false);
    }
  }
}

void CaptureKinds::DisableCalls(const CuptiApi& api) noexcept {
  for (size_t i = std::size(kWantedKinds); i-- > 0;) {
    if (IsCall(kWantedKinds[i].kind)) DisableOne(api, i);
  }
}

void CaptureKinds::Disable(const CuptiApi& api) noexcept {
  for (size_t i = std::size(kWantedKinds); i-- > 0;) DisableOne(api, i);
}

void CaptureKinds::TakeBack(const CuptiApi& api) noexcept {
  for (int bit = 31; bit >= 0; --bit) {
    if ((settings_ >> bit & 1) == 0) continue;
    (void)api.configure(static_cast<ApiSetting>(bit), false);
  }
  settings_ = 0;
}

void CaptureKinds::Stop(const CuptiApi& api) noexcept {
  if (awaits_cuda_) {
    Tell(api, 0, kUnifiedName, ApiStatus::kNotInitialized);
    awaits_cuda_ = false;
  }
  Disable(api);
  TakeBack(api);
}

}  // namespace kymo::cupti
