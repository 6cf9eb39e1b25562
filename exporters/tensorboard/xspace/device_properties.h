// device_properties.h - what a device can do, as XProf reads it.
//
//   AppendDeviceProperties(trace, /*device=*/0, ids, stats);
//
// The values come from the metadata `deviceProperties`, a list with one object
// for each device. They become statistics of the device's plane:
//
//   member              | statistic
//   name                | gpu_device_name, device_vendor
//   totalGlobalMem      | memory_size, bytes
//   computeMajor, Minor | compute_cap_major, compute_cap_minor
//   numSms              | core_count
//   clockRate           | clock_rate, kHz
//   memoryBandwidth     | memory_bandwidth, bytes per second
//
// All members are Kineto's except the last two. From them XProf computes the
// device's peak FLOP/s and bytes/s. A member that is missing or has the wrong
// type is left out. A device that is not in the list gets no statistics.
#ifndef KYMO_EXPORTERS_TENSORBOARD_XSPACE_DEVICE_PROPERTIES_H_
#define KYMO_EXPORTERS_TENSORBOARD_XSPACE_DEVICE_PROPERTIES_H_

#include <cstdint>
#include <string>

#include "exporters/tensorboard/xspace/plane_ids.h"
#include "profiler/model/trace.h"

namespace kymo::tensorboard {

// Appends fields of a plane (StatWriter::kOfPlane) to `stats`.
void AppendDeviceProperties(const model::Trace& trace, int32_t device,
                            PlaneIds& ids, std::string& stats);

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_XSPACE_DEVICE_PROPERTIES_H_
