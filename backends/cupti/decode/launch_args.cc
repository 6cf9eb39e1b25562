#include "backends/cupti/decode/launch_args.h"

#include <algorithm>
#include <string>
#include <utility>

#include "backends/cupti/decode/occupancy.h"

namespace kymo::cupti {
namespace {

using model::Arg;

// "[4, 106, 1]"
template <typename T>
std::string JsonList(const T (&values)[3]) {
  return "[" + std::to_string(values[0]) + ", " + std::to_string(values[1]) +
         ", " + std::to_string(values[2]) + "]";
}

uint64_t Product(const int32_t (&sizes)[3]) {
  uint64_t product = 1;
  for (const int32_t size : sizes) {
    product *= static_cast<uint32_t>(std::max(size, 0));
  }
  return product;
}

// Kineto's words for the resource that there was least of.
std::string LimitingFactors(const Occupancy& o) {
  std::string factors;
  const auto add = [&](uint32_t limit, const char* word) {
    if (limit != o.active_blocks) return;
    if (!factors.empty()) factors += '|';
    factors += word;
  };
  add(o.limit_warps, "WARPS");
  add(o.limit_registers, "REGS");
  add(o.limit_shared, "SMEM");
  add(o.limit_blocks, "BLOCKS");
  return factors.empty() ? "none" : factors;
}

std::string OccupancyJson(const Occupancy& o) {
  std::string json = "{";
  const auto add = [&](const char* key, uint64_t value) {
    json += std::string("\"") + key + "\": " + std::to_string(value) + ", ";
  };
  add("activeBlocksPerMultiprocessor", o.active_blocks);
  add("blockLimitRegs", o.limit_registers);
  add("blockLimitSharedMem", o.limit_shared);
  add("blockLimitWarps", o.limit_warps);
  add("blockLimitBlocks", o.limit_blocks);
  add("allocatedRegistersPerBlock", o.block_registers);
  add("allocatedSharedMemPerBlock", o.block_shared);
  return json + "\"limitingFactors\": \"" + LimitingFactors(o) + "\"}";
}

}  // namespace

LaunchArgs::LaunchArgs(model::StringTable& strings)
    : strings_(strings),
      keys_{.registers = strings.Intern("registers per thread"),
            .shared = strings.Intern("shared memory"),
            .blocks_per_sm = strings.Intern("blocks per SM"),
            .warps_per_sm = strings.Intern("warps per SM"),
            .grid = strings.Intern("grid"),
            .block = strings.Intern("block"),
            .occupancy_percent = strings.Intern("est. achieved occupancy %"),
            .occupancy = strings.Intern("occupancy"),
            .static_shared = strings.Intern("static shared memory"),
            .cluster = strings.Intern("cluster")} {}

std::span<const Arg> LaunchArgs::Of(const KernelRecord& kernel,
                                    const DeviceRecord* device) {
  const auto word = [](int32_t value) { return static_cast<uint32_t>(value); };
  const Shape shape = {
      word(kernel.grid[0]),  word(kernel.grid[1]),  word(kernel.grid[2]),
      word(kernel.block[0]), word(kernel.block[1]), word(kernel.block[2]),
      kernel.registers,      kernel.static_shared,  kernel.dynamic_shared,
      kernel.device,         kernel.cluster[0],     kernel.cluster[1],
      kernel.cluster[2]};
  uint64_t hash = 0;
  for (const uint32_t word : shape) hash = hash * 0x100000001b3u + word;
  Recent& recent = recent_[(hash ^ hash >> 32) % recent_.size()];
  if (!recent.args.empty() && recent.shape == shape) [[likely]] {
    return recent.args;
  }
  auto it = by_shape_.find(shape);
  if (it == by_shape_.end()) {
    it = by_shape_.emplace(shape, Make(kernel, device)).first;
  }
  recent = {shape, it->second};
  return recent.args;
}

std::vector<Arg> LaunchArgs::Make(const KernelRecord& kernel,
                                  const DeviceRecord* device) {
  const LaunchShape shape = {
      .grid_blocks = Product(kernel.grid),
      .block_threads = Product(kernel.block),
      .registers = kernel.registers,
      .shared_bytes = uint64_t{kernel.static_shared} + kernel.dynamic_shared};
  std::vector<Arg> args = {
      Arg::Int(keys_.registers, kernel.registers),
      Arg::Int(keys_.shared, static_cast<int64_t>(shape.shared_bytes))};
  const Occupancy occupancy =
      EstimateOccupancy(device == nullptr ? DeviceRecord{} : *device, shape);
  args.push_back(Arg::Double(keys_.blocks_per_sm, occupancy.blocks_per_sm));
  args.push_back(Arg::Double(keys_.warps_per_sm, occupancy.warps_per_sm));
  args.push_back(Arg::Json(keys_.grid, strings_.Intern(JsonList(kernel.grid))));
  args.push_back(
      Arg::Json(keys_.block, strings_.Intern(JsonList(kernel.block))));
  args.push_back(Arg::Int(keys_.occupancy_percent, occupancy.percent));
  if (occupancy.active_blocks != 0) {
    args.push_back(
        Arg::Json(keys_.occupancy, strings_.Intern(OccupancyJson(occupancy))));
  }
  if (kernel.static_shared != 0) {
    args.push_back(Arg::Int(keys_.static_shared, kernel.static_shared));
  }
  if (kernel.cluster[0] != 0) {
    args.push_back(
        Arg::Json(keys_.cluster, strings_.Intern(JsonList(kernel.cluster))));
  }
  return args;
}

}  // namespace kymo::cupti
