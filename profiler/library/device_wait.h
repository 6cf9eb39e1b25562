// device_wait.h - waits for what a GPU has to do, if the program has one; for
// Kymo's own .cc files.
#ifndef KYMO_PROFILER_LIBRARY_DEVICE_WAIT_H_
#define KYMO_PROFILER_LIBRARY_DEVICE_WAIT_H_

namespace kymo::internal {

// Through the CUDA runtime or, where that is linked statically, the driver of
// the program; nothing where it has loaded neither. Loads no library, and a
// driver that was never used stays so.
void WaitForDevice() noexcept;

}  // namespace kymo::internal

#endif  // KYMO_PROFILER_LIBRARY_DEVICE_WAIT_H_
