// start_table.h - the programs that processes of an arena were about to run.
//
//   StartEntry* const start = arena.AddStart(getpid(), path, MonotonicNs());
//
// Threads: any, of several processes. Lock-free.
#ifndef KYMO_PROFILER_RECORD_ARENA_START_TABLE_H_
#define KYMO_PROFILER_RECORD_ARENA_START_TABLE_H_

#include <cstdint>
#include <string_view>

#include "profiler/record/arena/arena_table.h"
#include "profiler/record/arena/layout.h"
#include "profiler/record/arena/name_table.h"

namespace kymo::record {

class StartTable {
 public:
  constexpr StartTable() noexcept = default;
  StartTable(ArenaHeader* header, StartEntry* starts, uint32_t capacity,
             const NameTable& names) noexcept
      : header_(header),
        table_(starts, &header->start_count, capacity),
        names_(names) {}

  // Null when the table is full, which the header counts.
  StartEntry* AddStart(int32_t pid, std::string_view program,
                       int64_t start_monotonic_ns,
                       StartEnvironment environment =
                           StartEnvironment::kComplete) const noexcept {
    const uint32_t index = table_.Add();
    if (index >= table_.capacity()) {
      header_->starts_without_entry.fetch_add(1, std::memory_order_relaxed);
      return nullptr;
    }
    StartEntry& entry = table_[index];
    entry.program = names_.InternName(program);
    entry.start_monotonic_ns = start_monotonic_ns;
    entry.environment = environment;
    // release: a reader that sees the pid sees the rest.
    entry.pid.store(pid, std::memory_order_release);
    return &entry;
  }
  StartEntry& start(uint32_t index) const noexcept { return table_[index]; }
  // Starts that may be read.
  uint32_t start_count() const noexcept { return table_.count(); }

 private:
  ArenaHeader* header_ = nullptr;
  ArenaTable<StartEntry> table_;
  NameTable names_;
};

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_ARENA_START_TABLE_H_
