// input_encoder.h - the inputs of operations from a trace's text back into
// their encoding (profiler/base/op_inputs.h).
//
//   InputTexts texts;
//   texts.text[kInputDims] = "[[64, 32], []]";
//   texts.text[kInputTypes] = R"(["float", "Scalar"])";
//   texts.text[kConcreteInputs] = R"(["", "2"])";
//   const EncodedInputs encoded = EncodeInputTexts(texts);
//   encoded.bytes                  // read by model::DecodeInputs
//   encoded.is_exact[kInputDims]   // the encoding is shown as this very text
//
// A trace's text says less than a recording knows: element types of tensors in
// lists and kinds of what is not shown are lost. Where the encoding would be
// shown as another text, is_exact says so and the caller keeps the text.
//
// Cost: a parse of each text; made for once per distinct input.
#ifndef KYMO_IMPORTERS_CHROME_INPUT_ENCODER_H_
#define KYMO_IMPORTERS_CHROME_INPUT_ENCODER_H_

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
  std::string bytes;  // empty: there is nothing to encode
  std::array<bool, kInputKeys> is_exact{};
};

EncodedInputs EncodeInputTexts(const InputTexts& texts);

}  // namespace kymo::chrome_import

#endif  // KYMO_IMPORTERS_CHROME_INPUT_ENCODER_H_
