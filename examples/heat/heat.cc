// heat.cc - how heat spreads in a plate: a stencil of MPI ranks, each with
// threads of oneTBB.
//
//   mpicxx -std=c++20 -O2 examples/heat/heat.cc -ltbb -o heat
//   mpirun -n 4 kymo profile --ranks -- ./heat 2000 500
//   mpirun -n 4 kymo profile --ranks -- ./heat 2000 500 2    # rank 2 is slow
//
//   heat [SIZE [STEPS [SLOW_RANK]]]
//
// The plate has SIZE * SIZE points. Its upper edge is hot, the others are cold.
// In each step a point takes the mean of its four neighbours. Each rank has a
// block of rows; it sends its first and its last row to its neighbours, works
// on the rows between while these messages are on their way, then waits for the
// neighbours' rows, and works on the first and the last. Every ten steps all
// ranks add up by how much the plate has changed.
//
// SLOW_RANK computes each of its rows three times, so that the others wait for
// it. docs/ranks.md shows what Kymo says of that.
#include <mpi.h>
#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_reduce.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <utility>
#include <vector>

namespace {

constexpr double kHot = 100;
constexpr int kStepsBetweenSums = 10;
constexpr int kTimesSlower = 3;

struct Options {
  int size = 1000;
  int steps = 200;
  int slow_rank = -1;
};

Options ReadOptions(int argc, char** argv) {
  Options options;
  int* const values[] = {&options.size, &options.steps, &options.slow_rank};
  for (int i = 1; i < argc && i <= 3; ++i) *values[i - 1] = atoi(argv[i]);
  return options;
}

// The rows of one rank, with one row of each neighbour around them.
class Block {
 public:
  Block(int rows, int columns)
      : rows_(rows),
        columns_(columns),
        values_(static_cast<size_t>(rows + 2) * columns) {}

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  // Row 0 and row rows() + 1 are the neighbours'.
  double* Row(int row) {
    return values_.data() + static_cast<size_t>(row) * columns_;
  }
  const double* Row(int row) const {
    return values_.data() + static_cast<size_t>(row) * columns_;
  }

 private:
  int rows_;
  int columns_;
  std::vector<double> values_;
};

class Rank {
 public:
  explicit Rank(const Options& options) : options_(options) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    // The first ranks take one row more if the rows are no multiple.
    const int rows =
        options.size / size_ + (rank_ < options.size % size_ ? 1 : 0);
    now_ = Block(rows, options.size);
    next_ = Block(rows, options.size);
    if (rank_ == 0) {
      for (Block* const block : {&now_, &next_}) {
        std::fill_n(block->Row(0), options.size, kHot);
      }
    }
  }

  // Returns by how much the plate changed in the last sum.
  double Run() {
    double change = 0;
    for (int step = 1; step <= options_.steps; ++step) {
      const double own = Step();
      if (step % kStepsBetweenSums != 0) continue;
      MPI_Allreduce(&own, &change, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    return change;
  }

  // Of the whole plate, in rank 0.
  double Heat() const {
    double own = 0;
    for (int row = 1; row <= now_.rows(); ++row) {
      for (int i = 0; i < now_.columns(); ++i) own += now_.Row(row)[i];
    }
    double all = 0;
    MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    return all;
  }

  int rank() const { return rank_; }

 private:
  double Step() {
    MPI_Request requests[4];
    Exchange(requests);
    const int last = now_.rows();
    double change = Compute(2, last - 1);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    change += Compute(1, 1);
    if (last > 1) change += Compute(last, last);
    std::swap(now_, next_);
    return change;
  }

  // Upwards with tag 0, downwards with tag 1.
  void Exchange(MPI_Request* requests) {
    const int up = rank_ == 0 ? MPI_PROC_NULL : rank_ - 1;
    const int down = rank_ == size_ - 1 ? MPI_PROC_NULL : rank_ + 1;
    const int count = now_.columns();
    const int last = now_.rows();
    MPI_Irecv(now_.Row(0), count, MPI_DOUBLE, up, 1, MPI_COMM_WORLD,
              &requests[0]);
    MPI_Irecv(now_.Row(last + 1), count, MPI_DOUBLE, down, 0, MPI_COMM_WORLD,
              &requests[1]);
    MPI_Isend(now_.Row(1), count, MPI_DOUBLE, up, 0, MPI_COMM_WORLD,
              &requests[2]);
    MPI_Isend(now_.Row(last), count, MPI_DOUBLE, down, 1, MPI_COMM_WORLD,
              &requests[3]);
  }

  // The rows `first` to `last`, in parallel.
  double Compute(int first, int last) {
    if (first > last) return 0;
    const int times = rank_ == options_.slow_rank ? kTimesSlower : 1;
    double change = 0;
    for (int i = 0; i < times; ++i) {
      change = tbb::parallel_reduce(
          tbb::blocked_range<int>(first, last + 1), 0.0,
          [this](const tbb::blocked_range<int>& rows, double sum) {
            for (int row = rows.begin(); row < rows.end(); ++row) {
              sum += ComputeRow(row);
            }
            return sum;
          },
          std::plus<>());
    }
    return change;
  }

  double ComputeRow(int row) {
    const double* const above = now_.Row(row - 1);
    const double* const here = now_.Row(row);
    const double* const below = now_.Row(row + 1);
    double* const out = next_.Row(row);
    const int columns = now_.columns();
    double change = 0;
    for (int i = 0; i < columns; ++i) {
      const double left = i == 0 ? 0 : here[i - 1];
      const double right = i == columns - 1 ? 0 : here[i + 1];
      out[i] = (above[i] + below[i] + left + right) / 4;
      change += std::abs(out[i] - here[i]);
    }
    return change;
  }

  const Options options_;
  int rank_ = 0;
  int size_ = 1;
  Block now_{0, 0};
  Block next_{0, 0};
};

}  // namespace

int main(int argc, char** argv) {
  // Only the thread that initialised MPI calls it.
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Options options = ReadOptions(argc, argv);
  if (provided < MPI_THREAD_FUNNELED || options.size < ranks ||
      options.steps < 1) {
    fprintf(stderr,
            "usage: heat [SIZE [STEPS [SLOW_RANK]]], with a row for each rank "
            "and an MPI that takes threads\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  // Ranks that share a machine share its cores.
  const char* const threads = getenv("HEAT_THREADS");
  const tbb::global_control limit(
      tbb::global_control::max_allowed_parallelism,
      threads == nullptr ? 2 : std::max(1, atoi(threads)));
  Rank rank(options);
  const double change = rank.Run();
  const double heat = rank.Heat();
  if (rank.rank() == 0) {
    printf("%d steps: heat %.6f, last change %.6f\n", options.steps, heat,
           change);
  }
  MPI_Finalize();
  return 0;
}
