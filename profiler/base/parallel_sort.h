// parallel_sort.h - sorting on several threads, on oneTBB; see parallel.h.
#ifndef KYMO_PROFILER_BASE_PARALLEL_SORT_H_
#define KYMO_PROFILER_BASE_PARALLEL_SORT_H_

#include "profiler/base/parallel_serial.h"

#include <algorithm>

#ifndef KYMO_PARALLEL_SERIAL_
#include <tbb/parallel_sort.h>
#endif

namespace kymo {

namespace parallel_internal {

// Comes before a process's first call of oneTBB; ParallelFor() and what is here
// see to it. If oneTBB 2022 gets no memory for its first call, it waits for
// ever. This throws std::bad_alloc instead. Later calls do nothing.
// False in a child that was forked after that first call began. oneTBB does not
// work there: its threads are gone, and its locks may be held for ever.
bool PrepareTbb();

}  // namespace parallel_internal

// Sorts with a strict weak order that has no ties (or whose ties are equal),
// so that the result is unique.
template <typename Iterator, typename Less>
void ParallelSort(Iterator begin, Iterator end, Less less) {
#ifndef KYMO_PARALLEL_SERIAL_
  if (parallel_internal::PrepareTbb()) {
    tbb::parallel_sort(begin, end, less);
    return;
  }
#endif
  std::sort(begin, end, less);
}

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_PARALLEL_SORT_H_
