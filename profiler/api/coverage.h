// coverage.h - how much of a program runs in captured regions.
//
//   auto compiled = kymo::insert_profiling(CompiledStep);   // a region
//   kymo::CoverageProfiler profiler;
//   absl::Status status = profiler.Start();
//   compiled(batch);
//   Rest();
//   status.Update(profiler.Stop());
//   std::cout << profiler.results()->ToString() << "\n";
//
// PyTorch's torch._dynamo.profiler.Profiler and fx_insert_profiling: what of
// the operations (RecordFunction) ran within calls of wrapped callables. With
// TORCHDYNAMO_PRINT_MISSING=1 in the environment, results() also warns
// (warning.h) of the operations that did not, with their stacks.
//
// Threads: a CoverageProfiler is a Profile of one thread (profile.h).
#ifndef KYMO_PROFILER_API_COVERAGE_H_
#define KYMO_PROFILER_API_COVERAGE_H_

#include <functional>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "profiler/coverage/coverage.h"

namespace kymo {

// A callable that does what `callable` does, as a captured region. Counts as
// one of the program's unique graphs from here on.
template <typename Callable>
auto insert_profiling(Callable&& callable) {
  CapturedRegions::Add();
  return [callable = std::decay_t<Callable>(std::forward<Callable>(callable))](
             auto&&... args) mutable -> decltype(auto) {
    const RecordFunction region("TORCHDYNAMO", RecordScope::kUserScope);
    return std::invoke(callable, std::forward<decltype(args)>(args)...);
  };
}

class CoverageProfiler {
 public:
  // Stacks are recorded where the missing operations are to be reported.
  CoverageProfiler();

  absl::Status Start() { return profile_.Start(); }
  absl::Status Stop() { return profile_.Stop(); }

  // Takes the count of unique graphs. kFailedPrecondition before Stop().
  absl::StatusOr<ProfileResult> results(bool subtract_legacy_ops = false);

 private:
  const bool print_missing_;
  Profile profile_;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_API_COVERAGE_H_
