// wait_ring.h - the shared memory between the hooks of blocking calls
// (wait_writer.h) and the collector (calls/wait_ring_reader.h).
//
// A memfd of the collector, mapped by every process of the target:
//
//   WaitRingHeader | state of each cell (uint32) | cells
//
// A cell is one call that took long enough to have blocked, or that ended the
// wait of another thread; or the end of a thread. Its state goes
// free -> writing -> ready -> free. A thread takes a free cell (compare and
// exchange), fills it and publishes it. Only the collector frees cells. Nobody
// waits: a thread that finds no free cell among a few counts a drop.
//
//   I1  Only the thread that set `writing` writes a cell. The collector reads
//       it only after it saw `ready` (release / acquire).
//   I2  A thread that is killed while it writes leaks its cell. The collector
//       counts such cells at the end.
//   I3  The collector trusts nothing here: it knows the sizes itself,
//       nobody can shorten the memory, and it checks each cell's words.
//
// Needs no C++ library: the preloaded runtime includes it too.
#ifndef KYMO_BACKENDS_OFF_CPU_TARGET_WAIT_RING_H_
#define KYMO_BACKENDS_OFF_CPU_TARGET_WAIT_RING_H_

#include <stddef.h>
#include <stdint.h>

#include <atomic>

namespace kymo::off_cpu {

inline constexpr uint32_t kWaitRingMagic = 0x4b594d57;  // "KYMW"
inline constexpr uint32_t kWaitRingVersion = 7;

// Set for the target by the backend's Prepare: the path of the ring.
inline constexpr char kWaitRingVariable[] = "KYMO_WAIT_RING";

// As the kinds of model/waits.h.
enum class CallKind : uint8_t {
  kLock = 0,
  kCondition,
  kSleep,
  kRead,
  kWrite,
  kPoll,
  kNetwork,
  kChild,
  kWake,       // no wait: the call ended one, of another thread
  kThreadEnd,  // no call: what the kernel has counted of a thread that ends
};
inline constexpr CallKind kLastCallKind = CallKind::kThreadEnd;

enum class CallObject : uint8_t {
  kOther = 0,  // a lock, a child; or nothing
  kDescriptor,
  kDescriptorCount,  // of several, how many
};
inline constexpr CallObject kLastCallObject = CallObject::kDescriptorCount;

struct WaitRingHeader {
  uint32_t magic;
  uint32_t version;
  uint32_t cell_count;
  uint32_t clock;  // ClockSource, of all ticks
  // Calls that were shorter did not block.
  uint64_t least_ticks;
  // The same for calls that have much to do themselves, such as a send.
  uint64_t least_busy_ticks;
  std::atomic<uint32_t> is_enabled;  // 0: the collector reads no more
  std::atomic<uint32_t> next_cell;   // where to look for a free cell
  std::atomic<uint64_t> dropped;     // calls without a free cell
  int32_t seccomp_filters;           // of the collector
  // How many wakes may be noted until the collector reads again, and how many
  // were not.
  std::atomic<int32_t> wakes_left;
  std::atomic<uint64_t> wakes_skipped;
};
static_assert(sizeof(WaitRingHeader) == 64);

inline constexpr uint32_t kMostCallAddresses = 119;

// Files of proc(5) of a thread, as much of each as fits. Empty: not readable.
struct ThreadTexts {
  char schedstat[96];
  char stat[320];
  char io[256];
};

struct WaitCell {
  uint64_t begin_ticks;  // of the call
  uint64_t end_ticks;
  uint64_t object;      // as object_is says; 0: none. Of a thread's end: its
                        // time on a CPU, in ns
  int32_t tid;          // of the thread that waited
  uint32_t holder_tid;  // who had the lock when the call began; 0: not known
  CallKind kind;
  CallObject object_is;
  uint8_t is_cut;  // the stack goes on
  uint8_t address_count;
  int32_t pid;
  // Of a wait for a condition: the mutex, for which it may have waited then,
  // and the beginning of pthread_mutex_lock. Else 0.
  uint64_t mutex;
  uint64_t mutex_function;
  // Of a descriptor, after the call, as stat(2) has them; 0: not known.
  uint64_t inode;
  uint32_t mode;
  uint16_t has_timed_out;  // the call ended because of its time limit
  uint16_t is_shared;      // of a wake: several processes have the object
  // The beginning of the function that was called, and the return addresses of
  // its callers, innermost first.
  union {
    uint64_t addresses[kMostCallAddresses];
    ThreadTexts texts;  // of a thread's end, at end_ticks
  };
};
static_assert(sizeof(WaitCell) == 1024);

enum WaitCellState : uint32_t {
  kWaitFree = 0,
  kWaitWriting = 1,
  kWaitReady = 2
};

using WaitCellStates = std::atomic<uint32_t>;
static_assert(sizeof(WaitCellStates) == 4);

constexpr size_t WaitCellsOffset(uint32_t cell_count) {
  return (sizeof(WaitRingHeader) + size_t{cell_count} * 4 + 63) / 64 * 64;
}
constexpr size_t WaitRingBytes(uint32_t cell_count) {
  return WaitCellsOffset(cell_count) + size_t{cell_count} * sizeof(WaitCell);
}
inline WaitCellStates* WaitStatesOf(WaitRingHeader* header) {
  return reinterpret_cast<WaitCellStates*>(header + 1);
}
inline WaitCell* WaitCellsOf(WaitRingHeader* header, uint32_t cell_count) {
  return reinterpret_cast<WaitCell*>(reinterpret_cast<char*>(header) +
                                     WaitCellsOffset(cell_count));
}

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_TARGET_WAIT_RING_H_
