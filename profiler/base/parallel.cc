#include "profiler/base/parallel.h"

#include "profiler/base/parallel_serial.h"
#include "profiler/base/parallel_sort.h"

#ifndef KYMO_PARALLEL_SERIAL_
#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <new>
#include <optional>

#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#endif

namespace kymo {

#ifndef KYMO_PARALLEL_SERIAL_
namespace {

// kNever: the process was forked by one that uses it, or cannot start threads.
enum class TbbUse : uint8_t { kNone, kBegun, kReady, kNever };
constinit std::atomic<TbbUse> tbb_use{TbbUse::kNone};

[[maybe_unused]] const int fork_handler = pthread_atfork(nullptr, nullptr, [] {
  if (tbb_use != TbbUse::kNone) tbb_use = TbbUse::kNever;
});

// Before any call of oneTBB. False if there must be none.
bool BeginTbb() {
  TbbUse use = TbbUse::kNone;
  return tbb_use.compare_exchange_strong(use, TbbUse::kBegun) ||
         use != TbbUse::kNever;
}

void* WaitForEnd(void* end) {
  static_cast<std::atomic<bool>*>(end)->wait(false);
  return nullptr;
}

// Whether as many threads as oneTBB may have can run at a time. It ends the
// process if one of them cannot start another one, which limits of processes or
// of memory forbid: a container's, for example. `room` has room for them.
bool CanStartThreads(pthread_t* room) {
  constexpr size_t kStackBytes = size_t{4} << 20;
  const auto wanted = static_cast<size_t>(tbb::info::default_concurrency() - 1);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kStackBytes);
  std::atomic<bool> end = false;
  size_t started = 0;
  while (started < wanted &&
         pthread_create(&room[started], &attributes, WaitForEnd, &end) == 0) {
    ++started;
  }
  pthread_attr_destroy(&attributes);
  end = true;
  end.notify_all();
  for (size_t i = 0; i < started; ++i) pthread_join(room[i], nullptr);
  return started == wanted;
}

}  // namespace

// Threads that come here at the same time all do the same. None waits for
// another one: a forked child would wait for a thread that it does not have.
bool parallel_internal::PrepareTbb() {
  if (tbb_use.load(std::memory_order_acquire) == TbbUse::kReady) return true;
  if (!BeginTbb()) return false;
  // More than the first call takes. Not from the heap, whose amounts tell
  // what the program itself takes.
  constexpr size_t kEnough = size_t{4} << 20;
  void* const room = mmap(nullptr, kEnough, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  const bool can_start = CanStartThreads(static_cast<pthread_t*>(room));
  munmap(room, kEnough);
  if (!can_start) {
    tbb_use.store(TbbUse::kNever);
    return false;
  }
  tbb::task_arena arena(1, 1);
  arena.initialize();
  tbb_use.store(TbbUse::kReady, std::memory_order_release);
  return true;
}
#endif

void parallel_internal::ForEachRange(size_t ranges,
                                     void (*run)(void* body, size_t range),
                                     void* body) {
#ifndef KYMO_PARALLEL_SERIAL_
  if (ranges > 1 && PrepareTbb()) {
    tbb::parallel_for(size_t{0}, ranges,
                      [=](size_t range) { run(body, range); });
    return;
  }
#endif
  for (size_t range = 0; range < ranges; ++range) run(body, range);
}

void parallel_internal::RunIsolated(void (*run)(void* body), void* body) {
#ifndef KYMO_PARALLEL_SERIAL_
  if (PrepareTbb()) {
    tbb::this_task_arena::isolate([=] { run(body); });
    return;
  }
#endif
  run(body);
}

class ParallelismLimit::Control {
#ifndef KYMO_PARALLEL_SERIAL_
 public:
  explicit Control(size_t threads) {
    if (!BeginTbb()) return;
    control_.emplace(tbb::global_control::max_allowed_parallelism, threads);
  }

 private:
  std::optional<tbb::global_control> control_;
#else
 public:
  explicit Control(size_t) {}
#endif
};

ParallelismLimit::ParallelismLimit(int threads)
    : control_(std::make_unique<Control>(
          static_cast<size_t>(std::max(threads, 1)))) {}
ParallelismLimit::~ParallelismLimit() = default;

}  // namespace kymo
