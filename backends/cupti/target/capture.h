// capture.h - records CUPTI's activities of this process into a log.
//
//   LogHeader header;
//   if (!StartCapture(*api, settings, sink, &header)) {
//     header.problem                     // "... is used by Nsight Systems"
//   }
//   FlushCapture(FlushMode::kFinished);  // now and then
//   StopCapture();
//
// CUPTI asks for a buffer, fills it and returns it. Its records are then
// translated and go to the sink, and the buffer is used again.
//
// A capture is a good neighbour. It becomes a client of CUPTI before it changes
// anything, and gives up if another client is there. If it fails, it switches
// off everything that it switched on, in reverse order. It never calls
// cuptiFinalize. It ignores buffers of an earlier client, which CUPTI may still
// return. A forked child has no capture.
//
// Threads: one capture per process. Start, Stop, Pause and Resume must not be
//   called concurrently; everything else may be called from any thread.
// Standard library: nothing that needs linking, for the injected library.
#ifndef KYMO_BACKENDS_CUPTI_TARGET_CAPTURE_H_
#define KYMO_BACKENDS_CUPTI_TARGET_CAPTURE_H_

#include <cstddef>
#include <cstdint>

#include "backends/cupti/log/gpu_log.h"
#include "backends/cupti/log/log_writer.h"
#include "backends/cupti/target/cupti_api.h"

namespace kymo::cupti {

// The flags choose what to record besides kernels, copies, sets, calls and
// CUPTI's overhead. If CUPTI refuses any of it, the log says so
// (RefusedRecord).
enum CaptureFlag : uint32_t {
  kCaptureSync = 1,      // waits, and recorded events
  kCaptureMemory = 2,    // allocations and pools
  kCaptureUnified = 4,   // transfers and faults of unified memory
  kCaptureGraphs = 8,    // graphs as a whole, not node by node
  kCaptureLatency = 16,  // when kernels were queued and submitted
  kCaptureMarkers = 32,  // NVTX, as CUPTI hears it
};

struct CaptureSettings {
  uint32_t flags = kCaptureSync;  // CaptureFlag bits
  // CUDA may have been used before: ask CUPTI to describe the devices, contexts
  // and streams that exist already.
  bool is_late = false;
  // The size of one buffer, and of all buffers that CUPTI may hold. Before CUDA
  // 12.9, CUPTI must not be refused a buffer: there the second limit does not
  // apply.
  size_t buffer_bytes = size_t{256} << 10;
  size_t max_bytes = size_t{512} << 20;
};

// False if CUPTI cannot be used: header->problem then says why and what would
// help. `sink` and `header` must live at least until StopCapture.
bool StartCapture(const CuptiApi& api, const CaptureSettings& settings,
                  const LogSink& sink, LogHeader* header) noexcept;

// Work that is still running on a device has no times yet. `settle` can wait
// for it. It is called when calls are no longer recorded, but the work that
// they started still is.
void PauseCapture(void (*settle)() noexcept = nullptr) noexcept;
// If the result is not kOk, nothing is recorded.
ApiStatus ResumeCapture() noexcept;

enum class FlushMode { kFinished, kEverything };

// Sends complete buffers to the sink: those whose activities have all finished,
// or everything that CUPTI holds. (A thread that always has something running
// keeps its buffer until it is full.) Also records the state of the clocks.
// Does nothing without a capture.
void FlushCapture(FlushMode mode) noexcept;

// kExit: the process is about to end, and CUDA may be half gone. So this only
// takes what CUPTI holds and changes nothing else. The log counts as closed,
// but records that arrive later are still written.
enum class StopMode { kDetach, kExit };

// Ends the capture: sends everything that CUPTI held to the sink, and closes
// the log. Does nothing without a capture. `settle` is that of PauseCapture. It
// is not called at exit, where it might wait forever.
void StopCapture(StopMode mode = StopMode::kDetach,
                 void (*settle)() noexcept = nullptr) noexcept;

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_TARGET_CAPTURE_H_
