// sample_ring_reader.h - the collector's side of sample_ring.h.
//
// Makes the ring, gives out the path by which the target's processes map it,
// and takes finished cells out. A broken target may write anything into the
// shared memory; the reader still reads and writes nothing outside of it.
// Threads: one.
#ifndef KYMO_BACKENDS_SAMPLING_SAMPLE_RING_READER_H_
#define KYMO_BACKENDS_SAMPLING_SAMPLE_RING_READER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/sampling/target/sample_ring.h"
#include "backends/sampling/unwind/registers.h"
#include "profiler/base/owned_descriptor.h"
#include "profiler/base/time.h"

namespace kymo::sampling {

// A copy of one cell. Views are valid until the next call of the reader.
struct TimerSample {
  CellKind kind = kCellStack;
  int64_t time_ns = 0;  // CLOCK_MONOTONIC
  int64_t pid = 0;
  int64_t tid = 0;
  int64_t parent_pid = 0;
  int64_t image_ns = 0;
  uint32_t tick_count = 1;
  std::string thread_name;
  // kCellStack:
  Registers registers{};
  std::span<const std::byte> stack;
  // kCellAddresses: return addresses, innermost first.
  std::span<const uint64_t> addresses;
  bool is_cut = false;
  // kCellFile:
  FileNote file{};
  std::string_view path;    // without " (deleted)"
  bool is_deleted = false;  // the file of that name is another one, or none
};

class SampleRingReader {
 public:
  static absl::StatusOr<std::unique_ptr<SampleRingReader>> Create(
      DurationNs period_ns, uint32_t stack_bytes, uint32_t cell_count);
  SampleRingReader(const SampleRingReader&) = delete;
  SampleRingReader& operator=(const SampleRingReader&) = delete;
  ~SampleRingReader();

  // Valid in other processes as long as this object lives.
  std::string path() const;

  // Takes all finished cells, in the order of their times.
  void Drain(const std::function<void(const TimerSample&)>& visit);

  // Makes handlers do nothing from now on.
  void Disable() noexcept;

  // Ticks that found no free cell, and cells that were never finished.
  uint64_t LostTicks() const noexcept;

  // Of processes that stopped their timers for good: how many, why, and what
  // helps. And how many threads found no timer.
  std::vector<std::string> StopRemarks() const;

  // Cells that held nonsense.
  uint64_t unsound_cells() const noexcept { return unsound_cells_; }

  // For tests that play a hostile target.
  RingHeader* ring() noexcept { return ring_; }

 private:
  SampleRingReader() = default;
  bool ReadCell(uint32_t index, TimerSample* sample);
  // Reads what stands behind the header.
  bool ReadBytes(const std::byte* bytes, size_t size, TimerSample* sample);

  OwnedDescriptor file_;
  RingHeader* ring_ = nullptr;
  size_t size_bytes_ = 0;
  uint32_t cell_count_ = 0;
  uint32_t stack_bytes_ = 0;
  uint64_t unsound_cells_ = 0;
  std::vector<std::byte> stack_;
  std::vector<uint64_t> addresses_;
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_SAMPLE_RING_READER_H_
