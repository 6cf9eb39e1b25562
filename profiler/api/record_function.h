// record_function.h - annotate a program.
//
//   #include "kymo/record_function.h"
//
//   Tensor MatMul(const Tensor& a, const Tensor& b) {
//     KYMO_RECORD_OP("matmul", a, b);               // with its inputs
//     ...
//   }
//   void Forward(const Batch& batch) {
//     KYMO_RECORD_FUNCTION("forward");              // until the scope's end
//     {
//       kymo::RecordFunction range("attention", {{"heads", 8}});
//       ...
//     }
//     kymo::Instant("weights loaded");
//     kymo::Counter("queue length", queue.size());
//   }
//
// Names are string literals: they cost a pointer. A name that is made at run
// time (std::string, std::string_view, const char*) is copied into the record.
//
// Inputs: what an operation was given, kept by sessions with record_shapes. A
//   program teaches Kymo its own tensor type with one function beside it:
//
//     kymo::Input KymoInput(const Tensor& t) {
//       return kymo::TensorMeta{.sizes = t.sizes(),
//                               .dtype = kymo::DType::kFloat};
//     }
//
// Cost: with nothing recording, one load and a branch. While a session records
//   (kymo::Profile, or //tools:profile around the program), two clock reads and
//   a 32-byte store; see docs/overhead.md. Nothing allocates, locks or throws,
//   unless callbacks are registered (callbacks.h).
// Threads: any thread, born and gone at any time. A range belongs to the thread
//   that begins it and may end on another one; it is asynchronous then. Ranges
//   in signal handlers are kept, except those that meet the recorder in its
//   slow path (about one in two thousand), which are counted as lost.
// Errors: none; what cannot be kept is counted in the trace's loss ledger.
// Compiled with KYMO_DISABLE defined, everything here is empty.
#ifndef KYMO_PROFILER_API_RECORD_FUNCTION_H_
#define KYMO_PROFILER_API_RECORD_FUNCTION_H_

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "profiler/base/op_inputs.h"
#include "profiler/base/record_scope.h"
#include "profiler/record/range.h"

namespace kymo {

// A string literal; anything else does not compile. Text that is only known at
// run time goes through std::string_view.
using Literal = record::Literal;

// {"key", value} with a literal key and an integer, double or text value: what
// PyTorch calls a keyword input. Kept by every session.
using Arg = record::Arg;

// Text that is not a literal.
template <typename T>
concept DynamicText =
    std::convertible_to<const T&, std::string_view> && !std::is_array_v<T>;

// Anything that can stand among the inputs of an operation: what converts to
// Input (numbers, bools, text, spans, TensorMeta), and types with a function
// KymoInput(const T&) beside them.
template <typename T>
constexpr Input ToInput(const T& value) noexcept {
  if constexpr (std::convertible_to<const T&, Input>) {
    return value;
  } else {
    return KymoInput(value);
  }
}

// The inputs of one operation; borrowed, so make them in the call.
template <typename... T>
constexpr std::array<Input, sizeof...(T)> Inputs(const T&... values) noexcept {
  return {ToInput(values)...};
}

// What an operation may say about itself beside its name.
struct OperationInfo {
  RecordScope scope = RecordScope::kFunction;
  std::span<const Input> inputs;
  std::span<const Arg> args;  // keyword inputs
  Literal overload_name;
  // Links a backward operation to its forward one: both carry the number, and
  // the backward one the thread (CurrentThreadId) on which forward ran.
  int64_t sequence_nr = -1;
  uint64_t forward_thread_id = 0;
  // For a program that maps operations to its own places; -1 = none.
  int64_t debug_handle = -1;
  // Ends at a time that has nothing to do with the thread it begins on: no
  // parent, no children, no self time.
  bool is_async = false;
};

#ifndef KYMO_DISABLE

namespace internal {
// A range that callbacks watch; see callbacks.h.
struct ObservedCall;

// What a RecordFunction holds; see RecordFunction::Detach.
struct OpenOperation {
  record::OpenRange range;
  ObservedCall* observed = nullptr;
};

// Operations travel by value: one whose address is not taken lives in
// registers, and costs nothing where nobody records.
OpenOperation BeginOperation(Literal name, std::string_view dynamic_name,
                             const OperationInfo& info) noexcept;
void EndObserved(ObservedCall* call, std::span<const Input> outputs) noexcept;

inline void EndOperation(OpenOperation& operation,
                         std::span<const Input> outputs = {}) noexcept {
  record::EndRange(operation.range);
  if (operation.observed != nullptr) [[unlikely]] {
    EndObserved(operation.observed, outputs);
    operation.observed = nullptr;
  }
}
}  // namespace internal

// The time from its making to its end of life, or End().
class RecordFunction {
 public:
  // Inlined by force: out of line, the object lives in memory, and a range that
  // nobody records costs four times as much.
  __attribute__((always_inline)) explicit RecordFunction(
      Literal name, RecordScope scope = RecordScope::kFunction) noexcept {
    const uint32_t bits = record::GateBits();
    if (bits == record::kGateOff) [[likely]]
      return;
    if ((bits & ~record::kNotForPlainRanges) == record::kGateOn) [[likely]] {
      record::BeginRange(operation_.range, name, scope);
    } else {
      operation_ = internal::BeginOperation(name, {}, {.scope = scope});
    }
  }
  RecordFunction(Literal name, std::initializer_list<Arg> args) noexcept
      : RecordFunction(name, RecordScope::kFunction, args) {}
  RecordFunction(Literal name, RecordScope scope,
                 std::initializer_list<Arg> args) noexcept {
    if (record::GateBits() != record::kGateOff) [[unlikely]]
      Begin(name, {}, scope, args);
  }

  // With its inputs, made by `inputs` (such as [&] { return Inputs(a, b); })
  // only where somebody records; KYMO_RECORD_OP writes that.
  template <typename MakeInputs>
  requires std::invocable<MakeInputs&> RecordFunction(
      Literal name, MakeInputs&& inputs,
      RecordScope scope = RecordScope::kFunction)
  noexcept {
    if (record::GateBits() != record::kGateOff) [[unlikely]] {
      const auto& made = inputs();
      operation_ =
          internal::BeginOperation(name, {}, {.scope = scope, .inputs = made});
    }
  }

  // With everything that there is to say.
  RecordFunction(Literal name, const OperationInfo& info) noexcept {
    if (record::GateBits() != record::kGateOff) [[unlikely]]
      operation_ = internal::BeginOperation(name, {}, info);
  }

  template <DynamicText Text>
  explicit RecordFunction(const Text& name,
                          RecordScope scope = RecordScope::kFunction,
                          std::initializer_list<Arg> args = {}) noexcept {
    if (record::GateBits() != record::kGateOff) [[unlikely]]
      Begin({}, name, scope, args);
  }
  template <DynamicText Text>
  RecordFunction(const Text& name, std::initializer_list<Arg> args) noexcept
      : RecordFunction(name, RecordScope::kFunction, args) {}
  template <DynamicText Text>
  RecordFunction(const Text& name, const OperationInfo& info) noexcept {
    if (record::GateBits() != record::kGateOff) [[unlikely]]
      operation_ = internal::BeginOperation({}, name, info);
  }

  RecordFunction(const RecordFunction&) = delete;
  RecordFunction& operator=(const RecordFunction&) = delete;
  ~RecordFunction() { internal::EndOperation(operation_); }

  // Adds to a range that is open; does nothing after its end.
  template <typename Value>
  void AddArg(Literal key, const Value& value) noexcept {
    if (operation_.range.slot == nullptr) [[likely]]
      return;
    const Arg arg(key, value);
    record::AddArgs(operation_.range, &arg, 1);
  }

  // Ends the range before its scope does; further calls do nothing. From any
  // thread. Callbacks that need outputs get `outputs`.
  void End(std::span<const Input> outputs = {}) noexcept {
    internal::EndOperation(operation_, outputs);
  }

  // Whether this range is being recorded: for arguments that are dear to make.
  bool is_active() const noexcept { return operation_.range.slot != nullptr; }

  // Takes the range away, for somebody who ends it later (future.h).
  internal::OpenOperation Detach() noexcept {
    return std::exchange(operation_, internal::OpenOperation());
  }

 private:
  void Begin(Literal name, std::string_view dynamic_name, RecordScope scope,
             std::initializer_list<Arg> args) noexcept {
    if ((record::GateBits() & ~record::kNotForPlainRanges) == record::kGateOn) {
      record::BeginRangeWithPayload(operation_.range, name, dynamic_name, scope,
                                    args.begin(), args.size());
    } else {
      operation_ = internal::BeginOperation(
          name, dynamic_name,
          {.scope = scope, .args = {args.begin(), args.size()}});
    }
  }

  internal::OpenOperation operation_;
};

// A module (a layer, a component) at work, until the scope's end. Sessions with
// with_modules keep it, and give the operations below it a module hierarchy:
// the entries of all modules around them, outermost first.
//   kymo::RecordModule module("encoder(Transformer).forward");
class RecordModule {
 public:
  explicit RecordModule(Literal entry) noexcept {
    if (record::GateBits() & record::kGateModules) [[unlikely]] {
      record::BeginRangeWithDetails(range_, entry, {}, RecordScope::kFunction,
                                    {.flags = record::kSlotModule});
    }
  }
  template <DynamicText Text>
  explicit RecordModule(const Text& entry) noexcept {
    if (record::GateBits() & record::kGateModules) [[unlikely]] {
      record::BeginRangeWithDetails(range_, {}, entry, RecordScope::kFunction,
                                    {.flags = record::kSlotModule});
    }
  }
  RecordModule(const RecordModule&) = delete;
  RecordModule& operator=(const RecordModule&) = delete;
  ~RecordModule() { record::EndRange(range_); }

 private:
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

// PyTorch's thread id: the threads of a process, counted from 1 in the order in
// which they first record or ask. What forward_thread_id takes.
inline uint64_t CurrentThreadId() noexcept { return record::LogicalThreadId(); }

#else  // KYMO_DISABLE

namespace internal {
struct OpenOperation {};
inline void EndOperation(OpenOperation&, std::span<const Input> = {}) noexcept {
}
}  // namespace internal

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
  template <DynamicText Text>
  RecordFunction(const Text&, const OperationInfo&) noexcept {}
  RecordFunction(const RecordFunction&) = delete;
  RecordFunction& operator=(const RecordFunction&) = delete;
  ~RecordFunction() {}
  template <typename Value>
  void AddArg(Literal, const Value&) noexcept {}
  void End(std::span<const Input> = {}) noexcept {}
  bool is_active() const noexcept { return false; }
  internal::OpenOperation Detach() noexcept { return {}; }
};

class RecordModule {
 public:
  explicit RecordModule(Literal) noexcept {}
  template <DynamicText Text>
  explicit RecordModule(const Text&) noexcept {}
  RecordModule(const RecordModule&) = delete;
  RecordModule& operator=(const RecordModule&) = delete;
  ~RecordModule() {}
};

inline void Instant(Literal, std::initializer_list<Arg> = {}) noexcept {}
template <DynamicText Text>
void Instant(const Text&, std::initializer_list<Arg> = {}) noexcept {}
inline void Counter(Literal, double) noexcept {}
inline void SetThreadName(std::string_view) noexcept {}
inline bool IsProfilerEnabled() noexcept { return false; }
inline uint64_t CurrentThreadId() noexcept { return 0; }

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

// The same with inputs, which are made only where somebody records.
#define KYMO_RECORD_OP(name, ...)                                   \
  const ::kymo::RecordFunction KYMO_CONCAT_(kymo_range_, __LINE__)( \
      name, [&] { return ::kymo::Inputs(__VA_ARGS__); })

#endif  // KYMO_PROFILER_API_RECORD_FUNCTION_H_
