// coverage.h - measure how much of a program runs in captured regions.
//
//   auto compiled = kymo::insert_profiling(CompiledStep);   // a region
//   kymo::CoverageProfiler profiler;
//   absl::Status status = profiler.Start();
//   for (const Batch& batch : batches) compiled(batch);
//   Work();                                                 // not captured
//   status.Update(profiler.Stop());
//   if (!status.ok()) return status;
//   std::cout << profiler.results()->ToString() << "\n";
//
// The result is the share of operations (RecordFunction) that ran within calls
// of wrapped callables; see profiler/coverage/coverage.h. With
// TORCHDYNAMO_PRINT_MISSING=1 in the environment, results() also warns
// (warning.h) of the operations that did not, with their stacks. The same as
// PyTorch's torch._dynamo.profiler.Profiler and fx_insert_profiling.
//
// Threads: as for a Profile that records one thread (profile.h).
// Errors:  those of Profile; results() before Stop() is kFailedPrecondition.
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

// Returns a callable that calls `callable` as a captured region. Each call of
// insert_profiling counts as one more unique graph of the program.
template <typename Callable>
auto insert_profiling(Callable&& callable) {
  CapturedRegions::Add();
  return [callable = std::decay_t<Callable>(std::forward<Callable>(callable))](
             auto&&... args) mutable -> decltype(auto) {
    const RecordFunction region("TORCHDYNAMO", RecordScope::kUserScope);
    return std::invoke(callable, std::forward<decltype(args)>(args)...);
  };
}

// Records the calling thread and measures its coverage.
class CoverageProfiler {
 public:
  // Records stacks if missing operations are to be reported.
  CoverageProfiler();

  absl::Status Start() { return profile_.Start(); }
  absl::Status Stop() { return profile_.Stop(); }

  // The coverage of the last recording. Each call takes the count of unique
  // graphs, which then starts again at 0. kFailedPrecondition before Stop().
  absl::StatusOr<ProfileResult> results(bool subtract_legacy_ops = false);

 private:
  const bool print_missing_;
  Profile profile_;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_API_COVERAGE_H_
