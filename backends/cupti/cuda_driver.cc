#include "backends/cupti/cuda_driver.h"

#include <dlfcn.h>

namespace kymo::cupti {
namespace {

// libcuda's functions, with int for CUresult and CUdevice, and void* for
// CUcontext. Missing functions are null.
struct Functions {
  int (*device_count)(int*);
  int (*device)(int*, int);
  int (*primary_state)(int, unsigned*, int*);
  int (*retain_primary)(void**, int);
  int (*release_primary)(int);
  int (*current)(void**);
  int (*push)(void*);
  int (*pop)(void**);
  int (*synchronize)();
  int (*exchange_capture_mode)(int*);
};

template <typename F>
void Find(void* library, const char* name, F*& function) {
  function = reinterpret_cast<F*>(dlsym(library, name));
}

Functions FindFunctions() noexcept {
  Functions f = {};
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return f;
  Find(library, "cuDeviceGetCount", f.device_count);
  Find(library, "cuDeviceGet", f.device);
  Find(library, "cuDevicePrimaryCtxGetState", f.primary_state);
  Find(library, "cuDevicePrimaryCtxRetain", f.retain_primary);
  Find(library, "cuDevicePrimaryCtxRelease_v2", f.release_primary);
  Find(library, "cuCtxGetCurrent", f.current);
  Find(library, "cuCtxPushCurrent_v2", f.push);
  Find(library, "cuCtxPopCurrent_v2", f.pop);
  Find(library, "cuCtxSynchronize", f.synchronize);
  Find(library, "cuThreadExchangeStreamCaptureMode", f.exchange_capture_mode);
  return f;
}

bool CanWait(const Functions& f) noexcept {
  return f.device != nullptr && f.primary_state != nullptr &&
         f.retain_primary != nullptr && f.release_primary != nullptr &&
         f.current != nullptr && f.push != nullptr && f.pop != nullptr &&
         f.synchronize != nullptr && f.exchange_capture_mode != nullptr;
}

// Returns 0 before cuInit, since the driver then refuses.
int CountDevices(const Functions& f) noexcept {
  int count = 0;
  return f.device_count != nullptr && f.device_count(&count) == 0 ? count : 0;
}

void WaitForDevice(const Functions& f, int i) noexcept {
  int device = 0;
  unsigned flags = 0;
  int is_active = 0;
  if (f.device(&device, i) != 0 ||
      f.primary_state(device, &flags, &is_active) != 0 || is_active == 0) {
    return;
  }
  // Holds the context while waiting: another thread may release it.
  void* context = nullptr;
  if (f.retain_primary(&context, device) != 0) return;
  if (f.push(context) == 0) {
    (void)f.synchronize();
    (void)f.pop(&context);
  }
  (void)f.release_primary(device);
}

void Wait() noexcept {
  const Functions f = FindFunctions();
  if (!CanWait(f)) return;
  const int count = CountDevices(f);
  if (count == 0) return;
  // CU_STREAM_CAPTURE_MODE_RELAXED: in any other mode the wait would break a
  // graph capture that another thread has begun.
  int mode = 2;
  const bool is_changed = f.exchange_capture_mode(&mode) == 0;
  void* current = nullptr;
  if (f.current(&current) == 0 && current != nullptr) (void)f.synchronize();
  for (int i = 0; i < count; ++i) WaitForDevice(f, i);
  if (is_changed) (void)f.exchange_capture_mode(&mode);
}

constexpr CudaDriver kLoaded = {
    .is_up = []() noexcept { return CountDevices(FindFunctions()) > 0; },
    .wait = Wait};

}  // namespace

const CudaDriver& LoadedCudaDriver() noexcept { return kLoaded; }

}  // namespace kymo::cupti
