// parallel.h - loops, sorts and values per thread, on oneTBB.
//
// Kymo itself includes oneTBB here and nowhere else. The exception is
// kymo/tbb.h, for programs that use oneTBB themselves.
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
#include <functional>
#include <memory>
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
#include <tbb/enumerable_thread_specific.h>
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

// One value for each thread that works, made when the thread first asks.
//
//   PerWorker<Sums> sums([&] { return Sums(groups); });
//   ParallelFor(n, grain, [&](size_t begin, size_t end) {
//     AddRange(begin, end, sums.Local());
//   });
//   sums.ForEach([&](const Sums& part) { all.Merge(part); });
//
// Which value saw which range is left to chance, and so is their order: only
// for results that do not depend on it.
// Threads: Local may be called concurrently, ForEach with nothing.
template <typename T>
class PerWorker {
 public:
  // `make` is called by the threads, maybe at the same time.
  explicit PerWorker(std::function<T()> make) : values_(std::move(make)) {}
  PerWorker(const PerWorker&) = delete;
  PerWorker& operator=(const PerWorker&) = delete;

  T& Local() { return values_.local(); }
  template <typename Body>
  void ForEach(Body&& body) {
    for (T& value : values_) body(value);
  }

 private:
#ifndef KYMO_PARALLEL_SERIAL_
  tbb::enumerable_thread_specific<T> values_;
#else
  // The calling thread's, once it has asked.
  class OneValue {
   public:
    explicit OneValue(std::function<T()> make) : make_(std::move(make)) {}
    T& local() {
      // T may be neither copied nor moved.
      if (value_ == nullptr) value_.reset(new T(make_()));
      return *value_;
    }
    T* begin() { return value_.get(); }
    T* end() { return value_ ? value_.get() + 1 : nullptr; }

   private:
    const std::function<T()> make_;
    std::unique_ptr<T> value_;
  };
  OneValue values_;
#endif
};

// While it lives, at most `threads` threads work for this process's parallel
// calls. For tests and benchmarks.
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
