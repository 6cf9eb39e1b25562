#include "profiler/model/op_inputs.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace kymo::model {
namespace {

using Texts = std::vector<std::string>;

std::string Encode(std::span<const Input> inputs) {
  std::string bytes(EncodedInputBytes(inputs.data(), inputs.size()), '\0');
  const char* const end =
      EncodeInputs(inputs.data(), inputs.size(), bytes.data());
  EXPECT_EQ(end, bytes.data() + bytes.size());
  return bytes;
}

std::string Encode(std::initializer_list<Input> inputs) {
  return Encode(std::span(inputs.begin(), inputs.size()));
}

TEST(OpInputsTest, ShowsWhatOnesWasCalledWith) {
  // ones([64, 32], dtype=6, pin_memory=False)
  const std::array<int64_t, 2> size = {64, 32};
  const std::string encoded =
      Encode({std::span<const int64_t>(size), 6, {}, {}, false});
  EXPECT_EQ(InputDTypes(encoded),
            (Texts{"ScalarList", "Scalar", "", "", "Scalar"}));
  EXPECT_EQ(ConcreteInputs(encoded), (Texts{"[64, 32]", "6", "", "", "False"}));
  EXPECT_EQ(InputDimsJson(encoded), "[[], [], [], [], []]");
}

TEST(OpInputsTest, ShowsTensorListsNestedOrFlat) {
  // cat([x, y], 0)
  const std::array<int64_t, 2> size = {64, 32};
  const TensorMeta tensors[] = {{.sizes = size}, {.sizes = size}};
  const std::string encoded =
      Encode({std::span<const TensorMeta>(tensors), int64_t{0}});
  EXPECT_EQ(InputDimsJson(encoded), "[[[64, 32], [64, 32]], []]");
  EXPECT_EQ(InputDTypes(encoded), (Texts{"TensorList", "Scalar"}));
  EXPECT_EQ(ConcreteInputs(encoded), (Texts{"", "0"}));
  EXPECT_EQ(InputShapesText(encoded), "[[], []]");
}

TEST(OpInputsTest, ShowsTensorsWithTypesAndStrides) {
  const std::array<int64_t, 3> size = {2, 3, 4};
  const std::array<int64_t, 3> strides = {12, 4, 1};
  const std::string encoded = Encode(
      {TensorMeta{.sizes = size, .dtype = DType::kFloat, .strides = strides},
       TensorMeta{.sizes = {}, .dtype = DType::kBFloat16},
       Input::UndefinedTensor()});
  EXPECT_EQ(InputShapesText(encoded), "[[2, 3, 4], [], []]");
  EXPECT_EQ(InputStridesJson(encoded), "[[12, 4, 1], [], []]");
  EXPECT_EQ(InputDTypes(encoded), (Texts{"float", "c10::BFloat16", ""}));
  EXPECT_EQ(InputShapes(encoded),
            (std::vector<std::vector<int64_t>>{{2, 3, 4}, {}, {}}));
}

TEST(OpInputsTest, ShowsScalarsAsPyTorchDoes) {
  const std::array<double, 2> doubles = {1, 0.25};
  const std::array<bool, 2> bools = {true, false};
  EXPECT_EQ(ConcreteInputs(Encode({1.0, 0.5, 1e-5, -2.0, true, -7, "text",
                                   std::span<const double>(doubles),
                                   std::span<const bool>(bools)})),
            (Texts{"1.", "0.5", "1e-05", "-2.", "True", "-7", "text",
                   "[1., 0.25]", "[True, False]"}));
}

TEST(OpInputsTest, LongListsAreNotShown) {
  const std::vector<int64_t> thirty(30, 1);
  const std::vector<int64_t> more(31, 1);
  const std::string encoded = Encode(
      {std::span<const int64_t>(thirty), std::span<const int64_t>(more)});
  EXPECT_EQ(InputDTypes(encoded), (Texts{"ScalarList", ""}));
  EXPECT_EQ(ConcreteInputs(encoded)[1], "");
  const std::array<int64_t, 1> size = {5};
  const std::vector<TensorMeta> tensors(31, TensorMeta{.sizes = size});
  EXPECT_EQ(InputDimsJson(Encode({std::span<const TensorMeta>(tensors)})),
            "[[]]");
}

TEST(OpInputsTest, EqualInputsHaveEqualBytes) {
  const std::vector<int64_t> a = {1, 2};
  const std::vector<int64_t> b = {1, 2};
  EXPECT_EQ(Encode({TensorMeta{.sizes = a}, "x"}),
            Encode({TensorMeta{.sizes = b}, "x"}));
}

TEST(OpInputsTest, NothingIsAnEmptyList) {
  EXPECT_TRUE(DecodeInputs("").empty());
  EXPECT_EQ(InputShapesText(""), "[]");
}

TEST(OpInputsTest, EveryCutOfAnEncodingIsReadUpToTheCut) {
  const std::array<int64_t, 2> size = {64, 32};
  const TensorMeta tensors[] = {{.sizes = size}, {.sizes = size}};
  const std::string encoded =
      Encode({TensorMeta{.sizes = size, .strides = size}, "some text", 2.5,
              std::span<const TensorMeta>(tensors)});
  for (size_t cut = 0; cut <= encoded.size(); ++cut) {
    EXPECT_LE(DecodeInputs(encoded.substr(0, cut)).size(), 4);
  }
  EXPECT_EQ(DecodeInputs(encoded).size(), 4);
}

TEST(OpInputsTest, ArbitraryBytesAreReadWithoutHarm) {
  std::mt19937 random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes(random() % 96, '\0');
    for (char& byte : bytes) {
      // Mostly small numbers, so that headers make some sense.
      byte = static_cast<char>(random() % (random() % 4 == 0 ? 256 : 12));
    }
    InputDimsJson(bytes);
    ConcreteInputs(bytes);
    InputDTypes(bytes);
  }
}

}  // namespace
}  // namespace kymo::model
