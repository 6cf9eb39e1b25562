// parallel.h - the only include of oneTBB.
//
// ParallelFor(n, grain, body) calls body(begin, end) for disjoint ranges that
// cover [0, n), none longer than `grain`, in any order and on any thread. The
// ranges depend on n and grain alone, never on the number of threads, so that
// a per-range result reduced in range order is the same everywhere.
//
// Threads: may be called from any thread and nested. An exception that `body`
//   throws reaches the caller after the other ranges have ended.
// Under ThreadSanitizer, which cannot see into the packaged oneTBB, everything
// runs on the calling thread.
#ifndef KYMO_PROFILER_BASE_PARALLEL_H_
#define KYMO_PROFILER_BASE_PARALLEL_H_

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#if defined(__SANITIZE_THREAD__)
#define KYMO_PARALLEL_SERIAL_ 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KYMO_PARALLEL_SERIAL_ 1
#endif
#endif

#ifndef KYMO_PARALLEL_SERIAL_
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_sort.h>
#endif

namespace kymo {

// Number of ranges that ParallelFor(n, grain, ...) makes.
constexpr size_t ParallelRangeCount(size_t n, size_t grain) noexcept {
  return grain == 0 ? 0 : (n + grain - 1) / grain;
}

// Calls body(begin, end) for every range; see the top of the file.
// REQUIRES: grain > 0.
template <typename Body>
void ParallelFor(size_t n, size_t grain, Body&& body) {
  const size_t ranges = ParallelRangeCount(n, grain);
  auto run = [&](size_t range) {
    const size_t begin = range * grain;
    body(begin, std::min(n, begin + grain));
  };
#ifndef KYMO_PARALLEL_SERIAL_
  if (ranges > 1) {
    tbb::parallel_for(size_t{0}, ranges, run);
    return;
  }
#endif
  for (size_t range = 0; range < ranges; ++range) run(range);
}

// Calls body(index) for each of [0, n), one task each: for few, large items.
template <typename Body>
void ParallelForEach(size_t n, Body&& body) {
  ParallelFor(n, 1, [&](size_t begin, size_t) { body(begin); });
}

// Sorts with a strict weak order that has no ties (or whose ties are equal),
// so that the result is unique.
template <typename Iterator, typename Less>
void ParallelSort(Iterator begin, Iterator end, Less less) {
#ifndef KYMO_PARALLEL_SERIAL_
  tbb::parallel_sort(begin, end, less);
#else
  std::sort(begin, end, less);
#endif
}

// While it lives, at most `threads` threads work for this process's parallel
// calls. For tests and for `--threads`.
class ParallelismLimit {
 public:
  explicit ParallelismLimit(int threads)
#ifndef KYMO_PARALLEL_SERIAL_
      : control_(tbb::global_control::max_allowed_parallelism,
                 static_cast<size_t>(std::max(threads, 1)))
#endif
  {
    (void)threads;
  }
  ParallelismLimit(const ParallelismLimit&) = delete;
  ParallelismLimit& operator=(const ParallelismLimit&) = delete;

 private:
#ifndef KYMO_PARALLEL_SERIAL_
  tbb::global_control control_;
#endif
};

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_PARALLEL_H_
