// ring_writer.h - takes cells of the ring, in the profiled program.
//
//   RingWriter ring;
//   if (!ring.Map(path)) return;   // once, before any handler can run
//   ring.EnterProcess();           // here, and in each forked child
//
//   CellStates* state = nullptr;
//   if (CellHeader* const cell = ring.Take(tid, &state)) {
//     ...                       // kind, stack_bytes, and what is behind them
//     RingWriter::Publish(cell, state);
//   }
//
// Threads: Take and Publish any, also in signal handlers.
#ifndef KYMO_BACKENDS_SAMPLING_TARGET_RING_WRITER_H_
#define KYMO_BACKENDS_SAMPLING_TARGET_RING_WRITER_H_

#include <stdint.h>

#include "backends/sampling/target/sample_ring.h"

namespace kymo::sampling {

// CLOCK_MONOTONIC.
int64_t NowNs() noexcept;

class RingWriter {
 public:
  constexpr RingWriter() = default;

  // False if the file cannot be read, or is not what we expect.
  bool Map(const char* path) noexcept;
  // What cells say of the process, from now on.
  void EnterProcess() noexcept;

  // A cell with the words that all kinds have; null if there is no free one.
  CellHeader* Take(int32_t tid, CellStates** state) const noexcept;
  // Sets the cell's time and hands it to the collector.
  static void Publish(CellHeader* cell, CellStates* state) noexcept;

  bool is_mapped() const noexcept { return header_ != nullptr; }
  bool is_enabled() const noexcept {
    return header_ != nullptr &&
           header_->is_enabled.load(std::memory_order_relaxed) != 0;
  }
  RingHeader* header() const noexcept { return header_; }
  uint32_t stack_bytes() const noexcept { return stack_bytes_; }
  int32_t pid() const noexcept { return pid_; }

 private:
  RingHeader* header_ = nullptr;
  // Copies of the header's, as they were checked.
  uint32_t cell_count_ = 0;
  uint32_t stack_bytes_ = 0;
  int64_t image_ns_ = 0;
  int32_t pid_ = 0;
  int32_t parent_pid_ = 0;
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_TARGET_RING_WRITER_H_
