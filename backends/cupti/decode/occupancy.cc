#include "backends/cupti/decode/occupancy.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kymo::cupti {
namespace {

constexpr uint32_t kRegisterUnit = 256;  // per warp
constexpr uint32_t kWarpUnit = 4;        // so many warps get registers together
constexpr uint64_t kSystemShared = 1024;
constexpr uint32_t kUnlimited = std::numeric_limits<uint32_t>::max();

uint64_t RoundUp(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

uint32_t Blocks(uint64_t available, uint64_t per_block) {
  if (per_block == 0) return kUnlimited;
  return static_cast<uint32_t>(
      std::min<uint64_t>(available / per_block, kUnlimited));
}

// Fills in how many blocks fit. REQUIRES: the block has threads, the device
// warps.
void FindLimits(const DeviceRecord& device, const LaunchShape& shape,
                Occupancy& result) {
  const uint64_t warps =
      (shape.block_threads + device.warp_size - 1) / device.warp_size;
  const uint64_t warp_registers =
      RoundUp(uint64_t{shape.registers} * device.warp_size, kRegisterUnit);
  result.block_registers = warp_registers * RoundUp(warps, kWarpUnit);
  const bool has_system_shared = device.major >= 8;
  result.block_shared =
      RoundUp(shape.shared_bytes + (has_system_shared ? kSystemShared : 0),
              has_system_shared ? 128 : 256);

  result.limit_warps = Blocks(device.max_warps, warps);
  result.limit_blocks = device.max_blocks;
  result.limit_shared = Blocks(device.max_shared, result.block_shared);
  result.limit_registers = kUnlimited;
  if (warp_registers != 0) {
    const uint64_t register_warps =
        device.max_registers / warp_registers / kWarpUnit * kWarpUnit;
    result.limit_registers = Blocks(register_warps, warps);
  }
  result.active_blocks =
      std::min({result.limit_warps, result.limit_blocks, result.limit_shared,
                result.limit_registers});
}

}  // namespace

Occupancy EstimateOccupancy(const DeviceRecord& device,
                            const LaunchShape& shape) {
  Occupancy result;
  const double warp_size = device.warp_size == 0 ? 32 : device.warp_size;
  result.blocks_per_sm =
      device.multiprocessors == 0
          ? std::numeric_limits<double>::infinity()
          : static_cast<double>(shape.grid_blocks) / device.multiprocessors;
  result.warps_per_sm = result.blocks_per_sm *
                        static_cast<double>(shape.block_threads) / warp_size;
  if (device.warp_size == 0 || device.max_warps == 0 ||
      device.multiprocessors == 0 || shape.block_threads == 0) {
    return result;
  }
  FindLimits(device, shape, result);
  const double threads = double{warp_size} * device.max_warps;
  const double achieved =
      std::min<double>(result.active_blocks, result.blocks_per_sm) *
      static_cast<double>(shape.block_threads) / threads;
  result.percent = static_cast<int>(std::lround(std::min(achieved, 1.0) * 100));
  return result;
}

}  // namespace kymo::cupti
