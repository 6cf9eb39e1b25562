#include "backends/cupti/decode/wait_table.h"

#include <algorithm>

namespace kymo::cupti {
namespace {

// CUPTI's numbers.
constexpr uint32_t kStreamSync = 3;
constexpr uint32_t kContextSync = 4;

}  // namespace

void WaitTable::Add(const SyncRecord& sync, uint32_t thread) {
  if (sync.result != 0 || sync.end == 0) return;
  if (sync.type != kStreamSync && sync.type != kContextSync) return;
  has_context_waits_ |= sync.type == kContextSync;
  const uint32_t stream = sync.type == kContextSync ? kNoStream : sync.stream;
  waits_[{thread, sync.context, stream}].push_back(
      {sync.correlation, sync.end});
}

void WaitTable::Finish() {
  for (auto& [key, waits] : waits_) {
    std::stable_sort(waits.begin(), waits.end(),
                     [](const Wait& a, const Wait& b) {
                       return a.correlation < b.correlation;
                     });
    for (size_t i = waits.size() - 1; i-- > 0;) {
      waits[i].end = std::min(waits[i].end, waits[i + 1].end);
    }
  }
}

uint64_t WaitTable::LateBy(const Key& key, uint32_t correlation,
                           uint64_t end) const {
  const auto it = waits_.find(key);
  if (it == waits_.end()) return 0;
  const auto wait = std::upper_bound(
      it->second.begin(), it->second.end(), correlation,
      [](uint32_t id, const Wait& wait) { return id < wait.correlation; });
  if (wait == it->second.end() || wait->end >= end) return 0;
  return end - wait->end;
}

}  // namespace kymo::cupti
