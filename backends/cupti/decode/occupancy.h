// occupancy.h - estimates how far a kernel can fill a device's multiprocessors.
//
//   Occupancy o = EstimateOccupancy(device, {.grid_blocks = 216,
//                                            .block_threads = 256, ...});
//   o.percent    // 25
//
// The rules are those of the CUDA programming guide ("Multiprocessor Level"). A
// block stays on one multiprocessor. How many blocks fit at a time is the
// minimum of what warps, registers, shared memory and block slots allow.
// Registers are given to warps in units of 256, and to four warps at a time.
// Shared memory is given in units of 128 bytes (256 before 8.0); from 8.0 on
// the system takes 1 KiB of it per block. PyTorch's formulas then give:
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
  // Blocks on one multiprocessor at a time. 0 = too little is known about the
  // device, or a block does not fit.
  uint32_t active_blocks = 0;
  // The number of blocks that each resource alone would allow.
  uint32_t limit_warps = 0;
  uint32_t limit_registers = 0;
  uint32_t limit_shared = 0;
  uint32_t limit_blocks = 0;
  uint64_t block_registers = 0;  // registers given to a block
  uint64_t block_shared = 0;

  double blocks_per_sm = 0;  // infinite if multiprocessors are not known
  double warps_per_sm = 0;
  int percent = 0;  // rounded, at most 100
};

Occupancy EstimateOccupancy(const DeviceRecord& device,
                            const LaunchShape& shape);

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_DECODE_OCCUPANCY_H_
