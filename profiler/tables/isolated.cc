#include "profiler/tables/isolated.h"

#include "profiler/base/parallel_serial.h"

#ifndef KYMO_PARALLEL_SERIAL_
#include <tbb/task_arena.h>
#endif

namespace kymo::tables::isolated_internal {

void RunIsolated(void (*run)(void* body), void* body) {
#ifndef KYMO_PARALLEL_SERIAL_
  tbb::this_task_arena::isolate([=] { run(body); });
#else
  run(body);
#endif
}

}  // namespace kymo::tables::isolated_internal
