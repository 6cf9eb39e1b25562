#include "examples/train_mlp/layers.h"

#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

#include "examples/train_mlp/data.h"
#include "gtest/gtest.h"

namespace mlp {
namespace {

Matrix RandomMatrix(int64_t rows, int64_t cols, std::mt19937_64& random) {
  Matrix matrix(rows, cols);
  for (double& value : matrix.values()) value = Gaussian(random);
  return matrix;
}

double Dot(const Matrix& a, const Matrix& b) {
  double sum = 0;
  for (size_t i = 0; i < a.values().size(); ++i) {
    sum += a.values()[i] * b.values()[i];
  }
  return sum;
}

// Holds `gradient` against central differences of `loss`, which reads
// `variable`, one element after the other.
void CheckGradient(Matrix& variable, const Matrix& gradient,
                   const std::function<double()>& loss) {
  ASSERT_EQ(variable.size(), gradient.size());
  constexpr double kStep = 1e-6;
  for (size_t i = 0; i < variable.values().size(); ++i) {
    const double kept = variable.values()[i];
    variable.values()[i] = kept + kStep;
    const double above = loss();
    variable.values()[i] = kept - kStep;
    const double below = loss();
    variable.values()[i] = kept;
    EXPECT_NEAR(gradient.values()[i], (above - below) / (2 * kStep), 1e-7)
        << "element " << i;
  }
}

// The loss of these cases is <Forward(x), dy>, whose gradient with respect to
// the result is dy.
TEST(LinearTest, GradientsAgreeWithFiniteDifferences) {
  std::mt19937_64 random(11);
  Pool pool(2);
  Linear linear(5, 4, random);
  linear.bias().value = RandomMatrix(1, 4, random);
  Matrix x = RandomMatrix(6, 5, random);
  const Matrix dy = RandomMatrix(6, 4, random);
  const auto loss = [&] { return Dot(linear.Forward(pool, x), dy); };

  const Matrix dx = linear.Backward(pool, x, dy);
  CheckGradient(x, dx, loss);
  CheckGradient(linear.weight().value, linear.weight().gradient, loss);
  CheckGradient(linear.bias().value, linear.bias().gradient, loss);
}

TEST(LinearTest, ParametersAloneAreTheSameGradients) {
  std::mt19937_64 random(12);
  Pool pool(1);
  Linear linear(3, 2, random);
  const Matrix x = RandomMatrix(4, 3, random);
  const Matrix dy = RandomMatrix(4, 2, random);
  linear.Backward(pool, x, dy);
  const Matrix expected = linear.weight().gradient;
  linear.weight().gradient = Matrix(3, 2);
  linear.BackwardParameters(pool, x, dy);
  EXPECT_EQ(linear.weight().gradient, expected);
}

TEST(ReluTest, GradientAgreesWithFiniteDifferences) {
  std::mt19937_64 random(13);
  Matrix x = RandomMatrix(4, 7, random);
  // Away from the kink, where there is no derivative to compare with.
  for (double& value : x.values()) value += value < 0 ? -0.01 : 0.01;
  const Matrix dy = RandomMatrix(4, 7, random);
  CheckGradient(x, ReluBackward(Relu(x), dy), [&] { return Dot(Relu(x), dy); });
}

TEST(SoftmaxCrossEntropyTest, GradientAgreesWithFiniteDifferences) {
  std::mt19937_64 random(14);
  Matrix logits = RandomMatrix(5, 3, random);
  const std::vector<int32_t> labels = {0, 2, 1, 1, 0};
  CheckGradient(logits, SoftmaxCrossEntropy(logits, labels).logits_gradient,
                [&] { return SoftmaxCrossEntropy(logits, labels).mean; });
}

TEST(SoftmaxCrossEntropyTest, KnowsTheEasyCases) {
  Matrix logits(2, 4);  // all equal: every class is as likely
  const std::vector<int32_t> labels = {0, 3};
  EXPECT_NEAR(SoftmaxCrossEntropy(logits, labels).mean, std::log(4), 1e-12);
  logits(0, 0) = 1000;  // must not overflow
  logits(1, 3) = 1000;
  const Loss loss = SoftmaxCrossEntropy(logits, labels);
  EXPECT_EQ(loss.mean, 0);
  EXPECT_EQ(loss.correct, 2);
}

TEST(SgdStepTest, KeepsItsMomentum) {
  Parameter parameter(1, 1);
  parameter.gradient(0, 0) = 1;
  SgdStep(parameter, 0.1, 0.5);
  EXPECT_DOUBLE_EQ(parameter.value(0, 0), -0.1);
  SgdStep(parameter, 0.1, 0.5);  // velocity 1.5
  EXPECT_DOUBLE_EQ(parameter.value(0, 0), -0.25);
}

}  // namespace
}  // namespace mlp
