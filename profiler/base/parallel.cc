#include "profiler/base/parallel.h"

#include "profiler/base/parallel_serial.h"

#ifndef KYMO_PARALLEL_SERIAL_
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#endif

namespace kymo {

void parallel_internal::ForEachRange(size_t ranges,
                                     void (*run)(void* body, size_t range),
                                     void* body) {
#ifndef KYMO_PARALLEL_SERIAL_
  if (ranges > 1) {
    tbb::parallel_for(size_t{0}, ranges,
                      [=](size_t range) { run(body, range); });
    return;
  }
#endif
  for (size_t range = 0; range < ranges; ++range) run(body, range);
}

class ParallelismLimit::Control {
#ifndef KYMO_PARALLEL_SERIAL_
 public:
  explicit Control(size_t threads)
      : control_(tbb::global_control::max_allowed_parallelism, threads) {}

 private:
  tbb::global_control control_;
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
