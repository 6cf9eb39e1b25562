#include "profiler/record/handle_map.h"

#include <sched.h>
#include <sys/mman.h>

namespace kymo::record {

class HandleMap::Lock {
 public:
  explicit Lock(HandleMap* map) noexcept : map_(map) {
    while (map_->locked_.exchange(true, std::memory_order_acquire)) {
      sched_yield();
    }
  }
  ~Lock() { map_->locked_.store(false, std::memory_order_release); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  HandleMap* const map_;
};

HandleMap::Entry* HandleMap::FindEntry(uint64_t handle) noexcept {
  for (uint64_t at = PlaceOf(handle);; at = (at + 1) % kCapacity) {
    if (entries_[at].handle == handle || entries_[at].handle == 0) {
      return &entries_[at];
    }
  }
}

bool HandleMap::Put(uint64_t handle, uint64_t value) noexcept {
  const Lock lock(this);
  if (entries_ == nullptr) {
    void* const mapped =
        mmap(nullptr, kCapacity * sizeof(Entry), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return false;
    entries_ = static_cast<Entry*>(mapped);
  }
  Entry* const entry = FindEntry(handle);
  if (entry->handle == 0) {
    if (size_ >= kCapacity / 2) return false;
    ++size_;
  }
  *entry = {handle, value};
  return true;
}

bool HandleMap::Find(uint64_t handle, uint64_t* value) noexcept {
  const Lock lock(this);
  if (entries_ == nullptr) return false;
  const Entry* const entry = FindEntry(handle);
  *value = entry->value;
  return entry->handle != 0;
}

bool HandleMap::Take(uint64_t handle, uint64_t* value) noexcept {
  const Lock lock(this);
  if (entries_ == nullptr) return false;
  Entry* const entry = FindEntry(handle);
  if (entry->handle == 0) return false;
  *value = entry->value;
  Remove(entry);
  return true;
}

// Moves up what would not be found any more over the gap.
void HandleMap::Remove(Entry* entry) noexcept {
  uint64_t gap = static_cast<uint64_t>(entry - entries_);
  for (uint64_t at = (gap + 1) % kCapacity; entries_[at].handle != 0;
       at = (at + 1) % kCapacity) {
    const uint64_t wanted = PlaceOf(entries_[at].handle);
    if ((at - wanted) % kCapacity >= (at - gap) % kCapacity) {
      entries_[gap] = entries_[at];
      gap = at;
    }
  }
  entries_[gap] = {};
  --size_;
}

}  // namespace kymo::record
