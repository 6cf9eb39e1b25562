#include "profiler/record/arena/inherited.h"

#include <string.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace kymo::record {
namespace {

std::byte* At(const Arena& arena, uint64_t offset) noexcept {
  return reinterpret_cast<std::byte*>(&arena.header()) + offset;
}

// The index first, and then the texts: a text whose id is in the index is
// complete, and is below what is in use afterwards.
void TakeOverNames(const Arena& from, const Arena& to) noexcept {
  const ArenaPlan& plan = to.header().plan;
  const ArenaPlan& other = from.header().plan;
  if (other.name_index_offset != plan.name_index_offset ||
      other.name_index_capacity != plan.name_index_capacity ||
      other.name_text_offset != plan.name_text_offset ||
      other.name_text_bytes != plan.name_text_bytes) {
    return;
  }
  using Id = std::atomic<uint32_t>;
  const auto* const ids =
      reinterpret_cast<const Id*>(At(from, plan.name_index_offset));
  auto* const copies = reinterpret_cast<Id*>(At(to, plan.name_index_offset));
  for (uint32_t i = 0; i < plan.name_index_capacity; ++i) {
    const uint32_t id = ids[i].load(std::memory_order_acquire);
    // In the new index, a page without names takes no memory.
    if (id != 0) copies[i].store(id, std::memory_order_relaxed);
  }
  const uint64_t used = std::min(
      from.header().name_text_used.load(std::memory_order_relaxed) / 8 * 8,
      plan.name_text_bytes);
  memcpy(At(to, plan.name_text_offset), At(from, plan.name_text_offset), used);
  to.header().name_text_used.store(used, std::memory_order_relaxed);
}

}  // namespace

void Inherit(const Arena& parents, const Arena& made) noexcept {
  TakeOverNames(parents, made);
  made.header().next_ticket.store(
      parents.header().next_ticket.load(std::memory_order_relaxed),
      std::memory_order_relaxed);
}

}  // namespace kymo::record
