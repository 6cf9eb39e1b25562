#include "exporters/tensorboard/xspace/memory_pool_names.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/memory/memory_device.h"

namespace kymo::tensorboard {
namespace {

std::string BaseName(const analysis::MemoryPool& pool) {
  switch (pool.source) {
    case model::MemorySource::kHeap:
      return "heap";
    case model::MemorySource::kMapped:
      return "mapped";
    case model::MemorySource::kReported:
      break;
  }
  return analysis::MemoryDeviceName(
      {static_cast<DeviceType>(static_cast<uint8_t>(pool.device_type)),
       pool.device_index});
}

}  // namespace

std::vector<std::string> MemoryPoolNames(const analysis::MemoryPools& pools) {
  std::set<int64_t> pids;
  for (const analysis::MemoryPool& pool : pools.all()) pids.insert(pool.pid);
  std::set<std::string> taken;
  std::vector<std::string> names;
  for (const analysis::MemoryPool& pool : pools.all()) {
    std::string name = BaseName(pool);
    if (pids.size() > 1) absl::StrAppend(&name, " of ", pool.pid);
    std::string unique = name;
    for (int i = 2; !taken.insert(unique).second; ++i) {
      unique = absl::StrCat(name, " (", i, ")");
    }
    names.push_back(unique);
  }
  return names;
}

}  // namespace kymo::tensorboard
