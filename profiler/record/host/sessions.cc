#include "profiler/record/host/sessions.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "profiler/record/arena/inherited.h"
#include "profiler/record/host/live_sessions.h"
#include "profiler/record/host/thread_names.h"
#include "profiler/record/host/thread_streams.h"

namespace kymo::record {
namespace {

constexpr uint64_t kSmallestLocalCapacity = uint64_t{64} << 20;

// Also of a forked child that opens its own one later.
bool HasDoor() noexcept { return own.door.is_set() || own.wants_door; }

// No thread waits at a forked child's door, and its arena is its parent's, but
// for that of a command, which has both. A session makes another one: to reuse
// the parent's would copy its pages, and commands see what is in a shared one.
void LeaveDoorAndArena() noexcept {
  own.door.Close();
  own.knocker.Close();
  own.is_claimed = false;
  const bool is_own = own.arena_file.is_set() ||
                      !own.has_collector.load(std::memory_order_relaxed);
  if (!own.arena.valid() || !is_own) return;
  own.arena_file.Close();
  own.arena_is_parents = true;
  own.has_collector.store(false, std::memory_order_relaxed);
  // Other handlers may have recorded in the child.
  ForgetStream();
  Wiped* const wiped = GetWiped();
  if (wiped == nullptr) return;
  wiped->process_registered = 0;
  Lock lock(wiped);
  UpdateGates();
}

// A forked child opens a door at its first range: most run another program
// before, and here the allocator, which a thread needs, may not be ready.
void OpenDoorLater() noexcept {
  own.wants_door = true;
  for (Gate* g = own.gates; g != nullptr; g = g->next) {
    g->state.fetch_or(kGateUnresolved, std::memory_order_relaxed);
  }
}

// A forked child is in none of its parent's sessions, because nobody would read
// its records for them.
void AfterForkInChild() {
  const bool any = AnySessionIsLive();
  for (OwnSession& session : own.sessions) {
    session.to_read = kNoSession;
    session.id.store(kNoSession, std::memory_order_relaxed);
  }
  own.process_session.store(kNoSession, std::memory_order_relaxed);
  const bool had_door = HasDoor();
  LeaveDoorAndArena();
  if (any) {
    Lock lock(GetWiped());
    UpdateGates();
  }
  if (had_door) OpenDoorLater();
}

// With the door open, one that a command can be given. The kernel ends a
// program that makes a file larger than its limit, so that is looked at before.
Arena MakeArena(const ArenaOptions& options) noexcept {
  rlimit limit = {};
  if (HasDoor() && getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
      limit.rlim_cur > 2 * options.capacity_bytes) {
    int fd = -1;
    const Arena shared = Arena::CreateShared(options, &fd);
    if (shared.valid()) {
      own.arena_file = KeptDescriptor(fd);
      return shared;
    }
  }
  return Arena::CreateAnonymous(options);
}

// For the first of several sessions, if no collector has set the limits.
void PrepareLocalArena(Wiped* wiped, const SessionRequest& request) noexcept {
  if (own.is_claimed) return;  // a command is reading
  // Chunks that threads sealed late, for sessions that are over.
  own.arena.DiscardSealed();
  own.arena.SetLimits(request.chunk_bytes_total, request.policy);
  // The first chunks' pages, so that the first records do not pay for them.
  PopulateFirst(wiped);
}

SessionId NextId() noexcept {
  SessionId id = kNoSession;
  while (id == kNoSession) {
    id = own.arena.header().next_session.fetch_add(1,
                                                   std::memory_order_relaxed) +
         1;
  }
  return id;
}

// Sets the flags of a request, with the way in which the heap is watched. False
// if a live session watches it in another way.
bool SettleHeapMode(const SessionRequest& request,
                    RecordFlags* flags) noexcept {
  *flags = request.flags & kAllRecordFlags;
  const RecordFlags wanted = *flags & kHeapModeFlags;
  if (wanted == 0) return true;
  const RecordFlags collectors = CollectorFlags() & kHeapModeFlags;
  if (collectors != 0) {
    *flags = (*flags & ~kHeapModeFlags) | collectors;
    return true;
  }
  std::atomic<uint64_t>& interval = own.arena.header().heap_sample_interval;
  for (const OwnSession& session : own.sessions) {
    const RecordFlags live = session.flags & kHeapModeFlags;
    if (session.id.load(std::memory_order_relaxed) == kNoSession || live == 0) {
      continue;
    }
    return live == wanted && ((live & kGateHeapSampled) == 0 ||
                              interval.load(std::memory_order_relaxed) ==
                                  request.heap_sample_interval);
  }
  interval.store(request.heap_sample_interval, std::memory_order_relaxed);
  return true;
}

}  // namespace

int MakeLocalArena() noexcept {
  if (own.arena.valid() && !own.arena_is_parents) return 0;
  ArenaOptions options;
  options.clock_source = DetectClockSource();
  // Smaller if the process's address space is limited.
  for (uint64_t bytes = kLocalCapacityBytes; bytes >= kSmallestLocalCapacity;
       bytes /= 2) {
    options.capacity_bytes = bytes;
    const Arena made = MakeArena(options);
    if (!made.valid()) continue;
    // Nobody has recorded in this process, so nobody writes into the arena of
    // its parent.
    if (own.arena_is_parents) Inherit(own.arena, made);
    own.arena = made;
    own.arena_is_parents = false;
    own.has_arena.store(true, std::memory_order_release);
    return 0;
  }
  return errno;
}

bool RegisterForkHandler() noexcept {
  if (!own.has_fork_handler) {
    own.has_fork_handler =
        pthread_atfork(nullptr, nullptr, AfterForkInChild) == 0;
  }
  return own.has_fork_handler;
}

int OwnStartSession(const SessionRequest* request, SessionId* id) noexcept {
  Wiped* const wiped = GetWiped();
  if (wiped == nullptr) return ENOMEM;
  Lock lock(wiped);
  if (SessionIsLive(own_thread.session)) return EALREADY;
  const bool whole_process = request->scope == SessionScope::kProcess;
  const bool any = AnySessionIsLive();
  if (own.process_session.load(std::memory_order_relaxed) != kNoSession ||
      (whole_process && any)) {
    return EBUSY;
  }
  OwnSession* const session = FindFreeSession();
  if (session == nullptr) return ENOSPC;
  if (const int error = MakeLocalArena(); error != 0) return error;
  RegisterForkHandler();
  if (!AnySessionToRead() && !CollectorRecords()) {
    PrepareLocalArena(wiped, *request);
  }
  RecordFlags flags = 0;
  if (!SettleHeapMode(*request, &flags)) return ENOTSUP;
  *id = NextId();
  session->flags = flags;
  session->enabled = true;
  session->all_threads = whole_process;
  session->to_read = *id;
  const uint64_t number =
      own.sessions_started.load(std::memory_order_relaxed) + 1;
  session->number.store(number, std::memory_order_relaxed);
  session->threads_outside.store(0, std::memory_order_relaxed);
  session->id.store(*id, std::memory_order_relaxed);
  // release: a thread that sees the number sees the session.
  own.sessions_started.store(number, std::memory_order_release);
  if (whole_process) {
    // Before the chunks: a thread that takes one looks again afterwards.
    own.process_session.store(*id, std::memory_order_seq_cst);
    own.arena.Retag(getpid(), kNoSession, *id);
  } else {
    OwnExchangeThreadSession(*id);
  }
  UpdateGates();
  return 0;
}

int OwnStopSession(SessionId id) noexcept {
  Wiped* const wiped = GetWiped();
  if (wiped == nullptr) return EINVAL;
  {
    Lock lock(wiped);
    OwnSession* const session = FindSession(id);
    if (session == nullptr) return EINVAL;
    session->id.store(kNoSession, std::memory_order_relaxed);
    SessionId process_session = id;
    own.process_session.compare_exchange_strong(process_session, kNoSession,
                                                std::memory_order_seq_cst);
    if (own_thread.session == id) OwnExchangeThreadSession(kNoSession);
    UpdateGates();
  }
  StoreNamesOfThreads();
  return 0;
}

int OwnReleaseSession(SessionId id) noexcept {
  Wiped* const wiped = GetWiped();
  if (wiped == nullptr) return EINVAL;
  Lock lock(wiped);
  for (OwnSession& session : own.sessions) {
    if (id == kNoSession || session.to_read != id ||
        session.id.load(std::memory_order_relaxed) == id) {
      continue;
    }
    // Under the lock, so that no session starts between the two: a chunk that
    // holds what a session has to read is never without a session.
    own.arena.Retag(getpid(), id, NextToRead(session));
    session.to_read = kNoSession;
    return 0;
  }
  return EINVAL;
}

int OwnSetSessionEnabled(SessionId id, int enabled) noexcept {
  Wiped* const wiped = GetWiped();
  if (wiped == nullptr) return EINVAL;
  Lock lock(wiped);
  OwnSession* const session = FindSession(id);
  if (session == nullptr) return EINVAL;
  session->enabled = enabled != 0;
  UpdateGates();
  return 0;
}

uint32_t OwnThreadsOutside(SessionId id) noexcept {
  Wiped* const wiped = GetWiped();
  if (wiped == nullptr || id == kNoSession) return 0;
  Lock lock(wiped);
  for (const OwnSession& session : own.sessions) {
    if (session.to_read != id) continue;
    return session.threads_outside.load(std::memory_order_relaxed);
  }
  return 0;
}

SessionId OwnSessionOf(const Slot* slot, uint64_t ticket) noexcept {
  // The arena maps its chunks in one piece.
  const uint64_t offset = reinterpret_cast<uint64_t>(slot) -
                          reinterpret_cast<uint64_t>(own.arena.slots(0));
  const ChunkWord& word =
      own.arena.word(static_cast<uint32_t>(offset / kChunkBytes));
  // If the chunk has been reused, it belonged to a collector or to a session
  // that is over. The record's own chunk is gone either way.
  if (word.ticket.load(std::memory_order_relaxed) != ticket) return kNoSession;
  const SessionId session = word.session.load(std::memory_order_relaxed);
  // Every thread is in the process's session. Of a session that is over, nobody
  // wants more.
  return session == own.process_session.load(std::memory_order_relaxed) ||
                 !SessionIsLive(session)
             ? kNoSession
             : session;
}

}  // namespace kymo::record
