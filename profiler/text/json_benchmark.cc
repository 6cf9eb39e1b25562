// Strings and numbers as JSON.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "profiler/text/json_text.h"

namespace kymo::json {
namespace {

void Escape(benchmark::State& state, std::string_view text) {
  std::string out;
  for (auto _ : state) {
    out.clear();
    AppendJsonString(out, text);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() *
                          static_cast<int64_t>(text.size()));
}

void BM_String_Plain(benchmark::State& state) {
  Escape(state, "std::vector<int>::push_back(int const&)");
}
BENCHMARK(BM_String_Plain);

void BM_String_NotAscii(benchmark::State& state) {
  Escape(state, "größe \"λ\" → \\ 測定");
}
BENCHMARK(BM_String_NotAscii);

void BM_Microseconds(benchmark::State& state) {
  char text[kMaxNumberLength];
  int64_t ns = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(WriteMicroseconds(text, ns += 1'234'567));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_Microseconds);

}  // namespace
}  // namespace kymo::json
