#include "profiler/library/device_wait.h"

#include <dlfcn.h>

#include <cstddef>

namespace kymo::internal {
namespace {

// A function of the program, or of one of the libraries if it is loaded.
template <typename Function, size_t kCount>
Function* FindLoaded(const char* name, const char* const (&libraries)[kCount]) {
  if (void* const function = dlsym(RTLD_DEFAULT, name)) {
    return reinterpret_cast<Function*>(function);
  }
  for (const char* const library : libraries) {
    // Adds to its uses; that it is not given back keeps it where it is.
    if (void* const loaded = dlopen(library, RTLD_LAZY | RTLD_NOLOAD)) {
      if (void* const function = dlsym(loaded, name)) {
        return reinterpret_cast<Function*>(function);
      }
    }
  }
  return nullptr;
}

constexpr const char* kDriver[] = {"libcuda.so.1"};

// Whether the thread has a context, or the runtime has made one for all.
bool DeviceIsInUse() noexcept {
  const auto current = FindLoaded<int(void**)>("cuCtxGetCurrent", kDriver);
  void* context = nullptr;
  if (current == nullptr || current(&context) != 0) return false;
  if (context != nullptr) return true;
  const auto primary = FindLoaded<int(int, unsigned*, int*)>(
      "cuDevicePrimaryCtxGetState", kDriver);
  unsigned flags = 0;
  int active = 0;
  return primary != nullptr && primary(0, &flags, &active) == 0 && active != 0;
}

}  // namespace

void WaitForDevice() noexcept {
  // Asked of an idle runtime, to wait would be to start it.
  if (!DeviceIsInUse()) return;
  constexpr const char* kRuntimes[] = {"libcudart.so.13", "libcudart.so.12",
                                       "libcudart.so.11.0"};
  if (const auto wait = FindLoaded<int()>("cudaDeviceSynchronize", kRuntimes)) {
    wait();
  } else if (const auto wait_driver =
                 FindLoaded<int()>("cuCtxSynchronize", kDriver)) {
    wait_driver();
  }
}

}  // namespace kymo::internal
