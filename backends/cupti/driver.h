// driver.h - tells whether CUDA can be recorded on this machine, and with what.
//
//   KYMO_ASSIGN_OR_RETURN(const int driver, FindDriver());   // 13000
//   CuptiPaths(driver)                                       // for LoadCupti
//
// Cheap: it loads the driver, but does not initialise it.
#ifndef KYMO_BACKENDS_CUPTI_DRIVER_H_
#define KYMO_BACKENDS_CUPTI_DRIVER_H_

#include <string>

#include "absl/status/statusor.h"

namespace kymo::cupti {

// Whether a device must be visible in /dev. Where devices have other names
// there (on Tegra, for instance), use kNone: then a loaded driver is enough.
enum class DeviceCheck { kInDev, kNone };

// The newest CUDA version that the driver supports, 13000 for 13.0. kNotFound
// if there is no driver or no device; the message says what to do.
absl::StatusOr<int> FindDriver(DeviceCheck check = DeviceCheck::kInDev);

// Where libcupti may be, best first, separated by ':'. Only versions that the
// driver supports, newest first, in: $CUDA_HOME, $CUDA_PATH, /usr/local/cuda,
// the CUDA wheels in Python's folders (an environment's, the user's, the
// machine's), Conda's folder, and the places that the loader searches. Contains
// only files that exist, and names for the loader.
std::string CuptiPaths(int driver_version);

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_DRIVER_H_
