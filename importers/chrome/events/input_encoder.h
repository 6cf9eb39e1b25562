// input_encoder.h - turns the inputs of operations, as a trace writes them,
// back into their encoding (profiler/base/op_inputs.h).
//
//   InputTexts texts;
//   texts.text[kInputDims] = "[[64, 32], []]";
//   texts.text[kInputTypes] = R"(["float", "Scalar"])";
//   texts.text[kConcreteInputs] = R"(["", "2"])";
//   const EncodedInputs encoded = EncodeInputTexts(texts);
//   encoded.bytes                  // read by model::DecodeInputs
//   encoded.is_exact[kInputDims]   // the encoding is shown as this very text
//
// A trace's text says less than a recording knows. It does not tell the element
// types of tensors in lists, nor the kinds of inputs that are not shown. If the
// encoding would be shown as another text, is_exact says so, and the caller
// keeps the text.
//
// Cost: one parse of each text; meant for one call per distinct input.
#ifndef KYMO_IMPORTERS_CHROME_EVENTS_INPUT_ENCODER_H_
#define KYMO_IMPORTERS_CHROME_EVENTS_INPUT_ENCODER_H_

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace kymo::chrome_import {

enum InputKey : size_t {
  kInputDims,
  kInputTypes,
  kInputStrides,
  kConcreteInputs,
  kInputKeys,
};

inline constexpr std::array<std::string_view, kInputKeys> kInputKeyTexts = {
    "Input Dims", "Input type", "Input Strides", "Concrete Inputs"};

struct InputTexts {
  std::array<std::string_view, kInputKeys> text;  // JSON; empty: not given
};

struct EncodedInputs {
  std::string bytes;  // empty: nothing to encode
  std::array<bool, kInputKeys> is_exact{};
};

EncodedInputs EncodeInputTexts(const InputTexts& texts);

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_EVENTS_INPUT_ENCODER_H_
