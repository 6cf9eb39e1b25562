#include "backends/off_cpu/wait_causes.h"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backends/off_cpu/look/blocked_look.h"
#include "profiler/base/clock.h"

extern "C" [[gnu::noinline, gnu::noipa]] void test_vforks() {
  if (vfork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (true) pause();
  }
  asm volatile("");  // no tail call
}

namespace kymo::off_cpu {
namespace {

// A child that calls `work`. It is killed at the end.
class Child {
 public:
  template <typename Work>
  explicit Child(Work work) : pid_(fork()) {
    if (pid_ == 0) {
      work();
      _exit(0);
    }
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  uint32_t pid() const { return static_cast<uint32_t>(pid_); }
  // When a thread of it waits in that system call, what a look sees.
  BlockedLook Await(uint32_t tid, int64_t call) const {
    BlockedLook look;
    while (look.Take(pid_, tid) != BlockedLook::Result::kSeen ||
           look.call().number != call) {
      usleep(1'000);
    }
    return look;
  }

 private:
  const pid_t pid_;
};

constexpr model::StackId kSomeStack{7};

// Of a thread that is blocked. Tracks are thread numbers.
model::Wait TryWaitOf(const ThreadKey& thread) {
  sampling::StackStore stacks;
  WaitLog log;
  WaitCauses causes(&stacks, &log);
  ThreadClock clock(1, [&](const OffCpuTime& time) { log.OnWait(time); });
  const auto begin_ns = static_cast<uint64_t>(MonotonicNs());
  clock.OnSwitch({.pid = thread.pid,
                  .tid = thread.tid,
                  .is_out = true,
                  .time_ns = begin_ns});
  causes.LookAtBlocked(clock, begin_ns + 2 * kNsPerMs);
  clock.End(static_cast<uint64_t>(MonotonicNs()));
  model::ThreadStates states;
  model::TraceShard shard;
  std::vector<model::StackId> names(100, kSomeStack);
  names[0] = model::kEmptyStack;
  log.Collect([](const ThreadKey& of) { return of.tid; }, names, shard, states);
  return states.waits.at(0);
}

// Where this thread was without a CPU for long after its look, it tries again:
// of long waits, the first looks do not tell the holder (HolderCountsFromNs).
model::Wait WaitOf(const ThreadKey& thread) {
  for (;;) {
    const model::Wait wait = TryWaitOf(thread);
    if (wait.duration_ns < model::kLongWaitNs) return wait;
  }
}

model::WaitKind KindOf(const ThreadKey& thread) { return WaitOf(thread).kind; }

// Its descriptors and its memory are only those of the other threads now.
TEST(BlockedLookTest, ThreadsAreSeenAfterTheMainThreadHasEnded) {
  int ends[2], told[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(pipe(told), 0);
  const Child child([&] {
    std::thread([&] {
      const auto tid = static_cast<uint32_t>(syscall(SYS_gettid));
      char c;
      (void)!write(told[1], &tid, sizeof(tid));
      (void)!read(ends[0], &c, 1);
    }).detach();
    syscall(SYS_exit, 0);  // of this thread only
  });
  uint32_t tid = 0;
  ASSERT_EQ(read(told[0], &tid, sizeof(tid)), ssize_t{sizeof(tid)});
  const std::string exe = "/proc/" + std::to_string(child.pid()) + "/exe";
  while (access(exe.c_str(), F_OK) == 0) usleep(1'000);
  const BlockedLook look = child.Await(tid, SYS_read);
  EXPECT_GT(look.stack().size(), 0u);
  const DescriptorInfo info =
      LookAtDescriptor(child.pid(), tid, static_cast<uint64_t>(ends[0]));
  EXPECT_TRUE(info.link.starts_with("pipe:[")) << info.link;
  EXPECT_EQ(info.mode, uint32_t{S_IFIFO});
  EXPECT_EQ(KindOf({child.pid(), tid}), model::WaitKind::kPipe);
  for (const int end : {ends[0], ends[1], told[0], told[1]}) close(end);
}

// Threads of this process that read an empty pipe.
class Readers {
 public:
  explicit Readers(size_t count) {
    EXPECT_EQ(pipe(ends_), 0);
    tids_ = std::make_unique<std::atomic<uint32_t>[]>(count);
    for (size_t i = 0; i < count; ++i) {
      threads_.emplace_back([this, i] {
        tids_[i] = static_cast<uint32_t>(syscall(SYS_gettid));
        char c;
        (void)!read(ends_[0], &c, 1);
      });
    }
  }
  ~Readers() {
    close(ends_[1]);
    for (std::thread& thread : threads_) thread.join();
    close(ends_[0]);
  }
  // When it waits.
  uint32_t Tid(size_t i) const {
    BlockedLook look;
    while (tids_[i] == 0 ||
           look.Take(getpid(), tids_[i]) != BlockedLook::Result::kSeen ||
           look.call().number != SYS_read) {
      usleep(1'000);
    }
    return tids_[i];
  }
  int descriptor() const { return ends_[0]; }

 private:
  int ends_[2];
  std::unique_ptr<std::atomic<uint32_t>[]> tids_;
  std::vector<std::thread> threads_;
};

// The kernel goes on with what a stop interrupted: restart_syscall(2).
TEST(WaitCausesTest, WaitsThatAStopInterruptedKeepTheirKind) {
  int futex = 0;
  const timespec minute = {60, 0};
  const Child children[] = {
      Child([&] { nanosleep(&minute, nullptr); }), Child([] {
        int ends[2];
        pollfd empty = {pipe(ends) == 0 ? ends[0] : -1, POLLIN, 0};
        poll(&empty, 1, 60'000);
      }),
      Child([&] {
        syscall(SYS_futex, &futex, FUTEX_WAIT, 0, &minute, nullptr, 0);
      })};
  const int64_t calls[] = {SYS_clock_nanosleep, SYS_poll, SYS_futex};
  const model::WaitKind kinds[] = {
      model::WaitKind::kSleep, model::WaitKind::kPoll, model::WaitKind::kLock};
  for (int i = 0; i < 3; ++i) {
    const uint32_t pid = children[i].pid();
    children[i].Await(pid, calls[i]);
    kill(static_cast<pid_t>(pid), SIGSTOP);
    waitpid(static_cast<pid_t>(pid), nullptr, WUNTRACED);
    kill(static_cast<pid_t>(pid), SIGCONT);
    children[i].Await(pid, SYS_restart_syscall);
    EXPECT_EQ(KindOf({pid, pid}), kinds[i]) << i;
  }
}

// vfork keeps its return address in a register.
TEST(WaitCausesTest, WhoCallsVforkIsSeen) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "NOT TESTED HERE: sanitizers have a vfork of their own";
#endif
  const Child child([] { test_vforks(); });
  child.Await(child.pid(), SYS_vfork);
  sampling::StackStore stacks;
  WaitLog log;
  WaitCauses causes(&stacks, &log);
  ThreadClock clock;
  const auto now_ns = static_cast<uint64_t>(MonotonicNs());
  clock.OnSwitch({.pid = child.pid(),
                  .tid = child.pid(),
                  .is_out = true,
                  .time_ns = now_ns});
  causes.LookAtBlocked(clock, now_ns + 2 * kNsPerMs);
  model::TraceShard shard;
  stacks.Collect(shard);
  EXPECT_TRUE(shard.strings.Find("test_vforks"));
  EXPECT_TRUE(shard.strings.Find("_start"));
  EXPECT_EQ(shard.ledger.Get(model::Loss::kStacksIncomplete), 0u);
}

// The holder of a lock is seen, with its stack if it is blocked itself.
TEST(WaitCausesTest, ALookSeesWhoHoldsTheLock) {
  for (const bool is_blocked : {true, false}) {
    int told[2];
    ASSERT_EQ(pipe(told), 0);
    const Child child([&] {
      pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
      const auto tell = [&] {
        const auto tid = static_cast<uint32_t>(syscall(SYS_gettid));
        (void)!write(told[1], &tid, sizeof(tid));
      };
      std::atomic<bool> is_held = false;
      std::thread([&] {
        pthread_mutex_lock(&mutex);
        tell();
        is_held = true;
        for (volatile unsigned i = 0; !is_blocked;) i = i + 1;
        pause();
      }).detach();
      while (!is_held) usleep(100);
      tell();
      pthread_mutex_lock(&mutex);
    });
    uint32_t holder = 0, waiter = 0;
    ASSERT_EQ(read(told[0], &holder, sizeof(holder)), ssize_t{sizeof(holder)});
    ASSERT_EQ(read(told[0], &waiter, sizeof(waiter)), ssize_t{sizeof(waiter)});
    child.Await(waiter, SYS_futex);
    if (is_blocked) child.Await(holder, SYS_pause);
    const model::Wait wait = WaitOf({child.pid(), waiter});
    EXPECT_EQ(wait.kind, model::WaitKind::kLock);
    EXPECT_EQ(wait.holder, holder);
    EXPECT_EQ(wait.waker, model::kNoTrack);
    EXPECT_EQ(wait.holder_stack, is_blocked ? kSomeStack : model::kEmptyStack);
    close(told[0]);
    close(told[1]);
  }
}

TEST(WaitCausesTest, AThreadThatLocksAMutexTwiceHoldsIt) {
  const Child child([] {
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex);
  });
  child.Await(child.pid(), SYS_futex);
  const model::Wait wait = WaitOf({child.pid(), child.pid()});
  EXPECT_EQ(wait.holder, child.pid());
  EXPECT_EQ(wait.holder_stack, kSomeStack);
}

TEST(WaitCausesTest, ManyThreadsThatBeginToWaitTogetherAreAllLookedAt) {
  constexpr size_t kThreads = 100;
  const Readers readers(kThreads);
  const auto pid = static_cast<uint32_t>(getpid());
  sampling::StackStore stacks;
  WaitLog log;
  WaitCauses causes(&stacks, &log);
  ThreadClock clock;
  const auto begin_ns = static_cast<uint64_t>(MonotonicNs());
  for (size_t i = 0; i < kThreads; ++i) {
    clock.OnSwitch({.pid = pid,
                    .tid = readers.Tid(i),
                    .is_out = true,
                    .time_ns = begin_ns});
  }
  // Each call goes on where the budget of the one before ended.
  const size_t calls = (kThreads - 1) / LookBudget::kFewest + 1;
  for (size_t i = 0; i < calls; ++i) {
    causes.LookAtBlocked(clock, begin_ns + 2 * kNsPerMs);
  }
  size_t seen = 0;
  for (size_t i = 0; i < kThreads; ++i) {
    seen += log.HasCauseSince(readers.Tid(i), begin_ns) ? 1 : 0;
  }
  EXPECT_EQ(seen, kThreads);
}

}  // namespace
}  // namespace kymo::off_cpu
