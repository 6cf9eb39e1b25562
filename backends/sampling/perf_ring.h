// perf_ring.h - reads the kernel's ring of one CPU, and merges several by time.
//
//   ring.Refresh();
//   while (auto record = ring.Front()) { Use(*record); ring.Pop(); }
//
// The kernel writes at `head`, we read at `tail`. Both only grow; modulo the
// size, a power of two, they are positions. Release gives space back to the
// kernel, once for many records.
//
// Threads: one reader.
#ifndef KYMO_BACKENDS_SAMPLING_PERF_RING_H_
#define KYMO_BACKENDS_SAMPLING_PERF_RING_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "backends/sampling/perf_records.h"

namespace kymo::sampling {

class PerfRing {
 public:
  // Borrows `page` and the `size_bytes` (a power of two) of data.
  PerfRing(perf_event_mmap_page* page, const std::byte* data,
           size_t size_bytes);

  // Looks how far the kernel has written.
  void Refresh() noexcept;
  // The oldest record that was not popped; valid until the next Front or
  // Release. A damaged record makes the rest unreadable: everything up to
  // `head` is skipped and counted.
  std::optional<RecordBytes> Front();
  void Pop() noexcept { tail_ += front_size_; }
  // Gives the space of popped records back to the kernel.
  void Release() noexcept;

  size_t pending_bytes() const noexcept { return head_ - tail_; }
  size_t size_bytes() const noexcept { return size_bytes_; }
  uint64_t corrupt_count() const noexcept { return corrupt_count_; }

 private:
  friend class RingFollower;

  perf_event_mmap_page* page_;
  const std::byte* data_;
  size_t size_bytes_;
  uint64_t head_ = 0;
  uint64_t tail_ = 0;
  size_t front_size_ = 0;
  uint64_t corrupt_count_ = 0;
  std::vector<std::byte> wrapped_;  // a record that crosses the ring's end
};

// Sees the samples of a ring as they come, beside its reader.
//
//   RingFollower follower(ring);     // from now on
//   follower.Look([&](const SampleBegin& sample) { ... });
//
// If a reader on another thread gave space back that the kernel has filled
// anew, a sample may be missed, or its numbers be any.
class RingFollower {
 public:
  // Borrows the ring's memory.
  explicit RingFollower(const PerfRing& ring);

  // Those since the last call.
  void Look(const std::function<void(const SampleBegin&)>& visit);

 private:
  const perf_event_mmap_page* page_;
  std::span<const std::byte> data_;
  uint64_t at_;
};

// Visits the records of all refreshed rings in the order of their times, up to
// and including `until_ns`. Later records stay in their rings. At equal times
// the first ring's come first.
void MergeByTime(std::span<PerfRing> rings, uint64_t until_ns,
                 const std::function<void(RecordBytes)>& visit);
// The same of rings that lie apart. `ring` tells which one a record is from.
void MergeByTime(std::span<PerfRing* const> rings, uint64_t until_ns,
                 const std::function<void(RecordBytes, size_t ring)>& visit);

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PERF_RING_H_
