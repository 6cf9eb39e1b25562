// record_function.h - annotate a program.
//
//   #include "kymo/record_function.h"
//
//   void Forward(const Batch& batch) {
//     KYMO_RECORD_FUNCTION("forward");             // until the scope's end
//     {
//       kymo::RecordFunction range("matmul", {{"rows", batch.rows()}});
//       ...
//     }
//     kymo::Instant("weights loaded");
//     kymo::Counter("queue length", queue.size());
//   }
//
// Names are string literals: they cost a pointer. A name that is made at run
// time (std::string, std::string_view, const char*) is copied into the record.
//
// Cost: with nothing recording, one load and a branch. While a session records
//   (kymo::Profile, or //tools:profile around the program), two clock reads and
//   a 32-byte store; see docs/overhead.md. Nothing allocates, locks or throws.
// Threads: any thread, born and gone at any time. A range belongs to the thread
//   that begins it and may end on another one; it is asynchronous then. Ranges
//   in signal handlers are kept, except those that meet the recorder in its
//   slow path (about one in two thousand), which are counted as lost.
// Errors: none; what cannot be kept is counted in the trace's loss ledger.
// Compiled with KYMO_DISABLE defined, everything here is empty.
#ifndef KYMO_PROFILER_API_RECORD_FUNCTION_H_
#define KYMO_PROFILER_API_RECORD_FUNCTION_H_

#include <concepts>
#include <initializer_list>
#include <string_view>
#include <type_traits>
#include <utility>

#include "profiler/base/record_scope.h"
#include "profiler/record/range.h"

namespace kymo {

// A string literal; anything else does not compile. Text that is only known at
// run time goes through std::string_view.
using Literal = record::Literal;

// {"key", value} with a literal key and an integer, double or text value.
using Arg = record::Arg;

// Text that is not a literal.
template <typename T>
concept DynamicText =
    std::convertible_to<const T&, std::string_view> && !std::is_array_v<T>;

#ifndef KYMO_DISABLE

// The time from its making to its end of life, or End().
class RecordFunction {
 public:
  explicit RecordFunction(Literal name,
                          RecordScope scope = RecordScope::kFunction) noexcept {
    if (record::IsOn()) [[unlikely]] {
      record::BeginRange(range_, name, static_cast<uint8_t>(scope));
    }
  }
  RecordFunction(Literal name, std::initializer_list<Arg> args) noexcept
      : RecordFunction(name, RecordScope::kFunction, args) {}
  RecordFunction(Literal name, RecordScope scope,
                 std::initializer_list<Arg> args) noexcept {
    if (record::IsOn()) [[unlikely]]
      Begin(name, {}, scope, args);
  }

  template <DynamicText Text>
  explicit RecordFunction(const Text& name,
                          RecordScope scope = RecordScope::kFunction,
                          std::initializer_list<Arg> args = {}) noexcept {
    if (record::IsOn()) [[unlikely]]
      Begin({}, name, scope, args);
  }
  template <DynamicText Text>
  RecordFunction(const Text& name, std::initializer_list<Arg> args) noexcept
      : RecordFunction(name, RecordScope::kFunction, args) {}

  RecordFunction(const RecordFunction&) = delete;
  RecordFunction& operator=(const RecordFunction&) = delete;
  ~RecordFunction() { record::EndRange(range_); }

  // Adds to a range that is open; does nothing after its end.
  template <typename Value>
  void AddArg(Literal key, const Value& value) noexcept {
    if (range_.slot == nullptr) [[likely]]
      return;
    const Arg arg(key, value);
    record::AddArgs(range_, &arg, 1);
  }

  // Ends the range before its scope does; further calls do nothing.
  void End() noexcept { record::EndRange(range_); }

  // Whether this range is being recorded: for arguments that are dear to make.
  bool is_active() const noexcept { return range_.slot != nullptr; }

 private:
  void Begin(Literal name, std::string_view dynamic_name, RecordScope scope,
             std::initializer_list<Arg> args) noexcept {
    record::BeginRangeWithPayload(range_, name, dynamic_name,
                                  static_cast<uint8_t>(scope), args.begin(),
                                  args.size());
  }

  record::OpenRange range_;
};

// A point in time.
inline void Instant(Literal name,
                    std::initializer_list<Arg> args = {}) noexcept {
  if (record::IsOn()) [[unlikely]] {
    record::RecordInstant(name, {}, args.begin(), args.size());
  }
}
template <DynamicText Text>
void Instant(const Text& name, std::initializer_list<Arg> args = {}) noexcept {
  if (record::IsOn()) [[unlikely]] {
    record::RecordInstant({}, name, args.begin(), args.size());
  }
}

// The value of a counter from now on.
inline void Counter(Literal name, double value) noexcept {
  if (record::IsOn()) [[unlikely]]
    record::RecordCounter(name, value);
}

// The calling thread's name in traces (up to 64 bytes) and, cut to 15, in the
// system's own tools.
void SetThreadName(std::string_view name) noexcept;

// Whether somebody is recording this process now.
inline bool IsProfilerEnabled() noexcept { return record::IsRecording(); }

#else  // KYMO_DISABLE

class RecordFunction {
 public:
  template <typename... Args>
  explicit RecordFunction(Literal, Args&&...) noexcept {}
  RecordFunction(Literal, std::initializer_list<Arg>) noexcept {}
  RecordFunction(Literal, RecordScope, std::initializer_list<Arg>) noexcept {}
  template <DynamicText Text>
  explicit RecordFunction(const Text&, RecordScope = RecordScope::kFunction,
                          std::initializer_list<Arg> = {}) noexcept {}
  template <DynamicText Text>
  RecordFunction(const Text&, std::initializer_list<Arg>) noexcept {}
  RecordFunction(const RecordFunction&) = delete;
  RecordFunction& operator=(const RecordFunction&) = delete;
  ~RecordFunction() {}
  template <typename Value>
  void AddArg(Literal, const Value&) noexcept {}
  void End() noexcept {}
  bool is_active() const noexcept { return false; }
};

inline void Instant(Literal, std::initializer_list<Arg> = {}) noexcept {}
template <DynamicText Text>
void Instant(const Text&, std::initializer_list<Arg> = {}) noexcept {}
inline void Counter(Literal, double) noexcept {}
inline void SetThreadName(std::string_view) noexcept {}
inline bool IsProfilerEnabled() noexcept { return false; }

#endif  // KYMO_DISABLE

// A callable that does what `callable` does, within a range.
//   auto step = kymo::Recorded("step", [&](int i) { ... });
template <typename Callable>
auto Recorded(Literal name, Callable callable) {
  return [name, callable = std::move(callable)](
             auto&&... args) mutable -> decltype(auto) {
    RecordFunction range(name);
    return callable(std::forward<decltype(args)>(args)...);
  };
}

}  // namespace kymo

#define KYMO_CONCAT_INNER_(a, b) a##b
#define KYMO_CONCAT_(a, b) KYMO_CONCAT_INNER_(a, b)

// A range until the end of the scope; takes what RecordFunction takes.
#define KYMO_RECORD_FUNCTION(...) \
  const ::kymo::RecordFunction KYMO_CONCAT_(kymo_range_, __LINE__)(__VA_ARGS__)

#endif  // KYMO_PROFILER_API_RECORD_FUNCTION_H_
