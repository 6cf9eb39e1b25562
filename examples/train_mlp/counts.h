// counts.h - how often the program entered each of its ranges.
//
//   kymo::RecordFunction range("mlp::relu");
//   Count<"mlp::relu">();
//   ...
//   WriteCounts("counts.json");   // {"mlp::relu": 1}
//
// The program's own numbers, kept apart from the profiler's, so that a test can
// hold the one against the other. A count costs one relaxed addition.
// Threads: everything may be called from any thread; WriteCounts sees what
//   happened before it, so join the work first.
#ifndef KYMO_EXAMPLES_TRAIN_MLP_COUNTS_H_
#define KYMO_EXAMPLES_TRAIN_MLP_COUNTS_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace mlp {

// A string literal as a template argument.
template <size_t kSize>
struct Literal {
  // NOLINTNEXTLINE(google-explicit-constructor)
  consteval Literal(const char (&literal)[kSize]) {
    std::copy_n(literal, kSize, text);
  }
  constexpr std::string_view view() const { return {text, kSize - 1}; }

  char text[kSize];
};

// The counter of one name; lives as long as the program.
std::atomic<uint64_t>& CounterOf(std::string_view name);

// Counts one entry into the range `kName`.
template <Literal kName>
void Count() {
  static std::atomic<uint64_t>& counter = CounterOf(kName.view());
  counter.fetch_add(1, std::memory_order_relaxed);
}

// The same for a name made at run time; takes a lock.
inline void CountDynamic(std::string_view name) {
  CounterOf(name).fetch_add(1, std::memory_order_relaxed);
}

// Every name counted so far, sorted.
std::map<std::string, uint64_t> Counts();

// Writes Counts() as one JSON object. False, with errno set, when `path`
// cannot be written.
[[nodiscard]] bool WriteCounts(const std::string& path);

}  // namespace mlp

#endif  // KYMO_EXAMPLES_TRAIN_MLP_COUNTS_H_
