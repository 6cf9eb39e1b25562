#include "profiler/analysis/lock_origins.h"

#include <limits>

#include "profiler/model/records.h"
#include "profiler/model/string_table.h"

namespace kymo::analysis {
namespace {

struct Nameless {
  LockWaits* lock = nullptr;
  TimeNs first_ns = std::numeric_limits<TimeNs>::max();
  TimeNs allocated_ns = 0;
};

}  // namespace

void LockOrigins::OnWait(const LockWaits& lock, const model::Wait& wait) {
  if (lock.object == 0 || lock.name != model::kEmptyName) return;
  const auto [at, is_new] = first_.try_emplace({lock.pid, lock.object});
  First& first = at->second;
  if (!is_new && first.time_ns <= wait.begin_ns) return;
  first = {wait.begin_ns, wait.stack};
}

void LockOrigins::Fill(const model::Trace& trace,
                       std::vector<LockWaits>& locks) const {
  std::map<Key, Nameless> nameless;
  for (LockWaits& lock : locks) {
    if (lock.object == 0 || lock.name != model::kEmptyName) continue;
    Nameless& entry = nameless[{lock.pid, lock.object}];
    entry.lock = &lock;
    const auto first = first_.find({lock.pid, lock.object});
    if (first == first_.end()) continue;
    entry.first_ns = first->second.time_ns;
    if (first->second.stack == model::kEmptyStack) continue;
    lock.origin = LockOrigin::kFirstWait;
    lock.origin_stack = first->second.stack;
  }
  if (nameless.empty()) return;
  constexpr int8_t kCpu = 0;
  for (const model::MemoryRecord& record : trace.memory()) {
    if (record.bytes <= 0 || record.device_type != kCpu ||
        record.stack == model::kEmptyStack) {
      continue;
    }
    const int64_t pid = trace.tracks()[record.track].pid;
    const auto bytes = static_cast<uint64_t>(record.bytes);
    for (auto at = nameless.lower_bound({pid, record.address});
         at != nameless.end() && at->first.first == pid &&
         at->first.second - record.address < bytes;
         ++at) {
      Nameless& entry = at->second;
      if (record.time_ns > entry.first_ns ||
          record.time_ns < entry.allocated_ns) {
        continue;
      }
      entry.allocated_ns = record.time_ns;
      entry.lock->origin = LockOrigin::kAllocated;
      entry.lock->origin_stack = record.stack;
    }
  }
}

}  // namespace kymo::analysis
