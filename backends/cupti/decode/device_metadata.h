// device_metadata.h - devices and clocks in a trace's metadata.
//
//   deviceProperties      Kineto's list of devices, ids ascending, each also
//                         with clockRate (kHz) and memoryBandwidth (bytes per
//                         second)
//   cuda_streams          streams with their process, device, context, priority
//                         (low numbers first) and kind; those that existed
//                         or were made during the recording
//   cupti_version         130001
//   cuda_clock_error_ns   how far times of the device are off, as far as that
//                         can be seen: the largest of the clocks' error
//                         (log_clock.h) and of the two below
//   cuda_early_ns         the most by which an activity seemed to begin before
//                         its launch
//   cuda_late_ns          the most by which an activity seemed to end after a
//                         wait for it was over (wait_table.h)
//   cuda_not_recorded     a list of what was requested and CUPTI refused;
//                         missing if it is empty
#ifndef KYMO_BACKENDS_CUPTI_DECODE_DEVICE_METADATA_H_
#define KYMO_BACKENDS_CUPTI_DECODE_DEVICE_METADATA_H_

#include <cstdint>
#include <span>
#include <string>

#include "backends/cupti/decode/decode.h"
#include "profiler/model/trace_shard.h"

namespace kymo::cupti {

// One entry of deviceProperties. CUPTI gives bandwidths in kB/s of 1000 bytes:
// it says 1,555,200,000 for an A100's 1,555.2 GB/s.
std::string DeviceJson(const DecodedLog::Device& device);

// `logs`: of all processes of the recording, in any order. Does nothing for
// none.
void AddDeviceMetadata(std::span<const DecodedLog> logs, uint32_t cupti_version,
                       model::TraceShard& shard);

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_DECODE_DEVICE_METADATA_H_
