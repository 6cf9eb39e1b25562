// Long, because all tests share the one ring of the process.
#include "backends/sampling/target/target_timer.h"

#include <dlfcn.h>
#include <errno.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "backends/sampling/target/sample_ring.h"
#include "backends/sampling/target/seccomp_filters.h"

namespace kymo {
namespace {

using sampling::CellHeader;
using sampling::RingHeader;

constexpr uint32_t kCells = 128;
constexpr uint32_t kStackBytes = sampling::kLeastCellBytes;
constexpr int64_t kPeriodMs = 20;  // a multiple of every kernel's tick
constexpr int64_t kPeriodNs = kPeriodMs * 1'000'000;

int64_t ClockNs(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

[[gnu::noinline]] void BurnMs(int64_t ms) {
  const int64_t end_ns = ClockNs(CLOCK_THREAD_CPUTIME_ID) + ms * 1'000'000;
  while (ClockNs(CLOCK_THREAD_CPUTIME_ID) < end_ns) {
  }
}

// The memory that the collector makes, with a path.
class Ring {
 public:
  explicit Ring(size_t bytes = sampling::RingBytes(kCells, kStackBytes))
      : fd_(memfd_create("ring", MFD_CLOEXEC)), bytes_(bytes) {
    EXPECT_EQ(ftruncate(fd_, static_cast<off_t>(bytes)), 0);
    void* const memory = mmap(nullptr, std::max<size_t>(bytes, 4096),
                              PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
    header_ = static_cast<RingHeader*>(memory);
    if (bytes < sizeof(RingHeader)) return;
    header_->magic = sampling::kRingMagic;
    header_->version = sampling::kRingVersion;
    header_->cell_count = kCells;
    header_->stack_bytes = kStackBytes;
    header_->period_ns = kPeriodNs;
    header_->seccomp_filters = CountSeccompFilters();
    header_->is_enabled = 1;
  }
  RingHeader* header() const { return header_; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  const int fd_;
  const size_t bytes_;
  RingHeader* header_;
};

// On a busy machine the last ticks have not come yet.
void ExpectAboutMs(int64_t sampled_ms, int64_t burnt_ms) {
  EXPECT_GT(sampled_ms, burnt_ms * 6 / 10);
  EXPECT_LE(sampled_ms, burnt_ms + 2 * kPeriodMs);
}

struct Cell {
  CellHeader header;
  std::vector<uint64_t> words;  // behind it
};

void Init(const std::string& path) {
  setenv(kTargetTimerVariable, path.c_str(), 1);
  TargetTimerInit();
}

template <typename Change>
void InitWith(Change change) {
  const Ring changed;
  change(*changed.header());
  Init(changed.path());
}

sigset_t All() {
  sigset_t all;
  sigfillset(&all);
  return all;
}

Ring* ring = nullptr;
int64_t init_begin_ns = 0;
int64_t init_end_ns = 0;

// A process has one ring. If one of the others were taken, there would be no
// sample in it.
class TargetTimerTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (ring != nullptr) return;
    TargetTimerInit();  // no variable
    Init("/no/such/ring");
    InitWith([](RingHeader& r) { r.magic += 1; });
    InitWith([](RingHeader& r) { r.version += 1; });
    InitWith([](RingHeader& r) { r.cell_count = 0; });
    InitWith([](RingHeader& r) { r.cell_count = kCells + 1; });
    InitWith([](RingHeader& r) { r.period_ns = 0; });
    InitWith([](RingHeader& r) { r.stack_bytes = kStackBytes - 8; });
    Init(Ring(sizeof(RingHeader) - 1).path());
    Init(Ring(sampling::RingBytes(kCells, kStackBytes) - 1).path());
    // As if this process had a filter that the collector lacks.
    const Ring of_others;
    of_others.header()->seccomp_filters = -1;
    Init(of_others.path());
    EXPECT_EQ(of_others.header()->stops[0], 1u);
    ring = new Ring;
    // As if its parent had blocked all.
    const sigset_t all = All();
    ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &all, nullptr), 0);
    init_begin_ns = ClockNs(CLOCK_MONOTONIC);
    errno = 77;
    Init(ring->path());
    EXPECT_EQ(errno, 77);
    init_end_ns = ClockNs(CLOCK_MONOTONIC);
    TargetTimerThreadExit();
    EXPECT_TRUE(TargetTimerBlocksSignal());
    TargetTimerChangeMask(SIG_UNBLOCK, &all, nullptr, pthread_sigmask);
  }
  ~TargetTimerTest() override { TargetTimerThreadExit(); }

  // The cells that were filled since the last call, by time.
  static std::vector<Cell> Take() {
    std::vector<Cell> cells;
    for (uint32_t i = 0; i < kCells; ++i) {
      sampling::CellStates& state = sampling::StatesOf(ring->header())[i];
      if (state != sampling::kCellReady) continue;
      const CellHeader* const header =
          sampling::CellOf(ring->header(), i, kCells, kStackBytes);
      Cell& cell = cells.emplace_back(Cell{*header, {}});
      EXPECT_LE(header->stack_bytes, kStackBytes);
      cell.words.resize((header->stack_bytes + 7) / 8);
      std::memcpy(cell.words.data(), header + 1, header->stack_bytes);
      state = sampling::kCellFree;
    }
    std::sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
      return a.header.time_ns < b.header.time_ns;
    });
    return cells;
  }
  // The time that the samples stand for.
  static int64_t SampledMs(const std::vector<Cell>& cells) {
    int64_t ticks = 0;
    for (const auto& [header, words] : cells) {
      if (header.kind != sampling::kCellFile) ticks += header.tick_count;
    }
    return ticks * kPeriodMs;
  }
};

constexpr uint64_t kPlaceMask = (uint64_t{1} << sampling::kFileNumberShift) - 1;

bool IsInBurn(uint64_t address) {
  const auto begin = reinterpret_cast<uint64_t>(&BurnMs);
  return (address & kPlaceMask) - begin - 1 < 255;
}

TEST_F(TargetTimerTest, SamplesSayWhereAThreadSpentItsTime) {
  pthread_setname_np(pthread_self(), "burner");
  errno = 77;
  TargetTimerThreadStart();
  EXPECT_EQ(errno, 77);
  const int64_t begin_ns = ClockNs(CLOCK_MONOTONIC);
  BurnMs(300);
  TargetTimerThreadExit();
  const int64_t end_ns = ClockNs(CLOCK_MONOTONIC);
  const std::vector<Cell> cells = Take();
  ExpectAboutMs(SampledMs(cells), 300);
  BurnMs(50);
  EXPECT_TRUE(Take().empty());
  std::vector<sampling::FileNote> files;
  for (const Cell& cell : cells) {
    EXPECT_EQ(cell.header.pid, getpid());
    EXPECT_EQ(cell.header.tid, gettid());
    EXPECT_EQ(cell.header.parent_pid, getppid());
    EXPECT_GE(cell.header.image_ns, init_begin_ns);
    EXPECT_LE(cell.header.image_ns, init_end_ns);
    EXPECT_GE(cell.header.time_ns, begin_ns);
    EXPECT_LE(cell.header.time_ns, end_ns);
    EXPECT_STREQ(cell.header.thread_name, "burner");
    if (cell.header.kind == sampling::kCellFile) {
      sampling::FileNote note;
      std::memcpy(&note, cell.words.data(), sizeof(note));
      EXPECT_EQ(note.start >> sampling::kFileNumberShift,
                note.end >> sampling::kFileNumberShift);
      const char* const path =
          reinterpret_cast<const char*>(cell.words.data()) + sizeof(note);
      EXPECT_NE(path[0], '\0');
      EXPECT_EQ(cell.header.stack_bytes, sizeof(note) + strlen(path) + 1);
      files.push_back(note);
      continue;
    }
    ASSERT_EQ(cell.header.kind, sampling::kCellAddresses);
    EXPECT_EQ(cell.header.is_cut, 0);
    EXPECT_TRUE(std::any_of(cell.words.begin(), cell.words.end(), IsInBurn));
    // A file is told before its first sample.
    for (const uint64_t address : cell.words) {
      if (address >> sampling::kFileNumberShift == 0) continue;
      EXPECT_TRUE(std::any_of(files.begin(), files.end(),
                              [&](const auto& f) {
                                return address >= f.start && address <= f.end;
                              }))
          << std::hex << address;
    }
  }
  EXPECT_FALSE(files.empty());
  EXPECT_EQ(ring->header()->dropped, 0u);
}

TEST_F(TargetTimerTest, FilesAreToldOnce) {
  TargetTimerThreadStart();
  std::set<uint64_t> told;
  for (int samples = 0; samples < 10; BurnMs(20)) {
    for (const auto& [header, words] : Take()) {
      const bool is_file = header.kind == sampling::kCellFile;
      EXPECT_TRUE(!is_file || told.insert(words[0]).second);  // its start
      samples += !is_file;
    }
  }
}

TEST_F(TargetTimerTest, WithoutAFreeCellTicksAreDroppedAndCounted) {
  sampling::CellStates* const states = sampling::StatesOf(ring->header());
  for (uint32_t i = 0; i < kCells; ++i) states[i] = sampling::kCellWriting;
  TargetTimerThreadStart();
  BurnMs(200);
  TargetTimerThreadExit();
  const uint64_t dropped = ring->header()->dropped.exchange(0);
  ExpectAboutMs(dropped * kPeriodMs, 200);
  for (uint32_t i = 0; i < kCells; ++i) states[i] = sampling::kCellFree;
  EXPECT_TRUE(Take().empty());
}

// A handler looks at sixteen cells.
TEST_F(TargetTimerTest, AFreeCellIsFoundBehindTakenOnes) {
  sampling::CellStates* const states = sampling::StatesOf(ring->header());
  for (uint32_t i = 0; i < kCells; ++i) {
    states[i] =
        i == 15 || i == 40 ? sampling::kCellFree : sampling::kCellWriting;
  }
  ring->header()->next_cell = kCells;  // the first one again
  TargetTimerThreadStart();
  while (ring->header()->next_cell < kCells + 2) {
  }
  TargetTimerThreadExit();
  EXPECT_EQ(states[15], sampling::kCellReady);
  for (uint32_t i = 0; i < kCells; ++i) {
    if (i != 15) states[i] = sampling::kCellFree;
  }
  EXPECT_EQ(Take().size(), 1u);
  EXPECT_GE(ring->header()->dropped.exchange(0), 1u);
}

TEST_F(TargetTimerTest, WhenTheCollectorEndsThreadsStop) {
  TargetTimerThreadStart();
  ring->header()->is_enabled = 0;
  BurnMs(100);
  ring->header()->is_enabled = 1;
  BurnMs(100);
  EXPECT_TRUE(Take().empty());
  ring->header()->is_enabled = 0;
  TargetTimerThreadStart();
  ring->header()->is_enabled = 1;
  BurnMs(100);
  EXPECT_TRUE(Take().empty());
  TargetTimerThreadStart();
  TargetTimerThreadStart();  // it has a timer
  BurnMs(200);
  ExpectAboutMs(SampledMs(Take()), 200);
}

TEST_F(TargetTimerTest, ThreadsAreSampledApart) {
  int32_t tid = 0;
  std::thread([&] {
    tid = gettid();
    TargetTimerThreadStart();
    BurnMs(200);
    TargetTimerThreadExit();
  }).join();
  const std::vector<Cell> cells = Take();
  ExpectAboutMs(SampledMs(cells), 200);
  for (const Cell& cell : cells) EXPECT_EQ(cell.header.tid, tid);
}

TEST_F(TargetTimerTest, AForkedChildIsSampledAsItself) {
  const pid_t child = fork();
  if (child == 0) {
    errno = 77;
    TargetTimerAfterForkInChild();
    if (errno != 77) _exit(1);
    BurnMs(200);
    _exit(0);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  const std::vector<Cell> cells = Take();
  ExpectAboutMs(SampledMs(cells), 200);
  bool has_files = false;  // the collector knows none of them
  for (const Cell& cell : cells) {
    EXPECT_EQ(cell.header.pid, child);
    EXPECT_EQ(cell.header.tid, child);
    EXPECT_EQ(cell.header.parent_pid, getpid());
    has_files |= cell.header.kind == sampling::kCellFile;
  }
  EXPECT_TRUE(has_files);
}

// As of _Fork() or a bare clone, which sandboxes use.
TEST_F(TargetTimerTest, AChildWithoutForkHandlersHasNoTimers) {
  const pid_t child = fork();
  if (child == 0) {
    TargetTimerThreadStart();
    BurnMs(100);
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(Take().empty());
}

// Code without tables and without a frame pointer:
// push rbp; xor ebp, ebp; again: dec rdi; jnz again; pop rbp; ret
TEST_F(TargetTimerTest, AStackThatCannotBeFollowedIsCopied) {
  constexpr unsigned char kCode[] = {0x55, 0x31, 0xed, 0x48, 0xff,
                                     0xcf, 0x75, 0xfb, 0x5d, 0xc3};
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  std::memcpy(page, kCode, sizeof(kCode));
  const auto loop = reinterpret_cast<void (*)(uint64_t)>(page);
  // A whole copy ends before the stack does, however small its environment is.
  [[maybe_unused]] volatile char frame[kStackBytes];
  frame[0] = 0;
  TargetTimerThreadStart();
  const int64_t end_ns = ClockNs(CLOCK_THREAD_CPUTIME_ID) + 200'000'000;
  while (ClockNs(CLOCK_THREAD_CPUTIME_ID) < end_ns) loop(10'000'000);
  TargetTimerThreadExit();
  int copies = 0;
  for (const Cell& cell : Take()) {
    if (cell.header.kind != sampling::kCellStack) continue;
    ++copies;
    const auto& registers = cell.header.registers;
    const auto code = reinterpret_cast<uint64_t>(page);
    EXPECT_GE(registers[16], code);  // rip
    EXPECT_LE(registers[16], code + sizeof(kCode));
    EXPECT_EQ(registers[6], 0u);           // rbp
    EXPECT_LE(registers[5], 10'000'000u);  // rdi
    EXPECT_EQ(cell.header.stack_bytes, kStackBytes);
    // The stack from rsp on: the caller's rbp, and the return address.
    const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
    EXPECT_LT(registers[7], here);
    EXPECT_EQ(cell.words.at(0), here);
    Dl_info info;
    EXPECT_NE(dladdr(reinterpret_cast<void*>(cell.words.at(1)), &info), 0);
  }
  EXPECT_GE(copies, 3);
}

TEST_F(TargetTimerTest, AThreadForWhichNoTimerIsLeftCounts) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none = {};
    setrlimit(RLIMIT_SIGPENDING, &none);
    TargetTimerAfterForkInChild();
    BurnMs(60);
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(Take().empty());
  EXPECT_EQ(ring->header()->threads_without_timer.exchange(0), 1u);
}

// The system calls that timers make now and then end the process.
void ForbidCallsOfTimers() {
  std::vector<sock_filter> filter = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const uint32_t number :
       {SYS_prctl, SYS_process_vm_readv, SYS_timer_create, SYS_timer_delete,
        SYS_timer_settime, SYS_rt_sigreturn, SYS_gettid, SYS_getpid,
        SYS_getppid}) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog program = {static_cast<unsigned short>(filter.size()),
                              filter.data()};
  ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                    SECCOMP_FILTER_FLAG_TSYNC, &program),
            0);
}

// Runs `body` in a child that is sampled. It must end well.
template <typename Body>
void InChild(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    TargetTimerAfterForkInChild();
    body();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(TargetTimerTest, StoppedTimersMakeNoSystemCalls) {
  InChild([] {
    std::atomic<bool> is_restricted = false;
    std::thread other([&] {
      TargetTimerThreadStart();
      BurnMs(60);
      while (!is_restricted) BurnMs(1);
      BurnMs(60);
      TargetTimerThreadExit();
    });
    BurnMs(60);
    errno = 77;
    TargetTimerStop(sampling::TimerStop::kRestricted);
    EXPECT_EQ(errno, 77);
    EXPECT_FALSE(Take().empty());
    ForbidCallsOfTimers();
    is_restricted = true;
    BurnMs(60);
    std::thread([] {
      TargetTimerThreadStart();
      BurnMs(60);
      TargetTimerThreadExit();
    }).join();
    other.join();
    TargetTimerStop(sampling::TimerStop::kRestricted);
    EXPECT_TRUE(Take().empty());
  });
  EXPECT_EQ(ring->header()->stops[0].exchange(0), 1u);
  EXPECT_EQ(ring->header()->stops[1], 0u);
}

TEST_F(TargetTimerTest, ChildrenOfAStoppedProcessCount) {
  InChild([] {
    TargetTimerStop(sampling::TimerStop::kOwnSignal);
    InChild([] {
      BurnMs(60);
      EXPECT_TRUE(Take().empty());
    });
  });
  EXPECT_EQ(ring->header()->stops[1].exchange(0), 2u);
  EXPECT_EQ(ring->header()->stops[0], 0u);
}

TEST_F(TargetTimerTest, AChildOfVforkStopsNoTimerOfItsParent) {
  TargetTimerThreadStart();
  const pid_t child = vfork();
  if (child == 0) {
    TargetTimerStop(sampling::TimerStop::kRestricted);
    _exit(0);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  BurnMs(100);
  EXPECT_FALSE(Take().empty());
  EXPECT_EQ(ring->header()->stops[0], 0u);
}

// The signals that this thread really has blocked.
sigset_t RealMask() {
  sigset_t mask;
  EXPECT_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &mask), 0);
  return mask;
}

// As the hooks of pthread_sigmask and sigprocmask do.
sigset_t ChangeMask(int how, const sigset_t* set) {
  sigset_t old;
  EXPECT_EQ(TargetTimerChangeMask(how, set, &old, pthread_sigmask), 0);
  return old;
}

TEST_F(TargetTimerTest, ThreadsThatBlockAllSignalsAreSampled) {
  InChild([] {
    const sigset_t all = All();
    sigset_t none;
    sigemptyset(&none);
    const sigset_t before = ChangeMask(SIG_SETMASK, &all);
    EXPECT_EQ(sigismember(&before, SIGPROF), 0);
    const sigset_t real = RealMask();
    EXPECT_EQ(sigismember(&real, SIGPROF), 0);
    EXPECT_EQ(sigismember(&real, SIGUSR1), 1);
    EXPECT_TRUE(TargetTimerBlocksSignal());
    BurnMs(60);
    EXPECT_FALSE(Take().empty());
    // The program sees what it has set.
    const sigset_t seen = ChangeMask(SIG_BLOCK, &none);
    EXPECT_EQ(sigismember(&seen, SIGPROF), 1);
    EXPECT_TRUE(TargetTimerBlocksSignal());
    const sigset_t same = ChangeMask(SIG_UNBLOCK, &all);
    EXPECT_EQ(sigismember(&same, SIGPROF), 1);
    const sigset_t unblocked = ChangeMask(SIG_BLOCK, &all);
    EXPECT_EQ(sigismember(&unblocked, SIGPROF), 0);
    EXPECT_TRUE(TargetTimerBlocksSignal());
    ChangeMask(SIG_SETMASK, &none);
    EXPECT_FALSE(TargetTimerBlocksSignal());
    std::thread([] {
      TargetTimerThreadStart(true);
      EXPECT_TRUE(TargetTimerBlocksSignal());
    }).join();
    // Whoever has a handler is safe from it.
    signal(SIGPROF, [](int) {});
    ChangeMask(SIG_BLOCK, &all);
    const sigset_t safe = RealMask();
    EXPECT_EQ(sigismember(&safe, SIGPROF), 1);
    EXPECT_FALSE(TargetTimerBlocksSignal());
  });
}

TEST_F(TargetTimerTest, AProgramThatWaitsForTheSignalGetsItsOwn) {
  InChild([] {
    const sigset_t all = All();
    ChangeMask(SIG_BLOCK, &all);
    BurnMs(60);
    kill(getpid(), SIGPROF);
    const sigset_t real = RealMask();
    EXPECT_EQ(sigismember(&real, SIGPROF), 1);
    siginfo_t info;
    const timespec limit = {.tv_sec = 10};
    EXPECT_EQ(sigtimedwait(&all, &info, &limit), SIGPROF);
    EXPECT_EQ(info.si_code, SI_USER);
    EXPECT_EQ(info.si_pid, getpid());
    pthread_kill(pthread_self(), SIGPROF);
    EXPECT_EQ(sigtimedwait(&all, &info, &limit), SIGPROF);
    (void)Take();
    BurnMs(60);
    EXPECT_TRUE(Take().empty());
    const timespec soon = {};
    EXPECT_EQ(sigtimedwait(&all, &info, &soon), -1);
  });
  EXPECT_EQ(ring->header()->stops[1].exchange(0), 1u);
}

// Only the main thread may send on what is said to come from kill().
TEST_F(TargetTimerTest, ASignalIsNotLostInThreadsThatBlockIt) {
  InChild([] {
    const sigset_t all = All();
    ChangeMask(SIG_BLOCK, &all);
    std::atomic<int> started = 0;
    std::atomic<int> blocking = 0;
    const auto wait_until_it_blocks = [&] {
      TargetTimerThreadStart(true);
      ++started;
      for (int i = 0; i < 1'000; ++i) {
        const sigset_t real = RealMask();
        if (sigismember(&real, SIGPROF) == 1) {
          ++blocking;
          break;
        }
        BurnMs(1);
      }
      TargetTimerThreadExit();
    };
    std::thread one(wait_until_it_blocks);
    std::thread two(wait_until_it_blocks);
    while (started < 2) BurnMs(1);
    kill(getpid(), SIGPROF);
    one.join();
    two.join();
    EXPECT_EQ(blocking, 2);
    const timespec soon = {};
    EXPECT_EQ(sigtimedwait(&all, nullptr, &soon), SIGPROF);
  });
  EXPECT_EQ(ring->header()->stops[1].exchange(0), 1u);
}

int handled = 0;
int handled_code = 0;

TEST_F(TargetTimerTest, AHandlerDoesNotRunWhereItsSignalIsBlocked) {
  for (const int flags : {0, SA_SIGINFO}) {
    InChild([flags] {
      const sigset_t all = All();
      ChangeMask(SIG_BLOCK, &all);
      struct sigaction action = {};
      action.sa_flags = flags;
      if (flags == 0) {
        action.sa_handler = [](int) { ++handled; };
      } else {
        action.sa_sigaction = [](int, siginfo_t*, void*) { ++handled; };
      }
      ASSERT_EQ(sigaction(SIGPROF, &action, nullptr), 0);
      kill(getpid(), SIGPROF);
      EXPECT_EQ(handled, 0);
      ChangeMask(SIG_UNBLOCK, &all);
      EXPECT_EQ(handled, 1);
      BurnMs(60);
      EXPECT_FALSE(Take().empty());
    });
  }
  EXPECT_EQ(ring->header()->stops[1], 0u);
}

TEST_F(TargetTimerTest, TheProgramsHandlersStayTheProgramsOwn) {
  const auto plain = [](int) {
    ++handled;
    errno = 5;
  };
  struct sigaction action = {};
  struct sigaction old = {};
  ASSERT_EQ(sigaction(SIGPROF, nullptr, &old), 0);
  EXPECT_EQ(old.sa_handler, SIG_DFL);
  action.sa_handler = plain;
  ASSERT_EQ(sigaction(SIGPROF, &action, &old), 0);
  EXPECT_EQ(old.sa_handler, SIG_DFL);
  errno = 77;
  raise(SIGPROF);
  EXPECT_EQ(errno, 77);
  EXPECT_EQ(handled, 1);
  EXPECT_EQ(signal(SIGPROF, SIG_IGN), action.sa_handler);
  raise(SIGPROF);
  EXPECT_EQ(handled, 1);
  action.sa_sigaction = [](int, siginfo_t* info, void*) {
    handled += 10;
    handled_code = info->si_code;
  };
  action.sa_flags = SA_SIGINFO;
  ASSERT_EQ(sigaction(SIGPROF, &action, &old), 0);
  EXPECT_EQ(old.sa_handler, SIG_IGN);
  EXPECT_EQ(old.sa_flags, SA_RESTART);
  raise(SIGPROF);
  EXPECT_EQ(handled, 11);
  EXPECT_EQ(handled_code, SI_TKILL);
  // The samples go on, and are none of the program's signals.
  TargetTimerThreadStart();
  BurnMs(100);
  EXPECT_FALSE(Take().empty());
  EXPECT_EQ(handled, 11);
  EXPECT_NE(signal(SIGPROF, SIG_DFL), SIG_ERR);
  EXPECT_EQ(signal(SIGUSR1, plain), SIG_DFL);
  raise(SIGUSR1);
  EXPECT_EQ(handled, 12);
  EXPECT_EQ(signal(SIGKILL, SIG_IGN), SIG_ERR);
}

TEST_F(TargetTimerTest, ASignalThatNobodyHandlesEndsTheProcess) {
  EXPECT_EXIT(raise(SIGPROF), testing::KilledBySignal(SIGPROF), "");
}

}  // namespace
}  // namespace kymo
