// tbb.h - let a session follow work into oneTBB.
//
//   kymo::TaskGroup group;   // tasks run in the state of the adding thread
//   group.run([] { Work(1); });
//   group.run([] { Work(2); });
//   group.wait();
//
//   #include <oneapi/tbb/parallel_for.h>
//
//   oneapi::tbb::task_arena arena;
//   kymo::ArenaState state(arena);   // the arena's threads have this thread's
//   arena.execute([] {               // state until the scope ends
//     oneapi::tbb::parallel_for(0, 100, [](int i) { Work(i); });
//   });
//
// The state of a thread is its session and its callbacks; see thread_state.h.
//
// Threads: as for the classes of oneTBB that these two stand for.
// Errors:  those of oneTBB.
#ifndef KYMO_PROFILER_API_TBB_H_
#define KYMO_PROFILER_API_TBB_H_

#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <oneapi/tbb/task_scheduler_observer.h>

#include <optional>
#include <utility>

#include "kymo/thread_state.h"

namespace kymo {

// A tbb::task_group whose tasks run in the state of the thread that adds them.
class TaskGroup {
 public:
  template <typename Callable>
  void run(Callable&& callable) {
    group_.run(Propagate(std::forward<Callable>(callable)));
  }
  template <typename Callable>
  oneapi::tbb::task_group_status run_and_wait(Callable&& callable) {
    return group_.run_and_wait(Propagate(std::forward<Callable>(callable)));
  }
  oneapi::tbb::task_group_status wait() { return group_.wait(); }
  void cancel() { group_.cancel(); }

 private:
  oneapi::tbb::task_group group_;
};

// Gives the threads that work in an arena the state of the thread that makes
// this object, until the object is destroyed. Without an arena, it takes the
// arena of the calling thread.
class ArenaState : public oneapi::tbb::task_scheduler_observer {
 public:
  ArenaState() : ArenaState(nullptr) {}
  explicit ArenaState(oneapi::tbb::task_arena& arena) : ArenaState(&arena) {}
  // Waits for the threads that are leaving.
  ~ArenaState() override { observe(false); }

 private:
  explicit ArenaState(oneapi::tbb::task_arena* arena)
      : task_scheduler_observer(arena != nullptr ? *arena : CurrentArena()),
        state_(ThreadState::Capture()) {
    observe(true);
  }
  static oneapi::tbb::task_arena& CurrentArena() {
    static thread_local oneapi::tbb::task_arena arena{
        oneapi::tbb::task_arena::attach()};
    return arena;
  }

  void on_scheduler_entry(bool) override { guards_.local().emplace(state_); }
  void on_scheduler_exit(bool) override { guards_.local().reset(); }

  const ThreadState state_;
  oneapi::tbb::enumerable_thread_specific<std::optional<ThreadStateGuard>>
      guards_;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_API_TBB_H_
