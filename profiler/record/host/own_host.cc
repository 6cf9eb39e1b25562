#include "profiler/record/host/own_host.h"

#include <sys/mman.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18  // Linux 4.14
#endif

namespace kymo::record {

constinit OwnState own = {};
// The model is here, too: GCC would forget it in this file.
constinit thread_local OwnThread own_thread
    __attribute__((tls_model("initial-exec"))) = {};
constinit thread_local ThreadStream* thread_stream
    __attribute__((tls_model("initial-exec"))) = nullptr;

void* MapWiped(size_t bytes) noexcept {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  if (madvise(mapped, bytes, MADV_WIPEONFORK) != 0) {
    // Without it a fork would let parent and child write into one chunk.
    munmap(mapped, bytes);
    return nullptr;
  }
  return mapped;
}

Wiped* GetWiped() noexcept {
  Wiped* wiped = own.wiped.load(std::memory_order_acquire);
  if (wiped != nullptr) return wiped;
  Wiped* const made = static_cast<Wiped*>(MapWiped(sizeof(Wiped)));
  if (made == nullptr) return nullptr;
  if (own.wiped.compare_exchange_strong(wiped, made,
                                        std::memory_order_acq_rel)) {
    return made;
  }
  munmap(made, sizeof(Wiped));
  return wiped;
}

void OwnCountTruncated() noexcept {
  if (!own.has_arena.load(std::memory_order_acquire)) return;
  own.arena.header().texts_truncated.fetch_add(1, std::memory_order_relaxed);
}

bool InSlowPath() noexcept {
  if (own_thread.busy == 0) return false;
  if (own.has_arena.load(std::memory_order_acquire)) {
    own.arena.header().dropped_in_handlers.fetch_add(1,
                                                     std::memory_order_relaxed);
  }
  return true;
}

}  // namespace kymo::record
