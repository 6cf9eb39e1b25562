// isolated.h - loops that take no work of other loops; see also parallel.h.
#ifndef KYMO_PROFILER_TABLES_ISOLATED_H_
#define KYMO_PROFILER_TABLES_ISOLATED_H_

#include <type_traits>

namespace kymo::tables {

namespace isolated_internal {

void RunIsolated(void (*run)(void* body), void* body);

}  // namespace isolated_internal

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
  isolated_internal::RunIsolated(
      [](void* isolated) {
        (*static_cast<std::remove_reference_t<Body>*>(isolated))();
      },
      &body);
}

}  // namespace kymo::tables

#endif  // KYMO_PROFILER_TABLES_ISOLATED_H_
