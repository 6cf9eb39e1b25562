#include "importers/chrome/events/input_encoder.h"

#include <string>
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
