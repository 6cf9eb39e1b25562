#include "backends/sampling/target/target_timer.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>

#include "backends/sampling/target/ring_writer.h"
#include "backends/sampling/target/sample_ring.h"
#include "backends/sampling/target/seccomp_filters.h"
#include "backends/sampling/target/timer_mask.h"
#include "backends/sampling/target/timer_table.h"
#include "backends/sampling/target/told_files.h"
#include "profiler/unwind/capture_stack.h"
#include "profiler/unwind/loaded_code.h"

// libc's own function; the sigaction() below comes before it.
extern "C" int __sigaction(int signal, const struct sigaction* action,
                           struct sigaction* old) noexcept;

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

namespace kymo {
// initial-exec: the library is loaded at start, and access from the handler
// must not allocate.
struct ThreadTimer {
  int32_t tid;
  uint32_t slot;  // in g_timers
  bool is_armed;
};
__attribute__((visibility("hidden"))) constinit thread_local ThreadTimer t_timer
    __attribute__((tls_model("initial-exec"))) = {};

namespace {

using sampling::CellHeader;
using sampling::CellStates;
using sampling::NowNs;
using sampling::RingHeader;
using sampling::RingWriter;
using sampling::TimerStop;

constexpr int kSignal = sampling::kTimerSignal;
constexpr uint32_t kPageBytes = 4096;
constexpr uint32_t kMaxPages = 18;  // 64 KiB, and a partial page at both ends

// Mapped once by TargetTimerInit, before any handler can run.
constinit RingWriter g_ring;
constinit int64_t g_interval_ns = 0;  // between samples
constinit uint32_t g_interval_periods = 1;
constinit int64_t g_tick_ns = 1;  // of the kernel

// The program's own handling of SIGPROF, in the newest of a few slots: so a
// handler on another thread never sees one that is half written.
constexpr uint32_t kActionSlots = 64;
constinit struct sigaction g_program_actions[kActionSlots] = {};
constinit std::atomic<uint32_t> g_program_action{0};

// A thread that finds no room here is not sampled, and counts.
constinit sampling::TimerTable g_timers;
constinit std::atomic<bool> g_is_stopped{false};      // for good
constinit TimerStop g_stop = TimerStop::kRestricted;  // why, once stopped

// What the program has set for the signal.
const struct sigaction& ProgramsAction() noexcept {
  return g_program_actions[g_program_action.load(std::memory_order_acquire) %
                           kActionSlots];
}

int32_t CurrentThread() noexcept {
  return static_cast<int32_t>(syscall(SYS_gettid));
}

void Disarm() noexcept {
  if (!t_timer.is_armed) return;
  t_timer.is_armed = false;
  g_timers.Delete(t_timer.slot);
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
  if (!g_ring.is_enabled() || g_is_stopped || t_timer.is_armed) return;
  // A child made without fork handlers has no timers: TargetTimerStop could not
  // stop them.
  if (getpid() != g_ring.pid()) return;
  t_timer.tid = CurrentThread();
  struct sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = kSignal;
  event.sigev_value.sival_ptr = g_ring.header();  // marks our signals
  event.sigev_notify_thread_id = t_timer.tid;
  timer_t timer;
  const bool is_made =
      timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0;
  if (!is_made || !g_timers.Keep(timer, &t_timer.slot)) {
    if (is_made) timer_delete(timer);
    g_ring.header()->threads_without_timer.fetch_add(1,
                                                     std::memory_order_relaxed);
    return;
  }
  const struct itimerspec period = {.it_interval = ToTimespec(g_interval_ns),
                                    .it_value = ToTimespec(FirstExpiryNs())};
  t_timer.is_armed = true;
  // Whoever stops all may have looked before this one was there.
  if (timer_settime(timer, 0, &period, nullptr) != 0 || g_is_stopped) Disarm();
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
  const ssize_t copied =
      process_vm_readv(g_ring.pid(), &target, 1, pages, count, 0);
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

// Writes the stack's return addresses into the cell. False if the end of the
// stack is not found.
bool WriteAddresses(const ucontext_t& context, CellHeader* cell) noexcept {
  if (!unwind::FindsLoadedCodeWithoutLock()) return false;
  const auto registers = context.uc_mcontext.gregs;
  sampling::NewFiles files;
  const unwind::FileMarks marks = {sampling::MarkFile, &files};
  unwind::StackEnd end;
  const size_t count = unwind::CaptureInterrupted(
      {.pc = static_cast<uint64_t>(registers[REG_RIP]),
       .sp = static_cast<uint64_t>(registers[REG_RSP]),
       .bp = static_cast<uint64_t>(registers[REG_RBP])},
      reinterpret_cast<uint64_t*>(cell + 1), sampling::kMostAddresses, &end,
      &marks);
  if (files.count != 0) [[unlikely]] {
    sampling::TellFiles(files, g_ring, t_timer.tid);
  }
  if (end == unwind::StackEnd::kUnknown) return false;
  cell->kind = sampling::kCellAddresses;
  cell->is_cut = end == unwind::StackEnd::kLimit;
  cell->stack_bytes = static_cast<uint32_t>(count * sizeof(uint64_t));
  return true;
}

void Record(const siginfo_t& info, const ucontext_t& context) noexcept {
  const uint32_t ticks =
      (1 + static_cast<uint32_t>(info.si_overrun)) * g_interval_periods;
  CellStates* state = nullptr;
  CellHeader* const cell = g_ring.Take(t_timer.tid, &state);
  if (cell == nullptr) {
    g_ring.header()->dropped.fetch_add(ticks, std::memory_order_relaxed);
    return;
  }
  cell->tick_count = ticks;
  if (!WriteAddresses(context, cell)) {
    cell->kind = sampling::kCellStack;
    CopyRegisters(context, cell->registers);
    cell->stack_bytes =
        CopyStack(cell->registers[7], reinterpret_cast<char*>(cell + 1),
                  g_ring.stack_bytes());
  }
  // Its time is after those of the files (I4).
  RingWriter::Publish(cell, state);
}

// The program has no handler of its own. If it has one, it may block the signal
// to be safe from that.
bool KeepsSignalOut() noexcept {
  if (!g_ring.is_mapped() || g_is_stopped) return false;
  const auto handler = ProgramsAction().sa_handler;
  return handler == SIG_DFL || handler == SIG_IGN;
}

// Passes a SIGPROF that is not our timer's on to the program.
void PassOn(int signal, siginfo_t* info, void* context) noexcept {
  const struct sigaction& action = ProgramsAction();
  if (action.sa_handler == SIG_IGN) return;
  if (sampling::BlocksTimerSignal()) {
    // Without a handler, it waits for the signal: by sigwait() or a signalfd.
    if (action.sa_handler == SIG_DFL) TargetTimerStop(TimerStop::kOwnSignal);
    sampling::MakePending(*info, context);
  } else if (action.sa_handler == SIG_DFL) {
    // Without us, this signal would end the process; so it does.
    struct sigaction plain = {};
    plain.sa_handler = SIG_DFL;
    __sigaction(signal, &plain, nullptr);
    raise(signal);
  } else if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal, info, context);
  } else {
    action.sa_handler(signal);
  }
}

void Handle(int signal, siginfo_t* info, void* context) noexcept {
  const int saved_errno = errno;
  if (info->si_code == SI_TIMER &&
      info->si_value.sival_ptr == g_ring.header()) {
    if (g_ring.is_enabled() && !g_is_stopped) {
      Record(*info, *static_cast<const ucontext_t*>(context));
    } else {
      Disarm();
    }
  } else {
    PassOn(signal, info, context);
  }
  errno = saved_errno;
}

bool InstallHandler() noexcept {
  struct sigaction action = {};
  action.sa_sigaction = Handle;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  return __sigaction(kSignal, &action, &g_program_actions[0]) == 0;
}

// Of our deleted timers. A program that handles the signal may have others,
// which it keeps.
void DropPendingSignals() noexcept {
  if (ProgramsAction().sa_handler != SIG_DFL) return;
  struct sigaction ours = {};
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  if (__sigaction(kSignal, &ignore, &ours) == 0) {
    __sigaction(kSignal, &ours, nullptr);
  }
}

void CountStop(RingHeader& ring, TimerStop why) noexcept {
  ring.stops[static_cast<size_t>(why)].fetch_add(1, std::memory_order_relaxed);
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
  if (g_ring.is_mapped()) return;
  const int saved_errno = errno;
  const char* const path = getenv(kTargetTimerVariable);
  RingWriter ring;
  if (path != nullptr && ring.Map(path)) {
    // A filter that the collector has, too, permits what timers need: its
    // container has it. Of any other, nobody knows.
    if (CountSeccompFilters() > ring.header()->seccomp_filters) {
      CountStop(*ring.header(), TimerStop::kRestricted);
    } else if (InstallHandler()) {
      sampling::UnblockTimerSignal();
      ring.EnterProcess();
      ChooseInterval(ring.header()->period_ns);
      g_ring = ring;
      Arm();
    }
  }
  errno = saved_errno;
}

void TargetTimerThreadStart(bool blocks_signal) noexcept {
  const int saved_errno = errno;
  sampling::SetBlocksTimerSignal(blocks_signal);
  Arm();
  errno = saved_errno;
}

void TargetTimerThreadExit() noexcept {
  const int saved_errno = errno;
  Disarm();
  errno = saved_errno;
}

void TargetTimerAfterForkInChild() noexcept {
  if (!g_ring.is_mapped()) return;
  if (g_is_stopped) {  // for the child, too; no system call
    CountStop(*g_ring.header(), g_stop);
    return;
  }
  const int saved_errno = errno;
  g_ring.EnterProcess();
  sampling::ForgetToldFiles();
  t_timer.is_armed = false;  // all were the parent's timers
  g_timers.Forget();
  Arm();
  errno = saved_errno;
}

void TargetTimerStop(TimerStop why) noexcept {
  if (!g_ring.is_mapped() || g_is_stopped) return;
  const int saved_errno = errno;
  // A child of vfork has its parent's memory, but no timers.
  if (getpid() == g_ring.pid() && !g_is_stopped.exchange(true)) {
    g_stop = why;
    CountStop(*g_ring.header(), why);
    g_timers.DeleteAll();
    DropPendingSignals();
  }
  errno = saved_errno;
}

bool TargetTimerBlocksSignal() noexcept {
  return sampling::BlocksTimerSignal();
}

int TargetTimerChangeMask(int how, const sigset_t* set, sigset_t* old,
                          sampling::MaskCall* real) noexcept {
  return sampling::ChangeMask(how, set, old, real, KeepsSignalOut());
}

}  // namespace kymo

extern "C" {

int sigaction(int signal, const struct sigaction* action,
              struct sigaction* old) noexcept {
  if (signal == kymo::kSignal && kymo::g_ring.is_mapped()) {
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
