#include "profiler/unwind/file_number.h"

namespace kymo::unwind {

constinit std::atomic<uint64_t> numbered_files[kMostFiles + 1] = {};

uint32_t FileNumberSlow(uint64_t identity, uint32_t first) noexcept {
  if (identity == 0) return 0;  // marks a free entry
  for (uint32_t probe = 0; probe <= kMostFiles; ++probe) {
    const uint32_t number = (first + probe) & kMostFiles;
    if (number == 0) continue;
    uint64_t known = numbered_files[number].load(std::memory_order_relaxed);
    // If another thread takes the entry first, `known` is that thread's file.
    if (known == 0 && numbered_files[number].compare_exchange_strong(
                          known, identity, std::memory_order_relaxed)) {
      return number;
    }
    if (known == identity) return number;
  }
  return 0;
}

}  // namespace kymo::unwind
