#include "profiler/model/op_inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
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

// As PyTorch prints an IValue: "1." up to 15 digits, else the shortest text.
TEST(OpInputsTest, DoublesAreShownAsPyTorchDoes) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(ConcreteInputs(Encode({std::nan(""), kInfinity, -kInfinity, 0.0,
                                   999e12, -999e12, 1e15, 2e15, 0.1, -0.5})),
            (Texts{"nan", "inf", "-inf", "0.", "999000000000000.",
                   "-999000000000000.", "1e+15", "2e+15", "0.1", "-0.5"}));
  const std::array<double, 3> doubles = {std::nan(""), kInfinity, -3};
  EXPECT_EQ(ConcreteInputs(Encode({std::span<const double>(doubles)})),
            (Texts{"[nan, inf, -3.]"}));
}

TEST(OpInputsTest, ListsOfMoreThanThirtyAreNotShown) {
  const auto texts = [](const auto& thirty, const auto& more, auto span) {
    using Span = decltype(span);
    const std::string encoded = Encode({Span(thirty), Span(more)});
    EXPECT_EQ(InputDTypes(encoded), (Texts{"ScalarList", ""}));
    EXPECT_EQ(ConcreteInputs(encoded)[1], "");
    return ConcreteInputs(encoded)[0];
  };
  const auto repeat = [](const std::string& text) {
    std::string all = "[" + text;
    for (int i = 1; i < 30; ++i) all += ", " + text;
    return all + "]";
  };
  EXPECT_EQ(texts(std::vector<int64_t>(30, 1), std::vector<int64_t>(31, 1),
                  std::span<const int64_t>()),
            repeat("1"));
  EXPECT_EQ(texts(std::vector<double>(30, 1), std::vector<double>(31, 1),
                  std::span<const double>()),
            repeat("1."));
  EXPECT_EQ(texts(std::array<bool, 30>(), std::array<bool, 31>(),
                  std::span<const bool>()),
            repeat("False"));
  const std::array<int64_t, 1> size = {5};
  const std::vector<TensorMeta> tensors(31, TensorMeta{.sizes = size});
  EXPECT_EQ(InputDimsJson(Encode({std::span<const TensorMeta>(tensors)})),
            "[[]]");
  EXPECT_EQ(
      InputDimsJson(Encode({std::span<const TensorMeta>(tensors).first(30)})),
      "[" + repeat("[5]") + "]");
}

TEST(OpInputsTest, TextsOfEveryLengthAreWholeAndTheNextInputFollows) {
  for (const size_t length : {0, 1, 7, 8, 9, 16}) {
    const std::string text(length, 'x');
    EXPECT_EQ(ConcreteInputs(Encode({Input(text), Input(6)})),
              (Texts{text, "6"}));
  }
}

TEST(OpInputsTest, WhatCannotBeReadEndsTheList) {
  const std::string six = Encode({6});
  ASSERT_EQ(six.size(), sizeof(InputHeader) + 8);
  const auto with_header = [&](auto change) {
    InputHeader header;
    std::string bytes = Encode({TensorMeta{.sizes = TensorSizes(2, 3)}});
    std::memcpy(&header, bytes.data(), sizeof(header));
    change(header);
    std::memcpy(bytes.data(), &header, sizeof(header));
    return six + bytes;
  };
  EXPECT_EQ(DecodeInputs(with_header([](InputHeader&) {})).size(), 2u);
  EXPECT_EQ(DecodeInputs(with_header([](InputHeader& h) {
              h.kind = InputKind::kCount;
            })).size(),
            1u);
  // One more size than there is, in all lists of numbers.
  for (const InputKind kind : {InputKind::kTensor, InputKind::kIntList,
                               InputKind::kDoubleList, InputKind::kBoolList}) {
    EXPECT_EQ(DecodeInputs(with_header([&](InputHeader& h) {
                h.kind = kind;
                h.count = 3;
              })).size(),
              1u);
  }
  EXPECT_EQ(DecodeInputs(with_header([](InputHeader& h) {
              h.kind = InputKind::kString;
              h.count = 17;
            })).size(),
            1u);
  // A list has nothing but tensors in it.
  EXPECT_EQ(DecodeInputs(with_header([](InputHeader& h) {
              h.kind = InputKind::kTensorList;
              h.count = 1;
            })).size(),
            1u);
  const std::vector<OpInput> odd = DecodeInputs(
      with_header([](InputHeader& h) { h.dtype = DType::kCount; }));
  ASSERT_EQ(odd.size(), 2u);
  EXPECT_EQ(odd[1].dtype, DType::kUnknown);
  EXPECT_EQ(odd[1].sizes, (std::vector<int64_t>{2, 3}));
  EXPECT_TRUE(odd[1].strides.empty());
  EXPECT_TRUE(odd[1].is_tensor());
  EXPECT_FALSE(odd[0].is_tensor());
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
  // Where the inputs end: headers of 8 bytes, and what is behind them.
  const std::array<size_t, 4> ends = {8 + 32, 48 + 16, 72 + 8,
                                      88 + 2 * (8 + 16)};
  for (size_t cut = 0; cut <= encoded.size(); ++cut) {
    EXPECT_EQ(DecodeInputs(encoded.substr(0, cut)).size(),
              std::count_if(ends.begin(), ends.end(),
                            [&](size_t end) { return end <= cut; }))
        << cut;
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
