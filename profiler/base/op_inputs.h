// op_inputs.h - the inputs of an operation, and how a record encodes them.
//
//   const kymo::Input inputs[] = {
//       kymo::TensorMeta{.sizes = {64, 32}, .dtype = kymo::DType::kFloat},
//       kymo::Input(1.0), kymo::Input()};
//   std::vector<char> buffer(kymo::EncodedInputBytes(inputs, 3));
//   kymo::EncodeInputs(inputs, 3, buffer.data());
//
// Programs need only Input and TensorMeta: record_function.h takes inputs, and
// the recorder encodes them.
//
// The encoding has an InputHeader for each input. The numbers of the input
// follow, 8 bytes each, or its text, which zeros pad to a multiple of 8 bytes.
// Equal inputs give equal bytes, so events can be grouped by their encoding.
//
//   | kind                     count      behind the header
//   | kTensor                  rank       sizes, then strides if has_strides
//   | kTensorList              tensors    `count` inputs of kind kTensor
//   | kInt, kDouble, kBool     1          the value (a bool as 0 or 1)
//   | kIntList, kDoubleList    values     the values
//   | kBoolList                values     the values as 0 or 1
//   | kString                  bytes      the text
//   | kNone, kUndefinedTensor  0          nothing
//
// Ownership: a tensor's sizes and strides are copied, so they may be temporary.
//   An Input borrows lists and text. They must live until the call that takes
//   the input has returned.
// Limits:    kMaxRank sizes. An operation with a tensor of a higher rank is
//   recorded without its inputs, and counted as arguments_truncated.
// Threads:   everything here is a value. Errors: none.
// Cost:      nothing allocates, and nothing needs linking.
//
// profiler/model/op_inputs.h reads the encoding.
//
// Long, because the types of inputs and their encoding make sense only
// together.
#ifndef KYMO_PROFILER_BASE_OP_INPUTS_H_
#define KYMO_PROFILER_BASE_OP_INPUTS_H_

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>
#include <type_traits>

namespace kymo {

// Element types, in the order of PyTorch's ScalarType where it has them.
enum class DType : uint8_t {
  kUnknown = 0,
  kUInt8,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kHalf,
  kFloat,
  kDouble,
  kComplexHalf,
  kComplexFloat,
  kComplexDouble,
  kBool,
  kBFloat16,
  kFloat8E5M2,
  kFloat8E4M3,
  kUInt16,
  kUInt32,
  kUInt64,
  kCount,
};

// The type's name in C++, as PyTorch's traces spell it: "float", "long int",
// "c10::BFloat16". Empty for kUnknown. The text is static.
constexpr std::string_view DTypeName(DType dtype) noexcept {
  constexpr std::string_view kNames[] = {
      "",
      "unsigned char",
      "signed char",
      "short int",
      "int",
      "long int",
      "c10::Half",
      "float",
      "double",
      "c10::complex<c10::Half>",
      "c10::complex<float>",
      "c10::complex<double>",
      "bool",
      "c10::BFloat16",
      "c10::Float8_e5m2",
      "c10::Float8_e4m3fn",
      "short unsigned int",
      "unsigned int",
      "long unsigned int",
  };
  static_assert(std::size(kNames) == static_cast<size_t>(DType::kCount));
  return dtype < DType::kCount ? kNames[static_cast<size_t>(dtype)] : "";
}

// The element type of a C++ type: DTypeOf<float> is DType::kFloat. kUnknown for
// types that have none.
template <typename T>
inline constexpr DType DTypeOf = std::same_as<T, bool>       ? DType::kBool
                                 : std::same_as<T, float>    ? DType::kFloat
                                 : std::same_as<T, double>   ? DType::kDouble
                                 : std::same_as<T, uint8_t>  ? DType::kUInt8
                                 : std::same_as<T, int8_t>   ? DType::kInt8
                                 : std::same_as<T, int16_t>  ? DType::kInt16
                                 : std::same_as<T, uint16_t> ? DType::kUInt16
                                 : std::same_as<T, int32_t>  ? DType::kInt32
                                 : std::same_as<T, uint32_t> ? DType::kUInt32
                                 : std::integral<T> && sizeof(T) == 8
                                     ? (std::signed_integral<T>
                                            ? DType::kInt64
                                            : DType::kUInt64)
                                     : DType::kUnknown;

enum class InputKind : uint8_t {
  kNone = 0,  // no value, or a value of a kind that is not recorded
  kTensor,
  kTensorList,
  kInt,
  kDouble,
  kBool,
  kIntList,
  kDoubleList,
  kBoolList,
  kString,
  kUndefinedTensor,
  kCount,
};

// The most sizes that a tensor's input has.
inline constexpr size_t kMaxRank = 8;

// Integers in a row: an array, a std::vector, a std::span and the like.
template <typename T>
concept IntegerList = !std::convertible_to<const T&, std::string_view> &&
                      requires(const T& list) {
  std::size(list);
  requires std::integral<std::remove_cvref_t<decltype(*std::begin(list))>>;
};

// A tensor's sizes or strides, by value: {rows, columns}, or a copy of a list.
class TensorSizes {
 public:
  constexpr TensorSizes() noexcept = default;
  template <std::integral... T>
  requires(sizeof...(T) >= 1 && sizeof...(T) <= kMaxRank) constexpr TensorSizes(
      T... sizes) noexcept  // NOLINT: implicit
      : rank_(sizeof...(T)) {
    size_t i = 0;
    ((sizes_[i++] = static_cast<int64_t>(sizes)), ...);
  }
  // Of a list that is longer than kMaxRank only the length is kept.
  template <IntegerList List>
  constexpr TensorSizes(const List& sizes) noexcept  // NOLINT: implicit
      : rank_(static_cast<uint32_t>(std::size(sizes))) {
    if (rank_ > kMaxRank) return;
    auto from = std::begin(sizes);
    for (uint32_t i = 0; i < rank_; ++i, ++from) {
      sizes_[i] = static_cast<int64_t>(*from);
    }
  }
  // Copies what there is, a word at a time. Copies of the whole array take ten
  // nanoseconds each: they wait for the stores of its single words.
  constexpr TensorSizes(const TensorSizes& other) noexcept { *this = other; }
  constexpr TensorSizes& operator=(const TensorSizes& other) noexcept {
    rank_ = other.rank_;
    borrowed_ = other.borrowed_;
    if (borrowed_ != nullptr || rank_ > kMaxRank) return *this;
    for (uint32_t i = 0; i < rank_; ++i) sizes_[i] = other.sizes_[i];
    return *this;
  }
  // Not a copy: `sizes`, of any length, must live as long as what is made of
  // it.
  static constexpr TensorSizes Borrow(std::span<const int64_t> sizes) noexcept {
    TensorSizes borrowed;
    borrowed.rank_ = static_cast<uint32_t>(sizes.size());
    borrowed.borrowed_ = sizes.data();
    return borrowed;
  }

  constexpr uint32_t rank() const noexcept { return rank_; }
  // False if there are more than kMaxRank of them, and they are not borrowed.
  constexpr bool are_known() const noexcept {
    return rank_ <= kMaxRank || borrowed_ != nullptr;
  }
  // Empty if they are not known. Valid as long as this object.
  constexpr std::span<const int64_t> values() const noexcept {
    if (!are_known()) return {};
    return {borrowed_ != nullptr ? borrowed_ : sizes_, rank_};
  }

 private:
  uint32_t rank_ = 0;
  const int64_t* borrowed_ = nullptr;
  int64_t sizes_[kMaxRank];  // the first rank_, unless borrowed or too many
};

// A tensor's sizes, element type and strides. Its contents are never recorded.
struct TensorMeta {
  TensorSizes sizes = {};
  DType dtype = DType::kUnknown;
  TensorSizes strides = {};  // in elements; empty: not recorded
  // An address that tells tensors apart. It is not recorded; emit_nvtx.h finds
  // by it which operation made an input.
  const void* identity = nullptr;
};

// The text at a pointer; "(no name)" if it is null.
constexpr std::string_view TextAt(const char* text) noexcept {
  return text == nullptr ? std::string_view("(no name)")
                         : std::string_view(text);
}

// One input of an operation. Numbers, bools, texts, spans and TensorMeta
// convert to it.
class Input {
 public:
  constexpr Input() noexcept = default;
  constexpr Input(const TensorMeta& meta) noexcept  // NOLINT: implicit
      : kind(InputKind::kTensor),
        dtype(meta.dtype),
        count(meta.sizes.rank()),
        tensor(meta) {}
  constexpr Input(std::span<const TensorMeta> tensors) noexcept  // NOLINT
      : kind(InputKind::kTensorList),
        count(static_cast<uint32_t>(tensors.size())),
        data(tensors.data()) {}
  template <std::integral T>
  constexpr Input(T value) noexcept  // NOLINT: implicit
      : kind(std::same_as<T, bool> ? InputKind::kBool : InputKind::kInt),
        count(1),
        bits(static_cast<uint64_t>(value)) {}
  constexpr Input(double value) noexcept  // NOLINT: implicit
      : kind(InputKind::kDouble),
        count(1),
        bits(std::bit_cast<uint64_t>(value)) {}
  constexpr Input(std::span<const int64_t> values) noexcept  // NOLINT
      : kind(InputKind::kIntList),
        count(static_cast<uint32_t>(values.size())),
        data(values.data()) {}
  constexpr Input(std::span<const double> values) noexcept  // NOLINT
      : kind(InputKind::kDoubleList),
        count(static_cast<uint32_t>(values.size())),
        data(values.data()) {}
  constexpr Input(std::span<const bool> values) noexcept  // NOLINT
      : kind(InputKind::kBoolList),
        count(static_cast<uint32_t>(values.size())),
        data(values.data()) {}
  constexpr Input(std::string_view text) noexcept  // NOLINT: implicit
      : kind(InputKind::kString),
        count(static_cast<uint32_t>(text.size())),
        data(text.data()) {}
  constexpr Input(const char* text) noexcept  // NOLINT: implicit
      : Input(TextAt(text)) {}

  static constexpr Input UndefinedTensor() noexcept {
    Input input;
    input.kind = InputKind::kUndefinedTensor;
    return input;
  }

  InputKind kind = InputKind::kNone;
  DType dtype = DType::kUnknown;
  uint32_t count = 0;          // see the table above
  const void* data = nullptr;  // values, TensorMeta or text
  uint64_t bits = 0;           // of a single int, double or bool
  TensorMeta tensor;           // of a tensor

  const void* identity() const noexcept {
    return kind == InputKind::kTensor ? tensor.identity : nullptr;
  }
};

// The encoding of an input starts with these 8 bytes.
struct InputHeader {
  InputKind kind;
  DType dtype;
  uint8_t has_strides;
  uint8_t reserved;
  uint32_t count;
};
static_assert(sizeof(InputHeader) == 8);

namespace op_inputs_internal {

constexpr size_t Padded(size_t bytes) noexcept { return (bytes + 7) / 8 * 8; }

// Longer than any record: the recorder then leaves the inputs out and counts
// them.
inline constexpr size_t kTooLong = size_t{1} << 20;

// Of a tensor without strides, and of one with wrong ones, none are encoded.
constexpr bool HasStrides(const TensorMeta& tensor) noexcept {
  return tensor.strides.rank() == tensor.sizes.rank() &&
         tensor.sizes.rank() != 0 && tensor.strides.are_known();
}

constexpr size_t TensorBytes(const TensorMeta& tensor) noexcept {
  if (!tensor.sizes.are_known()) [[unlikely]]
    return kTooLong;
  return sizeof(InputHeader) +
         size_t{8} * tensor.sizes.rank() * (HasStrides(tensor) ? 2 : 1);
}

inline char* PutHeader(const InputHeader& header, char* to) noexcept {
  memcpy(to, &header, sizeof(header));
  return to + sizeof(header);
}

inline char* PutHeader(const Input& input, char* to) noexcept {
  return PutHeader({.kind = input.kind,
                    .dtype = input.dtype,
                    .has_strides = 0,
                    .reserved = 0,
                    .count = input.count},
                   to);
}

inline char* PutWords(const void* words, size_t count, char* to) noexcept {
  // Ranks are small: a loop of words beats a call of memcpy.
  const char* from = static_cast<const char*>(words);
  for (size_t i = 0; i < count; ++i, to += 8, from += 8) memcpy(to, from, 8);
  return to;
}

inline char* PutTensor(const TensorMeta& tensor, char* to) noexcept {
  const std::span<const int64_t> sizes = tensor.sizes.values();
  const bool has_strides = HasStrides(tensor);
  to = PutHeader({.kind = InputKind::kTensor,
                  .dtype = tensor.dtype,
                  .has_strides = has_strides,
                  .reserved = 0,
                  .count = static_cast<uint32_t>(sizes.size())},
                 to);
  to = PutWords(sizes.data(), sizes.size(), to);
  if (has_strides) {
    to = PutWords(tensor.strides.values().data(), sizes.size(), to);
  }
  return to;
}

}  // namespace op_inputs_internal

// The number of bytes that EncodeInput writes. More than a record has, if a
// tensor's sizes are not known.
inline size_t EncodedInputBytes(const Input& input) noexcept {
  switch (input.kind) {
    case InputKind::kTensor:
      return op_inputs_internal::TensorBytes(input.tensor);
    case InputKind::kTensorList: {
      size_t bytes = sizeof(InputHeader);
      const auto* const tensors = static_cast<const TensorMeta*>(input.data);
      for (uint32_t i = 0; i < input.count; ++i) {
        bytes += op_inputs_internal::TensorBytes(tensors[i]);
      }
      return bytes;
    }
    case InputKind::kString:
      return sizeof(InputHeader) + op_inputs_internal::Padded(input.count);
    default:
      return sizeof(InputHeader) + size_t{8} * input.count;
  }
}

inline size_t EncodedInputBytes(const Input* inputs, size_t count) noexcept {
  size_t bytes = 0;
  for (size_t i = 0; i < count; ++i) bytes += EncodedInputBytes(inputs[i]);
  return bytes;
}

// Writes one input to `to` and returns the address for the next one.
// REQUIRES: the bytes at `to` are zero, because padding is not written.
inline char* EncodeInput(const Input& input, char* to) noexcept {
  using op_inputs_internal::PutHeader;
  using op_inputs_internal::PutTensor;
  switch (input.kind) {
    case InputKind::kTensor:
      return PutTensor(input.tensor, to);
    case InputKind::kTensorList: {
      to = PutHeader(input, to);
      const auto* const tensors = static_cast<const TensorMeta*>(input.data);
      for (uint32_t i = 0; i < input.count; ++i) {
        to = PutTensor(tensors[i], to);
      }
      return to;
    }
    case InputKind::kInt:
    case InputKind::kDouble:
    case InputKind::kBool:
      to = PutHeader(input, to);
      memcpy(to, &input.bits, 8);
      return to + 8;
    case InputKind::kIntList:
    case InputKind::kDoubleList:
      return op_inputs_internal::PutWords(input.data, input.count,
                                          PutHeader(input, to));
    case InputKind::kBoolList: {
      to = PutHeader(input, to);
      const auto* const values = static_cast<const bool*>(input.data);
      for (uint32_t i = 0; i < input.count; ++i, to += 8) {
        const uint64_t value = values[i];
        memcpy(to, &value, 8);
      }
      return to;
    }
    case InputKind::kString:
      to = PutHeader(input, to);
      if (input.count != 0) memcpy(to, input.data, input.count);
      return to + op_inputs_internal::Padded(input.count);
    default:
      return PutHeader(input, to);
  }
}

inline char* EncodeInputs(const Input* inputs, size_t count,
                          char* to) noexcept {
  for (size_t i = 0; i < count; ++i) {
    // Most inputs are tensors; the other kinds are out of line.
    to = inputs[i].kind == InputKind::kTensor
             ? op_inputs_internal::PutTensor(inputs[i].tensor, to)
             : EncodeInput(inputs[i], to);
  }
  return to;
}

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_OP_INPUTS_H_
