#include "examples/train_mlp/pool.h"

#include <atomic>
#include <string>

#include "kymo/record_function.h"

namespace mlp {

void Pool::NameWorker() {
  // Numbers are the process's, as the threads are: a worker keeps its name.
  static std::atomic<int> next{1};
  thread_local bool seen = false;
  if (seen) return;
  seen = true;
  // The first place of an arena is kept for the thread that calls into it.
  if (tbb::this_task_arena::current_thread_index() == 0) return;
  kymo::SetThreadName("mlp worker " + std::to_string(next++));
}

}  // namespace mlp
