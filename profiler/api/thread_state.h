// thread_state.h - let a session follow work to other threads.
//
//   pool.Submit(kymo::Propagate([&] { Work(); }));         // any thread pool
//   auto result = kymo::Async([&] { return Work(); });     // std::async
//
//   const kymo::ThreadState state = kymo::ThreadState::Capture();
//   std::thread worker([state] {
//     const kymo::ThreadStateGuard guard(state);   // until the scope ends
//     Work();
//   });
//   worker.join();
//
// A session records its own thread. It records other threads only while they do
// work that was handed to them together with the state of the session's thread.
// The state is captured where the work is made. So work does not take along a
// session that starts later. A session that has stopped meanwhile records
// nothing of the work.
//
// State:   the thread's session, its thread-local callbacks, and whether
//   operations are enabled. For oneTBB see tbb.h.
// Threads: a ThreadState is a value. A guard belongs to the thread that made
//   it. Only that thread can give its state back: a guard that another thread
//   destroys changes neither of the two. Guards may end in any order.
// Errors:  none. If a thread starts a session within a guard, it stays in that
//   session when the guard ends.
// Cost:    capturing reads a few words. A guard closes and opens the thread's
//   chunk of records, which takes some ten nanoseconds.
#ifndef KYMO_PROFILER_API_THREAD_STATE_H_
#define KYMO_PROFILER_API_THREAD_STATE_H_

#include <concepts>
#include <functional>
#include <future>
#include <type_traits>
#include <utility>

#include "profiler/callbacks/lent_state.h"
#include "profiler/callbacks/observed_call.h"
#include "profiler/record/host/host.h"

namespace kymo {

// The state of a thread, for work that another thread does.
class ThreadState {
 public:
  // No session and no callbacks.
  ThreadState() = default;

  // The calling thread's state.
  static ThreadState Capture() {
    ThreadState state;
    state.state_.session = record::ThreadSession();
    state.state_.callbacks = internal::CaptureThreadCallbacks();
    return state;
  }

 private:
  friend class ThreadStateGuard;

  internal::StateOfThread state_;
};

// Gives the calling thread a state until the scope ends.
class ThreadStateGuard {
 public:
  [[nodiscard]] explicit ThreadStateGuard(const ThreadState& state)
      : loan_(internal::LendState(state.state_)) {}
  ~ThreadStateGuard() { internal::ReturnState(loan_); }
  ThreadStateGuard(const ThreadStateGuard&) = delete;
  ThreadStateGuard& operator=(const ThreadStateGuard&) = delete;

 private:
  const internal::LoanId loan_;
};

// The result of Propagate: calls `callable` in a captured state.
template <typename Callable>
class Propagated {
 public:
  explicit Propagated(Callable callable)
      : state_(ThreadState::Capture()), callable_(std::move(callable)) {}

  template <typename... Args>
  requires std::invocable<Callable&, Args...>
  decltype(auto) operator()(Args&&... args) {
    const ThreadStateGuard guard(state_);
    return std::invoke(callable_, std::forward<Args>(args)...);
  }
  template <typename... Args>
  requires std::invocable<const Callable&, Args...>
  decltype(auto) operator()(Args&&... args) const {
    const ThreadStateGuard guard(state_);
    return std::invoke(callable_, std::forward<Args>(args)...);
  }

 private:
  ThreadState state_;
  Callable callable_;
};

// Returns a callable that calls `callable` in the state of the thread that
// calls Propagate. Any thread may call it any number of times.
template <typename Callable>
Propagated<std::decay_t<Callable>> Propagate(Callable&& callable) {
  return Propagated<std::decay_t<Callable>>(std::forward<Callable>(callable));
}

// std::async(policy, callable, args...) in the calling thread's state. Without
// a policy: std::launch::async.
template <typename Callable, typename... Args>
requires std::invocable<std::decay_t<Callable>, std::decay_t<Args>...>
auto Async(std::launch policy, Callable&& callable, Args&&... args) {
  return std::async(policy, Propagate(std::forward<Callable>(callable)),
                    std::forward<Args>(args)...);
}
template <typename Callable, typename... Args>
requires std::invocable<std::decay_t<Callable>, std::decay_t<Args>...>
auto Async(Callable&& callable, Args&&... args) {
  return Async(std::launch::async, std::forward<Callable>(callable),
               std::forward<Args>(args)...);
}

}  // namespace kymo

#endif  // KYMO_PROFILER_API_THREAD_STATE_H_
