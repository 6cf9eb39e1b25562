#include "profiler/record/starts.h"

#include "profiler/record/host/own_host.h"

namespace kymo::record {

StartEntry* NoteStart(int32_t pid, std::string_view program,
                      int64_t start_monotonic_ns,
                      StartEnvironment environment) noexcept {
  if (!CollectorRecords()) return nullptr;
  return own.arena.AddStart(pid, program, start_monotonic_ns, environment);
}

void TakeBackStart(StartEntry* start) noexcept {
  if (start != nullptr) start->pid.store(0, std::memory_order_relaxed);
}

}  // namespace kymo::record
