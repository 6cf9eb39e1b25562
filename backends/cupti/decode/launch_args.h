// launch_args.h - makes the arguments that kernels of one launch shape share.
//
//   LaunchArgs args(strings);
//   args.Of(kernel, device)    // grid, block, registers, occupancy, ...
//
// A program launches few shapes, many times, so text and occupancy are made
// once for each shape. Keys and their order are Kineto's. Two keys of ours
// follow if they are not 0: "static shared memory", the part of "shared memory"
// that the kernel declares, and "cluster".
//
// Threads: none.
#ifndef KYMO_BACKENDS_CUPTI_DECODE_LAUNCH_ARGS_H_
#define KYMO_BACKENDS_CUPTI_DECODE_LAUNCH_ARGS_H_

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "backends/cupti/log/gpu_record.h"
#include "profiler/model/records.h"
#include "profiler/model/string_table.h"

namespace kymo::cupti {

class LaunchArgs {
 public:
  // `strings` must outlive the object.
  explicit LaunchArgs(model::StringTable& strings);

  // `device` may be null, if it is not known. It must be the same for each
  // number.
  // The result lives as long as the object.
  std::span<const model::Arg> Of(const KernelRecord& kernel,
                                 const DeviceRecord* device);

 private:
  using Shape = std::array<uint32_t, 13>;

  std::vector<model::Arg> Make(const KernelRecord& kernel,
                               const DeviceRecord* device);

  model::StringTable& strings_;
  struct Keys {
    model::NameId registers, shared, blocks_per_sm, warps_per_sm, grid, block,
        occupancy_percent, occupancy, static_shared, cluster;
  } keys_;
  std::map<Shape, std::vector<model::Arg>> by_shape_;
  // The shapes that were used last, by a hash.
  struct Recent {
    Shape shape = {};
    std::span<const model::Arg> args;  // empty: none yet
  };
  std::array<Recent, 256> recent_;
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_DECODE_LAUNCH_ARGS_H_
