// stream_table.h - the threads that have recorded into an arena.
//
//   const uint32_t id = arena.AddStream(getpid(), gettid());
//   if (id == Arena::kNoStream) return;  // the table is full: count it
//   arena.stream(id).logical_thread.store(3);
//
// Threads: any, of several processes. Lock-free.
#ifndef KYMO_PROFILER_RECORD_ARENA_STREAM_TABLE_H_
#define KYMO_PROFILER_RECORD_ARENA_STREAM_TABLE_H_

#include <cstdint>

#include "profiler/record/arena/arena_table.h"
#include "profiler/record/arena/layout.h"

namespace kymo::record {

class StreamTable {
 public:
  static constexpr uint32_t kNoStream = ~uint32_t{0};

  constexpr StreamTable() noexcept = default;
  StreamTable(ArenaHeader* header, StreamEntry* streams,
              HeapCounts* heap_counts, uint32_t capacity) noexcept
      : table_(streams, &header->stream_count, capacity),
        heap_counts_(heap_counts) {}

  // The new stream's id; kNoStream when the table is full.
  uint32_t AddStream(int32_t pid, int32_t tid) const noexcept {
    const uint32_t id = table_.Add();
    if (id == table_.capacity()) return kNoStream;
    stream(id).tid.store(tid, std::memory_order_relaxed);
    // release: a reader that sees the pid sees the tid.
    stream(id).pid.store(pid, std::memory_order_release);
    return id;
  }
  StreamEntry& stream(uint32_t id) const noexcept { return table_[id]; }
  HeapCounts& heap_counts(uint32_t stream) const noexcept {
    return heap_counts_[stream];
  }
  // Streams that may be read.
  uint32_t stream_count() const noexcept { return table_.count(); }
  uint32_t stream_capacity() const noexcept { return table_.capacity(); }

 private:
  ArenaTable<StreamEntry> table_;
  HeapCounts* heap_counts_ = nullptr;
};

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_ARENA_STREAM_TABLE_H_
