// shared_memory.h - finds the memory that processes share in which an object
// lies, such as a lock.
//
//   SharedMemory memory;
//   const auto place = memory.At(pid, parent_pid, address);
//   if (place) Print(place->file, address + place->delta);
//
// The place is the same in all processes that map the memory, wherever they do
// so: the file, which anonymous memory has in the kernel, too, and the offset.
//
// Reads /proc/PID/maps, for at most 4 % of the time by the thread's own clock,
// and about 20 ms at once.
//
// Threads: none.
#ifndef KYMO_BACKENDS_OFF_CPU_OBJECTS_SHARED_MEMORY_H_
#define KYMO_BACKENDS_OFF_CPU_OBJECTS_SHARED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "profiler/base/time.h"

namespace kymo::off_cpu {

struct SharedPlace {
  std::string file;    // "/dev/shm/x"; "memory" if it has no name
  std::string id;      // of the file, of all that the machine has
  uint64_t delta = 0;  // an object's offset in the file is its address + delta

  friend bool operator==(const SharedPlace&, const SharedPlace&) = default;
};

class SharedMemory {
 public:
  // Nothing: it is not shared, or there was no time to find out. A process that
  // has ended had what its parent has, if that is known.
  std::optional<SharedPlace> At(int64_t pid, int64_t parent_pid,
                                uint64_t address);

 private:
  static constexpr size_t kMostProcesses = 1000;
  static constexpr int64_t kMostBudgetNs = 20 * kNsPerMs;

  struct Mapping {
    uint64_t end = 0;
    std::optional<SharedPlace> place;
  };
  // By where they begin. Those that are not shared and adjoin are one.
  using Mappings = std::map<uint64_t, Mapping>;
  struct Process {
    Mappings mappings;
    int64_t read_ns = 0;
  };
  static Mappings Parse(std::string_view text);
  static const Mapping* Find(const Mappings& mappings, uint64_t address);
  bool MayRead(int64_t now_ns);

  absl::flat_hash_map<int64_t, Process> processes_;
  int64_t budget_ns_ = kMostBudgetNs;
  int64_t budgeted_ns_ = 0;
};

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_OBJECTS_SHARED_MEMORY_H_
