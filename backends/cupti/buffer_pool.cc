#include "backends/cupti/buffer_pool.h"

#include <sys/mman.h>

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
  if (buffer_bytes_ == 0 || mapped_bytes_ + buffer_bytes_ > max_bytes_) {
    return nullptr;
  }
  void* const memory = mmap(nullptr, buffer_bytes_, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  mapped_bytes_ += buffer_bytes_;
  return static_cast<uint8_t*>(memory);
}

void BufferPool::Return(uint8_t* buffer) noexcept {
  if (buffer == nullptr) return;
  Free* const returned = new (buffer) Free{free_};
  free_ = returned;
}

}  // namespace kymo::cupti
