// column.h - a vector for millions of plain values that are about to be
// written.
//
//   Column<int64_t> start(events);         // not zeroed
//   ParallelFor(events, kGrain, [&](size_t begin, size_t end) {...});
//
// A std::vector but for two things that cost as much as the work itself when
// a column is filled once: new elements are left as they are (also after
// resize: whoever resizes writes), and large columns ask for huge pages, which
// makes their first touch several times cheaper.
#ifndef KYMO_PROFILER_BASE_COLUMN_H_
#define KYMO_PROFILER_BASE_COLUMN_H_

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace kymo {

template <typename T>
class ColumnAllocator {
 public:
  static_assert(std::is_trivially_copyable_v<T>);
  static_assert(std::is_trivially_destructible_v<T>);
  using value_type = T;

  ColumnAllocator() = default;
  template <typename U>
  explicit(false) ColumnAllocator(const ColumnAllocator<U>&) noexcept {}

  // REQUIRES: n <= max_size(), which a vector checks.
  T* allocate(size_t n) {
    const size_t bytes = n * sizeof(T);
    if (!IsLarge(bytes)) return static_cast<T*>(::operator new(bytes));
    void* const memory = ::operator new(bytes, kHugePage);
    // Advice: without huge pages it is merely slower.
    madvise(memory, bytes, MADV_HUGEPAGE);
    return static_cast<T*>(memory);
  }

  void deallocate(T* memory, size_t n) noexcept {
    if (IsLarge(n * sizeof(T))) {
      ::operator delete(memory, kHugePage);
    } else {
      ::operator delete(memory);
    }
  }

  // Leaves the value as it is.
  template <typename U>
  void construct(U* at) noexcept {
    ::new (static_cast<void*>(at)) U;
  }
  template <typename U, typename... Args>
  void construct(U* at, Args&&... args) {
    ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
  }

  friend bool operator==(const ColumnAllocator&,
                         const ColumnAllocator&) = default;

 private:
  static constexpr std::align_val_t kHugePage{size_t{2} << 20};
  static constexpr bool IsLarge(size_t bytes) noexcept {
    return bytes >= static_cast<size_t>(kHugePage);
  }
};

template <typename T>
using Column = std::vector<T, ColumnAllocator<T>>;

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_COLUMN_H_
