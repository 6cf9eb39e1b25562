// occupancy.h - how full a kernel can keep a device's multiprocessors.
//
//   Occupancy o = EstimateOccupancy(device, {.grid_blocks = 216,
//                                            .block_threads = 256, ...});
//   o.percent    // 25
//
// The rules of the CUDA programming guide ("Multiprocessor Level"): a block
// stays on one multiprocessor; how many fit at a time is the least of what
// warps, registers, shared memory and block slots allow, where registers are
// handed out to warps in units of 256 and to four warps at a time, and shared
// memory in units of 128 bytes (256 before 8.0), 1 KiB of which the system
// takes per block from 8.0 on. With PyTorch's formulas on top:
//
//   blocks per SM = blocks of the grid / multiprocessors
//   warps per SM  = blocks per SM * threads of a block / warp size
//   achieved      = min(blocks that fit, blocks per SM) * threads of a block
//                   / threads that a multiprocessor can hold
#ifndef KYMO_BACKENDS_CUPTI_DECODE_OCCUPANCY_H_
#define KYMO_BACKENDS_CUPTI_DECODE_OCCUPANCY_H_

#include <cstdint>

#include "backends/cupti/log/gpu_record.h"

namespace kymo::cupti {

struct LaunchShape {
  uint64_t grid_blocks = 0;
  uint64_t block_threads = 0;
  uint32_t registers = 0;     // per thread
  uint64_t shared_bytes = 0;  // per block, static and dynamic
};

struct Occupancy {
  // At a time on one multiprocessor; 0 = the device is not known well enough,
  // or a block does not fit.
  uint32_t active_blocks = 0;
  // What each resource alone would allow.
  uint32_t limit_warps = 0;
  uint32_t limit_registers = 0;
  uint32_t limit_shared = 0;
  uint32_t limit_blocks = 0;
  uint64_t block_registers = 0;  // handed out per block
  uint64_t block_shared = 0;

  double blocks_per_sm = 0;  // infinite where multiprocessors are not known
  double warps_per_sm = 0;
  int percent = 0;  // rounded, at most 100
};

Occupancy EstimateOccupancy(const DeviceRecord& device,
                            const LaunchShape& shape);

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_DECODE_OCCUPANCY_H_
