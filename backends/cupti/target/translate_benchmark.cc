// Benchmarks the translation of CUPTI's buffers into a log, as it happens in
// the recorded program, on one core:
//
//   ./bazelw run -c opt //backends/cupti/target:translate_benchmark
//
// Items are activity records: launches and kernels in equal number.
#include <benchmark/benchmark.h>
#include <cuda.h>
#include <cupti.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "backends/cupti/target/translate.h"

namespace kymo::cupti {
namespace {

constexpr size_t kCallBytes = sizeof(CUpti_ActivityAPI);
constexpr size_t kKernelBytes = sizeof(CUpti_ActivityKernel10);
// Fills a buffer of 256 KiB.
constexpr size_t kLaunches = (size_t{256} << 10) / (kCallBytes + kKernelBytes);

int NextRecord(uint8_t* buffer, size_t valid_bytes, void** record) {
  uint8_t* next = buffer;
  if (*record != nullptr) {
    const auto* const last = static_cast<const CUpti_Activity*>(*record);
    next =
        static_cast<uint8_t*>(*record) +
        (last->kind == CUPTI_ACTIVITY_KIND_RUNTIME ? kCallBytes : kKernelBytes);
  }
  if (next >= buffer + valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = next;
  return 0;
}

int CallbackName(int, uint32_t, const char** name) {
  *name = "cudaLaunchKernel_v7000";
  return 0;
}

std::vector<uint8_t> Launches() {
  std::vector<uint8_t> buffer(kLaunches * (kCallBytes + kKernelBytes));
  uint8_t* at = buffer.data();
  for (size_t i = 0; i < kLaunches; ++i) {
    CUpti_ActivityAPI call;
    memset(&call, 0, sizeof(call));
    call.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
    call.cbid = 211;
    memcpy(at, &call, sizeof(call));
    at += sizeof(call);
    CUpti_ActivityKernel10 kernel;
    memset(&kernel, 0, sizeof(kernel));
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel.name = i % 2 == 0 ? "_Z4axpyfPf" : "_Z6matmulPKfS0_Pf";
    memcpy(at, &kernel, sizeof(kernel));
    at += sizeof(kernel);
  }
  return buffer;
}

void BM_Translate_LaunchesAndKernels(benchmark::State& state) {
  constexpr RecordFunctions kFunctions = {.next_record = NextRecord,
                                          .callback_name = CallbackName};
  std::vector<uint8_t> buffer = Launches();
  const auto writer = std::make_unique<LogWriter>();
  writer->Open(
      {.append = [](void*, const void* data,
                    size_t) noexcept { benchmark::DoNotOptimize(data); },
       .to = nullptr});
  for (auto _ : state) {
    TranslateBuffer(kFunctions, buffer.data(), buffer.size(), *writer);
    writer->Flush();
  }
  state.SetItemsProcessed(
      static_cast<int64_t>(state.iterations() * 2 * kLaunches));
}
BENCHMARK(BM_Translate_LaunchesAndKernels);

}  // namespace
}  // namespace kymo::cupti
