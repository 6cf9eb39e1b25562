// handle_map.h - a map from other libraries' handles to data about them.
//
//   HandleMap map;
//   map.Put(handle, value);
//   if (uint64_t value; map.Take(handle, &value)) ...
//
// Threads: any; one lock, which sleeps. A signal handler that interrupts the
//   lock's holder or the recorder finds nothing; we count that.
// Memory is taken as it is touched.
// Standard library: nothing that needs linking, for the preloaded runtime.
#ifndef KYMO_PROFILER_RECORD_HANDLE_MAP_H_
#define KYMO_PROFILER_RECORD_HANDLE_MAP_H_

#include <atomic>
#include <cstdint>

namespace kymo::record {

// At most kCapacity / 2 handles at a time.
class HandleMap {
 public:
  static constexpr uint64_t kCapacity = 1u << 18;

  constexpr HandleMap() noexcept = default;

  // False: the map is full, or a signal handler called it (see Threads).
  // Replaces an earlier value. `handle` is not 0.
  bool Put(uint64_t handle, uint64_t value) noexcept;
  // False: there is no such handle.
  bool Find(uint64_t handle, uint64_t* value) noexcept;
  bool Take(uint64_t handle, uint64_t* value) noexcept;

 private:
  struct Entry {
    uint64_t handle;  // 0 = none
    uint64_t value;
  };

  static uint64_t PlaceOf(uint64_t handle) noexcept {
    return handle * 0x9e3779b97f4a7c15u >> (64 - 18);
  }
  std::atomic<uint32_t>* LockWord() noexcept;
  Entry* FindEntry(uint64_t handle) noexcept;
  void Remove(Entry* entry) noexcept;

  // In memory that is zero in a forked child, since the thread that held the
  // lock does not exist there.
  std::atomic<std::atomic<uint32_t>*> lock_{nullptr};
  Entry* entries_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_HANDLE_MAP_H_
