#include "examples/train_mlp/matrix.h"

#include <random>

#include "gtest/gtest.h"

namespace mlp {
namespace {

Matrix RandomMatrix(int64_t rows, int64_t cols, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Matrix matrix(rows, cols);
  for (double& value : matrix.values()) value = uniform(random);
  return matrix;
}

// By the definition.
Matrix Naive(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows(), b.cols());
  for (int64_t i = 0; i < c.rows(); ++i) {
    for (int64_t j = 0; j < c.cols(); ++j) {
      for (int64_t k = 0; k < a.cols(); ++k) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}

void ExpectNear(const Matrix& a, const Matrix& b) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.cols(), b.cols());
  for (int64_t i = 0; i < a.rows(); ++i) {
    for (int64_t j = 0; j < a.cols(); ++j) {
      ASSERT_NEAR(a(i, j), b(i, j), 1e-12) << i << ", " << j;
    }
  }
}

struct Sizes {
  int64_t rows, inner, cols;
};

class MatMulTest : public testing::TestWithParam<Sizes> {};

TEST_P(MatMulTest, AgreesWithTheDefinition) {
  const auto [rows, inner, cols] = GetParam();
  Pool pool(3);
  const Matrix a = RandomMatrix(rows, inner, 1);
  const Matrix b = RandomMatrix(inner, cols, 2);
  const Matrix expected = Naive(a, b);
  ExpectNear(MatMul(pool, a, Op::kPlain, b, Op::kPlain), expected);
  ExpectNear(MatMul(pool, Transposed(a), Op::kTransposed, b, Op::kPlain),
             expected);
  ExpectNear(MatMul(pool, a, Op::kPlain, Transposed(b), Op::kTransposed),
             expected);
  ExpectNear(MatMul(pool, Transposed(a), Op::kTransposed, Transposed(b),
                    Op::kTransposed),
             expected);
}

// Around the tile: below, exact, one more, and thin in one direction.
INSTANTIATE_TEST_SUITE_P(Sizes, MatMulTest,
                         testing::Values(Sizes{1, 1, 1}, Sizes{3, 2, 5},
                                         Sizes{32, 64, 64}, Sizes{33, 65, 65},
                                         Sizes{100, 1, 7}, Sizes{1, 200, 1},
                                         Sizes{70, 130, 129}));

TEST(MatMulTest, DoesNotDependOnTheNumberOfThreads) {
  const Matrix a = RandomMatrix(90, 140, 3);
  const Matrix b = RandomMatrix(140, 75, 4);
  Pool one(1);
  const Matrix expected = MatMul(one, a, Op::kPlain, b, Op::kPlain);
  for (const int threads : {2, 5}) {
    Pool pool(threads);
    EXPECT_EQ(MatMul(pool, a, Op::kPlain, b, Op::kPlain), expected);
  }
}

TEST(MatrixTest, RowsAreViews) {
  Matrix matrix(2, 3);
  matrix.row(1)[2] = 7;
  EXPECT_EQ(matrix(1, 2), 7);
  EXPECT_EQ(matrix.size(), 6);
  EXPECT_EQ(Transposed(matrix)(2, 1), 7);
}

}  // namespace
}  // namespace mlp
