// process_table.h - the processes that have attached to an arena.
//
//   ProcessEntry* const entry = arena.AddProcess();
//   if (entry == nullptr) return;  // the table is full; it is counted
//   entry->parent_pid = getppid();
//   entry->pid.store(getpid(), std::memory_order_release);
//
// Threads: any, of several processes. Lock-free.
#ifndef KYMO_PROFILER_RECORD_ARENA_PROCESS_TABLE_H_
#define KYMO_PROFILER_RECORD_ARENA_PROCESS_TABLE_H_

#include <cstdint>

#include "profiler/record/arena/arena_table.h"
#include "profiler/record/arena/layout.h"

namespace kymo::record {

class ProcessTable {
 public:
  constexpr ProcessTable() noexcept = default;
  ProcessTable(ArenaHeader* header, ProcessEntry* processes,
               uint32_t capacity) noexcept
      : header_(header), table_(processes, &header->process_count, capacity) {}

  // The caller fills in the entry, and its pid last, with release. Null when
  // the table is full; the header counts that.
  ProcessEntry* AddProcess() const noexcept {
    const uint32_t index = table_.Add();
    if (index < table_.capacity()) return &table_[index];
    header_->processes_without_entry.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  ProcessEntry& process(uint32_t index) const noexcept { return table_[index]; }
  // Processes that may be read.
  uint32_t process_count() const noexcept { return table_.count(); }

 private:
  ArenaHeader* header_ = nullptr;
  ArenaTable<ProcessEntry> table_;
};

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_ARENA_PROCESS_TABLE_H_
