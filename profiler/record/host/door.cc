#include "profiler/record/host/door.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "profiler/base/descriptor.h"
#include "profiler/base/signals_blocked.h"
#include "profiler/record/host/door_protocol.h"
#include "profiler/record/host/live_sessions.h"
#include "profiler/record/host/own_host.h"
#include "profiler/record/host/own_process.h"
#include "profiler/record/host/sessions.h"
#include "profiler/record/host/thread_streams.h"
#include "profiler/record/own_threads.h"

namespace kymo::record {
namespace {

constexpr size_t kStackBytes = 128 * 1024;

// The same user, or root. A program that hides its memory from its user
// (PR_SET_DUMPABLE) is root's.
bool MayRecord(const KeptDescriptor& peer) noexcept {
  ucred who = {};
  socklen_t size = sizeof(who);
  if (getsockopt(peer.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) {
    return false;
  }
  if (who.uid == 0) return true;
  return who.uid == geteuid() && prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1;
}

// False if nothing came in time, or no message of this protocol.
bool Receive(const KeptDescriptor& peer, DoorMessage* message) noexcept {
  pollfd waits = {.fd = peer.get(), .events = POLLIN, .revents = 0};
  if (waits.fd < 0 || poll(&waits, 1, kDoorWaitMs) != 1) return false;
  return recv(peer.get(), message, sizeof(*message), MSG_DONTWAIT) ==
             sizeof(*message) &&
         message->magic == kDoorMagic;
}

// `fd`: goes along; negative: none.
void Answer(const KeptDescriptor& peer, const DoorMessage& answer,
            int fd = -1) noexcept {
  iovec text = {.iov_base = const_cast<DoorMessage*>(&answer),
                .iov_len = sizeof(answer)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &fd, sizeof(int));
  }
  (void)sendmsg(peer.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Answer(const KeptDescriptor& peer, DoorAnswer answer) noexcept {
  Answer(peer, {.answer = answer});
}

// What stands against a recording. REQUIRES: the lock.
DoorAnswer Obstacle() noexcept {
  if (AnySessionToRead()) return DoorAnswer::kOwnSession;
  if (own.is_claimed) return DoorAnswer::kRecorded;
  if (own.has_collector.load(std::memory_order_relaxed)) {
    return DoorAnswer::kStartedByKymo;
  }
  return DoorAnswer::kYes;
}

DoorMessage Claim() noexcept {
  DoorMessage answer;
  answer.watches_heap = dlsym(RTLD_DEFAULT, "kymo_heap_hooks_v1") != nullptr;
  Wiped* const wiped = GetWiped();
  if (wiped == nullptr) {
    answer.answer = DoorAnswer::kNoMemory;
    answer.error = ENOMEM;
    return answer;
  }
  Lock lock(wiped);
  answer.answer = Obstacle();
  if (answer.answer != DoorAnswer::kYes) return answer;
  answer.error = MakeLocalArena();
  if (answer.error != 0) {
    answer.answer = DoorAnswer::kNoMemory;
  } else if (!own.arena_file.is_set()) {
    answer.answer = DoorAnswer::kPrivateMemory;
  } else if (own.arena_file.get() < 0) {
    answer.answer = DoorAnswer::kNoMemory;
    answer.error = EBADF;
  } else {
    own.is_claimed = true;
  }
  return answer;
}

// Slots in a thread's chunk that were written for an earlier recording. Nobody
// writes there while no recording is live.
uint32_t UsedSlots(const Slot* slots) noexcept {
  uint32_t used = 0;
  while (used < kSlotsPerChunk &&
         slots[used].begin.load(std::memory_order_acquire) != 0) {
    const uint32_t extra = slots[used].extra_slots;
    used += extra < kSlotsPerChunk - used ? 1 + extra : 1;
  }
  return used;
}

// What a command that was killed has left unread in chunks that threads have.
void LeaveOutOld(const Arena& arena) noexcept {
  const uint32_t taken = arena.high_water();
  for (uint32_t chunk = 0; chunk < taken; ++chunk) {
    ChunkWord& word = arena.word(chunk);
    if (OwnerState(word.owner.load(std::memory_order_relaxed)) !=
        ChunkState::kOwned) {
      continue;
    }
    word.read_slots.store(UsedSlots(arena.slots(chunk)),
                          std::memory_order_relaxed);
    word.session.store(kNoSession, std::memory_order_relaxed);
  }
}

DoorAnswer Begin(const DoorMessage& wanted) noexcept {
  Wiped* const wiped = GetWiped();
  Lock lock(wiped);
  if (AnySessionToRead()) return DoorAnswer::kOwnSession;
  // Chunks that threads sealed for sessions that are over.
  own.arena.DiscardSealed();
  LeaveOutOld(own.arena);
  own.arena.SetLimits(wanted.chunk_bytes, FullPolicy::kDrain);
  ArenaHeader& header = own.arena.header();
  header.heap_sample_interval.store(wanted.heap_sample_interval,
                                    std::memory_order_relaxed);
  header.record_flags.store(wanted.record_flags & kAllRecordFlags,
                            std::memory_order_relaxed);
  wiped->mappings_recorded.store(0, std::memory_order_relaxed);
  RegisterProcess(wiped);
  header.recording.store(1, std::memory_order_relaxed);
  own.has_collector.store(true, std::memory_order_relaxed);
  UpdateGates();
  return DoorAnswer::kYes;
}

void End() noexcept {
  Lock lock(GetWiped());
  own.arena.header().recording.store(0, std::memory_order_relaxed);
  own.has_collector.store(false, std::memory_order_relaxed);
  UpdateGates();
}

// Frees what the command has left, perhaps unread: it may have been killed
// within any step. Chunks in which threads write stay with these.
void GiveBack() noexcept {
  Wiped* const wiped = GetWiped();
  Lock lock(wiped);
  own.is_claimed = false;
  // A session of the program's own has begun meanwhile: it may have chunks.
  const bool may_discard = !AnySessionToRead();
  const Arena& arena = own.arena;
  const uint32_t taken = arena.high_water();
  for (uint32_t chunk = 0; chunk < taken; ++chunk) {
    ChunkWord& word = arena.word(chunk);
    uint64_t owner = word.owner.load(std::memory_order_relaxed);
    if (OwnerState(owner) == ChunkState::kReading ||
        (may_discard && arena.BeginReading(chunk))) {
      arena.FreeChunk(chunk);
    }
    owner = PackOwner(ChunkState::kFree, 0);
    if (word.owner.compare_exchange_strong(
            owner, PackOwner(ChunkState::kReading, 0),
            std::memory_order_acquire, std::memory_order_relaxed)) {
      // They then read as zeros.
      madvise(arena.slots(chunk), kChunkBytes, MADV_REMOVE);
      word.owner.store(PackOwner(ChunkState::kFree, 0),
                       std::memory_order_release);
    }
  }
  arena.RecountFree();
  memset(wiped->populated, 0, sizeof(wiped->populated));
}

// None, and errno, if nobody could be let in.
KeptDescriptor Accept(const KeptDescriptor& door) noexcept {
  return KeptDescriptor(AboveStandardStreams(
      accept4(door.get(), nullptr, nullptr, SOCK_CLOEXEC)));
}

// Tells others that knock meanwhile. Returns false when the command has left.
bool WaitForCommand(const KeptDescriptor& peer, const KeptDescriptor& door,
                    DoorMessage* message) noexcept {
  for (;;) {
    pollfd waits[2] = {{.fd = peer.get(), .events = POLLIN, .revents = 0},
                       {.fd = door.get(), .events = POLLIN, .revents = 0}};
    if (waits[0].fd < 0) return false;
    // Not for ever: if the program closes the peer's descriptor, and opens a
    // file of its own under that number, poll() waits for that file.
    const int ready = poll(waits, 2, kDoorWaitMs);
    if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
    if (ready < 0) return false;
    if (waits[0].revents != 0) return Receive(peer, message);
    KeptDescriptor other = Accept(door);
    if (!other.is_set()) {
      // As in RunDoor, but for the command.
      poll(waits, 1, 1000);
      continue;
    }
    if (MayRecord(other) && Receive(other, message)) {
      Answer(other, DoorAnswer::kRecorded);
    }
    other.Close();
  }
}

void Serve(const KeptDescriptor& peer, const KeptDescriptor& door) noexcept {
  if (!MayRecord(peer)) return Answer(peer, DoorAnswer::kNotPermitted);
  DoorMessage message;
  if (!Receive(peer, &message)) return;
  if (message.protocol != kDoorProtocol || message.layout != kLayoutVersion) {
    return Answer(peer, DoorAnswer::kOtherVersion);
  }
  if (message.request != DoorRequest::kClaim) {
    return Answer(peer, DoorAnswer::kNotUnderstood);
  }
  const DoorMessage claimed = Claim();
  if (claimed.answer != DoorAnswer::kYes) return Answer(peer, claimed);
  Answer(peer, claimed, own.arena_file.get());
  while (WaitForCommand(peer, door, &message)) {
    if (message.request == DoorRequest::kBegin) {
      Answer(peer, Begin(message));
    } else if (message.request == DoorRequest::kEnd) {
      End();
      Answer(peer, DoorAnswer::kYes);
    } else {
      Answer(peer, DoorAnswer::kNotUnderstood);
    }
  }
  End();
  GiveBack();
}

KeptDescriptor OwnDoor() noexcept {
  Lock lock(GetWiped());
  return own.door;
}

void SetKnocker(const KeptDescriptor& peer) noexcept {
  Lock lock(GetWiped());
  own.knocker = peer;
}

void* RunDoor(void*) {
  const KeptDescriptor door = OwnDoor();
  prctl(PR_SET_NAME, kDoorThread, 0, 0, 0);
  OwnSetThreadPaused(1);
  while (door.get() >= 0) {
    KeptDescriptor peer = Accept(door);
    if (!peer.is_set()) {
      // The program has no descriptor left, say. It is not this thread's to
      // fill a CPU until it has.
      const timespec pause = {.tv_sec = 1, .tv_nsec = 0};
      if (errno != EINTR && errno != ECONNABORTED) nanosleep(&pause, nullptr);
      continue;
    }
    SetKnocker(peer);
    Serve(peer, door);
    peer.Close();
    SetKnocker({});
  }
  return nullptr;
}

// The first name that is free: each host of the process has one.
int Bind(int door) noexcept {
  for (int index = 0; index < kMostDoors; ++index) {
    const DoorAddress address = AddressOfDoor(getpid(), index);
    if (bind(door, address.pointer(), address.size) == 0) return 0;
    if (errno != EADDRINUSE) break;
  }
  return errno;
}

int StartThread() noexcept {
  pthread_attr_t attributes;
  int error = pthread_attr_init(&attributes);
  if (error != 0) return error;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  const SignalsBlocked blocked;
  pthread_t thread;
  pthread_attr_setstacksize(&attributes, kStackBytes);
  error = pthread_create(&thread, &attributes, RunDoor, nullptr);
  if (error == EINVAL) {
    // A program with much thread-local data has no room on a small stack.
    error = pthread_create(&thread, nullptr, RunDoor, nullptr);
    if (error == 0) pthread_detach(thread);
  }
  pthread_attr_destroy(&attributes);
  return error;
}

// REQUIRES: the lock.
int Open() noexcept {
  own.door = KeptDescriptor(
      AboveStandardStreams(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)));
  const int door = own.door.get();
  if (door < 0) return errno;
  int error = Bind(door);
  if (error == 0 && listen(door, 4) != 0) error = errno;
  if (error == 0) error = StartThread();
  if (error != 0) own.door.Close();
  return error;
}

}  // namespace

int OwnOpenDoor() noexcept {
  MakeExitKey();
  Wiped* const wiped = GetWiped();
  if (wiped == nullptr) return ENOMEM;
  Lock lock(wiped);
  if (own.door.is_set()) return 0;
  const bool is_private = own.arena.valid() && !own.arena_file.is_set() &&
                          !own.arena_is_parents &&
                          !own.has_collector.load(std::memory_order_relaxed);
  if (is_private) return EBUSY;
  if (!RegisterForkHandler()) return ENOMEM;
  own.wants_door = false;
  const int saved_errno = errno;
  const int error = Open();
  errno = saved_errno;
  return error;
}

}  // namespace kymo::record
