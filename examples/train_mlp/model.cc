#include "examples/train_mlp/model.h"

#include <cassert>
#include <cstddef>
#include <utility>

#include "examples/train_mlp/counts.h"
#include "kymo/record_function.h"

namespace mlp {

Mlp::Mlp(std::span<const int64_t> widths, std::mt19937_64& random) {
  assert(widths.size() >= 2);
  for (size_t i = 1; i < widths.size(); ++i) {
    layers_.emplace_back(widths[i - 1], widths[i], random);
  }
}

const Matrix& Mlp::Forward(Pool& pool, const Matrix& x) {
  kymo::RecordFunction range("forward", kymo::RecordScope::kUserScope,
                             {{"rows", x.rows()}});
  Count<"forward">();
  activations_.assign(1, x);
  for (size_t i = 0; i < layers_.size(); ++i) {
    Matrix y = layers_[i].Forward(pool, activations_.back());
    const bool last = i + 1 == layers_.size();
    activations_.push_back(last ? std::move(y) : Relu(y));
  }
  return activations_.back();
}

void Mlp::Backward(Pool& pool, const Matrix& logits_gradient) {
  kymo::RecordFunction range("backward", kymo::RecordScope::kUserScope,
                             {{"rows", logits_gradient.rows()}});
  Count<"backward">();
  Matrix gradient = logits_gradient;
  for (size_t i = layers_.size(); i-- > 1;) {
    gradient = ReluBackward(
        activations_[i], layers_[i].Backward(pool, activations_[i], gradient));
  }
  layers_[0].BackwardParameters(pool, activations_[0], gradient);
}

void Mlp::Step(double learning_rate, double momentum) {
  kymo::RecordFunction range("optimizer", kymo::RecordScope::kUserScope,
                             {{"kind", "sgd"}, {"momentum", momentum}});
  Count<"optimizer">();
  for (Parameter* const parameter : parameters()) {
    SgdStep(*parameter, learning_rate, momentum);
  }
}

std::vector<Parameter*> Mlp::parameters() {
  std::vector<Parameter*> result;
  for (Linear& layer : layers_) {
    result.push_back(&layer.weight());
    result.push_back(&layer.bias());
  }
  return result;
}

int64_t Mlp::parameter_count() const {
  int64_t count = 0;
  for (const Linear& layer : layers_) {
    count += layer.weight().value.size() + layer.weight().value.cols();
  }
  return count;
}

Score Evaluate(Pool& pool, Mlp& model, const Dataset& data) {
  kymo::RecordFunction range("evaluate", kymo::RecordScope::kUserScope,
                             {{"rows", data.points.rows()}});
  Count<"evaluate">();
  const Loss loss =
      SoftmaxCrossEntropy(model.Forward(pool, data.points), data.labels);
  return {loss.mean, static_cast<double>(loss.correct) /
                         static_cast<double>(data.points.rows())};
}

}  // namespace mlp
