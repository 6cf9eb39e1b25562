#include "backends/mpi/target/room.h"

#include <sys/mman.h>

#include <bit>

#include "backends/mpi/target/spin_lock.h"

namespace kymo::mpi {

struct alignas(16) Room::Block {
  Block* next;
  size_t bytes;
};

namespace {
constinit SpinLock room_lock;
}  // namespace

constinit Room::Block* Room::kept = nullptr;

Room::Room(size_t bytes) noexcept : data_(stack_) {
  if (bytes <= kOnStack) return;
  {
    const SpinLock::Held held(room_lock);
    Block** at = &kept;
    while (*at != nullptr && (*at)->bytes < bytes) at = &(*at)->next;
    block_ = *at;
    if (block_ != nullptr) *at = block_->next;
  }
  if (block_ == nullptr) {
    const size_t size = std::bit_ceil(bytes + sizeof(Block));
    void* const pages = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    data_ = nullptr;
    if (pages == MAP_FAILED) return;
    block_ = static_cast<Block*>(pages);
    block_->bytes = size - sizeof(Block);
  }
  data_ = reinterpret_cast<char*>(block_ + 1);
}

Room::~Room() {
  if (block_ == nullptr) return;
  const SpinLock::Held held(room_lock);
  block_->next = kept;
  kept = block_;
}

}  // namespace kymo::mpi
