// pages_ahead.h - makes the pages of an arena's next chunks, so that the target
// only maps them. Making those of a chunk takes the kernel 50 us.
//
//   PagesAhead pages(arena);
//   pages.Make(8);
//   while (target runs) pages.KeepAhead();
//
// Threads: one at a time.
#ifndef KYMO_BACKENDS_STREAM_PAGES_AHEAD_H_
#define KYMO_BACKENDS_STREAM_PAGES_AHEAD_H_

#include <algorithm>
#include <cstdint>

#include "profiler/record/arena/arena.h"

namespace kymo::stream {

class PagesAhead {
 public:
  explicit PagesAhead(const record::Arena& arena) : arena_(arena) {}

  // Those of so many chunks more.
  void Make(uint32_t wanted) {
    const uint32_t count = std::min(wanted, arena_.chunk_count() - made_);
    if (count == 0) return;
    arena_.Populate(made_, count);
    made_ += count;
  }

  // A target that records nothing needs none.
  void KeepAhead() {
    uint32_t used = 0;  // chunks up to the last one in use
    const uint32_t taken = std::min(made_, arena_.high_water());
    for (uint32_t chunk = 0; chunk < taken; ++chunk) {
      const uint64_t owner =
          arena_.word(chunk).owner.load(std::memory_order_relaxed);
      if (record::OwnerState(owner) != record::ChunkState::kFree) {
        used = chunk + 1;
      }
    }
    constexpr uint32_t kAhead = 32;
    if (taken != 0 && made_ < used + kAhead) Make(2 * kAhead);
  }

 private:
  const record::Arena arena_;
  uint32_t made_ = 0;
};

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_PAGES_AHEAD_H_
