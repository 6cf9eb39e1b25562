#include "backends/cupti/decode/occupancy.h"

#include <gtest/gtest.h>

namespace kymo::cupti {
namespace {

DeviceRecord Device(uint32_t major, uint32_t multiprocessors,
                    uint32_t shared_kib) {
  DeviceRecord device = {};
  device.major = major;
  device.multiprocessors = multiprocessors;
  device.warp_size = 32;
  device.max_warps = 64;
  device.max_blocks = 32;
  device.max_registers = 65536;
  device.max_shared = shared_kib * 1024;
  return device;
}

TEST(OccupancyTest, AGridTooSmallLeavesRoom) {
  const Occupancy o = EstimateOccupancy(
      Device(8, 108, 164),
      {.grid_blocks = 216, .block_threads = 256, .registers = 32});
  EXPECT_EQ(o.blocks_per_sm, 2);
  EXPECT_EQ(o.warps_per_sm, 16);
  EXPECT_EQ(o.active_blocks, 8u);
  EXPECT_EQ(o.percent, 25);
}

// From a trace of PyTorch on a V100.
TEST(OccupancyTest, AgreesWithKineto) {
  const Occupancy o = EstimateOccupancy(
      Device(7, 80, 96),
      {.grid_blocks = 4 * 106, .block_threads = 128, .registers = 30});
  EXPECT_DOUBLE_EQ(o.blocks_per_sm, 5.3);
  EXPECT_DOUBLE_EQ(o.warps_per_sm, 21.2);
  EXPECT_EQ(o.percent, 33);
}

TEST(OccupancyTest, RegistersLimit) {
  // 255 registers: 8192 a warp, so 8 warps, one block of 256 threads.
  const Occupancy o = EstimateOccupancy(
      Device(8, 108, 164),
      {.grid_blocks = 10'000, .block_threads = 256, .registers = 255});
  EXPECT_EQ(o.limit_registers, 1u);
  EXPECT_EQ(o.active_blocks, 1u);
  EXPECT_EQ(o.percent, 13);
}

TEST(OccupancyTest, SharedMemoryLimitsWithTheSystemsShareOfIt) {
  // 40 KiB, and 1 KiB for the system: four whole blocks in 164 KiB.
  const LaunchShape shape = {.grid_blocks = 10'000,
                             .block_threads = 256,
                             .registers = 32,
                             .shared_bytes = 40 * 1024};
  EXPECT_EQ(EstimateOccupancy(Device(8, 108, 164), shape).limit_shared, 4u);
  EXPECT_EQ(EstimateOccupancy(Device(8, 108, 163), shape).limit_shared, 3u);
  EXPECT_EQ(EstimateOccupancy(Device(7, 108, 160), shape).limit_shared, 4u);
}

TEST(OccupancyTest, AnUnknownDeviceHasNoEstimate) {
  const Occupancy o =
      EstimateOccupancy(DeviceRecord{}, {.grid_blocks = 1, .block_threads = 1});
  EXPECT_EQ(o.active_blocks, 0u);
  EXPECT_EQ(o.percent, 0);
}

}  // namespace
}  // namespace kymo::cupti
