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
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#endif

namespace kymo {

#ifndef KYMO_PARALLEL_SERIAL_
namespace {

enum class TbbUse : uint8_t { kNone, kBegun, kReady, kOfParent };
constinit std::atomic<TbbUse> tbb_use{TbbUse::kNone};

[[maybe_unused]] const int fork_handler = pthread_atfork(nullptr, nullptr, [] {
  if (tbb_use != TbbUse::kNone) tbb_use = TbbUse::kOfParent;
});

// Before any call of oneTBB. False in a child of a process that made one.
bool BeginTbb() {
  TbbUse use = TbbUse::kNone;
  return tbb_use.compare_exchange_strong(use, TbbUse::kBegun) ||
         use != TbbUse::kOfParent;
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
  munmap(room, kEnough);
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
