// per_worker.h - one value for each thread of a loop; see parallel.h.
#ifndef KYMO_PROFILER_BASE_PER_WORKER_H_
#define KYMO_PROFILER_BASE_PER_WORKER_H_

#include <functional>
#include <memory>
#include <utility>

#include "profiler/base/parallel_serial.h"

#ifndef KYMO_PARALLEL_SERIAL_
#include <tbb/enumerable_thread_specific.h>
#endif

namespace kymo {

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

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_PER_WORKER_H_
