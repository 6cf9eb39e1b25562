// sample_ring.h - the shared memory between target_timer.h and the collector.
//
// A memfd of the collector, mapped by every process of the target:
//
//   RingHeader | state of each cell (uint32) | cells: CellHeader + its bytes
//
// A cell is a sample, with the stack in one of two forms, or it tells the
// collector of a loaded file (CellKind).
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
//       header's sizes and checks the sizes in each cell.
//   I4  A process tells of a file before its first sample that names the file.
//       Cells are ordered by their times.
//
// Needs no C++ library: the preloaded runtime includes it too.
#ifndef KYMO_BACKENDS_SAMPLING_TARGET_SAMPLE_RING_H_
#define KYMO_BACKENDS_SAMPLING_TARGET_SAMPLE_RING_H_

#include <stddef.h>
#include <stdint.h>

#include <atomic>

namespace kymo::sampling {

inline constexpr uint32_t kRingMagic = 0x4b594d53;  // "KYMS"
inline constexpr uint32_t kRingVersion = 4;

// Room that each cell needs at least: for kMostAddresses and for a path.
inline constexpr uint32_t kMostAddresses = 1024;
inline constexpr uint32_t kLeastCellBytes = kMostAddresses * 8;

// The top bits of an address are the number of the file that it is in; 0: none.
// Of two libraries that the program loads at one place, one after the other,
// each has its own number.
inline constexpr int kFileNumberShift = 48;

enum CellKind : uint16_t {
  // The registers, and a copy of the stack from the stack pointer upwards.
  kCellStack = 0,
  // Return addresses, innermost first. The first one is the place of the sample
  // plus 1.
  kCellAddresses = 1,
  // A FileNote: the code of a file that was loaded since.
  kCellFile = 2,
};

// Behind it the path, NUL-terminated. The addresses carry the file's number.
struct FileNote {
  uint64_t start;
  uint64_t end;
  uint64_t file_offset;
  uint64_t inode;
};

enum CellState : uint32_t { kCellFree = 0, kCellWriting = 1, kCellReady = 2 };

// Why a process stopped its timers for good. Its forked children have none.
enum class TimerStop : uint32_t {
  // It restricts its own system calls (seccomp), or is about to, and might be
  // ended for those of a handler.
  kRestricted = 0,
  // It uses the timers' signal itself, in a way that no hook can share.
  kOwnSignal,
};
inline constexpr size_t kTimerStops = 2;

struct RingHeader {
  uint32_t magic;
  uint32_t version;
  uint32_t cell_count;
  uint32_t stack_bytes;  // room in each cell, at least kLeastCellBytes
  int64_t period_ns;
  std::atomic<uint32_t> is_enabled;          // 0: handlers disarm their timers
  std::atomic<uint32_t> next_cell;           // where to look for a free cell
  std::atomic<uint64_t> dropped;             // ticks without a free cell
  std::atomic<uint32_t> stops[kTimerStops];  // processes, by TimerStop
  int32_t seccomp_filters;                   // of the collector
  std::atomic<uint32_t> threads_without_timer;  // there was none left
  char padding[8];
};
static_assert(sizeof(RingHeader) == 64);

struct CellHeader {
  int64_t time_ns;  // CLOCK_MONOTONIC
  int32_t pid;
  int32_t tid;
  int32_t parent_pid;
  uint32_t tick_count;   // 1 + the ticks merged into this one
  uint32_t stack_bytes;  // bytes behind this header
  CellKind kind;
  uint16_t is_cut;   // kCellAddresses: the stack goes on
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
