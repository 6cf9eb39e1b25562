// capture_kinds.h - which kinds of activities are switched on, and how.
//
//   CaptureKinds kinds;                                   // constinit
//   ApiStatus status = kinds.Start(api, flags, is_late, refused);
//   kinds.CudaIsUp(api);                                  // by and by
//   kinds.Disable(api);  kinds.Enable(api, true);         // a pause
//   kinds.Stop(api);
//
// What is a must fails the start, and then nothing is on; what was asked for
// and refused is told to `refused`, once.
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
  // `kind`: CUPTI's number, 0 = a setting; `name`: for people.
  using Refused = void (*)(const CuptiApi& api, uint32_t kind, const char* name,
                           ApiStatus status) noexcept;

  constexpr CaptureKinds() noexcept = default;
  CaptureKinds(const CaptureKinds&) = delete;
  CaptureKinds& operator=(const CaptureKinds&) = delete;

  // `flags`: CaptureFlag bits. `describes`: what there is already (devices,
  // contexts, streams) is described.
  ApiStatus Start(const CuptiApi& api, uint32_t flags, bool describes,
                  Refused refused) noexcept;
  ApiStatus Enable(const CuptiApi& api, bool describes) noexcept;
  // Unified memory can be asked for only when CUDA has been initialised.
  void CudaIsUp(const CuptiApi& api) noexcept;

  void DisableCalls(const CuptiApi& api) noexcept;
  // In reverse.
  void Disable(const CuptiApi& api) noexcept;
  // Takes back settings, too; tells what there was no chance to ask for.
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
  bool awaits_cuda_ = false;  // to ask for unified memory
  uint32_t settings_ = 0;     // a bit for each ApiSetting that is on
  bool enabled_[kMaxKinds] = {};
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_TARGET_CAPTURE_KINDS_H_
