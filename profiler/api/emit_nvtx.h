// emit_nvtx.h - tell NVIDIA's tools (and whoever else listens to NVTX) about a
// program's operations: PyTorch's torch.autograd.profiler.emit_nvtx.
//
//   kymo::EmitNvtx emit({.record_shapes = true});
//   absl::Status status = emit.Start();
//   Train();                 // "matmul, op_id = 7, sizes = [[64, 32], [32,
//   8]], status.Update(emit.Stop());      // input_op_ids = [(0,-1), (0,-1)]"
//
// While it is on, each operation of the thread is an NVTX range with PyTorch's
// text (emit_text.h); nothing is recorded. It goes along with work that is
// handed to other threads (thread_state.h). An operation that is asynchronous
// is a start/end range. Sessions (profile.h) may record at the same time.
//
// GPU: where the program has a CUDA runtime or driver loaded, the device is
//   synchronised at Start and Stop, so that ranges and kernels of different
//   parts do not mix. Kymo itself is built without CUDA.
// Errors: PyTorch's texts: "NVTX annotation context manager is not reentrant",
//   and "Profiler is already enabled on this thread." beside another EmitNvtx.
//   That no tool listens is none.
// Cost: without a tool, nothing; with one, see docs/nvtx-itt.md.
// Threads: one call at a time; Stop by the thread of Start.
#ifndef KYMO_PROFILER_API_EMIT_NVTX_H_
#define KYMO_PROFILER_API_EMIT_NVTX_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "profiler/library/emission.h"

namespace kymo {

struct EmitNvtxOptions {
  bool enabled = true;  // false: Start and Stop do nothing
  bool record_shapes = false;
  // Operations of every thread, not only of the one that starts it.
  bool all_threads = false;
  // ", stashed seq = N" for backward operations, as PyTorch's documentation has
  // it; its code writes ", seq = N".
  bool stashed_backward_seq = false;
};

class EmitNvtx {
 public:
  explicit EmitNvtx(EmitNvtxOptions options = {}) : options_(options) {}
  ~EmitNvtx() { Stop().IgnoreError(); }
  EmitNvtx(const EmitNvtx&) = delete;
  EmitNvtx& operator=(const EmitNvtx&) = delete;

  absl::Status Start();
  absl::Status Stop();

 private:
  const EmitNvtxOptions options_;
  internal::Emission emission_;
};

// --- ranges of one's own, as torch.cuda.nvtx has them ---

// Whether a tool listens.
bool NvtxIsAvailable();
// Its depth, from 0; negative where nobody listens.
int NvtxRangePush(const std::string& message);
int NvtxRangePop();
// A range that may end on another thread; 0 where nobody listens.
uint64_t NvtxRangeStart(const std::string& message);
void NvtxRangeEnd(uint64_t id);
void NvtxMark(const std::string& message);

// Until the end of its scope.
class NvtxRange {
 public:
  explicit NvtxRange(const std::string& message) { NvtxRangePush(message); }
  ~NvtxRange() { NvtxRangePop(); }
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_API_EMIT_NVTX_H_
