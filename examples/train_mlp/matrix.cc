#include "examples/train_mlp/matrix.h"

#include <algorithm>
#include <cassert>

#include "examples/train_mlp/counts.h"
#include "kymo/record_function.h"

namespace mlp {
namespace {

constexpr int64_t kTileRows = 32;
constexpr int64_t kTileCols = 64;
constexpr int64_t kTileInner = 64;

constexpr int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Adds the product of a's rows and b's columns to the tile of `c` that begins
// at (row_begin, col_begin). The innermost loop runs along rows of b and c.
void MultiplyTile(const Matrix& a, const Matrix& b, int64_t row_begin,
                  int64_t col_begin, Matrix& c) {
  const int64_t row_end = std::min(row_begin + kTileRows, c.rows());
  const int64_t col_end = std::min(col_begin + kTileCols, c.cols());
  for (int64_t inner = 0; inner < a.cols(); inner += kTileInner) {
    const int64_t inner_end = std::min(inner + kTileInner, a.cols());
    for (int64_t i = row_begin; i < row_end; ++i) {
      double* const c_row = c.row(i).data();
      for (int64_t k = inner; k < inner_end; ++k) {
        const double factor = a(i, k);
        const double* const b_row = b.row(k).data();
        for (int64_t j = col_begin; j < col_end; ++j) {
          c_row[j] += factor * b_row[j];
        }
      }
    }
  }
}

Matrix MultiplyPlain(Pool& pool, const Matrix& a, const Matrix& b) {
  assert(a.cols() == b.rows());
  kymo::RecordFunction range("mlp::matmul",
                             {{"rows", a.rows()},
                              {"cols", b.cols()},
                              {"inner", a.cols()},
                              {"flops", 2 * a.rows() * a.cols() * b.cols()}});
  Count<"mlp::matmul">();
  Matrix c(a.rows(), b.cols());
  const int64_t tiles_across = CeilDiv(c.cols(), kTileCols);
  const int64_t tiles = CeilDiv(c.rows(), kTileRows) * tiles_across;
  pool.ForEach(tiles, [&](int64_t tile) {
    KYMO_RECORD_FUNCTION("mlp::matmul_tile");
    Count<"mlp::matmul_tile">();
    MultiplyTile(a, b, tile / tiles_across * kTileRows,
                 tile % tiles_across * kTileCols, c);
  });
  return c;
}

}  // namespace

Matrix Transposed(const Matrix& matrix) {
  kymo::RecordFunction range(
      "mlp::transpose", {{"rows", matrix.rows()}, {"cols", matrix.cols()}});
  Count<"mlp::transpose">();
  Matrix result(matrix.cols(), matrix.rows());
  for (int64_t i = 0; i < matrix.rows(); ++i) {
    for (int64_t j = 0; j < matrix.cols(); ++j) result(j, i) = matrix(i, j);
  }
  return result;
}

Matrix MatMul(Pool& pool, const Matrix& a, Op op_a, const Matrix& b, Op op_b) {
  if (op_a == Op::kTransposed) {
    return MatMul(pool, Transposed(a), Op::kPlain, b, op_b);
  }
  if (op_b == Op::kTransposed) {
    return MultiplyPlain(pool, a, Transposed(b));
  }
  return MultiplyPlain(pool, a, b);
}

}  // namespace mlp
