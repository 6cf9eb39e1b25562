#include "profiler/record/host/host.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "profiler/base/descriptor.h"
#include "profiler/record/host/copies.h"
#include "profiler/record/host/door.h"
#include "profiler/record/host/door_protocol.h"
#include "profiler/record/host/live_sessions.h"
#include "profiler/record/host/mappings.h"
#include "profiler/record/host/open_door.h"
#include "profiler/record/host/own_host.h"
#include "profiler/record/host/own_process.h"
#include "profiler/record/host/sessions.h"
#include "profiler/record/host/thread_names.h"
#include "profiler/record/host/thread_streams.h"
#include "profiler/record/host/threads_outside.h"

namespace kymo::record {

constinit Gate gate = {{kGateUnresolved}, nullptr};

namespace {

// The host that this copy has chosen, set once it knows this copy's gate. A
// thread that used the host before that would find the gate unresolved, and
// nothing on.
constinit std::atomic<const HostApi*> ready_host = nullptr;

void OwnAddGate(Gate* added) noexcept {
  Wiped* const wiped = GetWiped();
  if (wiped == nullptr) {
    added->state.fetch_and(kGateObserved, std::memory_order_relaxed);
    return;
  }
  bool opens_door = false;
  {
    Lock lock(wiped);
    Gate* known = own.gates;
    while (known != nullptr && known != added) known = known->next;
    if (known == nullptr) {
      added->next = own.gates;
      own.gates = added;
    }
    opens_door = own.wants_door;
    own.wants_door = false;
    UpdateGates();
  }
  if (opens_door) (void)OwnOpenDoor();
}

uint32_t OwnIntern(const char* text, uint64_t size) noexcept {
  return own.arena.InternName({text, size});
}

const Arena* OwnArena() noexcept {
  return own.has_arena.load(std::memory_order_acquire) ? &own.arena : nullptr;
}

uint64_t OwnCaptureStack(const void* frame, uint64_t* pcs,
                         uint64_t max) noexcept {
  const StackCapture capture =
      own.stack_capture.load(std::memory_order_relaxed);
  if (capture == nullptr) return 0;
  const uint64_t count = capture(frame, pcs, max);
  // Tell a collector once where the process's code is.
  if (own.has_collector.load(std::memory_order_relaxed)) {
    Wiped* const wiped = GetWiped();
    if (wiped != nullptr &&
        wiped->mappings_recorded.load(std::memory_order_relaxed) == 0 &&
        wiped->mappings_recorded.exchange(1, std::memory_order_relaxed) == 0) {
      RecordMappings();
    }
  }
  return count;
}

void OwnSetStackCapture(StackCapture capture) noexcept {
  StackCapture expected = nullptr;
  if (capture == nullptr) {
    own.stack_capture.store(nullptr, std::memory_order_relaxed);
  } else {
    own.stack_capture.compare_exchange_strong(expected, capture,
                                              std::memory_order_relaxed);
  }
}

void OwnSetNodeId(int64_t node_id) noexcept {
  own.node_number.store(node_id + 1, std::memory_order_relaxed);
  Wiped* const wiped = GetWiped();
  if (wiped == nullptr) return;  // then nothing is recorded
  Lock lock(wiped);
  UpdateGates();
}

int64_t OwnNodeId() noexcept {
  return own.node_number.load(std::memory_order_relaxed) - 1;
}

constinit const HostApi own_api = {
    .version = kHostVersion,
    .size = sizeof(HostApi),
    .take_slots = OwnTakeSlots,
    .intern = OwnIntern,
    .add_gate = OwnAddGate,
    .set_thread_name = OwnSetThreadName,
    .count_truncated = OwnCountTruncated,
    .logical_thread_id = OwnLogicalThreadId,
    .set_thread_paused = OwnSetThreadPaused,
    .start_session = OwnStartSession,
    .stop_session = OwnStopSession,
    .set_session_enabled = OwnSetSessionEnabled,
    .thread_session = OwnThreadSession,
    .exchange_thread_session = OwnExchangeThreadSession,
    .session_of = OwnSessionOf,
    .capture_stack = OwnCaptureStack,
    .set_stack_capture = OwnSetStackCapture,
    .arena = OwnArena,
    .name_thread = OwnNameThread,
    .release_session = OwnReleaseSession,
    .set_node_id = OwnSetNodeId,
    .node_id = OwnNodeId,
    .open_door = OwnOpenDoor,
    .threads_outside = OwnThreadsOutside,
};

// --- choosing a host ---

const HostApi* RuntimeHost() noexcept {
  using GetHost = const HostApi* (*)();
  void* const symbol = dlsym(RTLD_DEFAULT, "kymo_host_v1");
  if (symbol == nullptr) return nullptr;
  const HostApi* const api = reinterpret_cast<GetHost>(symbol)();
  if (api == nullptr || api->version != kHostVersion ||
      api->size < sizeof(HostApi)) {
    return nullptr;
  }
  return api;
}

// The library that holds this copy stays loaded: its gate, its thread-locals,
// its exit handler and its literals' addresses are in use from here on.
void StayLoaded() noexcept {
  Dl_info self;
  if (dladdr(&gate, &self) == 0 || self.dli_fname == nullptr) return;
  // The program itself is never unloaded, and the loader would not open it.
  constexpr uint64_t kPage = 4096;
  if (reinterpret_cast<uint64_t>(self.dli_fbase) ==
      getauxval(AT_PHDR) / kPage * kPage) {
    return;
  }
  dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

const HostApi& Choose() noexcept {
  // True for a signal handler while this thread is choosing: it cannot wait for
  // itself.
  if (own_thread.busy != 0) {
    const HostApi* const host = ChosenHost();
    return host != nullptr ? *host : own_api;
  }
  const int saved_errno = errno;
  const Busy busy;
  const HostApi* host = RuntimeHost();
  // The runtime is linked to stay loaded. It may also run before libc is
  // initialised; a dlopen would then initialise libc without the program's
  // arguments.
  if (host != &own_api) StayLoaded();
  if (host == nullptr) host = HostOfCopies();
  if (host == nullptr) {
    MakeExitKey();
    // A set-uid program must not use memory that its caller names.
    if (const char* const path = secure_getenv(kArenaVariable)) {
      AttachToCollector(path);
    }
    host = OfferHost(&own_api);
  }
  host = SetHost(host);
  host->add_gate(&gate);
  ready_host.store(host, std::memory_order_release);
  errno = saved_errno;
  return *host;
}

// In each copy: a program may never call the others before somebody knocks.
__attribute__((constructor)) void OpenDoorAtStart() { (void)OpenDoorIfAsked(); }

}  // namespace

const HostApi& Host() noexcept {
  const HostApi* const host = ready_host.load(std::memory_order_acquire);
  if (host == nullptr) return Choose();
  // A forked child, whose parent had a door (sessions.h).
  if ((gate.state.load(std::memory_order_relaxed) & kGateUnresolved) != 0 &&
      own_thread.busy == 0) {
    host->add_gate(&gate);
  }
  return *host;
}

const HostApi* OwnHost() noexcept { return &own_api; }

int AttachToCollector(const char* path) noexcept {
  MakeExitKey();
  Wiped* const wiped = GetWiped();
  if (wiped == nullptr) return ENOMEM;
  Lock lock(wiped);
  if (own.has_arena.load(std::memory_order_relaxed)) return 0;
  const int fd = AboveStandardStreams(
      open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (fd < 0) return errno;
  own.arena = Arena::Attach(fd);
  const int error = own.arena.valid() ? 0 : errno;
  close(fd);
  if (error != 0) return error;
  own.has_arena.store(true, std::memory_order_release);
  own.has_collector.store(true, std::memory_order_relaxed);
  RegisterProcess(wiped);
  UpdateGates();
  return 0;
}

int OpenDoor() noexcept {
  const HostApi& host = Host();
  if (&host != &own_api && &host == RuntimeHost()) {
    // The runtime's function also sets up what captures stacks.
    using Open = int (*)() noexcept;
    void* const symbol = dlsym(RTLD_DEFAULT, "kymo_open_door_v1");
    return symbol == nullptr ? ENOSYS : reinterpret_cast<Open>(symbol)();
  }
  return host.open_door();
}

int OpenDoorIfAsked() noexcept {
  // A set-uid program must not be opened by its caller.
  const char* const wish = secure_getenv(kAttachVariable);
  if (wish == nullptr || wish[0] == '\0' || strcmp(wish, "0") == 0) return 0;
  return OpenDoor();
}

bool IsRecording() noexcept {
  if (gate.state.load(std::memory_order_relaxed) & kGateUnresolved) Host();
  return (gate.state.load(std::memory_order_relaxed) & kGateOn) != 0;
}

void SetObserved(bool observed) noexcept {
  if (observed) {
    gate.state.fetch_or(kGateObserved, std::memory_order_relaxed);
  } else {
    gate.state.fetch_and(~uint32_t{kGateObserved}, std::memory_order_relaxed);
  }
}

void ForgetMappings() noexcept {
  Wiped* const wiped = own.wiped.load(std::memory_order_acquire);
  if (wiped != nullptr) {
    wiped->mappings_recorded.store(0, std::memory_order_relaxed);
  }
}

void SetFileNumberAt(FileNumberAt number_at) noexcept {
  own.file_number_at.store(number_at, std::memory_order_relaxed);
}

uint64_t LogicalThreadId() noexcept { return Host().logical_thread_id(); }

void SetThreadPaused(bool paused) noexcept { Host().set_thread_paused(paused); }

void SetNodeId(int64_t node_id) noexcept { Host().set_node_id(node_id); }

int64_t NodeId() noexcept { return Host().node_id(); }

int StartSession(const SessionRequest& request, SessionId* id) noexcept {
  return Host().start_session(&request, id);
}

RecordFlags HeapMode(uint64_t* sample_interval) noexcept {
  const Arena* const arena = Host().arena();
  const RecordFlags mode =
      gate.state.load(std::memory_order_relaxed) & kHeapModeFlags;
  *sample_interval =
      arena != nullptr && (mode & kGateHeapSampled) != 0
          ? arena->header().heap_sample_interval.load(std::memory_order_relaxed)
          : 0;
  return mode;
}

int StopSession(SessionId id) noexcept { return Host().stop_session(id); }

int ReleaseSession(SessionId id) noexcept { return Host().release_session(id); }

int SetSessionEnabled(SessionId id, bool enabled) noexcept {
  return Host().set_session_enabled(id, enabled);
}

void SetStackCapture(StackCapture capture) noexcept {
  Host().set_stack_capture(capture);
}

SessionId ThreadSession() noexcept { return Host().thread_session(); }

SessionId ExchangeThreadSession(SessionId id) noexcept {
  return Host().exchange_thread_session(id);
}

SessionId SessionOf(const Slot* slot, uint64_t ticket) noexcept {
  return Host().session_of(slot, ticket);
}

uint32_t ThreadsOutside(SessionId id) noexcept {
  return Host().threads_outside(id);
}

const Arena* ProcessArena() noexcept { return Host().arena(); }

}  // namespace kymo::record
