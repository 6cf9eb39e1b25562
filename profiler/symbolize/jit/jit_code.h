// jit_code.h - which functions a program made at run time, where and when.
//
//   JitCode code(JitCode::Times::kExact);
//   code.Add({.start = 0x7f00, .size_bytes = 64, .since_ns = 5}, "fib");
//   code.Index(addresses);                    // sorted: those to ask for
//   const JitCode::Answer at = code.Find(0x7f10, time_ns);
//   if (at.function != nullptr) ... code.name(*at.function)
//
// Memory is used again: the function at an address is the one that was added
// last before the time that is asked for.
//
// Limits: the names come from the profiled program, which may be hostile. What
//   is beyond the limits below is left out and counted.
// Threads: none.
#ifndef KYMO_PROFILER_SYMBOLIZE_JIT_JIT_CODE_H_
#define KYMO_PROFILER_SYMBOLIZE_JIT_JIT_CODE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/base/time.h"

namespace kymo::symbolize {

struct JitFunction {
  uint64_t start = 0;
  uint64_t size_bytes = 0;
  TimeNs since_ns = 0;  // since the epoch
  // JitCode sets what follows.
  uint32_t name = 0;
  uint32_t lines_begin = 0;
  uint32_t lines_end = 0;
};

// Code from `offset` in the function on is of this line.
struct JitLine {
  uint64_t offset = 0;
  std::string_view file;
  uint32_t line = 0;
};

class JitCode {
 public:
  static constexpr size_t kMostFunctions = 2'000'000;
  static constexpr size_t kMostLines = 4'000'000;
  static constexpr size_t kMostNameBytes = size_t{256} << 20;
  static constexpr size_t kLongestName = 2048;  // the rest is cut
  static constexpr uint64_t kLargestFunction = uint64_t{1} << 30;

  enum class Times {
    kExact,    // a function is not there before its time
    kGuessed,  // before its time a function is there if no other is
  };
  static constexpr TimeNs kAlways = std::numeric_limits<TimeNs>::min();
  static constexpr TimeNs kForever = std::numeric_limits<TimeNs>::max();

  // The same answer holds for all times in [from_ns, to_ns).
  struct Answer {
    const JitFunction* function = nullptr;  // null: none
    TimeNs from_ns = kAlways;
    TimeNs to_ns = kForever;
  };
  struct Place {
    std::string_view file;  // empty = not known
    uint32_t line = 0;
  };

  explicit JitCode(Times times) : times_(times) {}

  // Replaces what it covers, from its time on. `lines` are by offset.
  void Add(const JitFunction& function, std::string_view name,
           std::span<const JitLine> lines = {});

  // The function with this number among functions() is now elsewhere.
  void AddMoved(size_t function, const JitFunction& place);

  // Prepares Find for these addresses. To be called again after an Add.
  void Index(std::span<const uint64_t> sorted_addresses);
  Answer Find(uint64_t address, TimeNs time_ns) const;

  std::string_view name(const JitFunction& function) const {
    return names_[function.name];
  }
  Place LineOf(const JitFunction& function, uint64_t address) const;

  std::span<const JitFunction> functions() const { return functions_; }
  // Functions and lines beyond the limits.
  uint64_t left_out() const noexcept { return left_out_; }

 private:
  struct Line {
    uint64_t offset;
    uint32_t file;  // of names_
    uint32_t line;
  };
  // An address, and the functions that were there, by time.
  struct History {
    uint64_t address;
    std::vector<uint32_t> functions;
  };

  bool HasRoomFor(const JitFunction& function);
  uint32_t Keep(std::string_view name);

  const Times times_;
  std::vector<std::string> names_;
  size_t name_bytes_ = 0;
  std::vector<JitFunction> functions_;  // in the order in which they came
  std::vector<Line> lines_;
  std::vector<History> histories_;  // by address
  uint64_t left_out_ = 0;
};

}  // namespace kymo::symbolize

#endif  // KYMO_PROFILER_SYMBOLIZE_JIT_JIT_CODE_H_
