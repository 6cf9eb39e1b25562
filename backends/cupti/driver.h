// driver.h - whether CUDA can be recorded on this machine, and with what.
//
//   KYMO_ASSIGN_OR_RETURN(const int driver, FindDriver());   // 13000
//   CuptiPaths(driver)                                       // for LoadCupti
//
// Cheap: the driver is loaded, not initialised.
#ifndef KYMO_BACKENDS_CUPTI_DRIVER_H_
#define KYMO_BACKENDS_CUPTI_DRIVER_H_

#include <string>

#include "absl/status/statusor.h"

namespace kymo::cupti {

// Whether a device has to be seen in /dev. Where it has another name there (on
// Tegra, say), the driver's word is enough.
enum class DeviceCheck { kInDev, kNone };

// The newest CUDA that the driver knows, 13000 for 13.0. kNotFound where there
// is no driver or no device, with what to do about it.
absl::StatusOr<int> FindDriver(DeviceCheck check = DeviceCheck::kInDev);

// Where libcupti may be, best first, separated by ':': the versions that the
// driver can serve, newest first, of $CUDA_HOME, $CUDA_PATH, /usr/local/cuda,
// the CUDA wheels in Python's folders (an environment's, the user's, the
// machine's), Conda's, and wherever the loader finds it. Only files that exist,
// and names for the loader.
std::string CuptiPaths(int driver_version);

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_DRIVER_H_
