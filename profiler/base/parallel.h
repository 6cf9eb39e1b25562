// parallel.h - loops on several threads, on oneTBB.
//
// ParallelFor(n, grain, body) calls body(begin, end) for disjoint ranges that
// cover [0, n), none longer than `grain`, in any order and on any thread. The
// ranges depend on n and grain alone, never on the number of threads, so that
// a per-range result reduced in range order is the same everywhere.
//
// Threads: may be called from any thread and nested. An exception that `body`
//   throws reaches the caller after the other ranges have ended.
// Under ThreadSanitizer, which cannot see into the packaged oneTBB, everything
// runs on the calling thread (parallel_serial.h). The same holds in a child
// that a process forked after it began to use oneTBB, and where limits forbid
// as many threads as there are CPUs. The first call tries that.
//
// oneTBB's headers take 1.4 s to compile. So this header does without them, and
// sorts and values per thread have their own: parallel_sort.h, per_worker.h.
#ifndef KYMO_PROFILER_BASE_PARALLEL_H_
#define KYMO_PROFILER_BASE_PARALLEL_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace kymo {

// Number of ranges that ParallelFor(n, grain, ...) makes.
constexpr size_t ParallelRangeCount(size_t n, size_t grain) noexcept {
  return grain == 0 ? 0 : (n + grain - 1) / grain;
}

namespace parallel_internal {

// Calls run(body, range) for each of [0, ranges).
void ForEachRange(size_t ranges, void (*run)(void* body, size_t range),
                  void* body);
void RunIsolated(void (*run)(void* body), void* body);

}  // namespace parallel_internal

// Calls body(begin, end) for every range; see the top of the file.
// REQUIRES: grain > 0.
template <typename Body>
void ParallelFor(size_t n, size_t grain, Body&& body) {
  auto run = [&](size_t range) {
    const size_t begin = range * grain;
    body(begin, std::min(n, begin + grain));
  };
  parallel_internal::ForEachRange(
      ParallelRangeCount(n, grain),
      [](void* run_range, size_t range) {
        (*static_cast<decltype(run)*>(run_range))(range);
      },
      &run);
}

// Calls body(index) for each of [0, n), one task each: for few, large items.
template <typename Body>
void ParallelForEach(size_t n, Body&& body) {
  ParallelFor(n, 1, [&](size_t begin, size_t) { body(begin); });
}

// Calls body() once, on this thread.
//
//   const std::lock_guard<std::mutex> lock(mutex_);
//   Isolated([&] { value_ = Sum(trace); });  // Sum has a ParallelFor
//
// A thread that waits for the end of its loop works on any other loop
// meanwhile. If it holds a lock that the other loop's body takes, it waits for
// itself for ever. Within `body` it works only on loops that `body` started.
template <typename Body>
void Isolated(Body&& body) {
  parallel_internal::RunIsolated(
      [](void* isolated) {
        (*static_cast<std::remove_reference_t<Body>*>(isolated))();
      },
      &body);
}

// Calls body(index) for each of [0, n), for long jobs that have parallel loops
// themselves. No thread begins a job inside of another one. One job alone needs
// no other thread, and starts none.
template <typename Body>
void ParallelJobs(size_t n, Body&& body) {
  if (n == 1) return body(size_t{0});
  ParallelForEach(n, [&](size_t job) { Isolated([&] { body(job); }); });
}

// While it lives, at most `threads` threads work for this process's parallel
// calls. For tests and benchmarks.
class ParallelismLimit {
 public:
  explicit ParallelismLimit(int threads);
  ~ParallelismLimit();
  ParallelismLimit(const ParallelismLimit&) = delete;
  ParallelismLimit& operator=(const ParallelismLimit&) = delete;

 private:
  class Control;
  std::unique_ptr<Control> control_;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_PARALLEL_H_
