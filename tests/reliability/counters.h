// counters.h - counts of a program's work, for a process that outlives it.
//
//   SharedCounters* counters = MapCounters(path);   // a file of zeros
//   counters->finished[thread].Add(1);
//
// Every counted step was done: a count is stored after the work that it counts.
// The counts survive every death, because a file backs the memory.
#ifndef KYMO_TESTS_RELIABILITY_COUNTERS_H_
#define KYMO_TESTS_RELIABILITY_COUNTERS_H_

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace kymo::reliability {

// On a cache line of its own; one thread writes.
struct alignas(64) Count {
  std::atomic<uint64_t> value;

  void Add(uint64_t n) {
    value.store(value.load(std::memory_order_relaxed) + n,
                std::memory_order_release);
  }
};

inline constexpr int kCounts = 63;

struct SharedCounters {
  alignas(64) std::atomic<int64_t> pid;  // of the recording process; 0 = none
  Count finished[kCounts];
};
static_assert(sizeof(SharedCounters) == 4096);

// Null if the file is not there or too short.
inline SharedCounters* MapCounters(const char* path) {
  const int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return nullptr;
  void* const mapped = mmap(nullptr, sizeof(SharedCounters),
                            PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return mapped == MAP_FAILED ? nullptr : static_cast<SharedCounters*>(mapped);
}

}  // namespace kymo::reliability

#endif  // KYMO_TESTS_RELIABILITY_COUNTERS_H_
