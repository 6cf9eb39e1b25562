#include "profiler/record/host/thread_streams.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler/base/clock.h"
#include "profiler/record/host/live_sessions.h"
#include "profiler/record/host/own_process.h"
#include "profiler/record/host/restricted_calls.h"
#include "profiler/record/host/thread_names.h"

namespace kymo::record {
namespace {

constexpr size_t kStreamsPerSlab = 16;

ThreadStream* NewStream(Wiped* wiped) noexcept {
  Lock lock(wiped);
  if (wiped->free_streams != nullptr) {
    ThreadStream* const stream = wiped->free_streams;
    wiped->free_streams = stream->next_free;
    stream->next_free = nullptr;
    return stream;
  }
  if (wiped->slab_next == wiped->slab_end) {
    void* const slab = MapWiped(kStreamsPerSlab * sizeof(ThreadStream));
    if (slab == nullptr) return nullptr;
    wiped->slab_next = static_cast<ThreadStream*>(slab);
    wiped->slab_end = wiped->slab_next + kStreamsPerSlab;
  }
  return wiped->slab_next++;
}

// --- a stream's chunk: open, parked or none ---

// Makes [cursor, limit) the slots to take. A signal handler in between finds
// none: the cursor stands at the limit until the last store.
void Open(ThreadStream* stream, Slot* cursor, Slot* limit) noexcept {
  __atomic_store_n(&stream->cursor, limit, __ATOMIC_RELAXED);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  __atomic_store_n(&stream->limit, limit, __ATOMIC_RELAXED);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  __atomic_store_n(&stream->cursor, cursor, __ATOMIC_RELAXED);
}

// Closes the chunk for new records, but keeps it: ranges that are open in it
// still end there, and Unpark opens it again.
void Park(ThreadStream* stream) noexcept {
  if (stream->limit == nullptr) return;
  stream->parked_limit = stream->limit;
  stream->parked_cursor =
      __atomic_exchange_n(&stream->cursor, stream->limit, __ATOMIC_RELAXED);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  __atomic_store_n(&stream->limit, nullptr, __ATOMIC_RELAXED);
}

void Unpark(ThreadStream* stream) noexcept {
  Slot* const limit = stream->parked_limit;
  stream->parked_limit = nullptr;
  if (limit == nullptr || stream->parked_cursor >= limit) return;
  Open(stream, stream->parked_cursor, limit);
}

void SealOwnChunk(ThreadStream* stream) noexcept {
  if (stream->ticket == 0) return;
  own.arena.SealChunk(stream->chunk);
  stream->ticket = 0;
  stream->parked_limit = nullptr;
}

// The session whose id new chunks of this thread carry, and whether anybody
// wants them.
SessionId WantedSession() noexcept {
  if (own_thread.session != kNoSession) {
    if (SessionIsLive(own_thread.session)) return own_thread.session;
    own_thread.session = kNoSession;
  }
  return own.process_session.load(std::memory_order_seq_cst);
}

// Fits the chunk to the thread's present state: parked while the thread is
// paused or in no session, open while the chunk belongs to its session.
void Settle(ThreadStream* stream) noexcept {
  const SessionId session = WantedSession();
  const bool wanted =
      own_thread.paused == 0 && (session != kNoSession || CollectorRecords());
  if (wanted && stream->ticket != 0 && stream->chunk_session == session) {
    if (stream->limit == nullptr) Unpark(stream);
  } else {
    Park(stream);
  }
}

// Gives the stream of a thread that writes no more to the next thread.
// REQUIRES: the lock.
void Recycle(Wiped* wiped, ThreadStream* stream) noexcept {
  SealOwnChunk(stream);
  memset(static_cast<void*>(stream), 0, sizeof(*stream));
  stream->next_free = wiped->free_streams;
  wiped->free_streams = stream;
}

// Recycles the late streams for which `is_over` is true. REQUIRES: the lock.
template <typename IsOver>
void RecycleLate(Wiped* wiped, IsOver is_over) noexcept {
  ThreadStream** link = &wiped->late_streams;
  while (*link != nullptr) {
    ThreadStream* const stream = *link;
    if (is_over(stream)) {
      *link = stream->next_free;
      Recycle(wiped, stream);
    } else {
      link = &stream->next_free;
    }
  }
}

// A thread that frees memory after its last exit handler gets a stream again.
// It is recycled once the thread is found to be gone.
void AddLate(Wiped* wiped, ThreadStream* stream) noexcept {
  Lock lock(wiped);
  RecycleLate(wiped, [](const ThreadStream* late) {
    if (late->stream_plus_1 == 0) return false;
    const int32_t tid = own.arena.stream(late->stream_plus_1 - 1)
                            .tid.load(std::memory_order_relaxed);
    return syscall(SYS_tgkill, getpid(), tid, 0) != 0 && errno == ESRCH;
  });
  stream->next_free = wiped->late_streams;
  wiped->late_streams = stream;
}

// The exit handlers of other keys may record, too; the system calls handlers
// for a few rounds as long as there are any.
constexpr uint32_t kExitRounds = 3;
static_assert(kExitRounds < PTHREAD_DESTRUCTOR_ITERATIONS);

void StoreThreadEnd(ThreadStream* stream) noexcept {
  stream->heap_counts->thread_end_ns.store(MonotonicNs(),
                                           std::memory_order_relaxed);
}

// Ends the thread's recording; runs as a pthread key's destructor.
void OnThreadExit(void* value) {
  ThreadStream* const stream = static_cast<ThreadStream*>(value);
  if (++own_thread.exit_rounds < kExitRounds &&
      pthread_setspecific(own.exit_key, stream) == 0) {
    return;
  }
  own_thread.stream = nullptr;
  for (ThreadStream** const cache : stream->caches) {
    if (cache != nullptr) *cache = nullptr;
  }
  if (stream->stream_plus_1 != 0) {
    StoreThreadName(own.arena.stream(stream->stream_plus_1 - 1));
    StoreThreadEnd(stream);
  }
  Wiped* const wiped = GetWiped();
  Lock lock(wiped);
  Recycle(wiped, stream);
}

bool Register(Wiped* wiped, ThreadStream* stream) noexcept {
  if (own.has_collector.load(std::memory_order_relaxed)) {
    Lock lock(wiped);
    RegisterProcess(wiped);
  }
  const uint32_t id = own.arena.AddStream(getpid(), ThreadId());
  if (id == Arena::kNoStream) return false;
  stream->stream_plus_1 = id + 1;
  stream->clock_source = own.arena.clock_source();
  stream->heap_counts = &own.arena.heap_counts(id);
  own.arena.stream(id).process.store(wiped->process, std::memory_order_relaxed);
  own.arena.stream(id).logical_thread.store(OwnLogicalThreadId(),
                                            std::memory_order_relaxed);
  StoreExplicitName(own.arena.stream(id));
  StoreNameFromOthers(wiped, own.arena.stream(id));
  // The thread's exit handler has run: nothing else tells of its end.
  if (own_thread.exit_rounds >= kExitRounds) StoreThreadEnd(stream);
  return true;
}

// Whether `cache` will be cleared when the thread ends.
bool RememberCache(ThreadStream* stream, ThreadStream** cache) noexcept {
  for (ThreadStream**& known : stream->caches) {
    if (known == cache) return true;
    if (known == nullptr) {
      known = cache;
      return true;
    }
  }
  return false;
}

void CountWithoutStream() noexcept {
  own.arena.header().events_without_stream.fetch_add(1,
                                                     std::memory_order_relaxed);
}

// --- the slow path of taking slots ---

// Makes the chunk's pages present, unless this process has done so before.
void PopulateOnce(Wiped* wiped, uint32_t chunk) noexcept {
  if (chunk >= kMaxTrackedChunks || calls_are_restricted) return;
  uint64_t& word = wiped->populated[chunk / 64];
  const uint64_t bit = uint64_t{1} << (chunk % 64);
  if (__atomic_fetch_or(&word, bit, __ATOMIC_RELAXED) & bit) return;
  own.arena.Populate(chunk, 1);
}

// Takes a new chunk for the stream; null if there is none, which is counted.
Slot* NewChunk(Wiped* wiped, ThreadStream* stream, SessionId session,
               uint32_t count) noexcept {
  StreamEntry& entry = own.arena.stream(stream->stream_plus_1 - 1);
  // If nobody drains, the old chunk is kept until there is a new one: ranges
  // that are open in it can still end there.
  if (own.arena.policy() == FullPolicy::kDrain) SealOwnChunk(stream);
  uint64_t ticket = 0;
  const uint32_t chunk =
      count <= kSlotsPerChunk
          ? own.arena.AcquireChunk(stream->stream_plus_1 - 1, session, &ticket)
          : kNoChunk;
  if (chunk == kNoChunk) {
    entry.dropped.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  SealOwnChunk(stream);
  // A process-wide session may have started or stopped since `session` was
  // read. It marks the chunks that it sees, and may have missed this one.
  if (own_thread.session == kNoSession) {
    session = own.process_session.load(std::memory_order_seq_cst);
    own.arena.word(chunk).session.store(session, std::memory_order_relaxed);
  }
  PopulateOnce(wiped, chunk);
  if (own.has_collector.load(std::memory_order_relaxed) ||
      !HasThreadName(entry)) {
    StoreThreadName(entry);
  }
  Slot* const first = own.arena.slots(chunk);
  stream->chunk = chunk;
  stream->ticket = ticket;
  stream->chunk_session = session;
  Open(stream, first + count, first + kSlotsPerChunk);
  return first;
}

Slot* Refill(Wiped* wiped, ThreadStream* stream, uint32_t count) noexcept {
  // From here until the next chunk is open a signal handler finds no slots.
  __atomic_store_n(&stream->limit, nullptr, __ATOMIC_RELAXED);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const SessionId session = WantedSession();
  if (session == kNoSession && !CollectorRecords()) {
    // A collector has stopped listening: this process outlived its recording.
    if (own.has_collector.load(std::memory_order_relaxed)) {
      Lock lock(wiped);
      UpdateGates();
    }
    return nullptr;
  }
  if (stream->stream_plus_1 == 0 && !Register(wiped, stream)) {
    CountWithoutStream();
    return nullptr;
  }
  return NewChunk(wiped, stream, session, count);
}

// This thread's stream, made on the first call; null when memory is short.
ThreadStream* OwnStream(Wiped* wiped) noexcept {
  if (own_thread.stream != nullptr) return own_thread.stream;
  ThreadStream* const stream = NewStream(wiped);
  if (stream == nullptr) return nullptr;
  own_thread.stream = stream;
  if (own_thread.exit_rounds >= kExitRounds) {
    AddLate(wiped, stream);
  } else if (own.has_exit_key) {
    pthread_setspecific(own.exit_key, stream);
  }
  return stream;
}

// Whether anybody reads this thread's records. Cheap, since threads outside
// another thread's session ask it for each operation.
bool ThreadIsWanted() noexcept {
  if (own_thread.paused != 0) return false;
  return CollectorRecords() || WantedSession() != kNoSession;
}

// Counts the thread in each live session that has not counted it yet.
void CountOutside() noexcept {
  const uint64_t started = own.sessions_started.load(std::memory_order_acquire);
  if (own_thread.outside_up_to == started) return;
  for (OwnSession& session : own.sessions) {
    const uint64_t number = session.number.load(std::memory_order_relaxed);
    if (session.id.load(std::memory_order_relaxed) != kNoSession &&
        number > own_thread.outside_up_to && number <= started) {
      session.threads_outside.fetch_add(1, std::memory_order_relaxed);
    }
  }
  own_thread.outside_up_to = started;
}

}  // namespace

void PopulateFirst(Wiped* wiped) noexcept {
  constexpr uint32_t kFirst = 64;
  const uint64_t before =
      __atomic_fetch_or(&wiped->populated[0], ~uint64_t{0}, __ATOMIC_RELAXED);
  if (before == ~uint64_t{0}) return;
  const uint32_t chunks = own.arena.chunk_count();
  own.arena.Populate(0, chunks < kFirst ? chunks : kFirst);
}

Slot* OwnTakeSlots(ThreadStream** cache, uint32_t count) noexcept {
  // acquire: pairs with the store that follows the arena's making.
  if (!own.has_arena.load(std::memory_order_acquire)) return nullptr;
  if (InSlowPath()) return nullptr;
  const bool collector_left =
      own.has_collector.load(std::memory_order_relaxed) && !CollectorRecords();
  if (!collector_left && !ThreadIsWanted()) {
    if (own_thread.paused == 0) CountOutside();
    return nullptr;
  }
  const int saved_errno = errno;
  Slot* slot = nullptr;
  {
    Busy busy;
    Wiped* const wiped = GetWiped();
    ThreadStream* const stream = wiped ? OwnStream(wiped) : nullptr;
    if (stream == nullptr || !RememberCache(stream, cache)) {
      CountWithoutStream();
    } else {
      // Another copy of the library may have slots left for this thread.
      if (*cache != stream) {
        *cache = stream;
        slot = TakeSlots(stream, count);
        if (!AreTaken(stream, slot, count)) slot = nullptr;
      }
      if (slot == nullptr) slot = Refill(wiped, stream, count);
    }
  }
  errno = saved_errno;
  return slot;
}

void ForgetStream() noexcept {
  Busy busy;
  ThreadStream* const stream = own_thread.stream;
  if (stream == nullptr) return;
  SealOwnChunk(stream);
  memset(static_cast<void*>(stream), 0, sizeof(*stream));
}

Slot* OwnTake(uint32_t count) noexcept {
  ThreadStream* const stream = thread_stream;
  if (stream != nullptr) {
    Slot* const slot = TakeSlots(stream, count);
    if (AreTaken(stream, slot, count)) return slot;
  }
  return OwnTakeSlots(&thread_stream, count);
}

uint64_t OwnLogicalThreadId() noexcept {
  if (own_thread.logical_id == 0) {
    own_thread.logical_id =
        own.logical_threads.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  return own_thread.logical_id;
}

void OwnSetThreadPaused(int paused) noexcept {
  Busy busy;
  own_thread.paused = paused != 0;
  if (own_thread.stream != nullptr) Settle(own_thread.stream);
}

SessionId OwnThreadSession() noexcept {
  return SessionIsLive(own_thread.session) ? own_thread.session : kNoSession;
}

SessionId OwnExchangeThreadSession(SessionId id) noexcept {
  Busy busy;
  const SessionId before = OwnThreadSession();
  own_thread.session = SessionIsLive(id) ? id : kNoSession;
  if (own_thread.stream != nullptr) Settle(own_thread.stream);
  return before;
}

void MakeExitKey() noexcept {
  Wiped* const wiped = GetWiped();
  if (wiped == nullptr) return;
  Lock lock(wiped);
  if (own.has_exit_key) return;
  own.has_exit_key = pthread_key_create(&own.exit_key, OnThreadExit) == 0;
}

}  // namespace kymo::record
