// buffer_pool.h - memory into which CUPTI writes its records.
//
//   BufferPool pool;                        // constinit
//   pool.SetLimits(256 KiB, 512 MiB);
//   uint8_t* buffer = pool.Take();          // null: all buffers are taken
//   if (pool.Owns(buffer)) pool.Return(buffer);
//
// The buffer that was returned last is taken first, since the caches still hold
// it. Buffers stay mapped, since CUPTI keeps some for the next recording. A
// buffer that CUPTI returns need not be the pool's: another client may have
// left it with CUPTI.
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

  // Applies to buffers that are mapped from now on. Only the first call sets
  // the size.
  void SetLimits(size_t buffer_bytes, size_t max_bytes) noexcept;
  size_t buffer_bytes() const noexcept { return buffer_bytes_; }

  uint8_t* Take() noexcept;
  bool Owns(const uint8_t* buffer) const noexcept;
  // REQUIRES: Owns(buffer), and it was taken.
  void Return(uint8_t* buffer) noexcept;
  // How many buffers were taken and not returned.
  size_t taken() const noexcept { return taken_; }

 private:
  // Stands at the beginning of a buffer that nobody uses.
  struct Free {
    Free* next;
  };

  // Reserves address space for as many buffers as could be needed, or fewer.
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
