#include "importers/chrome/events/input_encoder.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <simdjson.h>

#include "importers/chrome/json/decimal.h"
#include "importers/chrome/json/value_scanner.h"
#include "profiler/base/op_inputs.h"
#include "profiler/model/op_inputs.h"
#include "profiler/text/json_text.h"

namespace kymo::chrome_import {
namespace {

using simdjson::dom::element;
using Numbers = std::vector<int64_t>;

// One input, collected from the lists.
struct InputText {
  Numbers sizes;
  Numbers strides;
  std::vector<Numbers> tensor_sizes;  // for a list of tensors
  std::vector<Numbers> tensor_strides;
  std::string type;
  std::string concrete;
};

// Reads a list of whole numbers; nothing if it is anything else.
std::optional<Numbers> ReadNumbers(element list) {
  simdjson::dom::array array;
  if (list.get(array) != simdjson::SUCCESS) return std::nullopt;
  Numbers numbers;
  for (const element entry : array) {
    int64_t number;
    if (entry.get(number) != simdjson::SUCCESS) return std::nullopt;
    numbers.push_back(number);
  }
  return numbers;
}

std::optional<std::vector<Numbers>> ReadLists(element list) {
  simdjson::dom::array array;
  if (list.get(array) != simdjson::SUCCESS) return std::nullopt;
  std::vector<Numbers> lists;
  for (const element entry : array) {
    std::optional<Numbers> numbers = ReadNumbers(entry);
    if (!numbers) return std::nullopt;
    lists.push_back(*std::move(numbers));
  }
  return lists;
}

// Calls read(input, element) for the entries of a list.
template <typename Read>
void ForEach(std::string_view json, std::vector<InputText>& inputs,
             const Read& read) {
  simdjson::dom::parser parser;
  simdjson::dom::array array;
  if (json.empty() ||
      parser.parse(json.data(), json.size()).get(array) != simdjson::SUCCESS) {
    return;
  }
  size_t i = 0;
  for (const element entry : array) {
    if (i == inputs.size()) inputs.emplace_back();
    read(inputs[i++], entry);
  }
}

void ReadText(element entry, std::string& out) {
  std::string_view text;
  if (entry.get(text) == simdjson::SUCCESS) out = text;
}

std::vector<InputText> ReadInputs(const InputTexts& texts) {
  std::vector<InputText> inputs;
  ForEach(texts.text[kInputDims], inputs, [](InputText& input, element e) {
    if (auto numbers = ReadNumbers(e)) {
      input.sizes = *std::move(numbers);
    } else if (auto lists = ReadLists(e)) {
      input.tensor_sizes = *std::move(lists);
    }
  });
  ForEach(texts.text[kInputStrides], inputs, [](InputText& input, element e) {
    if (auto numbers = ReadNumbers(e)) {
      input.strides = *std::move(numbers);
    } else if (auto lists = ReadLists(e)) {
      input.tensor_strides = *std::move(lists);
    }
  });
  ForEach(texts.text[kInputTypes], inputs,
          [](InputText& input, element e) { ReadText(e, input.type); });
  ForEach(texts.text[kConcreteInputs], inputs,
          [](InputText& input, element e) { ReadText(e, input.concrete); });
  return inputs;
}

DType FindDType(std::string_view name) {
  for (uint8_t i = 0; i < static_cast<uint8_t>(DType::kCount); ++i) {
    if (DTypeName(DType{i}) == name) return DType{i};
  }
  return DType::kUnknown;
}

void Append(std::string& out, const Input& input) {
  const size_t begin = out.size();
  out.resize(begin + EncodedInputBytes(input), '\0');
  EncodeInput(input, out.data() + begin);
}

// Borrows the numbers, of which a file may have any number.
TensorMeta Tensor(const Numbers& sizes, const Numbers& strides, DType dtype) {
  return {.sizes = TensorSizes::Borrow(sizes),
          .dtype = dtype,
          .strides = TensorSizes::Borrow(strides)};
}

// "[1, 2]" -> "1", "2".
std::vector<std::string_view> Entries(std::string_view list) {
  std::vector<std::string_view> entries;
  list = list.substr(1, list.size() - 2);
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    entries.push_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    list.remove_prefix(CountSpace(list));
  }
  return entries;
}

bool IsBool(std::string_view text) { return text == "True" || text == "False"; }

// A number with a point, as PyTorch writes doubles ("1.", "0.5", "inf").
std::optional<double> FindDouble(std::string_view text) {
  if (text == "nan") return ParseDouble("NaN");
  if (text == "inf") return ParseDouble("Infinity");
  if (text == "-inf") return ParseDouble("-Infinity");
  return ParseDouble(text);
}

// Parses all entries; nothing if one of them does not parse.
template <typename T, typename ParseEntry>
std::optional<std::vector<T>> ParseAll(
    const std::vector<std::string_view>& entries, const ParseEntry& parse) {
  std::vector<T> values;
  for (const std::string_view entry : entries) {
    const auto value = parse(entry);
    if (!value) return std::nullopt;
    values.push_back(static_cast<T>(*value));
  }
  return values;
}

void AppendScalarList(std::string& out, std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') {
    return Append(out, Input());
  }
  const std::vector<std::string_view> entries = Entries(text);
  if (const auto ints = ParseAll<int64_t>(entries, ParseInt)) {
    return Append(out, Input(std::span<const int64_t>(*ints)));
  }
  if (std::all_of(entries.begin(), entries.end(), IsBool)) {
    const auto bools = std::make_unique<bool[]>(entries.size());
    for (size_t i = 0; i < entries.size(); ++i) bools[i] = entries[i] == "True";
    return Append(out,
                  Input(std::span<const bool>(bools.get(), entries.size())));
  }
  if (const auto doubles = ParseAll<double>(entries, FindDouble)) {
    return Append(out, Input(std::span<const double>(*doubles)));
  }
  Append(out, Input());
}

void AppendScalar(std::string& out, std::string_view text) {
  if (IsBool(text)) return Append(out, Input(text == "True"));
  if (const auto number = ParseInt(text)) return Append(out, Input(*number));
  if (const auto number = FindDouble(text)) return Append(out, Input(*number));
  Append(out, Input());
}

void AppendInput(std::string& out, const InputText& input) {
  const DType dtype = FindDType(input.type);
  if (dtype != DType::kUnknown || !input.sizes.empty()) {
    return Append(out, Tensor(input.sizes, input.strides, dtype));
  }
  if (input.type == "TensorList" || !input.tensor_sizes.empty()) {
    std::vector<TensorMeta> tensors;
    static const Numbers kNone;
    for (size_t i = 0; i < input.tensor_sizes.size(); ++i) {
      const bool has_strides = i < input.tensor_strides.size();
      tensors.push_back(Tensor(input.tensor_sizes[i],
                               has_strides ? input.tensor_strides[i] : kNone,
                               DType::kUnknown));
    }
    return Append(out, Input(std::span<const TensorMeta>(tensors)));
  }
  if (input.type == "Scalar") return AppendScalar(out, input.concrete);
  if (input.type == "ScalarList") return AppendScalarList(out, input.concrete);
  if (!input.concrete.empty() && input.type.empty()) {
    return Append(out, Input(std::string_view(input.concrete)));
  }
  Append(out, Input());
}

// Removes spaces outside of strings.
std::string Minified(std::string_view json) {
  std::string out(json.size(), '\0');
  size_t size = 0;
  if (simdjson::minify(json.data(), json.size(), out.data(), size) !=
      simdjson::SUCCESS) {
    return std::string(json);
  }
  out.resize(size);
  return out;
}

std::string ShownAs(InputKey key, std::string_view bytes) {
  switch (key) {
    case kInputDims:
      return model::InputDimsJson(bytes);
    case kInputTypes:
      return json::JsonStringList(model::InputDTypes(bytes), ",");
    case kInputStrides:
      return model::InputStridesJson(bytes);
    default:
      return json::JsonStringList(model::ConcreteInputs(bytes), ",");
  }
}

}  // namespace

EncodedInputs EncodeInputTexts(const InputTexts& texts) {
  EncodedInputs encoded;
  for (const InputText& input : ReadInputs(texts)) {
    AppendInput(encoded.bytes, input);
  }
  for (size_t key = 0; key < kInputKeys; ++key) {
    encoded.is_exact[key] = !encoded.bytes.empty() &&
                            !texts.text[key].empty() &&
                            Minified(ShownAs(InputKey{key}, encoded.bytes)) ==
                                Minified(texts.text[key]);
  }
  return encoded;
}

}  // namespace kymo::chrome_import
