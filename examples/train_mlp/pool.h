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
#include <tbb/task_scheduler_observer.h>

#include <cstdint>

namespace mlp {

class Pool {
 public:
  // The calling thread counts as one of `threads`.
  // REQUIRES: threads > 0.
  explicit Pool(int threads);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  // Calls body(i) for every i of [0, n), in any order, and waits.
  template <typename Body>
  void ForEach(int64_t n, const Body& body) {
    arena_.execute([&] {
      // One task per index: an index is a tile, which is work enough.
      tbb::parallel_for(int64_t{0}, n, body, tbb::simple_partitioner());
    });
  }

 private:
  // Names a worker when it first comes into the arena.
  class Namer : public tbb::task_scheduler_observer {
   public:
    explicit Namer(tbb::task_arena& arena);
    ~Namer() override;
    void on_scheduler_entry(bool is_worker) override;
  };

  tbb::global_control limit_;  // more threads than cores are allowed
  tbb::task_arena arena_;
  Namer namer_;
};

}  // namespace mlp

#endif  // KYMO_EXAMPLES_TRAIN_MLP_POOL_H_
