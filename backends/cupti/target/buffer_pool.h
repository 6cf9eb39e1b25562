// buffer_pool.h - the memory that CUPTI writes its records into.
//
//   BufferPool pool;                        // constinit
//   pool.SetLimits(256 KiB, 512 MiB);
//   uint8_t* buffer = pool.Take();          // null: all are taken
//   if (pool.Owns(buffer)) pool.Return(buffer);
//
// A buffer that came back is used again first, while the caches know it. What
// was mapped stays mapped: CUPTI keeps buffers for the next recording. What
// comes back need not be the pool's: another client may have left it behind.
//
// Threads: the caller locks. Standard library: nothing that needs linking.
#ifndef KYMO_BACKENDS_CUPTI_TARGET_BUFFER_POOL_H_
#define KYMO_BACKENDS_CUPTI_TARGET_BUFFER_POOL_H_

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
  bool Owns(const uint8_t* buffer) const noexcept;
  // REQUIRES: Owns(buffer), and it was taken.
  void Return(uint8_t* buffer) noexcept;
  // Those that have not come back.
  size_t taken() const noexcept { return taken_; }

 private:
  // The beginning of a buffer that nobody uses.
  struct Free {
    Free* next;
  };

  // Takes address space, as much as there is of what could be needed.
  bool Reserve() noexcept;

  size_t buffer_bytes_ = 0;
  size_t stride_ = 0;  // from one buffer to the next: whole pages
  size_t max_bytes_ = 0;
  size_t reserved_bytes_ = 0;
  size_t mapped_bytes_ = 0;
  size_t taken_ = 0;
  uint8_t* begin_ = nullptr;
  Free* free_ = nullptr;
};

}  // namespace kymo::cupti

#endif  // KYMO_BACKENDS_CUPTI_TARGET_BUFFER_POOL_H_
