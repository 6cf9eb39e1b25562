// model.h - a multi-layer perceptron and its training.
//
//   Mlp model(widths, random);                   // e.g. 2, 64, 64, 2
//   const Matrix& logits = model.Forward(pool, batch.points);
//   Loss loss = SoftmaxCrossEntropy(logits, batch.labels);
//   model.Backward(pool, loss.logits_gradient);  // gradients into parameters
//   model.Step(0.1, 0.9);                        // descent
//
// Between two linear layers stands a ReLU.
// Threads: one at a time; the products inside run on the pool.
#ifndef KYMO_EXAMPLES_TRAIN_MLP_MODEL_H_
#define KYMO_EXAMPLES_TRAIN_MLP_MODEL_H_

#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "examples/train_mlp/data.h"
#include "examples/train_mlp/layers.h"
#include "examples/train_mlp/matrix.h"

namespace mlp {

class Mlp {
 public:
  // REQUIRES: two widths or more, the first is the input's.
  Mlp(std::span<const int64_t> widths, std::mt19937_64& random);

  // Logits, one row per row of `x`. Keeps what Backward needs.
  const Matrix& Forward(Pool& pool, const Matrix& x);

  // Gradients of every parameter for the batch of the last Forward.
  void Backward(Pool& pool, const Matrix& logits_gradient);

  // One descent step with the gradients of the last Backward.
  void Step(double learning_rate, double momentum);

  std::vector<Parameter*> parameters();
  int64_t parameter_count() const;

 private:
  std::vector<Linear> layers_;
  // activations_[i] went into layers_[i]; the last one is the logits.
  std::vector<Matrix> activations_;
};

struct Score {
  double loss = 0;
  double accuracy = 0;  // of 1
};

// Runs the model over all of `data` without training.
Score Evaluate(Pool& pool, Mlp& model, const Dataset& data);

}  // namespace mlp

#endif  // KYMO_EXAMPLES_TRAIN_MLP_MODEL_H_
