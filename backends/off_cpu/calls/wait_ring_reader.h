// wait_ring_reader.h - the collector's side of target/wait_ring.h.
//
//   KYMO_ASSIGN_OR_RETURN(auto reader, WaitRingReader::Create());
//   setup.environment[kWaitRingVariable] = reader->path();
//   reader->Read([](NotedCall&& call) { ... });   // every few milliseconds
//
// A broken target may write anything into the shared memory; the reader still
// reads and writes nothing outside of it.
//
// Threads: one.
#ifndef KYMO_BACKENDS_OFF_CPU_CALLS_WAIT_RING_READER_H_
#define KYMO_BACKENDS_OFF_CPU_CALLS_WAIT_RING_READER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/off_cpu/target/wait_ring.h"
#include "profiler/base/clock.h"
#include "profiler/base/owned_descriptor.h"
#include "profiler/base/time.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/waits.h"

namespace kymo::off_cpu {

// What the kernel has counted of a thread that ends, by then.
struct NotedEnd {
  uint32_t tid = 0;
  uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  DurationNs on_cpu_ns = 0;
  DurationNs waited_ns = 0;  // for a CPU
  model::ThreadCounts counts;
};

// A call of the target that took long enough to have blocked, or that ended
// the wait of another thread.
struct NotedCall {
  uint32_t pid = 0;
  uint32_t tid = 0;
  bool is_wake = false;   // it waited for nothing, and has no kind
  uint64_t begin_ns = 0;  // CLOCK_MONOTONIC
  uint64_t end_ns = 0;
  model::WaitKind kind = model::WaitKind::kOther;
  uint64_t object = 0;
  CallObject object_is = CallObject::kOther;
  uint32_t holder_tid = 0;  // 0: not known
  // The beginning of the function that was called, and the return addresses of
  // its callers, innermost first.
  std::vector<uint64_t> addresses;
  bool is_cut = false;
  // Of a wait for a condition: the mutex, for which it may have waited after
  // that, and the beginning of pthread_mutex_lock.
  uint64_t mutex = 0;
  uint64_t mutex_function = 0;
  // Of a descriptor, as stat(2) has them; 0: not known.
  uint64_t inode = 0;
  uint32_t mode = 0;
  bool has_timed_out = false;  // it ended because of its time limit
  bool is_shared = false;      // of a wake: several processes have the object
};

class WaitRingReader {
 public:
  static constexpr uint32_t kCellCount = 8192;

  // Two looks at the clocks, 0.2 ms apart, say how long a tick is. Who calls
  // this some time before the first Create() does not wait for the second look.
  static void BeginClock();

  static absl::StatusOr<std::unique_ptr<WaitRingReader>> Create(
      uint32_t cell_count = kCellCount);
  WaitRingReader(const WaitRingReader&) = delete;
  WaitRingReader& operator=(const WaitRingReader&) = delete;
  ~WaitRingReader();

  // Valid in other processes as long as this object lives.
  std::string path() const;

  // Takes all finished cells, in no particular order.
  void Read(const std::function<void(NotedCall&&)>& visit,
            const std::function<void(const NotedEnd&)>& visit_end = nullptr);

  // Makes hooks note nothing from now on.
  void Disable() noexcept;

  // Calls that found no free cell, and cells that were never finished.
  uint64_t LostCalls() const noexcept;
  // Calls that ended waits and were not noted, because there were too many.
  uint64_t SkippedWakes() const noexcept {
    return ring_->wakes_skipped.load(std::memory_order_relaxed);
  }
  // Cells that held nonsense.
  uint64_t unsound_cells() const noexcept { return unsound_cells_; }

  // For tests that play a target, or a hostile one.
  WaitRingHeader* ring() noexcept { return ring_; }

 private:
  explicit WaitRingReader(uint32_t cell_count) : cell_count_(cell_count) {}
  // These return nothing if the cell holds nonsense.
  static std::optional<NotedCall> ReadCall(const WaitCell& cell,
                                           const TickConverter& clock);
  static std::optional<NotedEnd> ReadEnd(const WaitCell& cell,
                                         const TickConverter& clock);

  bool Visit(const WaitCell& cell, const TickConverter& clock, TimeNs latest_ns,
             const std::function<void(NotedCall&&)>& visit,
             const std::function<void(const NotedEnd&)>& visit_end) const;

  const uint32_t cell_count_;
  TimeNs earliest_ns_ = 0;  // no call that is noted here ended before
  const ClockSource source_ = DetectClockSource();
  // Two, some time apart: they say how long a tick is.
  ClockAnchor older_, newer_;
  OwnedDescriptor file_;
  WaitRingHeader* ring_ = nullptr;
  uint64_t unsound_cells_ = 0;
};

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_CALLS_WAIT_RING_READER_H_
