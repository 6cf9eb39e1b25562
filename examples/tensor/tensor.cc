#include "examples/tensor/tensor.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace tensor {
namespace {

void Require(bool fits, const char* operation) {
  if (fits) return;
  std::fprintf(stderr, "tensor: sizes do not fit %s\n", operation);
  std::abort();
}

size_t Count(std::span<const int64_t> sizes) {
  size_t count = 1;
  for (const int64_t size : sizes) count *= static_cast<size_t>(size);
  return count;
}

Tensor LikeOf(const Tensor& tensor) {
  return Tensor({tensor.sizes().begin(), tensor.sizes().end()});
}

template <typename Function>
Tensor Map(const Tensor& a, Function function) {
  Tensor result = LikeOf(a);
  std::transform(a.values().begin(), a.values().end(), result.values().begin(),
                 function);
  return result;
}

template <typename Function>
Tensor Zip(const Tensor& a, const Tensor& b, const char* operation,
           Function function) {
  Require(std::ranges::equal(a.sizes(), b.sizes()), operation);
  Tensor result = LikeOf(a);
  std::transform(a.values().begin(), a.values().end(), b.values().begin(),
                 result.values().begin(), function);
  return result;
}

// result += a * b, matrices.
void Multiply(const Tensor& a, const Tensor& b, Tensor& result) {
  Require(
      a.sizes().size() == 2 && b.sizes().size() == 2 && a.size(1) == b.size(0),
      "a matrix product");
  const size_t inner = static_cast<size_t>(a.size(1));
  const size_t columns = static_cast<size_t>(b.size(1));
  for (size_t row = 0; row < static_cast<size_t>(a.size(0)); ++row) {
    float* const to = &result.values()[row * columns];
    for (size_t k = 0; k < inner; ++k) {
      const float factor = a.values()[row * inner + k];
      const float* const from = &b.values()[k * columns];
      for (size_t column = 0; column < columns; ++column) {
        to[column] += factor * from[column];
      }
    }
  }
}

}  // namespace

Tensor::Tensor(std::vector<int64_t> sizes)
    : sizes_(std::move(sizes)), values_(Count(sizes_)) {}

Tensor Fill(std::vector<int64_t> sizes, float value) {
  Tensor result(std::move(sizes));
  std::ranges::fill(result.values(), value);
  return result;
}

Tensor RandN(std::vector<int64_t> sizes, float deviation,
             std::mt19937_64& random) {
  Tensor result(std::move(sizes));
  std::normal_distribution<float> normal(0, deviation);
  for (float& value : result.values()) value = normal(random);
  return result;
}

Tensor Conv2d(const Tensor& input, const Tensor& weight, int64_t stride,
              int64_t padding) {
  const std::vector<int64_t> strides(2, stride);
  const std::vector<int64_t> paddings(2, padding);
  const std::vector<int64_t> dilations(2, 1);
  KYMO_RECORD_OP("aten::conv2d", input, weight, kymo::Input(),
                 std::span(strides), std::span(paddings), std::span(dilations),
                 1);
  Require(input.sizes().size() == 4 && weight.sizes().size() == 4 &&
              input.size(1) == weight.size(1),
          "conv2d");
  const int64_t height = input.size(2);
  const int64_t width = input.size(3);
  const int64_t out_height =
      (height + 2 * padding - weight.size(2)) / stride + 1;
  const int64_t out_width = (width + 2 * padding - weight.size(3)) / stride + 1;
  Tensor result({input.size(0), weight.size(0), out_height, out_width});

  // One weight at a time, over the whole output plane.
  for (int64_t image = 0; image < input.size(0); ++image) {
    for (int64_t out = 0; out < weight.size(0); ++out) {
      float* const plane = &result.values()[static_cast<size_t>(
          (image * weight.size(0) + out) * out_height * out_width)];
      for (int64_t in = 0; in < input.size(1); ++in) {
        const float* const from = &input.values()[static_cast<size_t>(
            (image * input.size(1) + in) * height * width)];
        const float* factor = &weight.values()[static_cast<size_t>(
            (out * weight.size(1) + in) * weight.size(2) * weight.size(3))];
        for (int64_t ky = 0; ky < weight.size(2); ++ky) {
          for (int64_t kx = 0; kx < weight.size(3); ++kx, ++factor) {
            for (int64_t y = 0; y < out_height; ++y) {
              const int64_t from_y = y * stride + ky - padding;
              if (from_y < 0 || from_y >= height) continue;
              for (int64_t x = 0; x < out_width; ++x) {
                const int64_t from_x = x * stride + kx - padding;
                if (from_x < 0 || from_x >= width) continue;
                plane[y * out_width + x] +=
                    *factor * from[from_y * width + from_x];
              }
            }
          }
        }
      }
    }
  }
  return result;
}

Tensor Relu(const Tensor& input) {
  KYMO_RECORD_OP("aten::relu", input);
  return ClampMin(input, 0);
}

Tensor ClampMin(const Tensor& input, float min) {
  KYMO_RECORD_OP("aten::clamp_min", input, static_cast<double>(min));
  return Map(input, [min](float value) { return std::max(value, min); });
}

Tensor ThresholdBackward(const Tensor& gradient, const Tensor& input,
                         float threshold) {
  KYMO_RECORD_OP("aten::threshold_backward", gradient, input,
                 static_cast<double>(threshold));
  return Zip(gradient, input, "threshold_backward",
             [threshold](float slope, float value) {
               return value > threshold ? slope : 0;
             });
}

Tensor Add(const Tensor& a, const Tensor& b) {
  KYMO_RECORD_OP("aten::add", a, b, 1);
  return Zip(a, b, "add", [](float x, float y) { return x + y; });
}

Tensor Sub(const Tensor& a, const Tensor& b) {
  KYMO_RECORD_OP("aten::sub", a, b, 1);
  return Zip(a, b, "sub", [](float x, float y) { return x - y; });
}

Tensor Mul(const Tensor& a, const Tensor& b) {
  KYMO_RECORD_OP("aten::mul", a, b);
  return Zip(a, b, "mul", [](float x, float y) { return x * y; });
}

Tensor Scale(const Tensor& a, float factor) {
  KYMO_RECORD_OP("aten::mul", a, static_cast<double>(factor));
  return Map(a, [factor](float value) { return factor * value; });
}

Tensor Mean(const Tensor& a) {
  KYMO_RECORD_OP("aten::mean", a);
  const float sum = std::accumulate(a.values().begin(), a.values().end(), 0.0F);
  return Fill({1}, sum / static_cast<float>(a.values().size()));
}

Tensor GlobalAveragePool(const Tensor& input) {
  const std::vector<int64_t> output_size(2, 1);
  KYMO_RECORD_OP("aten::adaptive_avg_pool2d", input, std::span(output_size));
  Require(input.sizes().size() == 4, "an average pool");
  Tensor result({input.size(0), input.size(1)});
  const size_t plane = static_cast<size_t>(input.size(2) * input.size(3));
  for (size_t i = 0; i < result.values().size(); ++i) {
    float sum = 0;
    for (const float value : input.values().subspan(i * plane, plane)) {
      sum += value;
    }
    result.values()[i] = sum / static_cast<float>(plane);
  }
  return result;
}

Tensor Mm(const Tensor& a, const Tensor& b) {
  KYMO_RECORD_OP("aten::mm", a, b);
  Tensor result({a.size(0), b.size(1)});
  Multiply(a, b, result);
  return result;
}

Tensor AddMm(const Tensor& bias, const Tensor& a, const Tensor& b) {
  KYMO_RECORD_OP("aten::addmm", bias, a, b, 1, 1);
  Require(bias.sizes().size() == 1 && bias.size(0) == b.size(1), "addmm");
  Tensor result({a.size(0), b.size(1)});
  const size_t columns = static_cast<size_t>(b.size(1));
  for (size_t i = 0; i < result.values().size(); ++i) {
    result.values()[i] = bias.values()[i % columns];
  }
  Multiply(a, b, result);
  return result;
}

Tensor Transpose(const Tensor& a) {
  KYMO_RECORD_OP("aten::t", a);
  Require(a.sizes().size() == 2, "a transposition");
  Tensor result({a.size(1), a.size(0)});
  const size_t rows = static_cast<size_t>(a.size(0));
  const size_t columns = static_cast<size_t>(a.size(1));
  for (size_t row = 0; row < rows; ++row) {
    for (size_t column = 0; column < columns; ++column) {
      result.values()[column * rows + row] = a.values()[row * columns + column];
    }
  }
  return result;
}

}  // namespace tensor
