// autograd.h - gradients by a graph of what was computed.
//
//   Variable w = Variable::Parameter(RandN(...));
//   Variable loss = MseLoss(MatMul(Variable::Constant(x), w), target);
//   Backward(loss);
//   w.gradient()
//
// As PyTorch's engine does, each operation on variables that need a gradient
// leaves a node, and Backward() visits the nodes, the latest first. Forward
// operations and their nodes are recorded with one sequence number, which is
// what links them in a profile.
//
// Threads: a graph belongs to one thread at a time.
#ifndef KYMO_EXAMPLES_FORWARD_BACKWARD_AUTOGRAD_H_
#define KYMO_EXAMPLES_FORWARD_BACKWARD_AUTOGRAD_H_

#include <memory>

#include "examples/tensor/tensor.h"

namespace autograd {

using tensor::Tensor;

// A tensor and how it came about. Copies share both.
class Variable {
 public:
  static Variable Constant(Tensor value);
  // Wants a gradient.
  static Variable Parameter(Tensor value);

  const Tensor& value() const;
  Tensor& value();
  // The sum of what Backward() brought; empty before.
  const Tensor& gradient() const;
  void ZeroGradient();

 private:
  friend class Engine;
  struct State;

  explicit Variable(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

// [N, K] by [K, M].
Variable MatMul(const Variable& a, const Variable& b);
Variable Relu(const Variable& a);
// The mean of (a - target)^2, of size [1].
Variable MseLoss(const Variable& a, const Tensor& target);

// Adds the derivative of `loss` by each parameter that it depends on to the
// parameter's gradient.
void Backward(const Variable& loss);

}  // namespace autograd

#endif  // KYMO_EXAMPLES_FORWARD_BACKWARD_AUTOGRAD_H_
