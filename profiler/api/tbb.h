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

#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>
#include <oneapi/tbb/task_scheduler_observer.h>

#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

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

namespace internal {

// Lends a state to the threads of an arena, as they come and go.
//
// oneTBB tells of a thread that leaves the arena only as long as it is
// observed. But threads may stay in the arena for longer than the scope of an
// ArenaState, and each has to give the state back itself. So an observer ends
// with the scope and is destroyed once no thread has its state
// (EndedArenaObservers).
class ArenaObserver final : public oneapi::tbb::task_scheduler_observer {
 public:
  explicit ArenaObserver(oneapi::tbb::task_arena& arena)
      : task_scheduler_observer(arena), state_(ThreadState::Capture()) {
    observe(true);
  }
  // Waits for calls that oneTBB makes in other threads.
  ~ArenaObserver() override { observe(false); }

  // Lends no more.
  void End() {
    ThreadState last;  // destroyed without the lock
    const std::lock_guard lock(mutex_);
    ended_ = true;
    std::swap(state_, last);
  }
  // The calling thread's guard; null if it has none.
  std::unique_ptr<ThreadStateGuard> Take() {
    const std::lock_guard lock(mutex_);
    const auto found = guards_.find(std::this_thread::get_id());
    if (found == guards_.end()) return nullptr;
    std::unique_ptr<ThreadStateGuard> guard = std::move(found->second);
    guards_.erase(found);
    return guard;
  }
  bool IsUnused() {
    const std::lock_guard lock(mutex_);
    return guards_.empty();
  }

 private:
  void on_scheduler_entry(bool) override;
  void on_scheduler_exit(bool) override { Take(); }

  std::mutex mutex_;
  ThreadState state_;
  std::map<std::thread::id, std::unique_ptr<ThreadStateGuard>> guards_;
  bool ended_ = false;
};

// The observers whose scope has ended, while threads have their state.
class EndedArenaObservers {
 public:
  static void Add(std::unique_ptr<ArenaObserver> observer) {
    observer->End();
    observer->Take();
    // Destroyed without the lock, since callbacks' captures may do anything.
    std::vector<std::unique_ptr<ArenaObserver>> unused;
    Kept& kept = GetKept();
    const std::lock_guard lock(kept.mutex);
    kept.observers.push_back(std::move(observer));
    for (std::unique_ptr<ArenaObserver>& ended : kept.observers) {
      if (ended->IsUnused()) unused.push_back(std::move(ended));
    }
    std::erase(kept.observers, nullptr);
  }

  // Gives back what the calling thread has of them.
  static void ReturnAll() {
    std::vector<std::unique_ptr<ThreadStateGuard>> guards;
    Kept& kept = GetKept();
    const std::lock_guard lock(kept.mutex);
    for (const auto& ended : kept.observers) guards.push_back(ended->Take());
  }

 private:
  struct Kept {
    std::mutex mutex;
    std::vector<std::unique_ptr<ArenaObserver>> observers;
  };
  // Never destroyed: threads of oneTBB may run until the process's end.
  static Kept& GetKept() {
    static Kept& kept = *new Kept();
    return kept;
  }
};

inline void ArenaObserver::on_scheduler_entry(bool) {
  EndedArenaObservers::ReturnAll();
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  std::unique_ptr<ThreadStateGuard>& guard =
      guards_[std::this_thread::get_id()];
  if (guard == nullptr) guard = std::make_unique<ThreadStateGuard>(state_);
}

}  // namespace internal

// Gives the threads that work in an arena the state of the thread that makes
// this object, until the object is destroyed. A thread that is then in the
// arena keeps the state until it leaves the arena or enters the next such
// scope. Without an arena, it takes the arena of the calling thread.
class ArenaState {
 public:
  [[nodiscard]] ArenaState()
      : current_(CurrentArena()),
        observer_(std::make_unique<internal::ArenaObserver>(*current_)) {}
  [[nodiscard]] explicit ArenaState(oneapi::tbb::task_arena& arena)
      : observer_(std::make_unique<internal::ArenaObserver>(arena)) {}
  ~ArenaState() { internal::EndedArenaObservers::Add(std::move(observer_)); }
  ArenaState(const ArenaState&) = delete;
  ArenaState& operator=(const ArenaState&) = delete;

 private:
  static std::unique_ptr<oneapi::tbb::task_arena> CurrentArena() {
    // A thread gets its arena with its first work. Before that, attaching makes
    // one in which the thread never works.
    oneapi::tbb::this_task_arena::isolate([] {});
    return std::make_unique<oneapi::tbb::task_arena>(
        oneapi::tbb::task_arena::attach());
  }

  // That of the calling thread now, which may be in another one later.
  std::unique_ptr<oneapi::tbb::task_arena> current_;
  std::unique_ptr<internal::ArenaObserver> observer_;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_API_TBB_H_
