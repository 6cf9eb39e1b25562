#include "profiler/model/op_inputs.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

namespace kymo::model {
namespace {

constexpr size_t kMaxShownEntries = 30;

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  bool at_end() const { return rest_.empty(); }

  std::optional<OpInput> Next() { return Read(/*in_list=*/false); }

 private:
  std::optional<OpInput> Read(bool in_list) {
    InputHeader header;
    if (rest_.size() < sizeof(header)) return std::nullopt;
    std::memcpy(&header, rest_.data(), sizeof(header));
    rest_.remove_prefix(sizeof(header));
    if (header.kind >= InputKind::kCount) return std::nullopt;
    if (in_list && header.kind != InputKind::kTensor) return std::nullopt;
    OpInput input;
    input.kind = header.kind;
    const bool whole = ReadBody(header, input);
    return whole ? std::optional<OpInput>(std::move(input)) : std::nullopt;
  }

  bool ReadBody(const InputHeader& header, OpInput& input) {
    switch (header.kind) {
      case InputKind::kTensor:
        input.dtype =
            header.dtype < DType::kCount ? header.dtype : DType::kUnknown;
        return Words(header.count, input.sizes) &&
               (header.has_strides == 0 || Words(header.count, input.strides));
      case InputKind::kTensorList:
        for (uint32_t i = 0; i < header.count; ++i) {
          std::optional<OpInput> tensor = Read(/*in_list=*/true);
          if (!tensor) return false;
          input.tensors.push_back(*std::move(tensor));
        }
        return true;
      case InputKind::kInt:
      case InputKind::kBool:
        return Words(1, input.integers);
      case InputKind::kIntList:
      case InputKind::kBoolList:
        return Words(header.count, input.integers);
      case InputKind::kDouble:
        return Words(1, input.doubles);
      case InputKind::kDoubleList:
        return Words(header.count, input.doubles);
      case InputKind::kString:
        return Text(header.count, input.text);
      default:
        return true;
    }
  }

  template <typename Word>
  bool Words(size_t count, std::vector<Word>& words) {
    static_assert(sizeof(Word) == 8);
    if (rest_.size() / sizeof(Word) < count) return false;
    words.resize(count);
    if (count != 0) std::memcpy(words.data(), rest_.data(), count * 8);
    rest_.remove_prefix(count * sizeof(Word));
    return true;
  }

  bool Text(size_t size, std::string& text) {
    const size_t padded = (size + 7) / 8 * 8;
    if (rest_.size() < padded) return false;
    text.assign(rest_.data(), size);
    rest_.remove_prefix(padded);
    return true;
  }

  std::string_view rest_;
};

template <typename Values, typename Append>
void AppendList(std::string& out, const Values& values, Append append) {
  out += '[';
  const char* separator = "";
  for (const auto& value : values) {
    out += separator;
    append(out, value);
    separator = ", ";
  }
  out += ']';
}

void AppendInteger(std::string& out, int64_t value) {
  out += std::to_string(value);
}

void AppendIntegers(std::string& out, const std::vector<int64_t>& values) {
  AppendList(out, values, AppendInteger);
}

// As PyTorch's IValue prints a double: "1." for a whole number, else the
// shortest text.
void AppendDouble(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "nan";
  } else if (std::isinf(value)) {
    out += value < 0 ? "-inf" : "inf";
  } else if (value == std::floor(value) && std::abs(value) < 1e15) {
    out += std::to_string(static_cast<int64_t>(value));
    out += '.';
  } else {
    char text[32];
    out.append(text, std::to_chars(text, text + sizeof(text), value).ptr);
  }
}

void AppendBool(std::string& out, int64_t value) {
  out += value != 0 ? "True" : "False";
}

std::string Concrete(const OpInput& input) {
  std::string out;
  switch (input.kind) {
    case InputKind::kInt:
      AppendInteger(out, input.integers[0]);
      break;
    case InputKind::kBool:
      AppendBool(out, input.integers[0]);
      break;
    case InputKind::kDouble:
      AppendDouble(out, input.doubles[0]);
      break;
    case InputKind::kIntList:
      if (input.integers.size() <= kMaxShownEntries) {
        AppendIntegers(out, input.integers);
      }
      break;
    case InputKind::kBoolList:
      if (input.integers.size() <= kMaxShownEntries) {
        AppendList(out, input.integers, AppendBool);
      }
      break;
    case InputKind::kDoubleList:
      if (input.doubles.size() <= kMaxShownEntries) {
        AppendList(out, input.doubles, AppendDouble);
      }
      break;
    case InputKind::kString:
      out = input.text;
      break;
    default:
      break;
  }
  return out;
}

std::string TypeOf(const OpInput& input) {
  switch (input.kind) {
    case InputKind::kTensor:
      return std::string(DTypeName(input.dtype));
    case InputKind::kTensorList:
      return "TensorList";
    case InputKind::kInt:
    case InputKind::kDouble:
    case InputKind::kBool:
      return "Scalar";
    case InputKind::kIntList:
    case InputKind::kBoolList:
      return input.integers.size() <= kMaxShownEntries ? "ScalarList" : "";
    case InputKind::kDoubleList:
      return input.doubles.size() <= kMaxShownEntries ? "ScalarList" : "";
    default:
      return "";
  }
}

// Sizes or strides of every input, tensor lists nested.
std::string Nested(std::string_view encoded,
                   std::vector<int64_t> OpInput::*numbers) {
  std::string out;
  AppendList(out, DecodeInputs(encoded),
             [numbers](std::string& text, const OpInput& input) {
               if (input.kind != InputKind::kTensorList) {
                 AppendIntegers(text, input.*numbers);
               } else if (input.tensors.size() > kMaxShownEntries) {
                 text += "[]";
               } else {
                 AppendList(text, input.tensors,
                            [numbers](std::string& t, const OpInput& tensor) {
                              AppendIntegers(t, tensor.*numbers);
                            });
               }
             });
  return out;
}

template <typename Make>
std::vector<std::string> ForEachInput(std::string_view encoded, Make make) {
  std::vector<std::string> texts;
  for (const OpInput& input : DecodeInputs(encoded)) {
    texts.push_back(make(input));
  }
  return texts;
}

}  // namespace

std::vector<OpInput> DecodeInputs(std::string_view encoded) {
  std::vector<OpInput> inputs;
  Reader reader(encoded);
  while (!reader.at_end()) {
    std::optional<OpInput> input = reader.Next();
    if (!input) break;
    inputs.push_back(*std::move(input));
  }
  return inputs;
}

std::vector<std::vector<int64_t>> InputShapes(std::string_view encoded) {
  std::vector<std::vector<int64_t>> shapes;
  for (OpInput& input : DecodeInputs(encoded)) {
    shapes.push_back(std::move(input.sizes));
  }
  return shapes;
}

std::string InputShapesText(std::string_view encoded) {
  std::string out;
  AppendList(out, InputShapes(encoded), AppendIntegers);
  return out;
}

std::string InputDimsJson(std::string_view encoded) {
  return Nested(encoded, &OpInput::sizes);
}

std::string InputStridesJson(std::string_view encoded) {
  return Nested(encoded, &OpInput::strides);
}

std::vector<std::string> InputDTypes(std::string_view encoded) {
  return ForEachInput(encoded, TypeOf);
}

std::vector<std::string> ConcreteInputs(std::string_view encoded) {
  return ForEachInput(encoded, Concrete);
}

}  // namespace kymo::model
