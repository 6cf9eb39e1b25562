// emit_itt.h - show a program's operations in Intel's tools, as ITT tasks.
//
//   kymo::EmitItt emit;
//   absl::Status status = emit.Start();
//   Work();                             // tasks "matmul", "relu", ...
//   status.Update(emit.Stop());
//
// Between Start() and Stop() each operation of the thread is a task of the ITT
// domain "kymo". Its name is the operation's name, as in PyTorch; with
// full_names it is the text that EmitNvtx writes. Asynchronous operations are
// left out, because ITT's tasks nest. The emission goes along with work that is
// handed to other threads (thread_state.h). Kymo itself records nothing, but
// sessions (profile.h) may record at the same time. A session with the activity
// `emit_itt` emits while it runs. The same as PyTorch's
// torch.autograd.profiler.emit_itt.
//
// Threads: one call at a time. The thread that called Start() calls Stop(),
//   unless it emits for all threads.
// Errors:  PyTorch's texts. A second Start() is "ITT annotation context manager
//   is not reentrant". Beside another EmitItt it is "Profiler is already
//   enabled on this thread.". It is no error that no tool listens.
// Cost:    nothing without a tool; with one, see docs/nvtx-itt.md.
#ifndef KYMO_PROFILER_API_EMIT_ITT_H_
#define KYMO_PROFILER_API_EMIT_ITT_H_

#include <string>

#include "absl/status/status.h"
#include "profiler/library/emission.h"

namespace kymo {

struct EmitIttOptions {
  bool enabled = true;         // false: Start and Stop do nothing
  bool record_shapes = false;  // sizes of inputs; needs full_names
  bool full_names = false;     // numbers and sizes behind the name
  bool all_threads = false;    // not only the thread that calls Start()
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

// --- your own tasks, as in torch.profiler.itt ---

// Whether a tool listens.
bool IttIsAvailable();
void IttRangePush(const std::string& message);
void IttRangePop();
void IttMark(const std::string& message);

// A task until the scope ends.
class IttRange {
 public:
  explicit IttRange(const std::string& message) { IttRangePush(message); }
  ~IttRange() { IttRangePop(); }
  IttRange(const IttRange&) = delete;
  IttRange& operator=(const IttRange&) = delete;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_API_EMIT_ITT_H_
