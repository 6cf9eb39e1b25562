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
//   into the record. A null pointer to a text is "(no name)", here and in
//   arguments and inputs. std::make_unique, emplace and the like do not hand
//   literals on: write kymo::Literal("name") there.
// Inputs: sessions with record_shapes keep the inputs of operations: numbers,
//   text, and lists of int64_t, double and bool. To teach Kymo a tensor type of
//   yours, write this beside it, at namespace scope:
//
//   struct Matrix {
//     int64_t rows, columns;
//   };
//   kymo::TensorMeta KymoInput(const Matrix& matrix) {
//     return {.sizes = {matrix.rows, matrix.columns},
//             .dtype = kymo::DType::kFloat};
//   }
//   void Multiply(const Matrix& a, const Matrix& b) {
//     KYMO_RECORD_OP("multiply", a, b);
//   }
//
// Threads: any thread, at any time of its life. A range belongs to the thread
//   that begins it. It may end on another thread; then it is asynchronous:
//     auto range =
//         std::make_unique<kymo::RecordFunction>(kymo::Literal("request"));
//     queue.Push({request, std::move(range)});   // whoever resets it ends it
//   So is a range that is still open when its thread has ended, also one that a
//   longjmp() skipped.
//   Ranges in signal handlers are recorded. The exception is a signal that
//   interrupts the recorder's slow path (about one in two thousand): its ranges
//   are lost and counted.
// Errors:  none; the trace's loss ledger counts what could not be kept.
// Cost:    one load and a branch while nothing records. While a session
//   records, two clock reads and a 32-byte store; see docs/overhead.md. Nothing
//   allocates, locks or throws unless callbacks are registered (callbacks.h).
// With KYMO_DISABLE defined, everything in this header is empty.
//
// Long, because it is all that a program needs to annotate itself, with no
// other library behind it.
#ifndef KYMO_PROFILER_API_RECORD_FUNCTION_H_
#define KYMO_PROFILER_API_RECORD_FUNCTION_H_

#if __cplusplus < 202002L
#error "Kymo needs C++20: -std=c++20 (in Bazel --cxxopt=-std=c++20)"
// Not there: it ends the compilation before hundreds of other errors.
#include <kymo_needs_c++20>
#endif

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
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

namespace internal {

// The text of a name. A null pointer is "(no name)".
template <DynamicText Text>
constexpr std::string_view TextOf(const Text& text) noexcept {
  if constexpr (std::convertible_to<const Text&, const char*>) {
    return TextAt(text);
  } else {
    return text;
  }
}

template <typename T>
concept HasKymoInput = requires(const T& value) {
  KymoInput(value);
};

// A result of KymoInput that borrows nothing from what ends with KymoInput.
template <typename T>
concept IsOwnInput = std::same_as<T, TensorMeta> || std::is_arithmetic_v<T> ||
    std::same_as<T, std::optional<TensorMeta>>;

// Lists that an Input borrows, as a std::vector or an array has them.
template <typename T, typename Element>
concept ListOf = std::convertible_to<const T&, std::span<const Element>>;
template <typename T>
concept InputList = ListOf<T, int64_t> || ListOf<T, double> ||
    ListOf<T, bool> || ListOf<T, TensorMeta>;

// A value that dies with the call of Inputs, and whose Input would borrow from
// it. T is as in a forwarding reference.
template <typename T>
concept IsBorrowedTemporary =
    !std::is_lvalue_reference_v<T> && !HasKymoInput<T> &&
    (DynamicText<T> || InputList<T>);

}  // namespace internal

// Makes an Input of a value: a number, a bool, a text, a TensorMeta, a list of
// int64_t, double, bool or TensorMeta, or a value with a function KymoInput
// beside it. KymoInput(const T&) returns a TensorMeta, a std::optional of one
// (without a value: an undefined tensor), or a number. Text and lists are
// borrowed.
template <typename T>
constexpr Input ToInput(const T& value) noexcept {
  if constexpr (internal::HasKymoInput<T>) {
    using Made = std::remove_cvref_t<decltype(KymoInput(value))>;
    static_assert(
        internal::IsOwnInput<Made>,
        "KymoInput must return a kymo::TensorMeta, a "
        "std::optional<kymo::TensorMeta> or a number. Anything else could "
        "refer to what ends with KymoInput.");
    if constexpr (std::same_as<Made, std::optional<TensorMeta>>) {
      const Made made = KymoInput(value);
      return made ? Input(*made) : Input::UndefinedTensor();
    } else if constexpr (internal::IsOwnInput<Made>) {
      return Input(KymoInput(value));
    } else {
      return {};
    }
  } else if constexpr (std::convertible_to<const T&, Input>) {
    return value;
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    return Input(std::string_view(value));
  } else if constexpr (internal::ListOf<T, int64_t>) {
    return Input(std::span<const int64_t>(value));
  } else if constexpr (internal::ListOf<T, double>) {
    return Input(std::span<const double>(value));
  } else if constexpr (internal::ListOf<T, bool>) {
    return Input(std::span<const bool>(value));
  } else if constexpr (internal::ListOf<T, TensorMeta>) {
    return Input(std::span<const TensorMeta>(value));
  } else {
    static_assert(!std::same_as<T, T>,
                  "Kymo cannot record this type as an input. Write "
                  "`kymo::TensorMeta KymoInput(const T&)` in the namespace of "
                  "the type T; see kymo/record_function.h.");
    return {};
  }
}

namespace internal {

// Inputs of which some borrow from temporaries; it keeps these.
template <typename... T>
class HeldInputs {
 public:
  constexpr explicit HeldInputs(T&&... values) noexcept
      : values_(std::forward<T>(values)...),
        inputs_(std::apply(
            [](const auto&... held) {
              return std::array<Input, sizeof...(T)>{ToInput(held)...};
            },
            values_)) {}
  // The inputs point into it.
  HeldInputs(const HeldInputs&) = delete;
  HeldInputs& operator=(const HeldInputs&) = delete;

  constexpr const Input* data() const noexcept { return inputs_.data(); }
  constexpr size_t size() const noexcept { return inputs_.size(); }
  constexpr const Input* begin() const noexcept { return data(); }
  constexpr const Input* end() const noexcept { return data() + size(); }

 private:
  std::tuple<std::conditional_t<IsBorrowedTemporary<T>, std::remove_cv_t<T>,
                                const std::remove_reference_t<T>&>...>
      values_;
  std::array<Input, sizeof...(T)> inputs_;
};

}  // namespace internal

// The inputs of one operation, as a range of Input. They borrow text and lists
// that have a name; temporary ones they keep.
template <typename... T>
constexpr auto Inputs(T&&... values) noexcept {
  if constexpr ((internal::IsBorrowedTemporary<T> || ...)) {
    return internal::HeldInputs<T...>(std::forward<T>(values)...);
  } else {
    return std::array<Input, sizeof...(T)>{ToInput(values)...};
  }
}

// Everything that an operation may tell about itself besides its name.
struct OperationInfo {
  RecordScope scope = RecordScope::kFunction;
  std::span<const Input> inputs = {};
  std::span<const Arg> args = {};  // keyword inputs
  Literal overload_name = {};      // kept with capture_overload_names
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

// Bits of the gate that ask for inputs. A gate that is not resolved may.
inline constexpr uint32_t kWantsInputs =
    record::kGateInputs | record::kGateObserved | record::kGateUnresolved;

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

// With inputs, if somebody wants them. Inlined by force: the operation's stack
// begins with the caller of BeginOperation.
template <typename MakeInputs>
__attribute__((always_inline)) inline OpenOperation BeginWithInputs(
    Literal name, std::string_view dynamic_name, RecordScope scope,
    MakeInputs& inputs) noexcept {
  if ((record::GateBits() & kWantsInputs) == 0) {
    return BeginOperation(name, dynamic_name, {.scope = scope});
  }
  const auto& made = inputs();
  return BeginOperation(name, dynamic_name, {.scope = scope, .inputs = made});
}

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
  [[nodiscard]] __attribute__((always_inline)) explicit RecordFunction(
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
  [[nodiscard]] RecordFunction(Literal name,
                               std::initializer_list<Arg> args) noexcept
      : RecordFunction(name, RecordScope::kFunction, args) {}
  [[nodiscard]] RecordFunction(Literal name, RecordScope scope,
                               std::initializer_list<Arg> args) noexcept {
    if (record::GateBits() != record::kGateOff) [[unlikely]]
      Begin(name, {}, scope, args);
  }

  // With inputs, which the function `inputs` returns. It is called only while
  // somebody wants inputs. KYMO_RECORD_OP passes [&] { return Inputs(a, b); }.
  template <std::invocable MakeInputs>
  [[nodiscard]] RecordFunction(
      Literal name, MakeInputs&& inputs,
      RecordScope scope = RecordScope::kFunction) noexcept {
    if (record::GateBits() != record::kGateOff) [[unlikely]] {
      operation_ = internal::BeginWithInputs(name, {}, scope, inputs);
    }
  }
  template <DynamicText Text, std::invocable MakeInputs>
  [[nodiscard]] RecordFunction(
      const Text& name, MakeInputs&& inputs,
      RecordScope scope = RecordScope::kFunction) noexcept {
    if (record::GateBits() != record::kGateOff) [[unlikely]] {
      operation_ =
          internal::BeginWithInputs({}, internal::TextOf(name), scope, inputs);
    }
  }

  // With all that OperationInfo has.
  [[nodiscard]] RecordFunction(Literal name,
                               const OperationInfo& info) noexcept {
    if (record::GateBits() != record::kGateOff) [[unlikely]]
      operation_ = internal::BeginOperation(name, {}, info);
  }

  template <DynamicText Text>
  [[nodiscard]] explicit RecordFunction(
      const Text& name, RecordScope scope = RecordScope::kFunction,
      std::initializer_list<Arg> args = {}) noexcept {
    if (record::GateBits() != record::kGateOff) [[unlikely]]
      Begin({}, internal::TextOf(name), scope, args);
  }
  template <DynamicText Text>
  [[nodiscard]] RecordFunction(const Text& name,
                               std::initializer_list<Arg> args) noexcept
      : RecordFunction(name, RecordScope::kFunction, args) {}
  template <DynamicText Text>
  [[nodiscard]] RecordFunction(const Text& name,
                               const OperationInfo& info) noexcept {
    if (record::GateBits() != record::kGateOff) [[unlikely]]
      operation_ = internal::BeginOperation({}, internal::TextOf(name), info);
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
  [[nodiscard]] explicit RecordModule(Literal entry) noexcept {
    if (record::GateBits() & record::kGateModules) [[unlikely]] {
      record::BeginRangeWithDetails(range_, entry, {}, RecordScope::kFunction,
                                    {.flags = record::kSlotModule});
    }
  }
  template <DynamicText Text>
  [[nodiscard]] explicit RecordModule(const Text& entry) noexcept {
    if (record::GateBits() & record::kGateModules) [[unlikely]] {
      record::BeginRangeWithDetails(range_, {}, internal::TextOf(entry),
                                    RecordScope::kFunction,
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
    record::RecordInstant({}, internal::TextOf(name), args.begin(),
                          args.size());
  }
}

// Records the value that a counter has from now on: any number.
inline void Counter(Literal name, double value) noexcept {
  if (record::IsOn()) [[unlikely]]
    record::RecordCounter(name, value);
}
template <typename Value>
requires std::is_arithmetic_v<Value>
void Counter(Literal name, Value value) noexcept {
  Counter(name, static_cast<double>(value));
}
template <DynamicText Text>
void Counter(const Text& name, double value) noexcept {
  if (record::IsOn()) [[unlikely]]
    record::RecordCounter(internal::TextOf(name), value);
}

template <DynamicText Text, typename Value>
requires std::is_arithmetic_v<Value>
void Counter(const Text& name, Value value) noexcept {
  Counter(name, static_cast<double>(value));
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
  [[nodiscard]] explicit RecordFunction(Literal, Args&&...) noexcept {}
  [[nodiscard]] RecordFunction(Literal, std::initializer_list<Arg>) noexcept {}
  [[nodiscard]] RecordFunction(Literal, RecordScope,
                               std::initializer_list<Arg>) noexcept {}
  [[nodiscard]] RecordFunction(Literal, const OperationInfo&) noexcept {}
  template <DynamicText Text>
  [[nodiscard]] explicit RecordFunction(
      const Text&, RecordScope = RecordScope::kFunction,
      std::initializer_list<Arg> = {}) noexcept {}
  template <DynamicText Text>
  [[nodiscard]] RecordFunction(const Text&,
                               std::initializer_list<Arg>) noexcept {}
  template <DynamicText Text>
  [[nodiscard]] RecordFunction(const Text&, const OperationInfo&) noexcept {}
  template <DynamicText Text, std::invocable MakeInputs>
  [[nodiscard]] RecordFunction(const Text&, MakeInputs&&,
                               RecordScope = RecordScope::kFunction) noexcept {}
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
  [[nodiscard]] explicit RecordModule(Literal) noexcept {}
  template <DynamicText Text>
  [[nodiscard]] explicit RecordModule(const Text&) noexcept {}
  RecordModule(const RecordModule&) = delete;
  RecordModule& operator=(const RecordModule&) = delete;
  ~RecordModule() {}
};

inline void Instant(Literal, std::initializer_list<Arg> = {}) noexcept {}
template <DynamicText Text>
void Instant(const Text&, std::initializer_list<Arg> = {}) noexcept {}
inline void Counter(Literal, double) noexcept {}
template <typename Value>
requires std::is_arithmetic_v<Value>
void Counter(Literal, Value) noexcept {}
template <DynamicText Text>
void Counter(const Text&, double) noexcept {}
template <DynamicText Text, typename Value>
requires std::is_arithmetic_v<Value>
void Counter(const Text&, Value) noexcept {}
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
  return [name = std::string(internal::TextOf(name)), scope,
          callable =
              std::move(callable)](auto&&... args) mutable -> decltype(auto) {
    const RecordFunction range(name, scope);
    return callable(std::forward<decltype(args)>(args)...);
  };
}

}  // namespace kymo

#define KYMO_CONCAT_INNER_(a, b) a##b
#define KYMO_CONCAT_(a, b) KYMO_CONCAT_INNER_(a, b)

// A range until the scope ends. Takes the arguments of RecordFunction. One for
// each line: its variable is named after the line. With "=", since
// `RecordFunction range(std::string(name))` would declare a function.
#define KYMO_RECORD_FUNCTION(...)                                    \
  const ::kymo::RecordFunction KYMO_CONCAT_(kymo_range_, __LINE__) = \
      ::kymo::RecordFunction(__VA_ARGS__)

// The same with inputs, which are made only while somebody wants them.
#define KYMO_RECORD_OP(name, ...)                                   \
  const ::kymo::RecordFunction KYMO_CONCAT_(kymo_range_, __LINE__)( \
      name, [&] { return ::kymo::Inputs(__VA_ARGS__); })

#endif  // KYMO_PROFILER_API_RECORD_FUNCTION_H_
