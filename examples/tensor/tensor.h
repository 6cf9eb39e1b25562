// tensor.h - dense tensors of floats and the operations that the examples need.
//
//   Tensor y = AddMm(bias, x, weights);
//
// Operations are annotated under PyTorch's names with PyTorch's arguments, so
// that shapes, FLOPs and memory come out as a user of torch.profiler knows
// them. A tensor's storage reports itself to a session with profile_memory.
//
// Threads: values; operations run on the calling thread. Errors: sizes that do
// not fit are a bug of the caller and end the program.
#ifndef KYMO_EXAMPLES_TENSOR_TENSOR_H_
#define KYMO_EXAMPLES_TENSOR_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <random>
#include <span>
#include <vector>

#include "kymo/memory.h"
#include "kymo/record_function.h"

namespace tensor {

// std::allocator, and a report of every block.
template <typename T>
struct ReportingAllocator {
  using value_type = T;

  ReportingAllocator() = default;
  template <typename U>
  ReportingAllocator(const ReportingAllocator<U>&) noexcept {}  // NOLINT

  T* allocate(size_t count) {
    T* const block = std::allocator<T>().allocate(count);
    kymo::ReportMemoryUsage(block, static_cast<int64_t>(count * sizeof(T)));
    return block;
  }
  void deallocate(T* block, size_t count) noexcept {
    kymo::ReportMemoryUsage(block, -static_cast<int64_t>(count * sizeof(T)));
    std::allocator<T>().deallocate(block, count);
  }
  friend bool operator==(ReportingAllocator, ReportingAllocator) noexcept {
    return true;
  }
};

class Tensor {
 public:
  Tensor() = default;
  // All zeros. Row-major, the last dimension is dense.
  explicit Tensor(std::vector<int64_t> sizes);

  std::span<const int64_t> sizes() const noexcept { return sizes_; }
  int64_t size(size_t dimension) const { return sizes_.at(dimension); }
  std::span<float> values() noexcept { return values_; }
  std::span<const float> values() const noexcept { return values_; }

 private:
  std::vector<int64_t> sizes_;
  std::vector<float, ReportingAllocator<float>> values_;
};

// The part of a tensor that Kymo records among an operation's inputs.
inline kymo::TensorMeta KymoInput(const Tensor& tensor) noexcept {
  return {.sizes = tensor.sizes(), .dtype = kymo::DType::kFloat};
}

Tensor Fill(std::vector<int64_t> sizes, float value);
// Normally distributed, mean 0.
Tensor RandN(std::vector<int64_t> sizes, float deviation,
             std::mt19937_64& random);

// [N, Cin, H, W] by [Cout, Cin, KH, KW], the same stride and padding for both
// dimensions: [N, Cout, OH, OW].
Tensor Conv2d(const Tensor& input, const Tensor& weight, int64_t stride,
              int64_t padding);
Tensor Relu(const Tensor& input);
// max(value, min).
Tensor ClampMin(const Tensor& input, float min);
// The gradient where input > threshold, 0 elsewhere.
Tensor ThresholdBackward(const Tensor& gradient, const Tensor& input,
                         float threshold);
// Both tensors have the same sizes.
Tensor Add(const Tensor& a, const Tensor& b);
Tensor Sub(const Tensor& a, const Tensor& b);
Tensor Mul(const Tensor& a, const Tensor& b);
Tensor Scale(const Tensor& a, float factor);
// The result has the size [1].
Tensor Mean(const Tensor& a);
// [N, C, H, W] to [N, C].
Tensor GlobalAveragePool(const Tensor& input);
// [N, K] by [K, M].
Tensor Mm(const Tensor& a, const Tensor& b);
// The same, and a bias [M] on every row.
Tensor AddMm(const Tensor& bias, const Tensor& a, const Tensor& b);
// [N, M] to [M, N].
Tensor Transpose(const Tensor& a);

}  // namespace tensor

#endif  // KYMO_EXAMPLES_TENSOR_TENSOR_H_
