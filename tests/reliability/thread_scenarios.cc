#include "tests/reliability/thread_scenarios.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <coroutine>
#include <exception>
#include <memory>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kymo/record_function.h"

namespace kymo::reliability {
namespace {

constexpr int kThreadsAtATime = 8;

// `count` threads, a few at a time, that run `work`.
template <typename Work>
void RunThreads(int count, Work work) {
  for (int done = 0; done < count; done += kThreadsAtATime) {
    std::vector<std::thread> threads;
    for (int i = done; i < count && i < done + kThreadsAtATime; ++i) {
      threads.emplace_back(work);
    }
    for (std::thread& thread : threads) thread.join();
  }
}

// A range that nobody owns: it never ends.
void Abandon(Literal name) {
  alignas(RecordFunction) unsigned char memory[sizeof(RecordFunction)];
  new (memory) RecordFunction(name);
}

__attribute__((noinline)) void JumpFromInside(jmp_buf& target) {
  Abandon("jumped out of");
  longjmp(target, 1);
}

// A function of its own, so that the jump changes no variables outside it.
__attribute__((noinline)) void JumpOut() {
  const auto around = std::make_unique<RecordFunction>(Literal("around"));
  jmp_buf target;
  if (setjmp(target) == 0) JumpFromInside(target);
}

void* UntilCancelled(void* started) {
  RecordFunction outer("outer");
  RecordFunction inner("inner");
  static_cast<std::atomic<bool>*>(started)->store(true);
  for (;;) {
    { RecordFunction turn("turn"); }
    pthread_testcancel();
  }
}

void Throw() {
  RecordFunction range("throws");
  throw std::runtime_error("on purpose");
}

void ThrowFromInside() {
  RecordFunction range("thrown through");
  RecordFunction dynamic(std::string("thrown through, too"));
  Throw();
}

// A coroutine that goes on, on the thread that resumes it, until its end.
struct Task {
  struct promise_type {
    Task get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

Task BeginHereEndThere() {
  RecordFunction range("coroutine");
  co_await std::suspend_always();
  RecordFunction rest("rest of the coroutine");
}

}  // namespace

Expected ShortLivedThreads() {
  constexpr int kThreads = 1000;
  RunThreads(kThreads, [] {
    RecordFunction outer("outer");
    for (int i = 0; i < 2; ++i) RecordFunction inner("inner");
  });
  return {.own = {{"outer", kThreads}, {"inner", 2 * kThreads}}};
}

Expected ThreadsEndInsideRanges() {
  constexpr int kThreads = 100;
  RunThreads(kThreads, [] {
    Abandon("left open");
    RecordFunction range("inside of it");
  });
  return {.own = {{"left open", kThreads}, {"inside of it", kThreads}},
          .open = kThreads};
}

Expected CancelledThreads() {
  constexpr int kThreads = 100;
  for (int i = 0; i < kThreads; ++i) {
    std::atomic<bool> started = false;
    pthread_t thread;
    if (pthread_create(&thread, nullptr, UntilCancelled, &started) != 0) {
      abort();
    }
    while (!started.load()) usleep(10);
    pthread_cancel(thread);
    pthread_join(thread, nullptr);
  }
  // The threads decide how often it turned.
  return {.own = {{"outer", kThreads}, {"inner", kThreads}, {"turn", -1}}};
}

Expected Exceptions() {
  constexpr int kThrows = 500;
  for (int i = 0; i < kThrows; ++i) {
    RecordFunction around("around");
    try {
      ThrowFromInside();
    } catch (const std::runtime_error&) {
    }
    RecordFunction after("after");
  }
  return {.own = {{"around", kThrows},
                  {"thrown through", kThrows},
                  {"thrown through, too", kThrows},
                  {"throws", kThrows},
                  {"after", kThrows}}};
}

Expected Jumps() {
  constexpr int kJumps = 500;
  for (int i = 0; i < kJumps; ++i) JumpOut();
  return {.own = {{"around", kJumps}, {"jumped out of", kJumps}},
          .open = kJumps};
}

Expected Coroutines() {
  constexpr int kCoroutines = 400;
  std::vector<Task> tasks;
  for (int i = 0; i < kCoroutines; ++i) {
    tasks.push_back(BeginHereEndThere());
    tasks.back().handle.resume();
  }
  std::thread([&tasks] {
    RecordFunction worker("worker");
    for (const Task& task : tasks) task.handle.resume();
  }).join();
  return {.own = {{"coroutine", kCoroutines},
                  {"rest of the coroutine", kCoroutines},
                  {"worker", 1}}};
}

Expected UnloadedLibraries() {
  constexpr int kRounds = 20;
  Expected expected;
  std::istringstream paths(getenv("KYMO_LIBRARIES"));
  for (std::string path; paths >> path;) {
    for (int i = 0; i < kRounds; ++i) {
      void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) abort();
      const auto annotated =
          reinterpret_cast<const char* (*)()>(dlsym(library, "Annotated"));
      const std::string name = annotated();
      dlclose(library);
      ++expected.own[name];
      // A new thread that has never used the library, after the library is
      // gone.
      std::thread([] { RecordFunction range("beside"); }).join();
      ++expected.own["beside"];
    }
  }
  return expected;
}

}  // namespace kymo::reliability
