#include "examples/tensor/tensor.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tensor {
namespace {

using ::testing::ElementsAre;

Tensor Of(std::vector<int64_t> sizes, std::initializer_list<float> values) {
  Tensor result(std::move(sizes));
  std::ranges::copy(values, result.values().begin());
  return result;
}

TEST(TensorTest, ConvolvesWithPaddingAndStride) {
  const Tensor input = Of({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const Tensor weight = Of({1, 1, 2, 2}, {1, 10, 100, 1000});
  const Tensor plain = Conv2d(input, weight, 1, 0);
  EXPECT_THAT(plain.sizes(), ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(plain.values(), ElementsAre(5421, 6532, 8754, 9865));
  const Tensor padded = Conv2d(input, weight, 2, 1);
  EXPECT_THAT(padded.sizes(), ElementsAre(1, 1, 2, 2));
  EXPECT_THAT(padded.values(), ElementsAre(1000, 3200, 7040, 9865));
}

TEST(TensorTest, ConvolutionSumsOverChannelsAndKeepsImagesApart) {
  const Tensor input = Of({2, 2, 1, 1}, {1, 2, 3, 4});
  const Tensor weight = Of({3, 2, 1, 1}, {1, 0, 0, 1, 10, 100});
  EXPECT_THAT(Conv2d(input, weight, 1, 0).values(),
              ElementsAre(1, 2, 210, 3, 4, 430));
}

TEST(TensorTest, MultipliesMatrices) {
  const Tensor a = Of({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor b = Of({3, 2}, {1, 0, 0, 1, 1, 1});
  EXPECT_THAT(Mm(a, b).values(), ElementsAre(4, 5, 10, 11));
  EXPECT_THAT(AddMm(Of({2}, {100, 200}), a, b).values(),
              ElementsAre(104, 205, 110, 211));
  EXPECT_THAT(Transpose(a).values(), ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST(TensorTest, WorksElementByElement) {
  const Tensor a = Of({3}, {-1, 2, 3});
  const Tensor b = Of({3}, {4, 5, 6});
  EXPECT_THAT(Relu(a).values(), ElementsAre(0, 2, 3));
  EXPECT_THAT(Add(a, b).values(), ElementsAre(3, 7, 9));
  EXPECT_THAT(Sub(a, b).values(), ElementsAre(-5, -3, -3));
  EXPECT_THAT(Mul(a, b).values(), ElementsAre(-4, 10, 18));
  EXPECT_THAT(ThresholdBackward(b, a, 2).values(), ElementsAre(0, 0, 6));
  EXPECT_THAT(Mean(b).values(), ElementsAre(5));
  EXPECT_THAT(Scale(a, 2).values(), ElementsAre(-2, 4, 6));
  EXPECT_THAT(GlobalAveragePool(Of({1, 2, 1, 2}, {1, 3, 5, 9})).values(),
              ElementsAre(2, 7));
}

}  // namespace
}  // namespace tensor
