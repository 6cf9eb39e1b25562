#include "profiler/record/host.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18  // Linux 4.14
#endif

namespace kymo::record {

constinit Gate gate = {{kGateUnresolved}, nullptr};
constinit thread_local ThreadStream* thread_stream = nullptr;

namespace {

constexpr size_t kMaxTrackedChunks = 1u << 16;
constexpr uint64_t kSmallestLocalCapacity = uint64_t{64} << 20;
constexpr size_t kStreamsPerSlab = 16;
constexpr size_t kThreadNameBytes = 64;

// What must not survive a fork: zeroed in the child by the kernel. A lock that
// another thread held at the fork is free there, lists are empty.
struct Wiped {
  std::atomic<uint32_t> lock;
  uint32_t process_registered;
  ThreadStream* free_streams;
  ThreadStream* slab_next;
  ThreadStream* slab_end;
  // Chunks whose pages this process has made present.
  uint64_t populated[kMaxTrackedChunks / 64];
};

enum class Owner : uint32_t { kNobody, kCollector, kThisProcess };

// This copy's own host. Survives a fork as it is.
struct OwnState {
  std::atomic<Wiped*> wiped;
  std::atomic<Owner> owner;
  // `arena` is set once, before this is.
  std::atomic<bool> has_arena;
  Arena arena;
  Gate* gates;
  pthread_key_t exit_key;
  bool has_exit_key;
  bool has_fork_handler;
  uint32_t gate_state;
};
constinit OwnState own = {};
constinit std::atomic<const HostApi*> chosen_host = nullptr;

constinit thread_local ThreadStream* own_stream
    __attribute__((tls_model("initial-exec"))) = nullptr;
constinit thread_local char own_thread_name[kThreadNameBytes]
    __attribute__((tls_model("initial-exec"))) = {};
constinit thread_local uint32_t own_thread_name_size
    __attribute__((tls_model("initial-exec"))) = 0;

void* MapWiped(size_t bytes) noexcept {
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  if (madvise(mapped, bytes, MADV_WIPEONFORK) != 0) {
    // Without it a fork would let parent and child write into one chunk.
    munmap(mapped, bytes);
    return nullptr;
  }
  return mapped;
}

// Null when memory is short; recording then drops everything.
Wiped* GetWiped() noexcept {
  Wiped* wiped = own.wiped.load(std::memory_order_acquire);
  if (wiped != nullptr) return wiped;
  Wiped* const made = static_cast<Wiped*>(MapWiped(sizeof(Wiped)));
  if (made == nullptr) return nullptr;
  if (own.wiped.compare_exchange_strong(wiped, made,
                                        std::memory_order_acq_rel)) {
    return made;
  }
  munmap(made, sizeof(Wiped));
  return wiped;
}

// How many locks and slow paths this thread is in: a signal handler that
// interrupts them finds no slots instead of waiting for itself.
constinit thread_local uint32_t own_busy
    __attribute__((tls_model("initial-exec"))) = 0;

class Busy {
 public:
  Busy() noexcept {
    ++own_busy;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~Busy() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    --own_busy;
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;
};

class Lock {
 public:
  explicit Lock(Wiped* wiped) noexcept : wiped_(wiped) {
    for (int tries = 0;
         wiped_->lock.exchange(1, std::memory_order_acquire) != 0; ++tries) {
      // Sleeping lets a holder of lower priority run, too.
      const timespec pause = {0, tries < 16 ? 0 : 50'000};
      nanosleep(&pause, nullptr);
    }
  }
  ~Lock() { wiped_->lock.store(0, std::memory_order_release); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  Busy busy_;
  Wiped* wiped_;
};

// --- processes and threads ---

int32_t ThreadId() noexcept {
  return static_cast<int32_t>(syscall(SYS_gettid));
}

size_t ReadFile(const char* path, char* to, size_t size) noexcept {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t got = read(fd, to, size);
  close(fd);
  return got > 0 ? static_cast<size_t>(got) : 0;
}

void RegisterProcess(Wiped* wiped) noexcept {
  if (wiped->process_registered != 0) return;
  wiped->process_registered = 1;
  ProcessEntry* const entry = own.arena.AddProcess();
  if (entry == nullptr) return;
  entry->parent_pid = getppid();
  entry->attach_monotonic_ns = MonotonicNs();
  const size_t name_size =
      ReadFile("/proc/self/comm", entry->name, sizeof(entry->name) - 1);
  if (name_size > 0 && entry->name[name_size - 1] == '\n') {
    entry->name[name_size - 1] = '\0';
  }
  ReadFile("/proc/self/cmdline", entry->command_line,
           sizeof(entry->command_line) - 1);
  entry->pid.store(getpid(), std::memory_order_release);
}

void StoreThreadName(StreamEntry& entry) noexcept {
  char name[16] = {};
  if (prctl(PR_GET_NAME, name) != 0) return;
  uint64_t words[2];
  memcpy(words, name, sizeof(words));
  entry.name[0].store(words[0], std::memory_order_relaxed);
  entry.name[1].store(words[1], std::memory_order_relaxed);
}

void StoreExplicitName(StreamEntry& entry) noexcept {
  if (own_thread_name_size == 0) return;
  const uint32_t id =
      own.arena.InternName({own_thread_name, own_thread_name_size});
  entry.explicit_name.store(uint64_t{id} + 1, std::memory_order_relaxed);
}

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

void SealOwnChunk(ThreadStream* stream) noexcept {
  if (stream->ticket == 0) return;
  own.arena.SealChunk(stream->chunk);
  stream->ticket = 0;
}

// The thread's last word; runs as a pthread key's destructor.
void OnThreadExit(void* value) {
  ThreadStream* const stream = static_cast<ThreadStream*>(value);
  own_stream = nullptr;
  for (ThreadStream** const cache : stream->caches) {
    if (cache != nullptr) *cache = nullptr;
  }
  if (stream->stream_plus_1 != 0) {
    StoreThreadName(own.arena.stream(stream->stream_plus_1 - 1));
  }
  SealOwnChunk(stream);
  memset(static_cast<void*>(stream), 0, sizeof(*stream));
  Wiped* const wiped = GetWiped();
  Lock lock(wiped);
  stream->next_free = wiped->free_streams;
  wiped->free_streams = stream;
}

bool Register(Wiped* wiped, ThreadStream* stream) noexcept {
  {
    Lock lock(wiped);
    if (own.owner.load(std::memory_order_relaxed) == Owner::kCollector) {
      RegisterProcess(wiped);
    }
  }
  const uint32_t id = own.arena.AddStream(getpid(), ThreadId());
  if (id == Arena::kNoStream) return false;
  stream->stream_plus_1 = id + 1;
  stream->clock_source = own.arena.clock_source();
  StoreExplicitName(own.arena.stream(id));
  return true;
}

void RememberCache(ThreadStream* stream, ThreadStream** cache) noexcept {
  for (ThreadStream**& known : stream->caches) {
    if (known == cache) return;
    if (known == nullptr) {
      known = cache;
      return;
    }
  }
}

// --- gates ---

// REQUIRES: the lock is held.
void SetGates(uint32_t state) noexcept {
  own.gate_state = state;
  for (Gate* g = own.gates; g != nullptr; g = g->next) {
    g->state.store(state, std::memory_order_relaxed);
  }
}

void OwnAddGate(Gate* added) noexcept {
  Wiped* const wiped = GetWiped();
  if (wiped == nullptr) {
    added->state.store(kGateOff, std::memory_order_relaxed);
    return;
  }
  Lock lock(wiped);
  for (Gate* g = own.gates; g != nullptr; g = g->next) {
    if (g == added) return;
  }
  added->next = own.gates;
  own.gates = added;
  added->state.store(own.gate_state, std::memory_order_relaxed);
}

// --- the slow path of taking slots ---

void PopulateOnce(Wiped* wiped, uint32_t chunk) noexcept {
  if (chunk >= kMaxTrackedChunks) return;
  uint64_t& word = wiped->populated[chunk / 64];
  const uint64_t bit = uint64_t{1} << (chunk % 64);
  if (__atomic_fetch_or(&word, bit, __ATOMIC_RELAXED) & bit) return;
  own.arena.Populate(chunk, 1);
}

// A collector has stopped listening: this process outlived its recording.
bool CollectorLeft(Wiped* wiped) noexcept {
  if (own.owner.load(std::memory_order_relaxed) != Owner::kCollector ||
      own.arena.header().recording.load(std::memory_order_relaxed) != 0) {
    return false;
  }
  Lock lock(wiped);
  SetGates(kGateOff);
  return true;
}

Slot* Refill(Wiped* wiped, ThreadStream* stream, uint32_t count) noexcept {
  // From here until `limit` is set again a signal handler finds no slots.
  stream->limit = nullptr;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (CollectorLeft(wiped)) return nullptr;
  if (stream->stream_plus_1 == 0 && !Register(wiped, stream)) {
    own.arena.header().events_without_stream.fetch_add(
        1, std::memory_order_relaxed);
    return nullptr;
  }
  StreamEntry& entry = own.arena.stream(stream->stream_plus_1 - 1);
  stream->cursor = nullptr;
  // Where nobody drains, the old chunk is kept until there is a new one: the
  // ranges that are open in it can still end there.
  const bool drained = own.arena.policy() == FullPolicy::kDrain;
  if (drained) SealOwnChunk(stream);
  uint64_t ticket = 0;
  const uint32_t chunk =
      count <= kSlotsPerChunk
          ? own.arena.AcquireChunk(stream->stream_plus_1 - 1, &ticket)
          : kNoChunk;
  if (chunk == kNoChunk) {
    entry.dropped.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  SealOwnChunk(stream);
  PopulateOnce(wiped, chunk);
  StoreThreadName(entry);
  Slot* const first = own.arena.slots(chunk);
  stream->chunk = chunk;
  stream->ticket = ticket;
  stream->cursor = first + count;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  stream->limit = first + kSlotsPerChunk;
  return first;
}

// This thread's stream, made on the first call; null when memory is short.
ThreadStream* OwnStream(Wiped* wiped) noexcept {
  if (own_stream != nullptr) return own_stream;
  ThreadStream* const stream = NewStream(wiped);
  if (stream == nullptr) {
    own.arena.header().events_without_stream.fetch_add(
        1, std::memory_order_relaxed);
    return nullptr;
  }
  own_stream = stream;
  if (own.has_exit_key) pthread_setspecific(own.exit_key, stream);
  return stream;
}

Slot* OwnTakeSlots(ThreadStream** cache, uint32_t count) noexcept {
  // acquire: pairs with the store that follows the arena's making.
  if (!own.has_arena.load(std::memory_order_acquire)) return nullptr;
  if (InSlowPath()) return nullptr;
  const int saved_errno = errno;
  Slot* slot = nullptr;
  {
    Busy busy;
    Wiped* const wiped = GetWiped();
    ThreadStream* const stream = wiped ? OwnStream(wiped) : nullptr;
    if (stream != nullptr) {
      RememberCache(stream, cache);
      // Another copy of the library may have slots left for this thread.
      if (*cache != stream) {
        *cache = stream;
        slot = TakeSlots(stream, count);
        if (slot + count > stream->limit) slot = nullptr;
      }
      if (slot == nullptr) slot = Refill(wiped, stream, count);
    }
  }
  errno = saved_errno;
  return slot;
}

uint32_t OwnIntern(const char* text, uint64_t size) noexcept {
  return own.arena.InternName({text, size});
}

void OwnSetThreadName(const char* text, uint64_t size) noexcept {
  const size_t kept = size < kThreadNameBytes ? size : kThreadNameBytes;
  memcpy(own_thread_name, text, kept);
  own_thread_name_size = static_cast<uint32_t>(kept);
  const ThreadStream* const stream = own_stream;
  if (stream != nullptr && stream->stream_plus_1 != 0) {
    StoreExplicitName(own.arena.stream(stream->stream_plus_1 - 1));
  }
}

void OwnCountTruncated() noexcept {
  own.arena.header().texts_truncated.fetch_add(1, std::memory_order_relaxed);
}

// --- sessions of this process ---

// A forked child is not part of its parent's in-process session: the arena is
// private memory there, and nobody would read it.
void AfterForkInChild() {
  if (own.owner.load(std::memory_order_relaxed) != Owner::kThisProcess) return;
  own.owner.store(Owner::kNobody, std::memory_order_relaxed);
  Wiped* const wiped = GetWiped();
  Lock lock(wiped);
  SetGates(kGateOff);
}

int MakeLocalArena() noexcept {
  if (own.arena.valid()) return 0;
  ArenaOptions options;
  options.clock_source = DetectClockSource();
  // Less where the process's address space is limited.
  for (uint64_t bytes = kLocalCapacityBytes; bytes >= kSmallestLocalCapacity;
       bytes /= 2) {
    options.capacity_bytes = bytes;
    own.arena = Arena::CreateAnonymous(options);
    if (own.arena.valid()) {
      own.has_arena.store(true, std::memory_order_release);
      return 0;
    }
  }
  return errno;
}

int OwnStartLocal(const ArenaOptions* options) noexcept {
  Wiped* const wiped = GetWiped();
  if (wiped == nullptr) return ENOMEM;
  Lock lock(wiped);
  switch (own.owner.load(std::memory_order_relaxed)) {
    case Owner::kCollector:
      return EPERM;
    case Owner::kThisProcess:
      return EBUSY;
    case Owner::kNobody:
      break;
  }
  if (const int error = MakeLocalArena(); error != 0) return error;
  if (!own.has_fork_handler) {
    own.has_fork_handler =
        pthread_atfork(nullptr, nullptr, AfterForkInChild) == 0;
  }
  own.arena.SetLimits(options->chunk_bytes_total, options->policy);
  // The first chunks' pages, so that the first records do not pay for them.
  for (uint32_t chunk = 0; chunk < 64; ++chunk) PopulateOnce(wiped, chunk);
  own.owner.store(Owner::kThisProcess, std::memory_order_relaxed);
  SetGates(kGateOn);
  return 0;
}

int OwnStopLocal() noexcept {
  Wiped* const wiped = GetWiped();
  if (wiped == nullptr) return EINVAL;
  Lock lock(wiped);
  if (own.owner.load(std::memory_order_relaxed) != Owner::kThisProcess) {
    return EINVAL;
  }
  SetGates(kGateOff);
  own.owner.store(Owner::kNobody, std::memory_order_relaxed);
  return 0;
}

const Arena* OwnLocalArena() noexcept {
  return own.has_arena.load(std::memory_order_acquire) ? &own.arena : nullptr;
}

constinit const HostApi own_api = {
    .version = kLayoutVersion,
    .size = sizeof(HostApi),
    .take_slots = OwnTakeSlots,
    .intern = OwnIntern,
    .add_gate = OwnAddGate,
    .set_thread_name = OwnSetThreadName,
    .count_truncated = OwnCountTruncated,
    .start_local = OwnStartLocal,
    .stop_local = OwnStopLocal,
    .local_arena = OwnLocalArena,
};

// --- choosing a host ---

const HostApi* RuntimeHost() noexcept {
  using GetHost = const HostApi* (*)();
  void* const symbol = dlsym(RTLD_DEFAULT, "kymo_host_v1");
  if (symbol == nullptr) return nullptr;
  const HostApi* const api = reinterpret_cast<GetHost>(symbol)();
  if (api == nullptr || api->version != kLayoutVersion ||
      api->size < sizeof(HostApi)) {
    return nullptr;
  }
  return api;
}

void MakeExitKey() noexcept {
  Wiped* const wiped = GetWiped();
  if (wiped == nullptr) return;
  Lock lock(wiped);
  if (own.has_exit_key) return;
  own.has_exit_key = pthread_key_create(&own.exit_key, OnThreadExit) == 0;
}

// The library that holds this copy stays loaded: its gate, its thread-locals,
// its exit handler and its literals' addresses are in use from here on.
void StayLoaded() noexcept {
  Dl_info self;
  if (dladdr(&gate, &self) == 0 || self.dli_fname == nullptr) return;
  // Fails for the program itself, which is never unloaded.
  dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

const HostApi& Choose() noexcept {
  const int saved_errno = errno;
  const Busy busy;
  StayLoaded();
  const HostApi* host = RuntimeHost();
  if (host == nullptr) {
    MakeExitKey();
    if (const char* const path = getenv(kArenaVariable)) {
      AttachToCollector(path);
    }
    host = &own_api;
  }
  const HostApi* expected = nullptr;
  if (!chosen_host.compare_exchange_strong(expected, host,
                                           std::memory_order_acq_rel)) {
    host = expected;
  }
  host->add_gate(&gate);
  errno = saved_errno;
  return *host;
}

}  // namespace

const HostApi& Host() noexcept {
  const HostApi* const host = chosen_host.load(std::memory_order_acquire);
  return host != nullptr ? *host : Choose();
}

const HostApi* OwnHost() noexcept { return &own_api; }

int AttachToCollector(const char* path) noexcept {
  MakeExitKey();
  Wiped* const wiped = GetWiped();
  if (wiped == nullptr) return ENOMEM;
  Lock lock(wiped);
  if (own.owner.load(std::memory_order_relaxed) != Owner::kNobody) return 0;
  const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (fd < 0) return errno;
  own.arena = Arena::Attach(fd);
  const int error = own.arena.valid() ? 0 : errno;
  close(fd);
  if (error != 0) return error;
  own.has_arena.store(true, std::memory_order_release);
  own.owner.store(Owner::kCollector, std::memory_order_relaxed);
  RegisterProcess(wiped);
  SetGates(own.arena.header().recording.load(std::memory_order_relaxed) != 0
               ? kGateOn
               : kGateOff);
  return 0;
}

bool InSlowPath() noexcept {
  if (own_busy == 0) return false;
  if (own.has_arena.load(std::memory_order_acquire)) {
    own.arena.header().dropped_in_handlers.fetch_add(1,
                                                     std::memory_order_relaxed);
  }
  return true;
}

bool IsRecording() noexcept {
  if (gate.state.load(std::memory_order_relaxed) == kGateUnresolved) Host();
  return gate.state.load(std::memory_order_relaxed) == kGateOn;
}

int StartLocal(const ArenaOptions& options) noexcept {
  return Host().start_local(&options);
}

int StopLocal() noexcept { return Host().stop_local(); }

const Arena* LocalArena() noexcept { return Host().local_arena(); }

}  // namespace kymo::record
