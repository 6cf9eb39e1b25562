// On a CUPTI that follows a script.
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "backends/cupti/cuda_driver.h"
#include "backends/cupti/cupti_backend.h"
#include "backends/cupti/target/test_cupti_api.h"
#include "profiler/base/clock.h"
#include "profiler/plugin/test_backend_conformance.h"

namespace kymo {
namespace {

using cupti::FakeCupti;
using cupti::RecordKind;

constexpr cupti::CudaDriver kDriver = {.is_up = []() noexcept { return true; },
                                       .wait = []() noexcept {}};

FakeCupti& Cupti() {
  static auto& fake = *new FakeCupti;
  return fake;
}

// A launch and its kernel, which take no time.
void Launch() {
  static std::atomic<uint32_t> launches = 0;
  const uint32_t correlation = ++launches;
  cupti::CallRecord call = {};
  call.start = call.end = static_cast<uint64_t>(MonotonicNs());
  call.correlation = correlation;
  call.thread = static_cast<uint32_t>(gettid());
  Cupti().Emit(RecordKind::kCall, call, "cudaLaunchKernel_v7000");
  cupti::KernelRecord kernel = {};
  kernel.start = kernel.end = static_cast<uint64_t>(MonotonicNs());
  kernel.correlation = correlation;
  kernel.stream = 7;
  Cupti().Emit(RecordKind::kKernel, kernel, "axpy");
}

KYMO_TEST_BACKEND(
    ThisProcess,
    {.make = [] { return NewCuptiBackendWith(Cupti().api(), kDriver); },
     .record = Launch});

}  // namespace
}  // namespace kymo
