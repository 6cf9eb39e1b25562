#include "profiler/base/op_inputs.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace kymo {
namespace {

// The encoding as the header describes it: `count` in the high half of a word.
std::vector<uint64_t> WordsOf(const std::vector<Input>& inputs) {
  const size_t bytes = EncodedInputBytes(inputs.data(), inputs.size());
  EXPECT_EQ(bytes % 8, 0u);
  std::vector<uint64_t> words(bytes / 8);
  char* const first = reinterpret_cast<char*>(words.data());
  EXPECT_EQ(EncodeInputs(inputs.data(), inputs.size(), first), first + bytes);
  return words;
}

uint64_t Header(InputKind kind, uint64_t count, DType dtype = DType::kUnknown,
                bool has_strides = false) {
  return static_cast<uint64_t>(kind) | static_cast<uint64_t>(dtype) << 8 |
         uint64_t{has_strides} << 16 | count << 32;
}
using Words = std::vector<uint64_t>;

TEST(OpInputsTest, NumbersAndTextsStandBehindTheirHeader) {
  EXPECT_EQ(WordsOf({}), Words());
  EXPECT_EQ(WordsOf({Input()}), (Words{Header(InputKind::kNone, 0)}));
  EXPECT_EQ(WordsOf({Input::UndefinedTensor()}),
            (Words{Header(InputKind::kUndefinedTensor, 0)}));
  EXPECT_EQ(WordsOf({-5}),
            (Words{Header(InputKind::kInt, 1), uint64_t{0} - 5}));
  EXPECT_EQ(WordsOf({uint64_t{1} << 63}),
            (Words{Header(InputKind::kInt, 1), uint64_t{1} << 63}));
  EXPECT_EQ(WordsOf({0.5}), (Words{Header(InputKind::kDouble, 1),
                                   std::bit_cast<uint64_t>(0.5)}));
  EXPECT_EQ(WordsOf({true, false}), (Words{Header(InputKind::kBool, 1), 1,
                                           Header(InputKind::kBool, 1), 0}));
  EXPECT_EQ(WordsOf({""}), (Words{Header(InputKind::kString, 0)}));
  EXPECT_EQ(WordsOf({"ab"}),
            (Words{Header(InputKind::kString, 2), 'a' | 'b' << 8}));
  EXPECT_EQ(WordsOf({"12345678", "123456789"}).size(), 2u + 3u);
  EXPECT_EQ(WordsOf({"123456789"})[2], '9');
}

TEST(OpInputsTest, ListsHaveTheirValues) {
  const std::vector<int64_t> ints = {7, -8, 9};
  const std::vector<double> doubles = {0.5, -2};
  const bool bools[] = {true, false, true};
  EXPECT_EQ(WordsOf({std::span<const int64_t>(ints)}),
            (Words{Header(InputKind::kIntList, 3), 7, uint64_t{0} - 8, 9}));
  EXPECT_EQ(
      WordsOf({std::span<const double>(doubles)}),
      (Words{Header(InputKind::kDoubleList, 2), std::bit_cast<uint64_t>(0.5),
             std::bit_cast<uint64_t>(-2.0)}));
  EXPECT_EQ(WordsOf({std::span<const bool>(bools)}),
            (Words{Header(InputKind::kBoolList, 3), 1, 0, 1}));
  EXPECT_EQ(WordsOf({std::span<const int64_t>()}),
            (Words{Header(InputKind::kIntList, 0)}));
}

TEST(OpInputsTest, TensorsHaveTheirSizesAndStrides) {
  const TensorMeta plain = {.sizes = {64, 32}, .dtype = DType::kFloat};
  const TensorMeta strided = {
      .sizes = {2, 3}, .dtype = DType::kBool, .strides = {3, 1}};
  const Words of_plain = {Header(InputKind::kTensor, 2, DType::kFloat), 64, 32};
  const Words of_strided = {Header(InputKind::kTensor, 2, DType::kBool, true),
                            2, 3, 3, 1};
  EXPECT_EQ(WordsOf({plain}), of_plain);
  EXPECT_EQ(WordsOf({strided}), of_strided);
  EXPECT_EQ(WordsOf({TensorMeta{}}), (Words{Header(InputKind::kTensor, 0)}));
  // Strides of another rank are none.
  EXPECT_EQ(WordsOf({TensorMeta{.sizes = {5}, .strides = {3, 1}}}),
            (Words{Header(InputKind::kTensor, 1), 5}));
  // A list has its tensors behind its header.
  const TensorMeta both[] = {plain, strided};
  Words list = {Header(InputKind::kTensorList, 2)};
  list.insert(list.end(), of_plain.begin(), of_plain.end());
  list.insert(list.end(), of_strided.begin(), of_strided.end());
  EXPECT_EQ(WordsOf({std::span<const TensorMeta>(both)}), list);
  // EncodeInput, which the recorder does not call for a tensor.
  Words one(of_strided.size());
  char* const first = reinterpret_cast<char*>(one.data());
  EXPECT_EQ(EncodeInput(Input(strided), first), first + 8 * one.size());
  EXPECT_EQ(one, of_strided);
}

TEST(OpInputsTest, ATensorHasUpToEightSizesUnlessTheyAreBorrowed) {
  const std::vector<int64_t> eight = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<int64_t> nine = eight;
  nine.push_back(9);
  const auto values = [](const TensorSizes& sizes) {
    return std::vector<int64_t>(sizes.values().begin(), sizes.values().end());
  };
  EXPECT_EQ(values(TensorSizes(eight)), eight);
  EXPECT_EQ(values(TensorSizes(1, 2, 3, 4, 5, 6, 7, 8)), eight);
  EXPECT_TRUE(TensorSizes(eight).are_known());
  const TensorSizes too_many(nine);
  EXPECT_EQ(too_many.rank(), 9u);
  EXPECT_FALSE(too_many.are_known());
  EXPECT_EQ(values(too_many), std::vector<int64_t>());
  EXPECT_FALSE(TensorSizes(too_many).are_known()) << "a copy";
  const TensorSizes borrowed = TensorSizes::Borrow(nine);
  EXPECT_TRUE(borrowed.are_known());
  EXPECT_EQ(values(borrowed), nine);
  EXPECT_EQ(TensorSizes(borrowed).values().data(), nine.data());
  EXPECT_EQ(values(TensorSizes(std::vector<int>{-1, 2})),
            (std::vector<int64_t>{-1, 2}));
  EXPECT_EQ(TensorSizes().rank(), 0u);
  EXPECT_TRUE(TensorSizes().are_known());
  // Longer than any record: the inputs are left out, and counted.
  constexpr size_t kRecordBytes = 64 << 10;
  const Input input = TensorMeta{.sizes = too_many};
  EXPECT_GT(EncodedInputBytes(input), kRecordBytes);
  EXPECT_EQ(WordsOf({TensorMeta{.sizes = borrowed}}).size(), 10u);
  EXPECT_EQ(WordsOf({TensorMeta{.sizes = eight, .strides = too_many}}).size(),
            9u);
  EXPECT_EQ(
      WordsOf({TensorMeta{.sizes = borrowed, .strides = too_many}}).size(),
      10u);
  EXPECT_EQ(
      WordsOf({TensorMeta{.sizes = borrowed, .strides = borrowed}}).size(),
      19u);
}

TEST(OpInputsTest, OnlyATensorHasAnIdentity) {
  const int memory = 0;
  const TensorMeta tensor = {.identity = &memory};
  EXPECT_EQ(Input(tensor).identity(), &memory);
  EXPECT_EQ(Input(1).identity(), nullptr);
  Input changed = tensor;
  changed.kind = InputKind::kNone;
  EXPECT_EQ(changed.identity(), nullptr);
}

// c10::ScalarType's order and C++ names, as PyTorch's traces spell them.
TEST(OpInputsTest, ElementTypesHaveTheirNames) {
  EXPECT_EQ(DTypeName(DTypeOf<uint8_t>), "unsigned char");
  EXPECT_EQ(DTypeName(DTypeOf<int8_t>), "signed char");
  EXPECT_EQ(DTypeName(DTypeOf<int16_t>), "short int");
  EXPECT_EQ(DTypeName(DTypeOf<int32_t>), "int");
  EXPECT_EQ(DTypeName(DTypeOf<int64_t>), "long int");
  EXPECT_EQ(DTypeName(DTypeOf<long long>), "long int");
  EXPECT_EQ(DTypeName(DTypeOf<uint16_t>), "short unsigned int");
  EXPECT_EQ(DTypeName(DTypeOf<uint32_t>), "unsigned int");
  EXPECT_EQ(DTypeName(DTypeOf<unsigned long>), "long unsigned int");
  EXPECT_EQ(DTypeName(DTypeOf<float>), "float");
  EXPECT_EQ(DTypeName(DTypeOf<double>), "double");
  EXPECT_EQ(DTypeName(DTypeOf<bool>), "bool");
  EXPECT_EQ(DTypeName(DTypeOf<void*>), "");
  EXPECT_EQ(DTypeName(DType::kHalf), "c10::Half");
  EXPECT_EQ(DTypeName(DType::kBFloat16), "c10::BFloat16");
  EXPECT_EQ(DTypeName(DType::kFloat8E4M3), "c10::Float8_e4m3fn");
  EXPECT_EQ(DTypeName(DType::kUInt64), "long unsigned int");
  EXPECT_EQ(DTypeName(DType::kCount), "");
  EXPECT_EQ(DTypeName(static_cast<DType>(255)), "");
}

}  // namespace
}  // namespace kymo
