// arena_table.h - a table in an arena, to which any process adds entries.
//
//   ArenaTable<StreamEntry> table(entries, &header->stream_count, capacity);
//   const uint32_t added = table.Add();
//   if (added != table.capacity()) table[added].tid.store(tid);
//   for (uint32_t i = 0; i < table.count(); ++i) Read(table[i]);
//
// An entry is all zero when it is added, and is never given back. A reader can
// see it before its writer has filled it in; each kind of entry has a member
// that is written last.
//
// Threads: any, of several processes. Lock-free.
// Errors:  a full table adds nothing; the caller counts that.
#ifndef KYMO_PROFILER_RECORD_ARENA_ARENA_TABLE_H_
#define KYMO_PROFILER_RECORD_ARENA_ARENA_TABLE_H_

#include <atomic>
#include <cstdint>

namespace kymo::record {

template <typename Entry>
class ArenaTable {
 public:
  constexpr ArenaTable() noexcept = default;
  ArenaTable(Entry* entries, std::atomic<uint32_t>* count,
             uint32_t capacity) noexcept
      : entries_(entries), count_(count), capacity_(capacity) {}

  // The index of a new entry; capacity() when the table is full.
  uint32_t Add() const noexcept {
    uint32_t next = count_->load(std::memory_order_relaxed);
    do {
      if (next >= capacity_) return capacity_;
    } while (!count_->compare_exchange_weak(next, next + 1,
                                            std::memory_order_relaxed));
    return next;
  }
  // Entries that may be read. A broken process may have written any count.
  uint32_t count() const noexcept {
    const uint32_t count = count_->load(std::memory_order_acquire);
    return count < capacity_ ? count : capacity_;
  }
  uint32_t capacity() const noexcept { return capacity_; }
  Entry& operator[](uint32_t index) const noexcept { return entries_[index]; }

 private:
  Entry* entries_ = nullptr;
  std::atomic<uint32_t>* count_ = nullptr;
  uint32_t capacity_ = 0;
};

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_ARENA_ARENA_TABLE_H_
