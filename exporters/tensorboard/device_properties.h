// device_properties.h - what a device can do, as XProf reads it.
//
//   AppendDeviceProperties(trace, /*device=*/0, ids, stats);
//
// From the metadata `deviceProperties`, a list that has an object for each
// device, into statistics of the device's plane:
//
//   member              | statistic
//   name                | gpu_device_name, device_vendor
//   totalGlobalMem      | memory_size, bytes
//   computeMajor, Minor | compute_cap_major, compute_cap_minor
//   numSms              | core_count
//   clockRate           | clock_rate, kHz
//   memoryBandwidth     | memory_bandwidth, bytes per second
//
// The members are Kineto's, but for the last two. XProf computes from them what
// the device could do at most, FLOP/s and bytes/s. What is missing, or is not
// what it should be, is left out: so are devices that the list does not have.
#ifndef KYMO_EXPORTERS_TENSORBOARD_DEVICE_PROPERTIES_H_
#define KYMO_EXPORTERS_TENSORBOARD_DEVICE_PROPERTIES_H_

#include <cstdint>
#include <string>

#include "exporters/tensorboard/plane_ids.h"
#include "profiler/model/trace.h"

namespace kymo::tensorboard {

// Appends fields of a plane (StatWriter::kOfPlane) to `stats`.
void AppendDeviceProperties(const model::Trace& trace, int32_t device,
                            PlaneIds& ids, std::string& stats);

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_DEVICE_PROPERTIES_H_
