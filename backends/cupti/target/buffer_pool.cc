#include "backends/cupti/target/buffer_pool.h"

#include <sys/mman.h>

#include <new>

namespace kymo::cupti {
namespace {

// Buffers are contiguous, so Owns is a comparison of addresses.
constexpr size_t kMostReserved = size_t{4} << 30;
// The largest page size of any machine.
constexpr size_t kPageBytes = 64 * 1024;

}  // namespace

void BufferPool::SetLimits(size_t buffer_bytes, size_t max_bytes) noexcept {
  if (buffer_bytes_ == 0) {
    buffer_bytes_ = buffer_bytes;
    stride_ = (buffer_bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  }
  max_bytes_ = max_bytes;
}

// Reserves less if the process may not have so much (ulimit -v).
bool BufferPool::Reserve() noexcept {
  for (size_t bytes = kMostReserved; bytes >= stride_; bytes /= 2) {
    void* const space =
        mmap(nullptr, bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED) continue;
    begin_ = static_cast<uint8_t*>(space);
    reserved_bytes_ = bytes;
    return true;
  }
  return false;
}

uint8_t* BufferPool::Take() noexcept {
  if (free_ != nullptr) {
    Free* const taken = free_;
    free_ = taken->next;
    ++taken_;
    return reinterpret_cast<uint8_t*>(taken);
  }
  if (stride_ == 0 || mapped_bytes_ + stride_ > max_bytes_) return nullptr;
  if (begin_ == nullptr && !Reserve()) return nullptr;
  if (mapped_bytes_ + stride_ > reserved_bytes_) return nullptr;
  uint8_t* const buffer = begin_ + mapped_bytes_;
  if (mprotect(buffer, stride_, PROT_READ | PROT_WRITE) != 0) return nullptr;
  mapped_bytes_ += stride_;
  ++taken_;
  return buffer;
}

bool BufferPool::Owns(const uint8_t* buffer) const noexcept {
  const auto at = reinterpret_cast<uintptr_t>(buffer);
  const auto begin = reinterpret_cast<uintptr_t>(begin_);
  return begin_ != nullptr && at >= begin && at - begin < mapped_bytes_;
}

void BufferPool::Return(uint8_t* buffer) noexcept {
  free_ = new (buffer) Free{free_};
  --taken_;
}

}  // namespace kymo::cupti
