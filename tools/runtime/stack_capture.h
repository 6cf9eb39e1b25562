// stack_capture.h - how the runtime captures stacks for the recorder.
//
// It also notices code that was loaded after the process's mappings were
// recorded, and has them recorded again. Addresses and mappings carry the
// numbers of their files (profiler/unwind/file_number.h). So a library that was
// loaded where another one had been is not taken for that one.
//
// Threads: any, also signal handlers. Needs libc only.
#ifndef KYMO_TOOLS_RUNTIME_STACK_CAPTURE_H_
#define KYMO_TOOLS_RUNTIME_STACK_CAPTURE_H_

namespace kymo {

// Makes this process's host capture stacks (record::SetStackCapture).
void InstallStackCapture() noexcept;

}  // namespace kymo

#endif  // KYMO_TOOLS_RUNTIME_STACK_CAPTURE_H_
