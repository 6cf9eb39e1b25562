// matrix.h - dense row-major matrices and their products, tile by tile.
//
//   Matrix y = MatMul(pool, x, Op::kPlain, weights, Op::kPlain);
//
// A product is cut into tiles of the result; each tile is one task of the pool.
// The terms of an element are always added in the same order, so a result does
// not depend on the number of threads.
#ifndef KYMO_EXAMPLES_TRAIN_MLP_MATRIX_H_
#define KYMO_EXAMPLES_TRAIN_MLP_MATRIX_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "examples/train_mlp/pool.h"

namespace mlp {

class Matrix {
 public:
  Matrix() = default;
  // All zeros.
  Matrix(int64_t rows, int64_t cols)
      : rows_(rows), cols_(cols), values_(static_cast<size_t>(rows * cols)) {}

  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  int64_t size() const { return rows_ * cols_; }

  double& operator()(int64_t row, int64_t col) {
    return values_[static_cast<size_t>(row * cols_ + col)];
  }
  double operator()(int64_t row, int64_t col) const {
    return values_[static_cast<size_t>(row * cols_ + col)];
  }
  std::span<double> row(int64_t row) {
    return std::span(values_).subspan(static_cast<size_t>(row * cols_),
                                      static_cast<size_t>(cols_));
  }
  std::span<const double> row(int64_t row) const {
    return std::span(values_).subspan(static_cast<size_t>(row * cols_),
                                      static_cast<size_t>(cols_));
  }
  std::span<double> values() { return values_; }
  std::span<const double> values() const { return values_; }

  friend bool operator==(const Matrix&, const Matrix&) = default;

 private:
  int64_t rows_ = 0;
  int64_t cols_ = 0;
  std::vector<double> values_;
};

// How an operand of a product is read.
enum class Op { kPlain, kTransposed };

// op(a) * op(b).
// REQUIRES: the inner sizes agree.
Matrix MatMul(Pool& pool, const Matrix& a, Op op_a, const Matrix& b, Op op_b);

Matrix Transposed(const Matrix& matrix);

}  // namespace mlp

#endif  // KYMO_EXAMPLES_TRAIN_MLP_MATRIX_H_
