// buffer_pool.h - the memory that CUPTI writes its records into.
//
//   BufferPool pool;                        // constinit
//   pool.SetLimits(2 MiB, 512 MiB);
//   uint8_t* buffer = pool.Take();          // null: all are taken
//   pool.Return(buffer);
//
// A buffer that came back is used again first, while the caches know it. What
// was mapped stays mapped: CUPTI keeps buffers for the next recording. What
// comes back need not be the pool's: another client may have left it behind.
//
// Threads: the caller locks. Standard library: nothing that needs linking.
#ifndef KYMO_BACKENDS_CUPTI_BUFFER_POOL_H_
#define KYMO_BACKENDS_CUPTI_BUFFER_POOL_H_

#include <cstddef>
#include <cstdint>

namespace kymo::cupti {

class BufferPool {
 public:
  constexpr BufferPool() noexcept = default;
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  // For buffers that are mapped from now on; the size counts the first time.
  void SetLimits(size_t buffer_bytes, size_t max_bytes) noexcept;
  size_t buffer_bytes() const noexcept { return buffer_bytes_; }

  uint8_t* Take() noexcept;
  // Null and what is not the pool's: nothing happens.
  void Return(uint8_t* buffer) noexcept;
  bool Owns(const uint8_t* buffer) const noexcept;

 private:
  // The beginning of a buffer that nobody uses.
  struct Free {
    Free* next;
  };

  // Buffers are made one behind the other in address space taken at first.
  static constexpr size_t kReservedBytes = size_t{4} << 30;

  size_t buffer_bytes_ = 0;
  size_t max_bytes_ = 0;
  size_t mapped_bytes_ = 0;
  uint8_t* begin_ = nullptr;
  Free* free_ = nullptr;
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_BUFFER_POOL_H_
