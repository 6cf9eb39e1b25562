#include "importers/chrome/events/input_encoder.h"

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "profiler/model/op_inputs.h"

namespace kymo::chrome_import {
namespace {

TEST(InputEncoderTest, WhatPyTorchWritesIsEncodedExactly) {
  InputTexts texts;
  texts.text[kInputDims] = "[[4, 3], [[2], []], [], [], [], [], [], []]";
  texts.text[kInputTypes] =
      R"(["float","TensorList","Scalar","Scalar","Scalar","ScalarList",)"
      R"("ScalarList",""])";
  texts.text[kInputStrides] = "[[3, 1], [[1], []], [], [], [], [], [], []]";
  texts.text[kConcreteInputs] =
      R"(["", "", "True", "0.5", "6", "[1, 1]", "[True, False]", "a\"b"])";
  const EncodedInputs encoded = EncodeInputTexts(texts);
  for (size_t key = 0; key < kInputKeys; ++key) {
    EXPECT_TRUE(encoded.is_exact[key]) << kInputKeyTexts[key];
  }
  const auto inputs = model::DecodeInputs(encoded.bytes);
  ASSERT_EQ(inputs.size(), 8u);
  EXPECT_EQ(inputs[0].sizes, (std::vector<int64_t>{4, 3}));
  EXPECT_EQ(inputs[0].dtype, DType::kFloat);
  EXPECT_EQ(inputs[1].tensors.size(), 2u);
  EXPECT_EQ(inputs[2].kind, InputKind::kBool);
  EXPECT_EQ(inputs[3].doubles, std::vector<double>{0.5});
  EXPECT_EQ(inputs[4].integers, std::vector<int64_t>{6});
  EXPECT_EQ(inputs[5].kind, InputKind::kIntList);
  EXPECT_EQ(inputs[6].kind, InputKind::kBoolList);
  EXPECT_EQ(inputs[7].text, "a\"b");
}

TEST(InputEncoderTest, SizesAreReadWhereNothingElseIsGiven) {
  InputTexts texts;
  texts.text[kInputDims] = "[[19618307],[]]";
  texts.text[kInputTypes] = R"(["float",""])";
  const EncodedInputs encoded = EncodeInputTexts(texts);
  EXPECT_TRUE(encoded.is_exact[kInputDims]);
  EXPECT_TRUE(encoded.is_exact[kInputTypes]);
  EXPECT_EQ(model::InputShapesText(encoded.bytes), "[[19618307], []]");
}

TEST(InputEncoderTest, SaysWhatWouldBeShownDifferently) {
  InputTexts texts;
  texts.text[kInputDims] = "[[2], [3, 4]]";
  texts.text[kInputTypes] = R"(["GenericList", "float"])";
  texts.text[kConcreteInputs] = R"(["", "0.50"])";
  const EncodedInputs encoded = EncodeInputTexts(texts);
  EXPECT_TRUE(encoded.is_exact[kInputDims]);
  EXPECT_FALSE(encoded.is_exact[kInputTypes]);
  EXPECT_FALSE(encoded.is_exact[kConcreteInputs]);
}

template <typename T>
void AppendValues(std::ostringstream& out, const std::vector<T>& values) {
  out << '[';
  for (size_t i = 0; i < values.size(); ++i) {
    out << (i == 0 ? "" : ",") << values[i];
  }
  out << ']';
}

// "KIND TYPE[SIZES][STRIDES][NUMBERS]TEXT".
void AppendInput(std::ostringstream& out, const model::OpInput& input) {
  static constexpr const char* kKinds[] = {
      "none", "tensor", "list",    "int",   "double",
      "bool", "ints",   "doubles", "bools", "text"};
  out << kKinds[static_cast<size_t>(input.kind)] << ' '
      << DTypeName(input.dtype);
  if (input.is_tensor()) {
    AppendValues(out, input.sizes);
    AppendValues(out, input.strides);
  }
  for (const model::OpInput& tensor : input.tensors) {
    out << "(";
    AppendInput(out, tensor);
    out << ")";
  }
  if (!input.integers.empty()) AppendValues(out, input.integers);
  if (!input.doubles.empty()) AppendValues(out, input.doubles);
  out << input.text;
}

// The inputs, then the keys that are not exact.
std::string Encoded(std::string_view dims, std::string_view types,
                    std::string_view strides, std::string_view concrete) {
  InputTexts texts;
  texts.text[kInputDims] = dims;
  texts.text[kInputTypes] = types;
  texts.text[kInputStrides] = strides;
  texts.text[kConcreteInputs] = concrete;
  const EncodedInputs encoded = EncodeInputTexts(texts);
  std::ostringstream out;
  for (const model::OpInput& input : model::DecodeInputs(encoded.bytes)) {
    AppendInput(out, input);
    out << ';';
  }
  static constexpr const char* kKeys[] = {" dims", " types", " strides",
                                          " concrete"};
  for (size_t key = 0; key < kInputKeys; ++key) {
    if (!encoded.is_exact[key]) out << kKeys[key];
  }
  return out.str();
}

// One input without strides that has no sizes.
std::string EncodedScalar(std::string_view type, std::string_view concrete) {
  return Encoded("[[]]", "[\"" + std::string(type) + "\"]", "[[]]",
                 "[\"" + std::string(concrete) + "\"]");
}

// The names of torch.profiler for PyTorch's types of elements.
TEST(InputEncoderTest, EveryTypeOfElementsIsKnown) {
  for (const std::string name :
       {"unsigned char", "signed char", "short int", "int", "long int",
        "c10::Half", "float", "double", "c10::complex<c10::Half>",
        "c10::complex<float>", "c10::complex<double>", "bool", "c10::BFloat16",
        "c10::Float8_e5m2", "c10::Float8_e4m3fn", "short unsigned int",
        "unsigned int", "long unsigned int"}) {
    EXPECT_EQ(Encoded("[[2]]", "[\"" + name + "\"]", "[[1]]", R"([""])"),
              "tensor " + name + "[2][1];");
    EXPECT_EQ(EncodedScalar(name, ""), "tensor " + name + "[][];");
  }
  EXPECT_EQ(Encoded("[[3, 4]]", R"(["quint8"])", "", ""),
            "tensor [3,4][]; types strides concrete");
}

TEST(InputEncoderTest, ScalarsHaveTheKindOfTheirText) {
  EXPECT_EQ(EncodedScalar("Scalar", "6"), "int [6];");
  EXPECT_EQ(EncodedScalar("Scalar", "-7"), "int [-7];");
  EXPECT_EQ(EncodedScalar("Scalar", "0.5"), "double [0.5];");
  EXPECT_EQ(EncodedScalar("Scalar", "2."), "double [2];");
  EXPECT_EQ(EncodedScalar("Scalar", "2.0"), "double [2]; concrete");
  EXPECT_EQ(EncodedScalar("Scalar", "nan"), "double [nan];");
  EXPECT_EQ(EncodedScalar("Scalar", "inf"), "double [inf];");
  EXPECT_EQ(EncodedScalar("Scalar", "-inf"), "double [-inf];");
  EXPECT_EQ(EncodedScalar("Scalar", "True"), "bool [1];");
  EXPECT_EQ(EncodedScalar("Scalar", "False"), "bool [0];");
  EXPECT_EQ(EncodedScalar("Scalar", "true"), "none ; types concrete");
  EXPECT_EQ(EncodedScalar("Scalar", ""), "none ; types");
  EXPECT_EQ(EncodedScalar("", "a b"), "text a b;");
  EXPECT_EQ(EncodedScalar("", ""), "none ;");
  EXPECT_EQ(EncodedScalar("Device", "cuda:0"), "none ; types concrete");
}

TEST(InputEncoderTest, ListsOfScalarsHaveOneKind) {
  EXPECT_EQ(EncodedScalar("ScalarList", "[1, -2, 3]"), "ints [1,-2,3];");
  EXPECT_EQ(EncodedScalar("ScalarList", "[7]"), "ints [7];");
  EXPECT_EQ(EncodedScalar("ScalarList", "[]"), "ints ;");
  EXPECT_EQ(EncodedScalar("ScalarList", "[True, False]"), "bools [1,0];");
  EXPECT_EQ(EncodedScalar("ScalarList", "[0.5, 1.]"), "doubles [0.5,1];");
  EXPECT_EQ(EncodedScalar("ScalarList", "[nan, -inf]"), "doubles [nan,-inf];");
  // What they mean is known, but they would be shown differently.
  EXPECT_EQ(EncodedScalar("ScalarList", "[1,2]"), "ints [1,2]; concrete");
  EXPECT_EQ(EncodedScalar("ScalarList", "[1,  2]"), "ints [1,2]; concrete");
  EXPECT_EQ(EncodedScalar("ScalarList", "[1, 0.5]"),
            "doubles [1,0.5]; concrete");
  for (const char* const text :
       {"", "[", "]", "x", "[1", "1]", "[True, 1]", "[1, x]", "[0.5, True]"}) {
    EXPECT_EQ(EncodedScalar("ScalarList", text),
              *text == '\0' ? "none ; types" : "none ; types concrete")
        << text;
  }
}

TEST(InputEncoderTest, TensorsHaveTheStridesOfTheirRank) {
  EXPECT_EQ(Encoded("[[4, 3]]", R"(["float"])", "[[3, 1]]", R"([""])"),
            "tensor float[4,3][3,1];");
  EXPECT_EQ(Encoded("[[4, 3]]", R"(["float"])", "[[3]]", ""),
            "tensor float[4,3][]; strides concrete");
  EXPECT_EQ(Encoded("[[9223372036854775807]]", R"(["float"])", "", ""),
            "tensor float[9223372036854775807][]; strides concrete");
  EXPECT_EQ(Encoded("[[9223372036854775808]]", R"(["float"])", "", ""),
            "tensor float[][]; dims strides concrete");
  EXPECT_EQ(Encoded("[[[2], []]]", R"(["TensorList"])", "[[[1], []]]", ""),
            "list (tensor [2][1])(tensor [][]); concrete");
  EXPECT_EQ(Encoded("[[[2], [5]]]", R"(["TensorList"])", "[[[1]]]", ""),
            "list (tensor [2][1])(tensor [5][]); strides concrete");
  EXPECT_EQ(Encoded("[[]]", R"(["TensorList"])", "[[]]", R"([""])"), "list ;");
  EXPECT_EQ(Encoded("[[[2]]]", R"(["Tuple"])", "", ""),
            "list (tensor [2][]); types strides concrete");
}

TEST(InputEncoderTest, TheLongestListTellsTheNumberOfInputs) {
  EXPECT_EQ(Encoded("[[2]]", R"(["float", "Scalar", "Scalar"])", "[[1], []]",
                    R"(["", "1"])"),
            "tensor float[2][1];int [1];none ; dims types strides concrete");
  EXPECT_EQ(Encoded("", "", "", R"(["a", "b"])"),
            "text a;text b; dims types strides");
  EXPECT_EQ(Encoded("", "", "", ""), " dims types strides concrete");
}

TEST(InputEncoderTest, SpacesBetweenValuesDoNotMatter) {
  EXPECT_EQ(Encoded(" [ [2 ,3],[ ] ]", R"([ "float" ,"" ])", "[[3,1],[]]",
                    R"(["" , ""])"),
            "tensor float[2,3][3,1];none ;");
}

TEST(InputEncoderTest, ValuesOfAnotherKindAreLeftOut) {
  EXPECT_EQ(Encoded("[[1], 7, [\"x\"], [[1], 2], [1, [2]]]", "[7, \"int\"]", "",
                    "[1, \"2\"]"),
            "tensor [1][];tensor int[][];none ;none ;none ;"
            " dims types strides concrete");
}

TEST(InputEncoderTest, AnythingElseIsNotExact) {
  for (const char* const text :
       {"[]", "{}", "[1]", "[[1.5]]", "[[[[1]]]]", "[\"x\"]", "[", "[[1],"}) {
    InputTexts texts;
    texts.text[kInputDims] = text;
    EXPECT_FALSE(EncodeInputTexts(texts).is_exact[kInputDims]) << text;
  }
}

}  // namespace
}  // namespace kymo::chrome_import
