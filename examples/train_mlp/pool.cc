#include "examples/train_mlp/pool.h"

#include <atomic>
#include <cstddef>
#include <string>

#include "kymo/record_function.h"

namespace mlp {

Pool::Pool(int threads)
    : limit_(tbb::global_control::max_allowed_parallelism,
             static_cast<size_t>(threads)),
      arena_(threads),
      namer_(arena_) {}

Pool::~Pool() = default;

Pool::Namer::Namer(tbb::task_arena& arena)
    : tbb::task_scheduler_observer(arena) {
  observe(true);
}

// Observing must end before the object's own part is gone.
Pool::Namer::~Namer() { observe(false); }

void Pool::Namer::on_scheduler_entry(bool is_worker) {
  // Numbers are the process's, as the threads are: a worker keeps its name.
  static std::atomic<int> next{1};
  thread_local bool named = false;
  if (!is_worker || named) return;
  named = true;
  kymo::SetThreadName("mlp worker " + std::to_string(next++));
}

}  // namespace mlp
