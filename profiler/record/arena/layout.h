// layout.h - the arena's memory, as every process that maps it sees it.
//
//   ArenaHeader     one page
//   StreamEntry     one for each thread that has recorded
//   HeapCounts      one for each StreamEntry
//   ProcessEntry    one for each process that has attached
//   StartEntry      one for each program that a process was about to run
//   name index      uint32_t: a hash table of name ids
//   name texts      the names, one behind the other
//   ChunkWord       one for each chunk: who has it
//   chunks          64 KiB each
//
// A chunk is 2048 slots of 32 bytes that one thread fills from front to back.
// A thread's stream is the sequence of its chunks in ticket order.
//
// A record is one head slot, and behind it `extra_slots` slots of payload in
// the same chunk. The head's `begin` is written last, with release: a reader
// that sees it not 0 sees the whole record, and a reader that meets 0 is at the
// end of what has been written. A range's end is written into its own slot as
// long as the thread still owns that chunk; after a chunk is sealed its owner
// does not touch it again, and the end comes as a record of its own (kEnd).
// So a sealed chunk can be copied, cleared and reused without asking anyone.
// (One exception: a signal handler interrupts the few instructions between
// taking a slot and publishing it, and fills the rest of the chunk. The
// interrupted record is then written into a chunk that may belong to another
// thread by now. A reader takes it for whatever it looks like there.)
//
// Everything is plain data without pointers, valid at any address. The reader
// trusts nothing in it: a broken target may have written anything.
//
// kLayoutVersion changes whenever the memory that this file describes changes.
#ifndef KYMO_PROFILER_RECORD_ARENA_LAYOUT_H_
#define KYMO_PROFILER_RECORD_ARENA_LAYOUT_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace kymo::record {

inline constexpr uint64_t kArenaMagic = 0x616e6572416f6d79u;
inline constexpr uint32_t kLayoutVersion = 7;

enum class SlotKind : uint8_t {
  kNone = 0,
  kRange = 1,    // begin, end (0 = open), name or payload name
  kInstant = 2,  // begin
  kCounter = 3,  // begin; `end` holds the bits of a double
  kEnd = 4,      // ends another record, by its chunk's ticket and its index
  kExtra = 5,    // more payload for another record, named in the same way
  kMemory = 6,   // begin; `end` is the address; payload: MemoryPayload
  kMapping = 7,  // code of the process; payload: MappingPayload, path
  // A block that the hooks of an allocator saw: its address in `end`, its bytes
  // in `name` (low half) and `flags`, its HeapSource as the scope. A free may
  // say 0 bytes. Payload: kStack, or none.
  kAllocation = 8,
  kFree = 9,
  // A thing of the process has a name (`name`): `end` is its handle, the scope
  // a ResourceKind.
  kResource = 10,
};

// Whether the record is an event of its own, not data about another record.
constexpr bool IsEvent(SlotKind kind) noexcept {
  constexpr auto Bit = [](SlotKind of) { return 1u << static_cast<int>(of); };
  constexpr uint32_t kNoEvents =
      Bit(SlotKind::kNone) | Bit(SlotKind::kEnd) | Bit(SlotKind::kExtra) |
      Bit(SlotKind::kMapping) | Bit(SlotKind::kResource);
  return (kNoEvents & Bit(kind)) == 0;
}

// The kinds of things that NVTX annotations give names to (backends/nvtx).
enum class ResourceKind : uint8_t {
  kOther = 0,
  kThread = 1,
  kDevice = 2,
  kContext = 3,
  kStream = 4,
  kEvent = 5,
};

enum class HeapSource : uint8_t { kHeap = 0, kMapped = 1 };

// name of a record whose name stands in its payload.
inline constexpr uint32_t kNameInPayload = 0xffffffffu;
// Shown for names that found no room in the table.
inline constexpr uint32_t kNameLost = 0;

struct Slot {
  std::atomic<uint64_t> begin;  // ticks; 0 = not written yet
  std::atomic<uint64_t> end;    // ticks; kEnd, kExtra: the target's ticket
  uint32_t name;                // name id; kEnd, kExtra: the target's index
  uint32_t kind_scope_depth;    // 4 bits, 4 bits, 24 bits from the low end
  uint32_t extra_slots;         // payload slots behind this one
  uint32_t flags;               // SlotFlag bits; of captured records the high
                                // 24 bits are the domain's name id, or 0
};
static_assert(sizeof(Slot) == 32);
static_assert(std::atomic<uint64_t>::is_always_lock_free);

enum SlotFlag : uint32_t {
  kSlotAsync = 1,    // said to be asynchronous by the program
  kSlotModule = 2,   // stands for a module
  kSlotNvtx = 4,     // captured from NVTX
  kSlotItt = 8,      // captured from ITT
  kSlotPushed = 16,  // of the thread's stack: only that thread ends it
};
inline constexpr int kSlotDomainShift = 8;

// The ticket in a kEnd that ends no range; such records are counted.
inline constexpr uint64_t kNoTicket = ~uint64_t{0};

inline constexpr uint32_t kMaxDepth = (1u << 24) - 1;

constexpr uint32_t PackKind(SlotKind kind, uint8_t scope,
                            uint32_t depth) noexcept {
  return static_cast<uint32_t>(kind) | uint32_t{scope} << 4 | depth << 8;
}
constexpr SlotKind UnpackKind(uint32_t packed) noexcept {
  return static_cast<SlotKind>(packed & 0xf);
}
constexpr uint8_t UnpackScope(uint32_t packed) noexcept {
  return packed >> 4 & 0xf;
}
constexpr uint32_t UnpackDepth(uint32_t packed) noexcept { return packed >> 8; }

// Payload: items one behind the other, each a header and its data padded to
// 8 bytes. kPayloadEnd (or the last slot's end) closes it.
enum class PayloadKind : uint8_t {
  kPayloadEnd = 0,
  kName = 1,      // bytes; pieces of one name follow each other
  kInt = 2,       // int64
  kDouble = 3,    // double
  kString = 4,    // bytes
  kSequence = 5,  // int64 sequence number; `key` is the forward thread
  kHandle = 6,    // int64 debug handle; `key` is 1 + node id, or 0
  kOverload = 7,  // bytes
  kInputs = 8,    // bytes, as profiler/base/op_inputs.h encodes them
  kStack = 9,     // return addresses, innermost first; `key` 1 = cut
  kNamed = 10,    // like kString: uint64, the name id of the text
};

struct PayloadHeader {
  PayloadKind kind;
  uint8_t continues;    // 1: more of the text before it
  uint16_t size_bytes;  // of the data, before padding
  uint32_t key;         // name id of the argument's key
};
static_assert(sizeof(PayloadHeader) == 8);

// The payload of a kMemory record. Behind it, up to the record's end, is a
// stack in kStack's form (zeros close it). The record's `name` is the device:
// type in the low 8 bits, index in the high 16. Its `flags` are a MemoryFlag.
struct MemoryPayload {
  int64_t bytes;  // signed; of a failed allocation: what was asked for
  int64_t total_allocated;
  int64_t total_reserved;
  uint64_t stack_size;
};
static_assert(sizeof(MemoryPayload) == sizeof(Slot));

// The top bits of a stack's addresses are free for the number of the file that
// the address is in. Of two libraries that the program loads at one place, one
// after the other, each has its own number. 0: the address is not in a loaded
// file, or nobody numbers the files (a process without the preloaded runtime).
inline constexpr int kFileNumberShift = 48;

// The payload of a kMapping record: where a file's code is in the process.
// `start` and `end` carry the file's number, as the stacks' addresses do.
// Behind it the path, NUL-terminated. A process writes one for each of its
// mappings before its first stack, and again after it has loaded a library.
struct MappingPayload {
  uint64_t start;
  uint64_t end;
  uint64_t file_offset;
  uint64_t inode;  // 0 = no file
};
static_assert(sizeof(MappingPayload) == sizeof(Slot));

enum MemoryFlag : uint32_t { kMemoryAllocation = 0, kMemoryOutOfMemory = 1 };

inline constexpr size_t kChunkBytes = 64 * 1024;
inline constexpr uint32_t kSlotsPerChunk = kChunkBytes / sizeof(Slot);
// Longer texts are written in pieces, so that a record fits into a chunk.
inline constexpr size_t kMaxPieceBytes = 8 * 1024;
// Frames of a recorded stack; the outermost ones beyond are cut, and counted.
inline constexpr size_t kMaxStackFrames = 64;
// Longest literal name; the rest is cut, and counted.
inline constexpr size_t kMaxNameBytes = 64 * 1024;

// A session of one of the processes; unique in the arena.
using SessionId = uint32_t;
inline constexpr SessionId kNoSession = 0;

// The state of a chunk; chunk_pool.h draws how the states follow each other.
enum class ChunkState : uint8_t {
  kFree = 0,
  kOwned = 1,
  kSealed = 2,
  kReading = 3,
};

struct ChunkWord {
  // state in the low 8 bits, stream id in the high 32.
  std::atomic<uint64_t> owner;
  // Counts chunks in the order in which they were taken, from 1; a chunk has a
  // new one each time. 0 while it is being taken.
  std::atomic<uint64_t> ticket;
  // Slots at the chunk's front that a reader has already read.
  std::atomic<uint32_t> read_slots;
  // The session within the process that reads the chunk first, or kNoSession.
  std::atomic<SessionId> session;
};

constexpr uint64_t PackOwner(ChunkState state, uint32_t stream) noexcept {
  return static_cast<uint64_t>(state) | uint64_t{stream} << 32;
}
constexpr ChunkState OwnerState(uint64_t owner) noexcept {
  return static_cast<ChunkState>(owner & 0xff);
}
constexpr uint32_t OwnerStream(uint64_t owner) noexcept {
  return static_cast<uint32_t>(owner >> 32);
}

// One thread of one process that has recorded something. Never reused.
struct StreamEntry {
  std::atomic<int32_t> pid;  // 0 = not filled in yet
  std::atomic<int32_t> tid;
  std::atomic<uint64_t> dropped;      // records lost because the arena was full
  std::atomic<uint64_t> overwritten;  // events lost to policy overwrite
  // The thread's name when it last looked, NUL-terminated. It is kept in words,
  // so that a concurrent reader may see a mixture but causes no fault.
  std::atomic<uint64_t> name[2];
  std::atomic<uint64_t> explicit_name;  // 1 + name id set by the program
  // Threads of a process, counted from 1 in the order in which they asked.
  std::atomic<uint64_t> logical_thread;
  // Index in the process table, counted from 1; 0 = not known.
  std::atomic<uint32_t> process;
  // Not 0: there is no such thread any more, so nobody asks for its name.
  std::atomic<uint32_t> has_ended;
};
static_assert(sizeof(StreamEntry) == 64);

// What StreamEntry has no room for: a thread's heap counts, if the heap is only
// counted, and the thread's end. There is one for each stream, and only the
// stream's thread writes it.
struct HeapCounts {
  std::atomic<uint64_t> allocations;
  std::atomic<uint64_t> frees;
  std::atomic<uint64_t> allocated_bytes;
  // CLOCK_MONOTONIC. 0: the thread runs, or nobody saw its end.
  std::atomic<int64_t> thread_end_ns;
};
static_assert(sizeof(HeapCounts) == 32);

// One process that has attached (again after each exec).
struct ProcessEntry {
  std::atomic<int32_t> pid;  // written last; 0 = not filled in yet
  int32_t parent_pid;
  int64_t attach_monotonic_ns;
  // Equal for all processes of one exec, forked children included. Different
  // for any other exec.
  uint64_t image;
  char name[32];           // NUL-terminated
  char command_line[456];  // arguments separated by NUL, cut
};
static_assert(sizeof(ProcessEntry) == 512);

// Whether a program was given the variables with which it attaches.
enum class StartEnvironment : uint32_t {
  kComplete = 0,
  kNoPreload = 1,  // LD_PRELOAD does not name Kymo's runtime
  kNoArena = 2,    // KYMO_ARENA is not there
};

// A program that is about to run in a process. The process table tells whether
// it has attached there since.
struct StartEntry {
  // Written last; 0 = not filled in yet, or the program could not be run.
  std::atomic<int32_t> pid;
  uint32_t program;  // name id of its path, or of the word that was looked up
  int64_t start_monotonic_ns;
  StartEnvironment environment;
  uint32_t reserved;
};
static_assert(sizeof(StartEntry) == 24);

// The answer to a thread that needs a chunk when none is free.
enum class FullPolicy : uint32_t {
  kStop = 0,       // keep the oldest: drop and count
  kOverwrite = 1,  // keep the newest: take the oldest sealed chunk
  kDrain = 2,      // a collector frees chunks; drop and count meanwhile
};

// How many entries each part of the arena has, and at which byte it begins.
// Each part begins on a page of its own, the chunks on a huge page.
struct ArenaPlan {
  uint32_t stream_capacity;
  uint32_t process_capacity;
  uint32_t start_capacity;
  uint32_t name_index_capacity;  // a power of two
  uint32_t chunk_count;
  uint32_t reserved;
  uint64_t streams_offset;
  uint64_t heap_counts_offset;
  uint64_t processes_offset;
  uint64_t starts_offset;
  uint64_t name_index_offset;
  uint64_t name_text_offset;
  uint64_t name_text_bytes;
  uint64_t words_offset;
  uint64_t chunks_offset;
};
static_assert(sizeof(ArenaPlan) == 96);

struct ArenaHeader {
  uint64_t magic;
  uint32_t version;
  uint32_t header_bytes;
  uint64_t arena_bytes;
  uint32_t clock_source;  // ClockSource
  uint32_t reserved;
  ArenaPlan plan;

  std::atomic<uint32_t> recording;  // 1 while a session is live
  std::atomic<uint32_t> policy;     // FullPolicy
  // RecordFlag bits (host.h) that the collector asks for.
  std::atomic<uint32_t> record_flags;
  std::atomic<uint32_t> next_session;
  // Bytes per sample of the heap, with kGateHeapSampled.
  std::atomic<uint64_t> heap_sample_interval;
  // Number of processes with an allocator that the hooks do not see.
  std::atomic<uint64_t> heaps_not_watched;
  // Sampled blocks that found no room among the live ones.
  std::atomic<uint64_t> heap_samples_lost;
  // How many of the chunks the session may use.
  std::atomic<uint32_t> chunk_limit;
  std::atomic<uint32_t> stream_count;
  std::atomic<uint32_t> process_count;
  std::atomic<uint32_t> start_count;
  std::atomic<uint32_t> free_hint;   // no free chunk below, roughly
  std::atomic<uint32_t> high_water;  // chunks that were ever taken are below
  std::atomic<int64_t> free_chunks;  // roughly; the reader sets it right
  std::atomic<uint64_t> next_ticket;
  std::atomic<uint64_t> name_text_used;  // bytes
  std::atomic<uint64_t> names_lost;
  std::atomic<uint64_t> events_without_stream;
  // Entries that found no room in their tables.
  std::atomic<uint64_t> processes_without_entry;
  std::atomic<uint64_t> starts_without_entry;
  std::atomic<uint64_t> texts_truncated;
  std::atomic<uint64_t> dropped_in_handlers;
};
static_assert(sizeof(ArenaHeader) <= 4096);

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_ARENA_LAYOUT_H_
