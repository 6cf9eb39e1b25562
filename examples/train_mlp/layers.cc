#include "examples/train_mlp/layers.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>

#include "examples/train_mlp/counts.h"
#include "examples/train_mlp/data.h"
#include "kymo/record_function.h"

namespace mlp {

Linear::Linear(int64_t inputs, int64_t outputs, std::mt19937_64& random)
    : weight_(inputs, outputs), bias_(1, outputs) {
  const double scale = std::sqrt(2.0 / static_cast<double>(inputs));
  for (double& value : weight_.value.values()) {
    value = scale * Gaussian(random);
  }
}

Matrix Linear::Forward(Pool& pool, const Matrix& x) const {
  kymo::RecordFunction range("mlp::linear",
                             {{"rows", x.rows()},
                              {"inputs", weight_.value.rows()},
                              {"outputs", weight_.value.cols()}});
  Count<"mlp::linear">();
  Matrix y = MatMul(pool, x, Op::kPlain, weight_.value, Op::kPlain);
  for (int64_t i = 0; i < y.rows(); ++i) {
    for (int64_t j = 0; j < y.cols(); ++j) y(i, j) += bias_.value(0, j);
  }
  return y;
}

void Linear::BackwardParameters(Pool& pool, const Matrix& x, const Matrix& dy) {
  kymo::RecordFunction range("mlp::linear_backward_parameters",
                             {{"rows", dy.rows()}, {"cols", dy.cols()}});
  Count<"mlp::linear_backward_parameters">();
  weight_.gradient = MatMul(pool, x, Op::kTransposed, dy, Op::kPlain);
  bias_.gradient = Matrix(1, dy.cols());
  for (int64_t i = 0; i < dy.rows(); ++i) {
    for (int64_t j = 0; j < dy.cols(); ++j) bias_.gradient(0, j) += dy(i, j);
  }
}

Matrix Linear::Backward(Pool& pool, const Matrix& x, const Matrix& dy) {
  kymo::RecordFunction range("mlp::linear_backward",
                             {{"rows", dy.rows()}, {"cols", dy.cols()}});
  Count<"mlp::linear_backward">();
  BackwardParameters(pool, x, dy);
  return MatMul(pool, dy, Op::kPlain, weight_.value, Op::kTransposed);
}

Matrix Relu(const Matrix& x) {
  kymo::RecordFunction range("mlp::relu",
                             {{"rows", x.rows()}, {"cols", x.cols()}});
  Count<"mlp::relu">();
  Matrix y = x;
  for (double& value : y.values()) value = std::max(value, 0.0);
  return y;
}

Matrix ReluBackward(const Matrix& y, const Matrix& dy) {
  kymo::RecordFunction range("mlp::relu_backward",
                             {{"rows", y.rows()}, {"cols", y.cols()}});
  Count<"mlp::relu_backward">();
  assert(y.rows() == dy.rows() && y.cols() == dy.cols());
  Matrix dx = dy;
  const std::span<const double> active = y.values();
  const std::span<double> gradient = dx.values();
  for (size_t i = 0; i < active.size(); ++i) {
    if (active[i] <= 0) gradient[i] = 0;
  }
  return dx;
}

Loss SoftmaxCrossEntropy(const Matrix& logits,
                         std::span<const int32_t> labels) {
  kymo::RecordFunction range(
      "mlp::softmax_cross_entropy",
      {{"rows", logits.rows()}, {"cols", logits.cols()}});
  Count<"mlp::softmax_cross_entropy">();
  assert(static_cast<int64_t>(labels.size()) == logits.rows());
  Loss loss;
  loss.logits_gradient = Matrix(logits.rows(), logits.cols());
  const double scale = 1.0 / static_cast<double>(logits.rows());
  for (int64_t i = 0; i < logits.rows(); ++i) {
    const std::span<const double> row = logits.row(i);
    const std::span<double> gradient = loss.logits_gradient.row(i);
    const auto label = static_cast<size_t>(labels[static_cast<size_t>(i)]);
    const auto largest = std::max_element(row.begin(), row.end());
    // Shifted by the largest, so that no exponential overflows.
    double sum = 0;
    for (size_t j = 0; j < row.size(); ++j) {
      gradient[j] = std::exp(row[j] - *largest);
      sum += gradient[j];
    }
    for (double& value : gradient) value *= scale / sum;
    gradient[label] -= scale;
    loss.mean += scale * (*largest + std::log(sum) - row[label]);
    if (static_cast<size_t>(largest - row.begin()) == label) ++loss.correct;
  }
  range.AddArg("loss", loss.mean);
  return loss;
}

void SgdStep(Parameter& parameter, double learning_rate, double momentum) {
  kymo::RecordFunction range("mlp::sgd_step", {{"rows", parameter.value.rows()},
                                               {"cols", parameter.value.cols()},
                                               {"lr", learning_rate}});
  Count<"mlp::sgd_step">();
  const std::span<double> value = parameter.value.values();
  const std::span<double> velocity = parameter.velocity.values();
  const std::span<const double> gradient = parameter.gradient.values();
  for (size_t i = 0; i < value.size(); ++i) {
    velocity[i] = momentum * velocity[i] + gradient[i];
    value[i] -= learning_rate * velocity[i];
  }
}

}  // namespace mlp
