// thread_state.h - let a session follow work to other threads.
//
//   pool.Submit(kymo::Propagate([&] { Work(); }));      // any thread pool
//   auto result = kymo::Async([&] { return Work(); });  // std::async
//
// A session is its thread's: what other threads do is not in it, unless work
// is handed to them together with the state of the thread that hands it over.
// The state is captured where the work is made: a session that starts later is
// not in it, and one that has stopped meanwhile does nothing.
//
//   ThreadState state = ThreadState::Capture();
//   std::thread worker([state] {
//     kymo::ThreadStateGuard guard(state);   // as the capturing thread,
//     ...                                    // until the end of the scope
//   });
//
// State: the thread's session, its thread-local callbacks, and whether they are
//   enabled. For oneTBB see tbb.h.
// Cost: capturing reads a few words; a guard closes and opens the thread's
//   chunk of records, some ten nanoseconds.
// Threads: a ThreadState is a value; a guard is its thread's.
#ifndef KYMO_PROFILER_API_THREAD_STATE_H_
#define KYMO_PROFILER_API_THREAD_STATE_H_

#include <concepts>
#include <functional>
#include <future>
#include <memory>
#include <type_traits>
#include <utility>

#include "profiler/callbacks/observed_call.h"
#include "profiler/record/host.h"

namespace kymo {

class ThreadState {
 public:
  // In no session, without callbacks.
  ThreadState() = default;

  // The calling thread's.
  static ThreadState Capture() {
    ThreadState state;
    state.session_ = record::ThreadSession();
    state.callbacks_ = internal::CaptureThreadCallbacks();
    return state;
  }

 private:
  friend class ThreadStateGuard;

  record::SessionId session_ = record::kNoSession;
  std::shared_ptr<const internal::ThreadCallbacks> callbacks_;
};

class ThreadStateGuard {
 public:
  explicit ThreadStateGuard(const ThreadState& state)
      : session_(record::ExchangeThreadSession(state.session_)),
        callbacks_(internal::ExchangeThreadCallbacks(state.callbacks_)) {}
  ~ThreadStateGuard() {
    internal::ExchangeThreadCallbacks(std::move(callbacks_));
    record::ExchangeThreadSession(session_);
  }
  ThreadStateGuard(const ThreadStateGuard&) = delete;
  ThreadStateGuard& operator=(const ThreadStateGuard&) = delete;

 private:
  const record::SessionId session_;
  std::shared_ptr<const internal::ThreadCallbacks> callbacks_;
};

// What Propagate makes: calls `callable` in a captured state.
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

// A callable that does what `callable` does, in the state of the thread that
// called Propagate. May be called any number of times, anywhere.
template <typename Callable>
Propagated<std::decay_t<Callable>> Propagate(Callable&& callable) {
  return Propagated<std::decay_t<Callable>>(std::forward<Callable>(callable));
}

// std::async(policy, callable, args...) in the calling thread's state.
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
