#include "backends/sampling/target/target_timer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "backends/sampling/target/sample_ring.h"
#include "profiler/base/code_mappings.h"
#include "profiler/base/descriptor.h"
#include "profiler/unwind/capture_stack.h"
#include "profiler/unwind/file_number.h"
#include "profiler/unwind/loaded_code.h"

// libc's own function; the sigaction() below comes before it.
extern "C" int __sigaction(int signal, const struct sigaction* action,
                           struct sigaction* old) noexcept;

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace kymo {
namespace {

using sampling::CellHeader;
using sampling::RingHeader;

constexpr int kSignal = SIGPROF;
constexpr uint32_t kProbes = 16;
constexpr uint32_t kPageBytes = 4096;
constexpr uint32_t kMaxPages = 18;  // 64 KiB, and a partial page at both ends

// Written once by TargetTimerInit, before any handler can run.
constinit RingHeader* g_ring = nullptr;
constinit uint32_t g_cell_count = 0;
constinit uint32_t g_stack_bytes = 0;
constinit int64_t g_interval_ns = 0;  // between samples
constinit uint32_t g_interval_periods = 1;
constinit int64_t g_tick_ns = 1;  // of the kernel
constinit int64_t g_image_ns = 0;
// Updated in a forked child.
constinit int32_t g_pid = 0;
constinit int32_t g_parent_pid = 0;

// The program's own handling of SIGPROF, in the newest of a few slots: so a
// handler on another thread never sees one that is half written.
constexpr uint32_t kActionSlots = 64;
constinit struct sigaction g_program_actions[kActionSlots] = {};
constinit std::atomic<uint32_t> g_program_action{0};

// Whether the collector knows the file with this number. In a forked child it
// knows none.
constinit std::atomic<bool> g_is_told[unwind::kMostFiles + 1] = {};
// For reading the mappings; 1 while a handler has it.
constinit char g_maps_buffer[8192] = {};
constinit std::atomic<uint32_t> g_maps_buffer_taken{0};

// initial-exec: the library is loaded at start, and access from the handler
// must not allocate.
struct ThreadTimer {
  timer_t timer;
  int32_t tid;
  bool is_armed;
};
[[gnu::tls_model(
    "initial-exec")]] thread_local constinit ThreadTimer t_timer = {};

int32_t CurrentThread() noexcept {
  return static_cast<int32_t>(syscall(SYS_gettid));
}

void Disarm() noexcept {
  if (!t_timer.is_armed) return;
  t_timer.is_armed = false;
  timer_delete(t_timer.timer);
}

int64_t NowNs() noexcept {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

struct timespec ToTimespec(int64_t ns) noexcept {
  return {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
}

// The timer fires at the kernel's ticks, which come at any time of a thread's
// life. If each tick of an interval were the first with the same chance, each
// moment of the thread would have the same chance to be sampled, also in a
// thread that does not live for one interval. So this draws the tick.
int64_t FirstExpiryNs() noexcept {
  const int64_t ticks = g_interval_ns / g_tick_ns;
  if (ticks <= 1) return 1;
  const uint64_t random = (static_cast<uint64_t>(NowNs()) ^
                           static_cast<uint64_t>(t_timer.tid) << 32) *
                          0x9e3779b97f4a7c15u;
  return 1 + g_tick_ns * static_cast<int64_t>((random >> 33) %
                                              static_cast<uint64_t>(ticks));
}

// Ticks merge periods that are shorter. Then the interval is as many periods as
// fit into a tick, and a sample stands for all of them.
void ChooseInterval(int64_t period_ns) noexcept {
  struct timespec tick = {};
  // The coarse clock advances once per tick.
  if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0 && tick.tv_nsec > 0) {
    g_tick_ns = tick.tv_nsec;
  }
  g_interval_periods =
      period_ns < g_tick_ns ? static_cast<uint32_t>(g_tick_ns / period_ns) : 1;
  g_interval_ns = period_ns * g_interval_periods;
}

void Arm() noexcept {
  if (g_ring == nullptr || t_timer.is_armed) return;
  if (g_ring->is_enabled.load(std::memory_order_relaxed) == 0) return;
  t_timer.tid = CurrentThread();
  struct sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = kSignal;
  event.sigev_value.sival_ptr = g_ring;  // marks our signals
  event.sigev_notify_thread_id = t_timer.tid;
  if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &t_timer.timer) != 0) {
    return;
  }
  const struct itimerspec period = {.it_interval = ToTimespec(g_interval_ns),
                                    .it_value = ToTimespec(FirstExpiryNs())};
  t_timer.is_armed = true;
  if (timer_settime(t_timer.timer, 0, &period, nullptr) != 0) Disarm();
}

// A cell with the words that all kinds have; null if there is no free one.
CellHeader* TakeCell(std::atomic<uint32_t>** state) noexcept {
  std::atomic<uint32_t>* const states = sampling::StatesOf(g_ring);
  const uint32_t first =
      g_ring->next_cell.fetch_add(1, std::memory_order_relaxed);
  for (uint32_t probe = 0; probe < kProbes; ++probe) {
    const uint32_t index = (first + probe) % g_cell_count;
    uint32_t expected = sampling::kCellFree;
    // Acquire: the collector read the cell before it freed it.
    if (states[index].compare_exchange_strong(expected, sampling::kCellWriting,
                                              std::memory_order_acquire,
                                              std::memory_order_relaxed)) {
      *state = &states[index];
      CellHeader* const cell =
          sampling::CellOf(g_ring, index, g_cell_count, g_stack_bytes);
      cell->image_ns = g_image_ns;
      cell->pid = g_pid;
      cell->tid = t_timer.tid;
      cell->parent_pid = g_parent_pid;
      cell->tick_count = 1;
      cell->is_cut = 0;
      prctl(PR_GET_NAME, cell->thread_name);
      return cell;
    }
  }
  return nullptr;
}

// Copies the stack from `from` upwards, as far as it is mapped. The kernel
// copies and stops where memory ends. It gets one piece per page, since it
// copies a piece either entirely or not at all.
uint32_t CopyStack(uint64_t from, char* to, uint32_t limit_bytes) noexcept {
  struct iovec pages[kMaxPages];
  uint32_t count = 0;
  uint32_t described = 0;
  while (described < limit_bytes && count < kMaxPages) {
    const uint64_t at = from + described;
    uint32_t size = kPageBytes - static_cast<uint32_t>(at & (kPageBytes - 1));
    if (size > limit_bytes - described) size = limit_bytes - described;
    pages[count].iov_base = reinterpret_cast<void*>(at);
    pages[count].iov_len = size;
    described += size;
    ++count;
  }
  struct iovec target = {to, described};
  const ssize_t copied = process_vm_readv(g_pid, &target, 1, pages, count, 0);
  return copied < 0 ? 0 : static_cast<uint32_t>(copied);
}

void CopyRegisters(const ucontext_t& context, uint64_t* registers) noexcept {
  static constexpr int kOrder[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI,
                                   REG_RDI, REG_RBP, REG_RSP, REG_R8,  REG_R9,
                                   REG_R10, REG_R11, REG_R12, REG_R13, REG_R14,
                                   REG_R15, REG_RIP};
  for (int i = 0; i < 17; ++i) {
    registers[i] = static_cast<uint64_t>(context.uc_mcontext.gregs[kOrder[i]]);
  }
}

// --- files ---

// The files of one stack that the collector does not know. Of more than fit
// here, a later sample tells.
struct NewFiles {
  struct File {
    uint32_t number;
    uint64_t begin;
    uint64_t end;
  };
  File files[32];
  uint32_t count = 0;

  // 0: of none.
  uint32_t NumberOf(uint64_t address) const noexcept {
    for (uint32_t i = 0; i < count; ++i) {
      if (address >= files[i].begin && address < files[i].end) {
        return files[i].number;
      }
    }
    return 0;
  }
};

uint64_t MarkFile(void* new_files, const unwind::LoadedCode& code) noexcept {
  const uint32_t number = unwind::FileNumber(code.identity);
  auto& files = *static_cast<NewFiles*>(new_files);
  if (!g_is_told[number].load(std::memory_order_relaxed) && number != 0 &&
      files.count < sizeof(files.files) / sizeof(files.files[0])) [[unlikely]] {
    files.files[files.count++] = {number, code.begin, code.end};
  }
  return uint64_t{number} << sampling::kFileNumberShift;
}

// False if there is no room for it now.
bool TellMapping(const CodeMapping& mapping, uint32_t number) noexcept {
  const size_t path_bytes = strlen(mapping.path) + 1;
  const size_t bytes = sizeof(sampling::FileNote) + path_bytes;
  if (bytes > g_stack_bytes) return true;  // there never will be
  std::atomic<uint32_t>* state = nullptr;
  CellHeader* const cell = TakeCell(&state);
  if (cell == nullptr) return false;
  const uint64_t mark = uint64_t{number} << sampling::kFileNumberShift;
  const sampling::FileNote note = {.start = mapping.start | mark,
                                   .end = mapping.end | mark,
                                   .file_offset = mapping.file_offset,
                                   .inode = mapping.inode};
  char* const to = reinterpret_cast<char*>(cell + 1);
  memcpy(to, &note, sizeof(note));
  memcpy(to + sizeof(note), mapping.path, path_bytes);
  cell->kind = sampling::kCellFile;
  cell->stack_bytes = static_cast<uint32_t>(bytes);
  cell->time_ns = NowNs();
  // Release: publishes the cell (I1).
  state->store(sampling::kCellReady, std::memory_order_release);
  return true;
}

// They are on this thread's stack, so they stay loaded meanwhile; others may not,
// and nothing is read of them.
void TellFiles(const NewFiles& files) noexcept {
  if (g_maps_buffer_taken.exchange(1, std::memory_order_acquire) != 0) return;
  // A file may have several mappings with code. It is told when all of them are;
  // else a later sample tries again.
  bool is_all_told = true;
  ForEachCodeMapping(g_maps_buffer, sizeof(g_maps_buffer),
                     [&](const CodeMapping& mapping) {
                       const uint32_t number = files.NumberOf(mapping.start);
                       if (number != 0 && !TellMapping(mapping, number)) {
                         is_all_told = false;
                       }
                     });
  for (uint32_t i = 0; is_all_told && i < files.count; ++i) {
    g_is_told[files.files[i].number].store(true, std::memory_order_relaxed);
  }
  g_maps_buffer_taken.store(0, std::memory_order_release);
}

// --- samples ---

// Writes the stack's return addresses into the cell. False if the end of the
// stack is not found.
bool WriteAddresses(const ucontext_t& context, CellHeader* cell) noexcept {
  if (!unwind::FindsLoadedCodeWithoutLock()) return false;
  const auto registers = context.uc_mcontext.gregs;
  NewFiles files;
  const unwind::FileMarks marks = {MarkFile, &files};
  unwind::StackEnd end;
  const size_t count = unwind::CaptureInterrupted(
      {.pc = static_cast<uint64_t>(registers[REG_RIP]),
       .sp = static_cast<uint64_t>(registers[REG_RSP]),
       .bp = static_cast<uint64_t>(registers[REG_RBP])},
      reinterpret_cast<uint64_t*>(cell + 1), sampling::kMostAddresses, &end,
      &marks);
  if (files.count != 0) [[unlikely]]
    TellFiles(files);
  if (end == unwind::StackEnd::kUnknown) return false;
  cell->kind = sampling::kCellAddresses;
  cell->is_cut = end == unwind::StackEnd::kLimit;
  cell->stack_bytes = static_cast<uint32_t>(count * sizeof(uint64_t));
  return true;
}

void Record(const siginfo_t& info, const ucontext_t& context) noexcept {
  const uint32_t ticks =
      (1 + static_cast<uint32_t>(info.si_overrun)) * g_interval_periods;
  std::atomic<uint32_t>* state = nullptr;
  CellHeader* const cell = TakeCell(&state);
  if (cell == nullptr) {
    g_ring->dropped.fetch_add(ticks, std::memory_order_relaxed);
    return;
  }
  cell->tick_count = ticks;
  if (!WriteAddresses(context, cell)) {
    cell->kind = sampling::kCellStack;
    CopyRegisters(context, cell->registers);
    cell->stack_bytes = CopyStack(
        cell->registers[7], reinterpret_cast<char*>(cell + 1), g_stack_bytes);
  }
  // After those of the files (I4).
  cell->time_ns = NowNs();
  // Release: publishes the cell (I1).
  state->store(sampling::kCellReady, std::memory_order_release);
}

// Passes a SIGPROF that is not our timer's on to the program's handler.
void PassOn(int signal, siginfo_t* info, void* context) noexcept {
  const struct sigaction& action =
      g_program_actions[g_program_action.load(std::memory_order_acquire) %
                        kActionSlots];
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal, info, context);
  } else if (action.sa_handler == SIG_DFL) {
    // Without us, this signal would end the process; so it does.
    struct sigaction plain = {};
    plain.sa_handler = SIG_DFL;
    __sigaction(signal, &plain, nullptr);
    raise(signal);
  } else if (action.sa_handler != SIG_IGN) {
    action.sa_handler(signal);
  }
}

void Handle(int signal, siginfo_t* info, void* context) noexcept {
  const int saved_errno = errno;
  if (info->si_code == SI_TIMER && info->si_value.sival_ptr == g_ring) {
    if (g_ring->is_enabled.load(std::memory_order_relaxed) == 0) {
      Disarm();
    } else {
      Record(*info, *static_cast<const ucontext_t*>(context));
    }
  } else {
    PassOn(signal, info, context);
  }
  errno = saved_errno;
}

// Maps the ring; null if it is not what we expect.
RingHeader* MapRing(const char* path) noexcept {
  const int fd = AboveStandardStreams(open(path, O_RDWR | O_CLOEXEC));
  if (fd < 0) return nullptr;
  struct stat status;
  RingHeader* ring = nullptr;
  size_t size = 0;
  if (fstat(fd, &status) == 0 &&
      status.st_size >= static_cast<off_t>(sizeof(RingHeader))) {
    size = static_cast<size_t>(status.st_size);
    void* const memory =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory != MAP_FAILED) ring = static_cast<RingHeader*>(memory);
  }
  close(fd);
  if (ring == nullptr) return nullptr;
  const bool fits =
      ring->magic == sampling::kRingMagic &&
      ring->version == sampling::kRingVersion && ring->cell_count > 0 &&
      ring->period_ns > 0 && ring->stack_bytes >= sampling::kLeastCellBytes &&
      sampling::RingBytes(ring->cell_count, ring->stack_bytes) <= size;
  if (fits) return ring;
  munmap(ring, size);
  return nullptr;
}

bool InstallHandler() noexcept {
  struct sigaction action = {};
  action.sa_sigaction = Handle;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  return __sigaction(kSignal, &action, &g_program_actions[0]) == 0;
}

// Does the program's sigaction() for SIGPROF while the sampler owns the signal.
int ProgramAction(const struct sigaction* action,
                  struct sigaction* old) noexcept {
  const uint32_t current = g_program_action.load(std::memory_order_acquire);
  if (old != nullptr) *old = g_program_actions[current % kActionSlots];
  if (action != nullptr) {
    g_program_actions[(current + 1) % kActionSlots] = *action;
    g_program_action.store(current + 1, std::memory_order_release);
  }
  return 0;
}

}  // namespace

void TargetTimerInit() noexcept {
  if (g_ring != nullptr) return;
  const int saved_errno = errno;
  const char* const path = getenv(kTargetTimerVariable);
  RingHeader* const ring = path == nullptr ? nullptr : MapRing(path);
  if (ring != nullptr) {
    g_cell_count = ring->cell_count;
    g_stack_bytes = ring->stack_bytes;
    ChooseInterval(ring->period_ns);
    g_image_ns = NowNs();
    g_pid = static_cast<int32_t>(getpid());
    g_parent_pid = static_cast<int32_t>(getppid());
    if (InstallHandler()) {
      g_ring = ring;
      Arm();
    }
  }
  errno = saved_errno;
}

void TargetTimerThreadStart() noexcept {
  const int saved_errno = errno;
  Arm();
  errno = saved_errno;
}

void TargetTimerThreadExit() noexcept {
  const int saved_errno = errno;
  Disarm();
  errno = saved_errno;
}

void TargetTimerAfterForkInChild() noexcept {
  if (g_ring == nullptr) return;
  const int saved_errno = errno;
  g_pid = static_cast<int32_t>(getpid());
  g_parent_pid = static_cast<int32_t>(getppid());
  for (std::atomic<bool>& is_told : g_is_told) {
    is_told.store(false, std::memory_order_relaxed);
  }
  // The parent's handler may have had the buffer.
  g_maps_buffer_taken.store(0, std::memory_order_relaxed);
  t_timer.is_armed = false;  // that was the parent's timer
  Arm();
  errno = saved_errno;
}

}  // namespace kymo

extern "C" {

int sigaction(int signal, const struct sigaction* action,
              struct sigaction* old) noexcept {
  if (signal == kymo::kSignal && kymo::g_ring != nullptr) {
    return kymo::ProgramAction(action, old);
  }
  return __sigaction(signal, action, old);
}

sighandler_t signal(int signal, sighandler_t handler) noexcept {
  struct sigaction action = {};
  struct sigaction old = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  if (sigaction(signal, &action, &old) != 0) return SIG_ERR;
  return old.sa_handler;
}

}  // extern "C"
