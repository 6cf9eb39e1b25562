// emit_itt.h - tell Intel's tools (and whoever else listens to ITT) about a
// program's operations: PyTorch's torch.autograd.profiler.emit_itt.
//
//   kymo::EmitItt emit;
//   absl::Status status = emit.Start();
//   Train();                         // tasks "matmul", "relu", ...
//   status.Update(emit.Stop());
//
// While it is on, each operation of the thread is an ITT task of the domain
// "kymo"; nothing is recorded. The name is the operation's alone, as PyTorch
// has it; full_names writes what EmitNvtx does. Asynchronous operations are not
// said: ITT's tasks nest. Otherwise as emit_nvtx.h, without a device to wait
// for; the error is "ITT annotation context manager is not reentrant".
//
// Cost: without a tool, nothing; with one, see docs/nvtx-itt.md.
// Threads: one call at a time; Stop by the thread of Start.
#ifndef KYMO_PROFILER_API_EMIT_ITT_H_
#define KYMO_PROFILER_API_EMIT_ITT_H_

#include <string>

#include "absl/status/status.h"
#include "profiler/library/emission.h"

namespace kymo {

struct EmitIttOptions {
  bool enabled = true;         // false: Start and Stop do nothing
  bool record_shapes = false;  // with full_names
  bool full_names = false;
  bool all_threads = false;
};

class EmitItt {
 public:
  explicit EmitItt(EmitIttOptions options = {}) : options_(options) {}
  ~EmitItt() { Stop().IgnoreError(); }
  EmitItt(const EmitItt&) = delete;
  EmitItt& operator=(const EmitItt&) = delete;

  absl::Status Start();
  absl::Status Stop() { return emission_.Stop(); }

 private:
  const EmitIttOptions options_;
  internal::Emission emission_;
};

// --- tasks of one's own, as torch.profiler.itt has them ---

bool IttIsAvailable();
void IttRangePush(const std::string& message);
void IttRangePop();
void IttMark(const std::string& message);

// Until the end of its scope.
class IttRange {
 public:
  explicit IttRange(const std::string& message) { IttRangePush(message); }
  ~IttRange() { IttRangePop(); }
  IttRange(const IttRange&) = delete;
  IttRange& operator=(const IttRange&) = delete;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_API_EMIT_ITT_H_
