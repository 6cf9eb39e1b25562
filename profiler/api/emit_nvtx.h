// emit_nvtx.h - show a program's operations in NVIDIA's tools, as NVTX ranges.
//
//   kymo::EmitNvtx emit({.record_shapes = true});
//   absl::Status status = emit.Start();
//   Work();   // a range "matmul, op_id = 7, sizes = [[64, 32], [32, 8]],
//             //          input_op_ids = [(0,-1), (0,-1)]", and so on
//   status.Update(emit.Stop());
//
// Between Start() and Stop() each operation of the thread is an NVTX range with
// PyTorch's text. The emission goes along with work that is handed to other
// threads (thread_state.h). An asynchronous operation is a start/end range.
// Kymo itself records nothing, but sessions (profile.h) may record at the same
// time. A session with the activity `emit_nvtx` emits while it runs. The same
// as PyTorch's torch.autograd.profiler.emit_nvtx.
//
// GPU:     if the program has loaded a CUDA runtime or driver, Start() and
//   Stop() wait for the device. So work from before does not appear among the
//   ranges. Kymo itself is built without CUDA.
// Threads: one call at a time. The thread that called Start() calls Stop(),
//   unless it emits for all threads.
// Errors:  PyTorch's texts. A second Start() is "NVTX annotation context
//   manager is not reentrant". Beside another EmitNvtx it is "Profiler is
//   already enabled on this thread.". It is no error that no tool listens.
// Cost:    nothing without a tool; with one, see docs/nvtx-itt.md.
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
  // Operations of every thread, not only of the thread that calls Start().
  bool all_threads = false;
  // Write ", stashed seq = N" for backward operations, as in PyTorch's
  // documentation. PyTorch's code writes ", seq = N", and so does false.
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

// --- your own ranges, as in torch.cuda.nvtx ---

// Whether a tool listens.
bool NvtxIsAvailable();
// Both return the depth of the range, from 0; a negative number without a tool.
int NvtxRangePush(const std::string& message);
int NvtxRangePop();
// Begins a range that may end on another thread. Returns 0 without a tool.
uint64_t NvtxRangeStart(const std::string& message);
void NvtxRangeEnd(uint64_t id);
void NvtxMark(const std::string& message);

// A range until the scope ends.
class NvtxRange {
 public:
  explicit NvtxRange(const std::string& message) { NvtxRangePush(message); }
  ~NvtxRange() { NvtxRangePop(); }
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_API_EMIT_NVTX_H_
