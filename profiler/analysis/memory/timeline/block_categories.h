// block_categories.h - the category of each block, by what the program said.
//
//   const BlockCategories categories(trace, device, host_source);
//   categories.At(i, /*version=*/0)   // when the block of record i was made
//   categories.preexisting()          // blocks from before the recording
//
// As in PyTorch's memory profiler:
// - OPTIMIZER_STATE, PARAMETER, GRADIENT and TEMPORARY are a block's for its
//   whole life, also before somebody says so. INPUT, ACTIVATION and
//   AUTOGRAD_DETAIL are those of one version of its contents.
// - If a block has several, the first of this list counts: OPTIMIZER_STATE,
//   PARAMETER, GRADIENT, TEMPORARY, INPUT, ACTIVATION, AUTOGRAD_DETAIL.
// - A block that the program speaks of, but that nobody allocated within the
//   recording, was there before. So was a block that is only freed within it.
//
// A statement is about the block that was alive at its address at its time. If
// the address is inside a live block instead of at its beginning, the statement
// is left out, because the memory is already counted. So is one about a block
// from before the recording if it tells no bytes, or if the heap is sampled.
//
// Cost: n log n in the records, and memory for those whose address the program
//   speaks of. Without statements, one pass over the records.
#ifndef KYMO_PROFILER_ANALYSIS_MEMORY_TIMELINE_BLOCK_CATEGORIES_H_
#define KYMO_PROFILER_ANALYSIS_MEMORY_TIMELINE_BLOCK_CATEGORIES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "profiler/analysis/memory/memory_device.h"
#include "profiler/base/memory_category.h"
#include "profiler/base/time.h"
#include "profiler/model/records.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

// The category that counts if a block has both.
MemoryCategory Stronger(MemoryCategory a, MemoryCategory b);

// What was said of one block.
struct BlockLife {
  MemoryCategory whole_life = MemoryCategory::kUnknown;
  std::vector<TimeNs> changed_ns;  // the times at which new versions began
  // One entry more than changes.
  std::vector<MemoryCategory> of_version = {MemoryCategory::kUnknown};

  MemoryCategory At(size_t version) const {
    return Stronger(whole_life, of_version[version]);
  }
};

// A block from before the recording.
struct PreexistingBlock {
  int64_t bytes = 0;
  std::optional<TimeNs> end_ns;  // nothing: it outlived the recording
  BlockLife life;
};

// Whether the record is one of the device; on the host, one of `host_source`.
bool IsOfDevice(const model::MemoryRecord& record, MemoryDeviceId device,
                model::MemorySource host_source);

class BlockCategories {
 public:
  BlockCategories(const model::Trace& trace, MemoryDeviceId device,
                  model::MemorySource host_source);

  // The category of the allocation's block, by version.
  MemoryCategory At(model::MemoryIndex allocation, size_t version) const {
    const BlockLife* const life = Find(allocation);
    return life == nullptr ? ScopeOf(allocation) : life->At(version);
  }
  // The times at which new versions of the block began.
  std::span<const TimeNs> ChangesOf(model::MemoryIndex allocation) const {
    const BlockLife* const life = Find(allocation);
    if (life == nullptr) return {};
    return life->changed_ns;
  }

  std::span<const PreexistingBlock> preexisting() const { return preexisting_; }

 private:
  // Null: the program did not speak of the block.
  const BlockLife* Find(model::MemoryIndex allocation) const {
    const auto it = allocated_.find(allocation);
    return it == allocated_.end() ? nullptr : &it->second;
  }
  // The category of the scope that was open at the allocation.
  MemoryCategory ScopeOf(model::MemoryIndex allocation) const {
    return scopes_.empty() ? MemoryCategory::kUnknown : scopes_[allocation];
  }

  // Each BlockLife here includes the block's scope.
  std::unordered_map<model::MemoryIndex, BlockLife> allocated_;
  std::vector<PreexistingBlock> preexisting_;
  // By record; empty if there is no scope.
  std::vector<MemoryCategory> scopes_;
};

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_MEMORY_TIMELINE_BLOCK_CATEGORIES_H_
