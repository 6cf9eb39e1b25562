// sample_ring.h - the shared memory between target_timer.h and the collector.
//
// A memfd of the collector, mapped by every process of the target:
//
//   RingHeader | state of each cell (uint32) | cells: CellHeader + stack bytes
//
// A cell's state goes free -> writing -> ready -> free. A signal handler takes
// a free cell (compare and exchange), fills it and publishes it. Only the
// collector frees cells. Nobody waits: a handler that finds no free cell among
// a few counts a drop.
//
//   I1  Only the handler that set `writing` writes a cell's contents. The
//       collector reads them only after it saw `ready` (release / acquire).
//   I2  A thread that is killed while it writes leaks its cell. The collector
//       counts such cells at the end.
//   I3  The collector trusts nothing here: it keeps its own copy of the
//       header's sizes and checks the stack size of each cell.
//
// Needs no C++ library: the preloaded runtime includes it too.
#ifndef KYMO_BACKENDS_SAMPLING_TARGET_SAMPLE_RING_H_
#define KYMO_BACKENDS_SAMPLING_TARGET_SAMPLE_RING_H_

#include <stddef.h>
#include <stdint.h>

#include <atomic>

namespace kymo::sampling {

inline constexpr uint32_t kRingMagic = 0x4b594d53;  // "KYMS"
inline constexpr uint32_t kRingVersion = 1;

enum CellState : uint32_t { kCellFree = 0, kCellWriting = 1, kCellReady = 2 };

struct RingHeader {
  uint32_t magic;
  uint32_t version;
  uint32_t cell_count;
  uint32_t stack_bytes;  // room for the stack in each cell
  int64_t period_ns;
  std::atomic<uint32_t> is_enabled;  // 0: handlers disarm their timers
  std::atomic<uint32_t> next_cell;   // where to look for a free cell
  std::atomic<uint64_t> dropped;     // ticks without a free cell
  char padding[24];
};
static_assert(sizeof(RingHeader) == 64);

struct CellHeader {
  int64_t time_ns;  // CLOCK_MONOTONIC
  int32_t pid;
  int32_t tid;
  int32_t parent_pid;
  uint32_t tick_count;   // 1 + the ticks merged into this one
  uint32_t stack_bytes;  // bytes that were copied
  uint32_t reserved;
  int64_t image_ns;  // when this program began: tells execs apart
  char thread_name[16];
  uint64_t registers[17];  // DWARF order
};
static_assert(sizeof(CellHeader) == 192);

using CellStates = std::atomic<uint32_t>;
static_assert(sizeof(CellStates) == 4);

constexpr size_t CellBytes(uint32_t stack_bytes) {
  return sizeof(CellHeader) + (size_t{stack_bytes} + 7) / 8 * 8;
}
constexpr size_t CellsOffset(uint32_t cell_count) {
  return (sizeof(RingHeader) + size_t{cell_count} * 4 + 63) / 64 * 64;
}
constexpr size_t RingBytes(uint32_t cell_count, uint32_t stack_bytes) {
  return CellsOffset(cell_count) + cell_count * CellBytes(stack_bytes);
}

inline CellStates* StatesOf(RingHeader* header) {
  return reinterpret_cast<CellStates*>(header + 1);
}
inline CellHeader* CellOf(RingHeader* header, uint32_t index,
                          uint32_t cell_count, uint32_t stack_bytes) {
  char* const base = reinterpret_cast<char*>(header);
  return reinterpret_cast<CellHeader*>(base + CellsOffset(cell_count) +
                                       index * CellBytes(stack_bytes));
}

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_TARGET_SAMPLE_RING_H_
