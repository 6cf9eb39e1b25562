// capture.h - CUPTI's activities of this process, into a log.
//
//   LogHeader header;
//   if (!StartCapture(*api, settings, sink, &header)) {
//     header.problem                     // "... is used by Nsight Systems"
//   }
//   FlushCapture(FlushMode::kFinished);  // now and then
//   StopCapture();
//
// CUPTI asks for a buffer, fills it, and hands it back; its records are then
// translated and go to the sink, and the buffer is used again.
//
// A good neighbour: takes CUPTI's place for a client before it touches
// anything, and gives up if somebody else has it; on failure everything that
// was switched on is switched off again, in reverse; never calls cuptiFinalize.
// It ignores buffers of an earlier client, which CUPTI may still return.
// A forked child has no capture.
//
// Threads: one capture per process. Start, Stop, Pause and Resume are not
//   called concurrently; everything else may be, from any thread.
// Standard library: nothing that needs linking, for the injected library.
#ifndef KYMO_BACKENDS_CUPTI_TARGET_CAPTURE_H_
#define KYMO_BACKENDS_CUPTI_TARGET_CAPTURE_H_

#include <cstddef>
#include <cstdint>

#include "backends/cupti/log/gpu_log.h"
#include "backends/cupti/log/log_writer.h"
#include "backends/cupti/target/cupti_api.h"

namespace kymo::cupti {

// What is recorded besides kernels, copies, sets, calls and CUPTI's overhead.
// What CUPTI refuses of it is told in the log (RefusedRecord).
enum CaptureFlag : uint32_t {
  kCaptureSync = 1,      // waits, and recordings of events
  kCaptureMemory = 2,    // allocations and pools
  kCaptureUnified = 4,   // transfers and faults of unified memory
  kCaptureGraphs = 8,    // graphs as a whole, not node by node
  kCaptureLatency = 16,  // when kernels were queued and submitted
  kCaptureMarkers = 32,  // NVTX, as CUPTI hears it
};

struct CaptureSettings {
  uint32_t flags = kCaptureSync;  // CaptureFlag bits
  // CUDA may have been used before: devices, contexts and streams that are
  // there have to be asked for.
  bool is_late = false;
  // Of one buffer, and of all that CUPTI may hold. CUPTI before that of CUDA
  // 12.9 must not be refused one: there the second does not count.
  size_t buffer_bytes = size_t{256} << 10;
  size_t max_bytes = size_t{512} << 20;
};

// False when CUPTI cannot be used: header->problem says why and what would
// help. `sink` and `header` must live until StopCapture, at least.
bool StartCapture(const CuptiApi& api, const CaptureSettings& settings,
                  const LogSink& sink, LogHeader* header) noexcept;

// What is still at work on a device has no times yet: `settle`, called where
// calls are recorded no more and what they started still is, can wait for it.
void PauseCapture(void (*settle)() noexcept = nullptr) noexcept;
// Not kOk: nothing is recorded.
ApiStatus ResumeCapture() noexcept;

enum class FlushMode { kFinished, kEverything };

// Whole buffers go to the sink: those whose activities have all finished, or
// whatever CUPTI holds. (A thread that always has something at work keeps its
// buffer until it is full.) So does the state of the clocks. Does nothing
// without a capture.
void FlushCapture(FlushMode mode) noexcept;

// kExit: the process is about to end, and CUDA perhaps half gone: what CUPTI
// holds is taken, and nothing else of it is touched. The log counts as closed;
// what comes after all is still written.
enum class StopMode { kDetach, kExit };

// Ends the capture: everything that CUPTI held is in the sink, the log is
// closed. Does nothing without a capture. `settle`: as of PauseCapture; not
// called at exit, where it might wait for ever.
void StopCapture(StopMode mode = StopMode::kDetach,
                 void (*settle)() noexcept = nullptr) noexcept;

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_TARGET_CAPTURE_H_
