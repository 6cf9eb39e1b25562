// pool.h - a oneTBB arena of a fixed number of named threads.
//
//   Pool pool(4);
//   pool.ForEach(tiles, [&](int64_t tile) { ... });
//
// Threads: ForEach may be called from any thread and nested. The workers are
//   named "mlp worker 1", "mlp worker 2", ... in the trace.
#ifndef KYMO_EXAMPLES_TRAIN_MLP_POOL_H_
#define KYMO_EXAMPLES_TRAIN_MLP_POOL_H_

#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/partitioner.h>
#include <tbb/task_arena.h>

#include <cstddef>
#include <cstdint>

namespace mlp {

class Pool {
 public:
  // The calling thread counts as one of `threads`.
  // REQUIRES: threads > 0.
  explicit Pool(int threads)
      : limit_(tbb::global_control::max_allowed_parallelism,
               static_cast<size_t>(threads)),
        arena_(threads) {}
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Calls body(i) for every i of [0, n), in any order, and waits.
  template <typename Body>
  void ForEach(int64_t n, const Body& body) {
    arena_.execute([&] {
      // One task per index: an index is a tile, which is work enough.
      tbb::parallel_for(
          int64_t{0}, n,
          [&](int64_t i) {
            NameWorker();
            body(i);
          },
          tbb::simple_partitioner());
    });
  }

 private:
  // Names the calling thread at its first task, if it is a worker.
  static void NameWorker();

  tbb::global_control limit_;  // more threads than cores are allowed
  tbb::task_arena arena_;
};

}  // namespace mlp

#endif  // KYMO_EXAMPLES_TRAIN_MLP_POOL_H_
