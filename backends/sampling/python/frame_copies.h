// frame_copies.h - copies of the memory in which threads have Python's frames.
//
//   copies.Learn(pid, tid, pages, was_late);     // from the stack before
//   copies.Take(pid, tid, sample_ns);            // at a sample, at once
//   auto copy = copies.Find(tid, sample_ns);     // when its stack is unwound
//
// The frames of a function are gone soon after it returned, but a stack is
// unwound late. The frames of a thread's next stack lie mostly in the pages in
// which those of its last one lay, or right behind them. So these are copied
// before the thread goes on (perf/cpu_watch.h), which takes some microseconds.
//
// Threads: any.
#ifndef KYMO_BACKENDS_SAMPLING_PYTHON_FRAME_COPIES_H_
#define KYMO_BACKENDS_SAMPLING_PYTHON_FRAME_COPIES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "profiler/base/clock.h"

namespace kymo::sampling {

inline constexpr uint64_t kFramePageBytes = 4096;
// Enough for the 1,024 functions that are shown of a recursion.
inline constexpr size_t kMostFramePages = 40;

// Some pages as they were.
struct FrameCopy {
  uint64_t sample_ns = 0;
  size_t page_count = 0;
  std::array<uint64_t, kMostFramePages> pages{};  // where each one begins
  std::vector<std::byte> bytes;

  // False if some of it was not copied.
  [[nodiscard]] bool Read(uint64_t address, std::span<std::byte> into) const;
};

class FrameCopies {
 public:
  // What waits to be found. Beyond that, nothing is copied.
  static constexpr size_t kMostBytes = size_t{64} << 20;

  // Reads pages of a process, in this order. Returns how many there were until
  // one could not be read.
  using Read = size_t (*)(int64_t pid, std::span<const uint64_t> pages,
                          std::span<std::byte> into);
  static size_t ReadProcess(int64_t pid, std::span<const uint64_t> pages,
                            std::span<std::byte> into);

  // `monotonic_ns` says what time it is.
  explicit FrameCopies(Read read = ReadProcess,
                       int64_t (*monotonic_ns)() = MonotonicNs)
      : read_(read), monotonic_ns_(monotonic_ns) {}

  // Where the frames of a thread's last stack were, innermost first; none: it
  // ran no Python. `was_late`: some were not in the copy.
  void Learn(int64_t pid, int64_t tid, std::span<const uint64_t> pages,
             bool was_late);
  // The thread ended, or runs another program.
  void Forget(int64_t tid);

  // False if the stack should be unwound soon: the thread's process runs
  // Python, and the copy may not have all.
  bool Take(int64_t pid, int64_t tid, uint64_t sample_ns);
  // Null if there is none. Drops what is older.
  std::unique_ptr<FrameCopy> Find(int64_t tid, uint64_t sample_ns);
  // For use by the next Take.
  void GiveBack(std::unique_ptr<FrameCopy> copy);

 private:
  struct Thread {
    int64_t pid = 0;
    std::array<uint64_t, kMostFramePages> pages{};  // those read last are first
    // For how many stacks each of them has had no frame.
    std::array<uint32_t, kMostFramePages> unused{};
    size_t page_count = 0;
    bool was_late = false;
    std::deque<std::unique_ptr<FrameCopy>> copies;  // by time
  };

  std::unique_ptr<FrameCopy> NewCopy(std::span<const uint64_t> pages);
  void Drop(std::unique_ptr<FrameCopy> copy);
  void ReadInto(FrameCopy* copy, int64_t pid) const;

  const Read read_;
  int64_t (*const monotonic_ns_)();
  std::mutex mutex_;
  absl::flat_hash_map<int64_t, Thread> threads_;
  std::set<int64_t> processes_;  // that run Python
  std::map<int64_t, int64_t> alone_until_ns_;
  std::vector<std::unique_ptr<FrameCopy>> spare_;
  size_t copied_bytes_ = 0;  // of all threads
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PYTHON_FRAME_COPIES_H_
