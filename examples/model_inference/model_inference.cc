// One inference of a small residual network, and where its time went:
// PyTorch's first profiler recipe, in C++.
//
//   bazel run //examples:model_inference -- /tmp/trace.json
//
// Prints the operations by time, the same by input shape, and by the memory
// that they took; writes the timeline to the file, if one is given.

#include <cstdlib>
#include <iostream>
#include <random>
#include <vector>

#include "examples/tensor/tensor.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"

namespace {

using tensor::Tensor;

constexpr int64_t kClasses = 10;

// y = relu(x + conv(relu(conv(x)))).
class ResidualBlock {
 public:
  ResidualBlock(int64_t channels, std::mt19937_64& random)
      : first_(tensor::RandN({channels, channels, 3, 3}, 0.05F, random)),
        second_(tensor::RandN({channels, channels, 3, 3}, 0.05F, random)) {}

  Tensor Forward(const Tensor& x) const {
    const Tensor hidden = tensor::Relu(tensor::Conv2d(x, first_, 1, 1));
    return tensor::Relu(tensor::Add(x, tensor::Conv2d(hidden, second_, 1, 1)));
  }

 private:
  Tensor first_;
  Tensor second_;
};

class SmallResNet {
 public:
  explicit SmallResNet(std::mt19937_64& random)
      : stem_(tensor::RandN({16, 3, 3, 3}, 0.1F, random)),
        narrow_(tensor::RandN({32, 16, 3, 3}, 0.05F, random)),
        weights_(tensor::RandN({32, kClasses}, 0.1F, random)),
        bias_(tensor::RandN({kClasses}, 0.1F, random)) {
    for (int i = 0; i < 2; ++i) wide_blocks_.emplace_back(16, random);
    for (int i = 0; i < 2; ++i) narrow_blocks_.emplace_back(32, random);
  }

  // Images [N, 3, H, W] to logits [N, kClasses].
  Tensor Forward(const Tensor& images) const {
    Tensor x = tensor::Relu(tensor::Conv2d(images, stem_, 1, 1));
    for (const ResidualBlock& block : wide_blocks_) x = block.Forward(x);
    x = tensor::Relu(tensor::Conv2d(x, narrow_, 2, 1));
    for (const ResidualBlock& block : narrow_blocks_) x = block.Forward(x);
    return tensor::AddMm(bias_, tensor::GlobalAveragePool(x), weights_);
  }

 private:
  Tensor stem_;
  std::vector<ResidualBlock> wide_blocks_;
  Tensor narrow_;
  std::vector<ResidualBlock> narrow_blocks_;
  Tensor weights_;
  Tensor bias_;
};

int Fail(const absl::Status& status) {
  std::cerr << "model_inference: " << status << "\n";
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2) {
    std::cerr << "usage: model_inference [TRACE_FILE]\n";
    return 2;
  }
  std::mt19937_64 random(1);
  const SmallResNet model(random);
  const Tensor images = tensor::RandN({5, 3, 32, 32}, 1, random);

  kymo::Profile profile(
      {.record_shapes = true, .with_flops = true, .profile_memory = true});
  if (absl::Status s = profile.Start(); !s.ok()) return Fail(s);
  {
    KYMO_RECORD_FUNCTION("model_inference", kymo::RecordScope::kUserScope);
    model.Forward(images);
  }
  if (absl::Status s = profile.Stop(); !s.ok()) return Fail(s);

  std::cout << profile.key_averages().table(
                   {.sort_by = "cpu_time_total", .row_limit = 10})
            << "\n"
            << profile.key_averages({.group_by_input_shape = true})
                   .table({.sort_by = "cpu_time_total", .row_limit = 10})
            << "\n"
            << profile.key_averages().table(
                   {.sort_by = "self_cpu_memory_usage", .row_limit = 10});
  if (argc == 2) {
    if (absl::Status s = profile.export_chrome_trace(argv[1]); !s.ok()) {
      return Fail(s);
    }
  }
  return EXIT_SUCCESS;
}
