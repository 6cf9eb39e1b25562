#include "profiler/record/handle_map.h"

#include <sys/mman.h>

#include "profiler/record/host/own_host.h"

namespace kymo::record {

// Null if even the lock has no memory. The memory is wiped on fork.
std::atomic<uint32_t>* HandleMap::LockWord() noexcept {
  std::atomic<uint32_t>* word = lock_.load(std::memory_order_acquire);
  if (word != nullptr) return word;
  const Busy busy;
  auto* const made = static_cast<std::atomic<uint32_t>*>(
      MapWiped(sizeof(std::atomic<uint32_t>)));
  if (made == nullptr) return nullptr;
  if (lock_.compare_exchange_strong(word, made, std::memory_order_acq_rel)) {
    return made;
  }
  munmap(made, sizeof(*made));
  return word;
}

HandleMap::Entry* HandleMap::FindEntry(uint64_t handle) noexcept {
  for (uint64_t at = PlaceOf(handle);; at = (at + 1) % kCapacity) {
    if (entries_[at].handle == handle || entries_[at].handle == 0) {
      return &entries_[at];
    }
  }
}

bool HandleMap::Put(uint64_t handle, uint64_t value) noexcept {
  std::atomic<uint32_t>* const word = LockWord();
  if (word == nullptr || InSlowPath()) return false;
  const Lock lock(word);
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
  std::atomic<uint32_t>* const word = LockWord();
  if (word == nullptr || InSlowPath()) return false;
  const Lock lock(word);
  if (entries_ == nullptr) return false;
  const Entry* const entry = FindEntry(handle);
  *value = entry->value;
  return entry->handle != 0;
}

bool HandleMap::Take(uint64_t handle, uint64_t* value) noexcept {
  std::atomic<uint32_t>* const word = LockWord();
  if (word == nullptr || InSlowPath()) return false;
  const Lock lock(word);
  if (entries_ == nullptr) return false;
  Entry* const entry = FindEntry(handle);
  if (entry->handle == 0) return false;
  *value = entry->value;
  Remove(entry);
  return true;
}

// Moves entries over the gap that could otherwise no longer be found.
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
