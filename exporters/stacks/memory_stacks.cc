#include "exporters/stacks/memory_stacks.h"

#include <cstdint>
#include <map>
#include <tuple>

#include "profiler/analysis/memory_blocks.h"
#include "profiler/analysis/memory_device.h"
#include "profiler/analysis/memory_usage.h"

namespace kymo::stacks {
namespace {

using analysis::BlockEnd;
using model::MemoryRecord;

// Roots, and those with a device below, which are made when first asked for.
class DeviceRoots {
 public:
  explicit DeviceRoots(const std::vector<std::string>& roots) : roots_(roots) {}

  uint32_t Find(const MemoryRecord& record) {
    if (analysis::IsHostMemory(record)) return record.track;
    const auto [it, is_new] = positions_.try_emplace(
        {record.track, record.device_type, record.device_index},
        static_cast<uint32_t>(roots_.size()));
    if (is_new) {
      const analysis::MemoryDeviceId device{
          static_cast<DeviceType>(static_cast<uint8_t>(record.device_type)),
          record.device_index};
      roots_.push_back(roots_[record.track] + ";" +
                       analysis::MemoryDeviceName(device));
    }
    return it->second;
  }

  const std::vector<std::string>& roots() const { return roots_; }

 private:
  std::vector<std::string> roots_;
  std::map<std::tuple<model::TrackIndex, int8_t, int8_t>, uint32_t> positions_;
};

}  // namespace

std::optional<Folded> FoldMemory(const model::Trace& trace,
                                 const std::vector<std::string>& roots,
                                 MemoryStacks which) {
  const model::MemorySource host_source = analysis::HostSource(trace);
  const analysis::MemoryBlocks blocks(trace);
  DeviceRoots device_roots(roots);
  StackWeights weights;
  for (model::MemoryIndex i = 0; i < trace.memory().size(); ++i) {
    const MemoryRecord& record = trace.memory()[i];
    if (!blocks.IsAllocation(i) || record.stack == model::kEmptyStack) continue;
    if (analysis::IsHostMemory(record) && record.source != host_source) {
      continue;
    }
    if (which == MemoryStacks::kAlive &&
        (record.address == 0 || blocks.EndOf(i) != BlockEnd::kAlive)) {
      continue;
    }
    weights[StackKey(device_roots.Find(record), record.stack)] +=
        blocks.AmountOf(i).bytes;
  }
  if (weights.empty()) return std::nullopt;
  return FoldStacks(trace, device_roots.roots(), weights);
}

}  // namespace kymo::stacks
