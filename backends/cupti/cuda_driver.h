// cuda_driver.h - what a session asks of CUDA's driver in its own process.
//
//   if (driver.is_up()) ...               // the program has used CUDA
//   driver.wait();                        // its devices are done
//
// A table of functions, as CuptiApi is one, so that a test can have its own.
//
// Threads: everything may be called concurrently.
#ifndef KYMO_BACKENDS_CUPTI_CUDA_DRIVER_H_
#define KYMO_BACKENDS_CUPTI_CUDA_DRIVER_H_

namespace kymo::cupti {

struct CudaDriver {
  // Whether CUDA has been initialised; does not initialise it.
  bool (*is_up)() noexcept;
  // Returns when the devices have done what they were asked to do: in every
  // device's primary context, which is that of CUDA's runtime, and in the
  // calling thread's own. As long as they work, it waits.
  void (*wait)() noexcept;
};

// The driver that the process has loaded; without one nothing is up.
const CudaDriver& LoadedCudaDriver() noexcept;

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_CUDA_DRIVER_H_
