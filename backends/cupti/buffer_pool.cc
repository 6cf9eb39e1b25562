#include "backends/cupti/buffer_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace kymo::cupti {

void BufferPool::SetLimits(size_t buffer_bytes, size_t max_bytes) noexcept {
  if (buffer_bytes_ == 0) buffer_bytes_ = buffer_bytes;
  max_bytes_ = max_bytes;
}

uint8_t* BufferPool::Take() noexcept {
  if (free_ != nullptr) {
    Free* const taken = free_;
    free_ = taken->next;
    return reinterpret_cast<uint8_t*>(taken);
  }
  if (buffer_bytes_ == 0 ||
      mapped_bytes_ + buffer_bytes_ > std::min(max_bytes_, kReservedBytes)) {
    return nullptr;
  }
  if (begin_ == nullptr) {
    void* const space =
        mmap(nullptr, kReservedBytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED) return nullptr;
    begin_ = static_cast<uint8_t*>(space);
  }
  uint8_t* const buffer = begin_ + mapped_bytes_;
  if (mprotect(buffer, buffer_bytes_, PROT_READ | PROT_WRITE) != 0) {
    return nullptr;
  }
  mapped_bytes_ += buffer_bytes_;
  return buffer;
}

bool BufferPool::Owns(const uint8_t* buffer) const noexcept {
  const auto at = reinterpret_cast<uintptr_t>(buffer);
  const auto begin = reinterpret_cast<uintptr_t>(begin_);
  return begin_ != nullptr && at >= begin && at - begin < mapped_bytes_;
}

void BufferPool::Return(uint8_t* buffer) noexcept {
  if (!Owns(buffer)) return;
  Free* const returned = new (buffer) Free{free_};
  free_ = returned;
}

}  // namespace kymo::cupti
