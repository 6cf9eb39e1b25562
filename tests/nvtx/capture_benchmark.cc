// The cost of NVTX calls that are captured, beside reading the clock twice, and
// the cost of emitted operations where nobody listens.
//
//   taskset -c 0 bazel-bin/tests/nvtx/capture_benchmark
//       --benchmark_repetitions=5
#include <x86intrin.h>

#include <cstring>
#include <string>

#include "benchmark/benchmark.h"
#include "kymo/record_function.h"
#include "nvtx3/nvToolsExt.h"
#include "nvtx3/nvtx3.hpp"
#include "profiler/record/host/host.h"

namespace kymo {
namespace {

void BM_TwoClockReads(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(__rdtsc());
    benchmark::DoNotOptimize(__rdtsc());
  }
}

// A recording into memory that was touched before, for as long as one likes.
class Recording {
 public:
  explicit Recording(record::RecordFlags flags) {
    record::StartSession({.flags = flags,
                          .chunk_bytes_total = 8 * record::kChunkBytes,
                          .policy = record::FullPolicy::kOverwrite},
                         &session_);
  }
  ~Recording() {
    record::StopSession(session_);
    record::ReleaseSession(session_);
  }

 private:
  record::SessionId session_ = 0;
};

void BM_OurRange(benchmark::State& state) {
  const Recording recording(0);
  for (auto _ : state) {
    RecordFunction range("benchmark");
    benchmark::ClobberMemory();
  }
}

void BM_PushPop_NotRecording(benchmark::State& state) {
  for (auto _ : state) {
    nvtxRangePushA("benchmark");
    nvtxRangePop();
  }
}

void BM_PushPop(benchmark::State& state) {
  const Recording recording(record::kGateNvtx);
  for (auto _ : state) {
    nvtxRangePushA("benchmark");
    benchmark::ClobberMemory();
    nvtxRangePop();
  }
}

void BM_PushPop_24ByteName(benchmark::State& state) {
  const Recording recording(record::kGateNvtx);
  const std::string text = "a dynamic name of 24 byt";
  const char* name = text.c_str();
  for (auto _ : state) {
    benchmark::DoNotOptimize(name);
    nvtxRangePushA(name);
    nvtxRangePop();
  }
}

// A new text in the same place each time.
void BM_PushPop_ManyNames(benchmark::State& state) {
  const Recording recording(record::kGateNvtx);
  char names[256][16];
  for (int i = 0; i < 256; ++i) snprintf(names[i], 16, "name %d", i);
  char name[16];
  int i = 0;
  for (auto _ : state) {
    memcpy(name, names[++i & 255], sizeof(name));
    nvtxRangePushA(name);
    nvtxRangePop();
  }
}

struct Domain {
  static constexpr const char* name = "domain";
};
struct Name {
  static constexpr const char* message = "registered";
};

void BM_ScopedRangeInDomain(benchmark::State& state) {
  const Recording recording(record::kGateNvtx);
  const auto& name = nvtx3::registered_string_in<Domain>::get<Name>();
  for (auto _ : state) {
    const nvtx3::scoped_range_in<Domain> range(name);
    benchmark::ClobberMemory();
  }
}

void BM_ScopedRangeWithPayloadAndColour(benchmark::State& state) {
  const Recording recording(record::kGateNvtx);
  const auto& name = nvtx3::registered_string_in<Domain>::get<Name>();
  int64_t i = 0;
  for (auto _ : state) {
    const nvtx3::scoped_range_in<Domain> range(name, nvtx3::rgb{1, 2, 3},
                                               nvtx3::payload{++i});
    benchmark::ClobberMemory();
  }
}

void BM_StartEnd(benchmark::State& state) {
  const Recording recording(record::kGateNvtx);
  for (auto _ : state) nvtxRangeEnd(nvtxRangeStartA("benchmark"));
}

void BM_Mark(benchmark::State& state) {
  const Recording recording(record::kGateNvtx);
  for (auto _ : state) nvtxMarkA("benchmark");
}

BENCHMARK(BM_TwoClockReads);
BENCHMARK(BM_OurRange);
BENCHMARK(BM_PushPop_NotRecording);
BENCHMARK(BM_PushPop);
BENCHMARK(BM_PushPop_24ByteName);
BENCHMARK(BM_PushPop_ManyNames);
BENCHMARK(BM_ScopedRangeInDomain);
BENCHMARK(BM_ScopedRangeWithPayloadAndColour);
BENCHMARK(BM_StartEnd);
BENCHMARK(BM_Mark);

}  // namespace
}  // namespace kymo
