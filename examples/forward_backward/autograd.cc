#include "examples/forward_backward/autograd.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kymo/record_function.h"
#include "kymo/sequence_number.h"

namespace autograd {

// The backward half of one operation.
struct Node {
  std::string name;
  int64_t sequence_nr;
  uint64_t forward_thread_id;
  std::vector<Variable> inputs;
  // From the gradient of the result to that of each input; empty where the
  // input wants none.
  std::function<std::vector<Tensor>(const Tensor& gradient)> apply;
};

struct Variable::State {
  Tensor value;
  Tensor gradient;
  bool wants_gradient = false;
  std::shared_ptr<Node> node;  // null for leaves
};

Variable::Variable(std::shared_ptr<State> state) : state_(std::move(state)) {}
const Tensor& Variable::value() const { return state_->value; }
Tensor& Variable::value() { return state_->value; }
const Tensor& Variable::gradient() const { return state_->gradient; }
void Variable::ZeroGradient() { state_->gradient = Tensor(); }

Variable Variable::Constant(Tensor value) {
  return Variable(std::make_shared<State>(State{.value = std::move(value)}));
}

Variable Variable::Parameter(Tensor value) {
  return Variable(std::make_shared<State>(
      State{.value = std::move(value), .wants_gradient = true}));
}

class Engine {
 public:
  static bool WantsGradient(const Variable& variable) {
    return variable.state_->wants_gradient;
  }

  // The result of an operation, with a node if some input wants a gradient.
  static Variable Result(
      Tensor value, const char* node_name, std::vector<Variable> inputs,
      std::function<std::vector<Tensor>(const Tensor&)> apply) {
    Variable result = Variable::Constant(std::move(value));
    if (!std::ranges::any_of(inputs, WantsGradient)) return result;
    result.state_->wants_gradient = true;
    result.state_->node = std::make_shared<Node>(
        Node{.name = node_name,
             .sequence_nr = kymo::GetAndIncrementSequenceNumber(),
             .forward_thread_id = kymo::CurrentThreadId(),
             .inputs = std::move(inputs),
             .apply = std::move(apply)});
    return result;
  }

  static void Run(const Variable& loss) {
    // A node's result is needed by later nodes only, so that visiting them by
    // falling sequence number brings each its whole gradient.
    std::map<int64_t, Variable, std::greater<>> ready;
    Deliver(loss, tensor::Fill({1}, 1), ready);
    while (!ready.empty()) {
      const Variable variable = ready.begin()->second;
      ready.erase(ready.begin());
      const Node& node = *variable.state_->node;
      const Tensor gradient = std::exchange(variable.state_->gradient, {});

      const kymo::RecordFunction evaluate(
          "autograd::engine::evaluate_function: " + node.name);
      std::vector<Tensor> gradients;
      {
        const kymo::RecordFunction range(
            node.name, {.scope = kymo::RecordScope::kBackwardFunction,
                        .sequence_nr = node.sequence_nr,
                        .forward_thread_id = node.forward_thread_id});
        gradients = node.apply(gradient);
      }
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (WantsGradient(node.inputs[i])) {
          Deliver(node.inputs[i], std::move(gradients[i]), ready);
        }
      }
    }
  }

 private:
  static void Deliver(const Variable& to, Tensor gradient,
                      std::map<int64_t, Variable, std::greater<>>& ready) {
    Variable::State& state = *to.state_;
    state.gradient = state.gradient.sizes().empty()
                         ? std::move(gradient)
                         : tensor::Add(state.gradient, gradient);
    if (state.node != nullptr) ready.emplace(state.node->sequence_nr, to);
  }
};

Variable MatMul(const Variable& a, const Variable& b) {
  const auto inputs = kymo::Inputs(a.value(), b.value());
  const kymo::RecordFunction range(
      "aten::matmul",
      {.inputs = inputs, .sequence_nr = kymo::PeekSequenceNumber()});
  return Engine::Result(
      tensor::Mm(a.value(), b.value()), "MmBackward0", {a, b},
      [a, b](const Tensor& gradient) {
        std::vector<Tensor> gradients(2);
        if (Engine::WantsGradient(a)) {
          gradients[0] = tensor::Mm(gradient, tensor::Transpose(b.value()));
        }
        if (Engine::WantsGradient(b)) {
          gradients[1] = tensor::Mm(tensor::Transpose(a.value()), gradient);
        }
        return gradients;
      });
}

Variable Relu(const Variable& a) {
  const auto inputs = kymo::Inputs(a.value());
  const kymo::RecordFunction range(
      "aten::relu",
      {.inputs = inputs, .sequence_nr = kymo::PeekSequenceNumber()});
  return Engine::Result(tensor::ClampMin(a.value(), 0), "ReluBackward0", {a},
                        [a](const Tensor& gradient) {
                          return std::vector<Tensor>{tensor::ThresholdBackward(
                              gradient, a.value(), 0)};
                        });
}

Variable MseLoss(const Variable& a, const Tensor& target) {
  const auto inputs = kymo::Inputs(a.value(), target);
  const kymo::RecordFunction range(
      "aten::mse_loss",
      {.inputs = inputs, .sequence_nr = kymo::PeekSequenceNumber()});
  const Tensor difference = tensor::Sub(a.value(), target);
  return Engine::Result(
      tensor::Mean(tensor::Mul(difference, difference)), "MseLossBackward0",
      {a}, [difference](const Tensor& gradient) {
        const float factor = 2 * gradient.values()[0] /
                             static_cast<float>(difference.values().size());
        return std::vector<Tensor>{tensor::Scale(difference, factor)};
      });
}

void Backward(const Variable& loss) { Engine::Run(loss); }

}  // namespace autograd
