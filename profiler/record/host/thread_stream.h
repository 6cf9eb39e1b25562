// thread_stream.h - a thread's recording state, in its process's memory.
//
// A thread has one stream in its process, whatever the number of copies of this
// library there: the copies (a program's own, the preloaded runtime's) agree on
// one host. Each caches the pointer to the thread's stream in a thread-local of
// its own. So the layout is part of kHostVersion (host_api.h).
//
// The kernel wipes the memory on fork (MADV_WIPEONFORK). In the child a stream
// is all zero, which means "no chunk", and the next record registers the
// child's thread anew. No handler needs to run: clone() and vfork() are fine.
//
// Threads: only the owner touches it, and a signal handler on the owner. The
//   one step where both may meet, taking slots, is a single instruction.
#ifndef KYMO_PROFILER_RECORD_HOST_THREAD_STREAM_H_
#define KYMO_PROFILER_RECORD_HOST_THREAD_STREAM_H_

#include <cstddef>
#include <cstdint>

#include "profiler/base/clock.h"
#include "profiler/record/arena/layout.h"

namespace kymo::record {

// The ids of literals that this thread has used, by their address: direct
// mapped, so that a hit is two compares. After a library was unloaded, another
// library's literal may be at the address; its hash tells.
struct NameCacheEntry {
  const char* text;
  uint32_t id;
  uint32_t hash;
};
inline constexpr size_t kNameCacheEntries = 512;

inline size_t NameCacheIndex(const char* text) noexcept {
  return (reinterpret_cast<uint64_t>(text) * 0x9e3779b97f4a7c15u) >> 55;
}
static_assert(kNameCacheEntries == size_t{1} << (64 - 55));

struct alignas(64) ThreadStream {
  Slot* cursor;     // next slot to take; may stand beyond limit
  Slot* limit;      // behind the chunk's last slot; null = no chunk
  uint64_t ticket;  // the chunk's; 0 = no chunk
  uint32_t depth;   // ranges open on this thread
  ClockSource clock_source;

  // Slow path only.
  uint32_t chunk;
  uint32_t chunk_session;  // whose chunk it is, see ChunkWord
  // A chunk that is closed for now: its slots not taken yet. Null = none.
  Slot* parked_cursor;
  Slot* parked_limit;
  uint32_t stream_plus_1;  // 0 = not registered in this process
  ThreadStream* next_free;
  HeapCounts* heap_counts;  // null = not registered
  // Thread-locals of the library's copies that point here; cleared at exit. A
  // copy that finds no place here records nothing, which is counted.
  ThreadStream** caches[16];

  NameCacheEntry names[kNameCacheEntries];
};

// The calling thread's stream, as this copy of the library knows it; null until
// the thread's first record.
extern constinit thread_local ThreadStream* thread_stream
    __attribute__((tls_model("initial-exec")));

// Takes `count` slots; the result may lie beyond the chunk. Atomic with regard
// to signal handlers of the same thread.
inline Slot* TakeSlots(ThreadStream* stream, uint32_t count) noexcept {
#if defined(__x86_64__)
  uint64_t bytes = uint64_t{count} * sizeof(Slot);
  // Without a lock prefix: one instruction cannot be interrupted, and no other
  // thread writes here.
  asm volatile("xaddq %0, %1" : "+r"(bytes), "+m"(stream->cursor) : : "cc");
  return reinterpret_cast<Slot*>(bytes);
#else
  const uint64_t taken =
      __atomic_fetch_add(reinterpret_cast<uint64_t*>(&stream->cursor),
                         uint64_t{count} * sizeof(Slot), __ATOMIC_RELAXED);
  return reinterpret_cast<Slot*>(taken);
#endif
}

// Whether slots that were taken are the taker's. If a chunk was full, a signal
// handler may have opened another one since: then the limit is that one's, and
// the slots lie behind the old one, which may be where the new one begins. The
// first slot of a chunk is its opener's, and never taken here.
inline bool AreTaken(const ThreadStream* stream, const Slot* slot,
                     uint32_t count) noexcept {
  const uint64_t left = reinterpret_cast<uint64_t>(stream->limit) -
                        reinterpret_cast<uint64_t>(slot);
  return left >= count * sizeof(Slot) && left < kSlotsPerChunk * sizeof(Slot);
}

// Whether a slot lies in the stream's open chunk.
inline bool IsInChunk(const ThreadStream* stream, const Slot* slot) noexcept {
  const uint64_t left = reinterpret_cast<uint64_t>(stream->limit) -
                        reinterpret_cast<uint64_t>(slot);
  return left != 0 && left <= kSlotsPerChunk * sizeof(Slot);
}

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_HOST_THREAD_STREAM_H_
