#include "backends/off_cpu/target/wait_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "backends/sampling/target/seccomp_filters.h"
#include "profiler/base/descriptor.h"
#include "profiler/unwind/capture_stack.h"
#include "profiler/unwind/loaded_code.h"

// ThreadSanitizer's, which no other program has.
extern "C" __attribute__((weak)) void __tsan_init();

namespace kymo::off_cpu {

// Asked once: a system call takes longer than all else here. initial-exec,
// because the first access must not allocate.
struct KnownThread {
  int32_t pid = 0;
  int32_t tid = 0;
  uint64_t since_ticks = 0;
};
__attribute__((visibility("hidden"))) constinit thread_local KnownThread known
    __attribute__((tls_model("initial-exec")));

namespace {

constexpr uint32_t kProbes = 16;
// glibc allocates to set the keys behind these.
constexpr pthread_key_t kMostKeys = 32;
// Times `least_ticks`, which is 2 us: 20 ms. The files of a thread's end take
// 50 us to read, which a thread that lives for a shorter time would notice.
constexpr uint64_t kLeastLife = 10'000;

// It would not see the locks that hooks take, and call the program's accesses
// races.
bool HasThreadSanitizer() noexcept { return __tsan_init != nullptr; }

// The ring, or null if the file cannot be read or is not what we expect. The
// system calls are not libc's functions, since programs replace these.
WaitRingHeader* MapRing(const char* path) noexcept {
  const int fd = AboveStandardStreams(static_cast<int>(
      syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC)));
  if (fd < 0) return nullptr;
  struct stat status;
  size_t size = 0;
  void* memory = MAP_FAILED;
  if (fstat(fd, &status) == 0 &&
      status.st_size >= static_cast<off_t>(sizeof(WaitRingHeader))) {
    size = static_cast<size_t>(status.st_size);
    memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  syscall(SYS_close, fd);
  if (memory == MAP_FAILED) return nullptr;
  auto* const ring = static_cast<WaitRingHeader*>(memory);
  if (ring->magic == kWaitRingMagic && ring->version == kWaitRingVersion &&
      ring->cell_count > 0 && WaitRingBytes(ring->cell_count) <= size) {
    return ring;
  }
  munmap(memory, size);
  return nullptr;
}

// A free cell; null if there is none among a few.
WaitCell* Take(WaitCellStates** state) noexcept {
  WaitCellStates* const states = WaitStatesOf(watch.ring);
  const uint32_t first =
      watch.ring->next_cell.fetch_add(1, std::memory_order_relaxed);
  for (uint32_t probe = 0; probe < kProbes; ++probe) {
    const uint32_t index = (first + probe) % watch.cell_count;
    uint32_t expected = kWaitFree;
    // Acquire: the collector read the cell before it freed it.
    if (states[index].compare_exchange_strong(expected, kWaitWriting,
                                              std::memory_order_acquire,
                                              std::memory_order_relaxed)) {
      *state = &states[index];
      return WaitCellsOf(watch.ring, watch.cell_count) + index;
    }
  }
  watch.ring->dropped.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

// The number of this process, in memory that the kernel clears in a child,
// however that is forked.
constinit int32_t* known_pid = nullptr;

constinit pthread_key_t end_key = 0;
constinit bool has_end_key = false;

int32_t ThisThread() noexcept {
  if (known.tid != 0 && known.pid == *known_pid) [[likely]]
    return known.tid;
  const auto tid = static_cast<int32_t>(syscall(SYS_gettid));
  const auto pid = static_cast<int32_t>(syscall(SYS_getpid));
  if (*known_pid == 0) *known_pid = pid;
  // A child of vfork runs in its parent's memory until its exec.
  if (pid == *known_pid) {
    known = {pid, tid, CallTicks()};
    // Any value, so that the key's function is called when the thread ends.
    if (has_end_key) pthread_setspecific(end_key, &known);
  }
  return tid;
}

template <size_t kSize>
void ReadOwnFile(const char* path, char (&text)[kSize]) noexcept {
  const int fd = AboveStandardStreams(static_cast<int>(
      syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC)));
  const long size = fd < 0 ? 0 : syscall(SYS_read, fd, text, kSize - 1);
  if (fd >= 0) syscall(SYS_close, fd);
  text[size > 0 ? size : 0] = '\0';
}

// What the thread does from here to its end, some microseconds, is not in it.
void NoteThreadEnd(void*) noexcept {
  if (!IsWatching()) return;
  if (watch.ring->is_enabled.load(std::memory_order_relaxed) == 0) {
    return StopWatching();
  }
  if (CallTicks() - known.since_ticks < kLeastLife * watch.least_ticks) return;
  const int saved_errno = errno;
  WaitCellStates* state = nullptr;
  if (WaitCell* const cell = Take(&state)) {
    ReadOwnFile("/proc/thread-self/stat", cell->texts.stat);
    ReadOwnFile("/proc/thread-self/io", cell->texts.io);
    ReadOwnFile("/proc/thread-self/schedstat", cell->texts.schedstat);
    timespec on_cpu = {};
    syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &on_cpu);
    cell->begin_ticks = cell->end_ticks = CallTicks();
    cell->object = static_cast<uint64_t>(on_cpu.tv_sec) * 1'000'000'000 +
                   static_cast<uint64_t>(on_cpu.tv_nsec);
    cell->object_is = CallObject::kOther;
    cell->kind = CallKind::kThreadEnd;
    cell->tid = ThisThread();
    cell->pid = *known_pid;
    state->store(kWaitReady, std::memory_order_release);
  }
  errno = saved_errno;
}

// False if there is no memory.
bool EnterProcess() noexcept {
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  known_pid = static_cast<int32_t*>(page);
  *known_pid = static_cast<int32_t>(syscall(SYS_getpid));
  if (madvise(page, 4096, MADV_WIPEONFORK) != 0) {  // before Linux 4.14
    pthread_atfork(nullptr, nullptr, [] { *known_pid = 0; });
  }
  return true;
}

// A filter that the collector has, too, permits what the runtime needs: its
// container has it. Of any other, nobody knows.
bool HasFilterOfItsOwn(const WaitRingHeader& ring) noexcept {
  return CountSeccompFilters() > ring.seccomp_filters;
}

// What the descriptor is, before it may be closed or the process ends.
void NoteDescriptor(const WaitedFor& what, WaitCell& cell) noexcept {
  cell.inode = cell.mode = 0;
  const bool matters =
      what.kind == CallKind::kRead || what.kind == CallKind::kWrite ||
      what.kind == CallKind::kPoll || what.kind == CallKind::kNetwork;
  struct stat status;
  if (what.object_is != CallObject::kDescriptor || !matters ||
      fstat(static_cast<int>(what.object), &status) != 0) {
    return;
  }
  cell.inode = status.st_ino;
  cell.mode = status.st_mode;
}

}  // namespace

constinit Watch watch;

void JoinWaitRing() noexcept {
  const int saved_errno = errno;
  const char* const path = getenv(kWaitRingVariable);
  // With a lock in the loader, a hook inside of it might wait for itself.
  if (path != nullptr && watch.ring == nullptr && !HasThreadSanitizer() &&
      unwind::FindsLoadedCodeWithoutLock()) {
    watch.ring = MapRing(path);
    if (watch.ring != nullptr && !HasFilterOfItsOwn(*watch.ring) &&
        EnterProcess()) {
      has_end_key = pthread_key_create(&end_key, NoteThreadEnd) == 0 &&
                    end_key < kMostKeys;
      watch.clock = static_cast<ClockSource>(watch.ring->clock);
      watch.cell_count = watch.ring->cell_count;
      watch.least_ticks = watch.ring->least_ticks;
      watch.least_busy_ticks = watch.ring->least_busy_ticks;
      watch.is_on.store(true, std::memory_order_release);
    }
  }
  errno = saved_errno;
}

void StopWatching() noexcept {
  watch.is_on.store(false, std::memory_order_relaxed);
}

bool MayNoteWake() noexcept {
  WaitRingHeader& ring = *watch.ring;
  if (ring.wakes_left.load(std::memory_order_relaxed) > 0) {
    ring.wakes_left.fetch_sub(1, std::memory_order_relaxed);
    return true;
  }
  ring.wakes_skipped.fetch_add(1, std::memory_order_relaxed);
  return false;
}

void NoteCall(uint64_t begin_ticks, uint64_t end_ticks,
              const WaitedFor& what) noexcept {
  constexpr size_t kNoteAndHook = 2;
  if (!IsWatching()) return;  // it was restricted meanwhile
  if (watch.ring->is_enabled.load(std::memory_order_relaxed) == 0) {
    return StopWatching();
  }
  const int saved_errno = errno;
  WaitCellStates* state = nullptr;
  if (WaitCell* const cell = Take(&state)) {
    cell->begin_ticks = begin_ticks;
    cell->end_ticks = end_ticks;
    cell->object = what.object;
    cell->tid = ThisThread();
    cell->pid = *known_pid;
    cell->mutex = reinterpret_cast<uint64_t>(what.mutex);
    cell->mutex_function = reinterpret_cast<uint64_t>(what.mutex_function);
    cell->has_timed_out = what.has_timed_out;
    cell->is_shared = what.is_shared;
    NoteDescriptor(what, *cell);
    cell->holder_tid = what.holder_tid;
    cell->kind = what.kind;
    cell->object_is = what.object_is;
    cell->addresses[0] = reinterpret_cast<uint64_t>(what.function);
    unwind::StackEnd end;
    const size_t callers = unwind::CaptureStack(
        cell->addresses + 1, kMostCallAddresses - 1, kNoteAndHook, &end);
    cell->address_count = static_cast<uint8_t>(callers + 1);
    cell->is_cut = end == unwind::StackEnd::kLimit;
    // Release: publishes the cell (I1).
    state->store(kWaitReady, std::memory_order_release);
  }
  errno = saved_errno;
}

}  // namespace kymo::off_cpu
