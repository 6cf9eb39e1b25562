// cuda_driver.h - what a session needs from CUDA's driver in its own process.
//
//   if (driver.is_up()) ...               // the program has used CUDA
//   driver.wait();                        // until its devices are done
//
// A table of functions, like CuptiApi, so that a test can bring its own.
//
// Threads: everything may be called concurrently.
#ifndef KYMO_BACKENDS_CUPTI_CUDA_DRIVER_H_
#define KYMO_BACKENDS_CUPTI_CUDA_DRIVER_H_

namespace kymo::cupti {

struct CudaDriver {
  // Whether CUDA has been initialised; does not initialise it.
  bool (*is_up)() noexcept;
  // Waits until the devices have finished their work, in each device's primary
  // context (the one that CUDA's runtime uses) and in the calling thread's own
  // context.
  void (*wait)() noexcept;
};

// The driver that the process has loaded. Without one, is_up returns false.
const CudaDriver& LoadedCudaDriver() noexcept;

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_CUDA_DRIVER_H_
