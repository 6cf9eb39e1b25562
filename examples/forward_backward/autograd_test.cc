#include "examples/forward_backward/autograd.h"

#include <cstddef>
#include <functional>
#include <random>

#include "gtest/gtest.h"

namespace autograd {
namespace {

// Holds each gradient against the slope of the loss.
void ExpectGradient(Variable parameter, const std::function<Variable()>& loss) {
  parameter.ZeroGradient();
  Backward(loss());
  const Tensor gradient = parameter.gradient();
  ASSERT_EQ(gradient.values().size(), parameter.value().values().size());
  constexpr float kStep = 1e-2F;
  for (size_t i = 0; i < gradient.values().size(); ++i) {
    float& value = parameter.value().values()[i];
    const float before = value;
    value = before + kStep;
    const float above = loss().value().values()[0];
    value = before - kStep;
    const float below = loss().value().values()[0];
    value = before;
    EXPECT_NEAR(gradient.values()[i], (above - below) / (2 * kStep), 2e-3);
  }
}

TEST(AutogradTest, GradientsAreTheSlopesOfTheLoss) {
  std::mt19937_64 random(3);
  const Variable x = Variable::Constant(tensor::RandN({4, 3}, 1, random));
  const Tensor target = tensor::RandN({4, 2}, 1, random);
  const Variable first = Variable::Parameter(tensor::RandN({3, 5}, 1, random));
  const Variable second = Variable::Parameter(tensor::RandN({5, 2}, 1, random));
  const auto loss = [&] {
    return MseLoss(MatMul(Relu(MatMul(x, first)), second), target);
  };
  ExpectGradient(first, loss);
  ExpectGradient(second, loss);
}

TEST(AutogradTest, GradientsOfAVariableUsedTwiceAddUp) {
  std::mt19937_64 random(4);
  const Variable w = Variable::Parameter(tensor::RandN({3, 3}, 1, random));
  const Tensor target = tensor::RandN({3, 3}, 1, random);
  ExpectGradient(w, [&] { return MseLoss(MatMul(w, Relu(w)), target); });
}

TEST(AutogradTest, ConstantsLeaveNoGradient) {
  const Variable x = Variable::Constant(tensor::Fill({1, 1}, 2));
  Backward(MseLoss(x, tensor::Fill({1, 1}, 1)));
  EXPECT_TRUE(x.gradient().sizes().empty());
}

}  // namespace
}  // namespace autograd
