// memory_resource.h - a std::pmr::memory_resource that reports what it gives.
//
//   std::pmr::monotonic_buffer_resource arena;
//   kymo::ReportingMemoryResource reporting(&arena);
//   std::pmr::vector<int> numbers(&reporting);
//   numbers.resize(1000);
//
// It takes all memory from another resource. It reports each allocation and
// deallocation to sessions with profile_memory (memory.h), with the bytes that
// are in use afterwards, and a failed allocation as [OutOfMemory].
//
// Threads:   as for the resource behind it; the count of bytes is atomic.
// Errors:    those of the resource behind it.
// Ownership: it borrows the resource behind it.
// Cost:      one atomic addition for each allocation, besides memory.h's.
#ifndef KYMO_PROFILER_API_MEMORY_RESOURCE_H_
#define KYMO_PROFILER_API_MEMORY_RESOURCE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory_resource>

#include "kymo/memory.h"

namespace kymo {

class ReportingMemoryResource : public std::pmr::memory_resource {
 public:
  // `upstream` must outlive the new resource.
  explicit ReportingMemoryResource(
      std::pmr::memory_resource* upstream = std::pmr::get_default_resource())
      : upstream_(upstream) {}

  std::pmr::memory_resource* upstream() const noexcept { return upstream_; }
  // The bytes that are in use now.
  int64_t allocated_bytes() const noexcept {
    return allocated_bytes_.load(std::memory_order_relaxed);
  }

 private:
  void* do_allocate(size_t bytes, size_t alignment) override {
    const int64_t size = static_cast<int64_t>(bytes);
    Attempt attempt = {*this, size};
    void* const block = upstream_->allocate(bytes, alignment);
    attempt.has_succeeded = true;
    ReportMemoryUsage(block, size, {.allocated = Add(size)});
    return block;
  }

  void do_deallocate(void* block, size_t bytes, size_t alignment) override {
    const int64_t size = static_cast<int64_t>(bytes);
    // Reported first: afterwards another thread may get the same block.
    ReportMemoryUsage(block, -size, {.allocated = Add(-size)});
    upstream_->deallocate(block, bytes, alignment);
  }

  bool do_is_equal(const memory_resource& other) const noexcept override {
    // Each resource counts its own bytes, so it must get its own blocks back.
    return this == &other;
  }

  // Reports an allocation from which an exception came. It catches none, so
  // that the header compiles with -fno-exceptions.
  struct Attempt {
    ~Attempt() {
      if (has_succeeded) return;
      ReportOutOfMemory(bytes, {.allocated = resource.allocated_bytes()});
    }

    const ReportingMemoryResource& resource;
    const int64_t bytes;
    bool has_succeeded = false;
  };

  int64_t Add(int64_t bytes) noexcept {
    return allocated_bytes_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  }

  std::pmr::memory_resource* const upstream_;
  std::atomic<int64_t> allocated_bytes_ = 0;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_API_MEMORY_RESOURCE_H_
