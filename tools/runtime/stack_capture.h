// stack_capture.h - how the runtime captures stacks for the recorder.
//
// It also notices code that was loaded after the process's mappings were
// recorded, and has them recorded again.
//
// Threads: any, also signal handlers. Needs libc only.
#ifndef KYMO_TOOLS_RUNTIME_STACK_CAPTURE_H_
#define KYMO_TOOLS_RUNTIME_STACK_CAPTURE_H_

namespace kymo {

// Makes this process's host capture stacks (record::SetStackCapture).
void InstallStackCapture() noexcept;

}  // namespace kymo

#endif  // KYMO_TOOLS_RUNTIME_STACK_CAPTURE_H_
