// layers.h - the operations of the network, each with its gradient.
//
//   Matrix y = linear.Forward(pool, x);
//   ...
//   Matrix dx = linear.Backward(pool, x, dy);   // leaves dw and db in `linear`
//
// A gradient is that of the loss with respect to the thing it is named after.
// The caller keeps what Forward was given and gives it to Backward again.
#ifndef KYMO_EXAMPLES_TRAIN_MLP_LAYERS_H_
#define KYMO_EXAMPLES_TRAIN_MLP_LAYERS_H_

#include <cstdint>
#include <random>
#include <span>

#include "examples/train_mlp/matrix.h"

namespace mlp {

// A tensor of the model, its gradient and its momentum, all of one shape.
struct Parameter {
  Parameter(int64_t rows, int64_t cols)
      : value(rows, cols), gradient(rows, cols), velocity(rows, cols) {}

  Matrix value;
  Matrix gradient;
  Matrix velocity;
};

// y = x w + b.
class Linear {
 public:
  // Weights after He, for the ReLU that follows; no bias.
  Linear(int64_t inputs, int64_t outputs, std::mt19937_64& random);

  Matrix Forward(Pool& pool, const Matrix& x) const;
  // The first layer of a network needs no gradient of its input.
  void BackwardParameters(Pool& pool, const Matrix& x, const Matrix& dy);
  Matrix Backward(Pool& pool, const Matrix& x, const Matrix& dy);

  Parameter& weight() { return weight_; }
  const Parameter& weight() const { return weight_; }
  Parameter& bias() { return bias_; }

 private:
  Parameter weight_;  // inputs x outputs
  Parameter bias_;    // 1 x outputs
};

Matrix Relu(const Matrix& x);
// `y` is what Relu returned.
Matrix ReluBackward(const Matrix& y, const Matrix& dy);

struct Loss {
  double mean = 0;
  int64_t correct = 0;  // rows whose largest logit is the label's
  Matrix logits_gradient;
};

// The mean cross entropy of softmax(logits) against `labels`.
// REQUIRES: one label per row, each a column of `logits`.
Loss SoftmaxCrossEntropy(const Matrix& logits, std::span<const int32_t> labels);

// One step of gradient descent with momentum: v = m v + g; p -= rate v.
void SgdStep(Parameter& parameter, double learning_rate, double momentum);

}  // namespace mlp

#endif  // KYMO_EXAMPLES_TRAIN_MLP_LAYERS_H_
