#include "examples/train_mlp/model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "gtest/gtest.h"

namespace mlp {
namespace {

double BatchLoss(Pool& pool, Mlp& model, const Dataset& batch) {
  return SoftmaxCrossEntropy(model.Forward(pool, batch.points), batch.labels)
      .mean;
}

TEST(MlpTest, GradientsAgreeWithFiniteDifferences) {
  std::mt19937_64 random(21);
  Pool pool(2);
  Mlp model(std::array<int64_t, 4>{kInputs, 9, 6, kClasses}, random);
  const Dataset batch = MakeMoons(16, 0.2, 22);
  model.Backward(
      pool, SoftmaxCrossEntropy(model.Forward(pool, batch.points), batch.labels)
                .logits_gradient);

  constexpr double kStep = 1e-6;
  double largest = 0;
  for (Parameter* const parameter : model.parameters()) {
    for (size_t i = 0; i < parameter->value.values().size(); ++i) {
      double& value = parameter->value.values()[i];
      const double kept = value;
      value = kept + kStep;
      const double above = BatchLoss(pool, model, batch);
      value = kept - kStep;
      const double below = BatchLoss(pool, model, batch);
      value = kept;
      const double gradient = parameter->gradient.values()[i];
      EXPECT_NEAR(gradient, (above - below) / (2 * kStep), 1e-7);
      largest = std::max(largest, std::abs(gradient));
    }
  }
  EXPECT_GT(largest, 0.01);  // not a comparison of zeros
}

TEST(MlpTest, LearnsTheMoons) {
  std::mt19937_64 random(31);
  Pool pool(2);
  Mlp model(std::array<int64_t, 3>{kInputs, 32, kClasses}, random);
  const Dataset data = MakeMoons(400, 0.1, 32);
  const Score before = Evaluate(pool, model, data);
  for (int step = 0; step < 300; ++step) {
    const Loss loss =
        SoftmaxCrossEntropy(model.Forward(pool, data.points), data.labels);
    model.Backward(pool, loss.logits_gradient);
    model.Step(0.3, 0.9);
  }
  const Score after = Evaluate(pool, model, data);
  EXPECT_LT(after.loss, before.loss / 4);
  EXPECT_GT(after.accuracy, 0.97);
}

TEST(MlpTest, CountsItsParameters) {
  std::mt19937_64 random(41);
  const Mlp model(std::array<int64_t, 3>{2, 10, 3}, random);
  EXPECT_EQ(model.parameter_count(), 2 * 10 + 10 + 10 * 3 + 3);
}

}  // namespace
}  // namespace mlp
