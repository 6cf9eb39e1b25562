// record_function.h - annotate a program with ranges, instants and counters.
//
//   #include "kymo/record_function.h"
//
//   KYMO_RECORD_FUNCTION("forward");               // until the scope ends
//   KYMO_RECORD_OP("scale", 64, 0.5);              // with its inputs
//   {
//     kymo::RecordFunction range("attention", {{"heads", 8}});
//     Work();
//   }
//   kymo::Instant("weights loaded");
//   kymo::Counter("queue length", batches.size());
//
// Sessions (profile.h) and //tools:profile record what is annotated.
//
// Names: a name is usually a string literal, which costs a pointer. A name that
//   is made at run time (std::string, std::string_view, const char*) is copied
//   into the record.
// Inputs: sessions with record_shapes keep the inputs of operations. To teach
//   Kymo a tensor type of yours, write this beside it, at namespace scope:
//
//   struct Matrix {
//     std::vector<int64_t> sizes;
//   };
//   kymo::Input KymoInput(const Matrix& matrix) {
//     return kymo::TensorMeta{.sizes = matrix.sizes,
//                             .dtype = kymo::DType::kFloat};
//   }
//   void Multiply(const Matrix& a, const Matrix& b) {
//     KYMO_RECORD_OP("multiply", a, b);
//   }
//
// Threads: any thread, at any time of its life. A range belongs to the thread
//   that begins it. It may end on another thread; then it is asynchronous.
//   Ranges in signal handlers are recorded. The exception is a signal that
//   interrupts the recorder's slow path (about one in two thousand): its ranges
//   are lost and counted.
// Errors:  none; the trace's loss ledger counts what could not be kept.
// Cost:    one load and a branch while nothing records. While a session
//   records, two clock reads and a 32-byte store; see docs/overhead.md. Nothing
//   allocates, locks or throws unless callbacks are registered (callbacks.h).
// With KYMO_DISABLE defined, everything in this header is empty.
#ifndef KYMO_PROFILER_API_RECORD_FUNCTION_H_
#define KYMO_PROFILER_API_RECORD_FUNCTION_H_

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "profiler/base/op_inputs.h"
#include "profiler/base/record_scope.h"
#include "profiler/record/range.h"

namespace kymo {

// A string literal; anything else does not compile. Pass text that is made at
// run time as std::string_view.
using Literal = record::Literal;

// {"key", value}: the key is a literal, the value an integer, a double or a
// text. PyTorch calls it a keyword input. Every session keeps it.
using Arg = record::Arg;

// Text that is not a literal.
template <typename T>
concept DynamicText =
    std::convertible_to<const T&, std::string_view> && !std::is_array_v<T>;

// Makes an Input of a value. The value's type converts to Input (numbers,
// bools, text, spans, TensorMeta), or has a function KymoInput(const T&) beside
// it.
template <typename T>
constexpr Input ToInput(const T& value) noexcept {
  if constexpr (std::convertible_to<const T&, Input>) {
    return value;
  } else {
    return KymoInput(value);
  }
}

// The inputs of one operation. They borrow the values, so make them in the
// call.
template <typename... T>
constexpr std::array<Input, sizeof...(T)> Inputs(const T&... values) noexcept {
  return {ToInput(values)...};
}

// Everything that an operation may tell about itself besides its name.
struct OperationInfo {
  RecordScope scope = RecordScope::kFunction;
  std::span<const Input> inputs;
  std::span<const Arg> args;  // keyword inputs
  Literal overload_name;      // kept with capture_overload_names
  // Links a backward operation to its forward one. Both carry the number; the
  // backward one also carries the thread (CurrentThreadId) that ran the forward
  // one. See sequence_number.h.
  int64_t sequence_nr = -1;
  uint64_t forward_thread_id = 0;
  // A number of the program's own, for example a place in its source; -1: none.
  int64_t debug_handle = -1;
  // The operation's end does not depend on the thread that begins it. It has no
  // parent, no children and no self time.
  bool is_async = false;
};

#ifndef KYMO_DISABLE

namespace internal {
// A range that callbacks observe; see callbacks.h.
struct ObservedCall;

// The state of a RecordFunction; see RecordFunction::Detach.
struct OpenOperation {
  record::OpenRange range;
  ObservedCall* observed = nullptr;
};

// Operations are passed by value. An object whose address is not taken lives in
// registers, so it costs nothing while nobody records.
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

// A range: it begins with the object and ends with it, or at End().
class RecordFunction {
 public:
  // Always inlined: out of line, the object lives in memory, and a range costs
  // four times as much while nobody records.
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

  // With inputs, which the function `inputs` returns. It is called only while
  // somebody records. KYMO_RECORD_OP passes [&] { return Inputs(a, b); }.
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

  // With all that OperationInfo has.
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

  // Adds an argument to an open range; does nothing after its end.
  template <typename Value>
  void AddArg(Literal key, const Value& value) noexcept {
    if (operation_.range.slot == nullptr) [[likely]]
      return;
    const Arg arg(key, value);
    record::AddArgs(operation_.range, &arg, 1);
  }

  // Ends the range before its scope ends. Further calls do nothing. Any thread
  // may call it. Callbacks that need outputs get `outputs`.
  void End(std::span<const Input> outputs = {}) noexcept {
    internal::EndOperation(operation_, outputs);
  }

  // Whether this range is recorded. Ask before you make expensive arguments.
  bool is_active() const noexcept { return operation_.range.slot != nullptr; }

  // Takes the range out of this object; the caller ends it later (future.h).
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

// A range of a module (a layer, a component), until the scope ends:
//
//   kymo::RecordModule module("encoder(Transformer).forward");
//
// Sessions with with_modules keep it. They also give each operation within it a
// module hierarchy: the entries of all modules around it, outermost first.
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

// Records a point in time.
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

// Records the value that a counter has from now on.
inline void Counter(Literal name, double value) noexcept {
  if (record::IsOn()) [[unlikely]]
    record::RecordCounter(name, value);
}

// Names the calling thread. Traces show up to 64 bytes, the system's own tools
// up to 15; the rest is cut off.
void SetThreadName(std::string_view name) noexcept;

// Whether anybody records this process now.
inline bool IsProfilerEnabled() noexcept { return record::IsRecording(); }

// PyTorch's thread id, for forward_thread_id. Threads of a process are numbered
// from 1, in the order in which they first record or call this.
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

// Returns a callable that calls `callable` within a range. It is PyTorch's
// record_function as a decorator, with its scope:
//
//   auto step = kymo::Recorded("step", [&](int i) { Work(i); });
//
// Each call has a range of its own. So the result may call itself, and several
// threads may call it if they may call `callable`.
template <typename Callable>
auto Recorded(Literal name, Callable callable,
              RecordScope scope = RecordScope::kUserScope) {
  return [name, scope, callable = std::move(callable)](
             auto&&... args) mutable -> decltype(auto) {
    const RecordFunction range(name, scope);
    return callable(std::forward<decltype(args)>(args)...);
  };
}
// The same with a name that is made at run time. The result keeps a copy of it.
template <DynamicText Text, typename Callable>
auto Recorded(const Text& name, Callable callable,
              RecordScope scope = RecordScope::kUserScope) {
  return [name = std::string(std::string_view(name)), scope,
          callable =
              std::move(callable)](auto&&... args) mutable -> decltype(auto) {
    const RecordFunction range(name, scope);
    return callable(std::forward<decltype(args)>(args)...);
  };
}

}  // namespace kymo

#define KYMO_CONCAT_INNER_(a, b) a##b
#define KYMO_CONCAT_(a, b) KYMO_CONCAT_INNER_(a, b)

// A range until the scope ends. Takes the arguments of RecordFunction.
#define KYMO_RECORD_FUNCTION(...) \
  const ::kymo::RecordFunction KYMO_CONCAT_(kymo_range_, __LINE__)(__VA_ARGS__)

// The same with inputs, which are made only while somebody records.
#define KYMO_RECORD_OP(name, ...)                                   \
  const ::kymo::RecordFunction KYMO_CONCAT_(kymo_range_, __LINE__)( \
      name, [&] { return ::kymo::Inputs(__VA_ARGS__); })

#endif  // KYMO_PROFILER_API_RECORD_FUNCTION_H_
