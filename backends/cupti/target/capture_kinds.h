// capture_kinds.h - switches kinds of activities on and off.
//
//   CaptureKinds kinds;                                   // constinit
//   ApiStatus status = kinds.Start(api, flags, is_late, refused);
//   kinds.CudaIsUp(api);                                  // at some time
//   kinds.Disable(api);  kinds.Enable(api, true);         // a pause
//   kinds.Stop(api);
//
// If a required kind fails, the start fails and nothing stays on. If a
// requested kind is refused, `refused` is called, once.
//
// Threads: one at a time. Standard library: nothing that needs linking.
#ifndef KYMO_BACKENDS_CUPTI_TARGET_CAPTURE_KINDS_H_
#define KYMO_BACKENDS_CUPTI_TARGET_CAPTURE_KINDS_H_

#include <cstddef>
#include <cstdint>

#include "backends/cupti/target/cupti_api.h"

namespace kymo::cupti {

class CaptureKinds {
 public:
  // `kind` is CUPTI's number, or 0 for a setting. `name` is for people.
  using Refused = void (*)(const CuptiApi& api, uint32_t kind, const char* name,
                           ApiStatus status) noexcept;

  constexpr CaptureKinds() noexcept = default;
  CaptureKinds(const CaptureKinds&) = delete;
  CaptureKinds& operator=(const CaptureKinds&) = delete;

  // `flags`: CaptureFlag bits. `describes`: have CUPTI describe the devices,
  // contexts and streams that exist already.
  ApiStatus Start(const CuptiApi& api, uint32_t flags, bool describes,
                  Refused refused) noexcept;
  ApiStatus Enable(const CuptiApi& api, bool describes) noexcept;
  // Call it once CUDA is initialised: only then can unified memory be
  // requested.
  void CudaIsUp(const CuptiApi& api) noexcept;

  void DisableCalls(const CuptiApi& api) noexcept;
  // Switches all kinds off, in reverse order.
  void Disable(const CuptiApi& api) noexcept;
  // Takes settings back, too. Reports what there was no chance to request.
  void Stop(const CuptiApi& api) noexcept;

 private:
  static constexpr size_t kMaxKinds = 32;

  ApiStatus EnableOne(const CuptiApi& api, size_t i, bool describes) noexcept;
  void DisableOne(const CuptiApi& api, size_t i) noexcept;
  ApiStatus Set(const CuptiApi& api, ApiSetting setting) noexcept;
  void TakeBack(const CuptiApi& api) noexcept;
  void Tell(const CuptiApi& api, uint32_t kind, const char* name,
            ApiStatus status) noexcept;

  uint32_t flags_ = 0;
  Refused refused_ = nullptr;
  bool awaits_cuda_ = false;  // unified memory is not yet requested
  uint32_t settings_ = 0;     // a bit for each ApiSetting that is on
  bool enabled_[kMaxKinds] = {};
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_TARGET_CAPTURE_KINDS_H_
