// The hooks of target/ in this program: they note what blocks, and change
// nothing of what the functions do.
//
// Long, because each kind of function has its own way to wait.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/gmon.h>
#include <sys/prctl.h>
#include <sys/profil.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "backends/off_cpu/calls/wait_ring_reader.h"
#include "backends/off_cpu/target/real_calls.h"
#include "backends/off_cpu/target/wait_writer.h"
#include "backends/sampling/sample_ring_reader.h"
#include "backends/sampling/target/target_timer.h"
#include "profiler/base/clock.h"
#include "profiler/record/host/restricted_calls.h"

namespace kymo::off_cpu {
namespace {

using model::WaitKind;

constexpr timespec kMs = {.tv_nsec = kNsPerMs};

// One for all tests: a process joins once.
WaitRingReader& Reader() {
  static WaitRingReader* const reader = [] {
    auto* const made = WaitRingReader::Create()->release();
    setenv(kWaitRingVariable, made->path().c_str(), 1);
    JoinWaitRing();
    return made;
  }();
  return *reader;
}

class HooksTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Reader().Read([](NotedCall&&) {});
  }

  // What this thread has waited for since then.
  std::vector<NotedCall> Calls(pid_t tid = gettid()) {
    std::vector<NotedCall> calls;
    Reader().Read([&](NotedCall&& call) {
      if (call.tid == static_cast<uint32_t>(tid)) {
        calls.push_back(std::move(call));
      }
    });
    return calls;
  }
  // The only call that took a millisecond.
  NotedCall LongCall() {
    NotedCall found;
    int count = 0;
    for (NotedCall& call : Calls()) {
      if (call.end_ns - call.begin_ns < kNsPerMs) continue;
      found = std::move(call);
      ++count;
    }
    EXPECT_EQ(count, 1);
    return found;
  }
};

// Runs `work` in another thread, which begins it at once.
class Other {
 public:
  template <typename Work>
  explicit Other(Work work) {
    static Work copied = work;
    copied = work;
    pthread_create(
        &thread_, nullptr,
        [](void* work_pointer) -> void* {
          (*static_cast<Work*>(work_pointer))();
          return nullptr;
        },
        &copied);
  }
  void* Join() {
    void* result = nullptr;
    pthread_join(thread_, &result);
    return result;
  }
  pthread_t thread() const { return thread_; }

 private:
  pthread_t thread_;
};

// Returns where it called nanosleep.
__attribute__((noinline)) uint64_t SleepAndReturn() {
  nanosleep(&kMs, nullptr);
here:
  asm volatile("");
  return reinterpret_cast<uint64_t>(&&here);
}

std::string FunctionAt(uint64_t address) {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(address), &info) == 0 ||
      info.dli_sname == nullptr) {
    return "";
  }
  return info.dli_sname;
}

// As fio does, without liburing.
TEST_F(HooksTest, AnIoUringIsPolled) {
  io_uring_params parameters = {};
  const auto ring =
      static_cast<int>(syscall(SYS_io_uring_setup, 1, &parameters));
  if (ring < 0 || (parameters.features & IORING_FEAT_EXT_ARG) == 0) {
    GTEST_SKIP() << "this kernel permits no io_uring with a time limit";
  }
  struct {
    int64_t seconds = 0, nanoseconds = 5 * kNsPerMs;
  } time;
  struct {
    uint64_t signals = 0;
    uint32_t signals_size = 0, pad = 0;
    uint64_t time;
  } argument = {.time = reinterpret_cast<uint64_t>(&time)};
  EXPECT_EQ(syscall(SYS_io_uring_enter, ring, 0, 1,
                    IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &argument,
                    sizeof(argument)),
            -1);
  EXPECT_EQ(errno, ETIME);
  const NotedCall call = LongCall();
  EXPECT_EQ(call.kind, WaitKind::kPoll);
  EXPECT_EQ(call.object, static_cast<uint64_t>(ring));
  EXPECT_EQ(call.object_is, CallObject::kDescriptor);
  ASSERT_FALSE(call.addresses.empty());
  EXPECT_EQ(FunctionAt(call.addresses[0]), "syscall");
  close(ring);
}

// Nobody can read them afterwards.
TEST_F(HooksTest, AThreadNotesTheKernelsCountsAtItsEnd) {
  static std::atomic<pid_t> tid = 0;
  static std::atomic<int64_t> on_cpu_ns = 0;
  Other([] {
    tid = gettid();
    nanosleep(&kMs, nullptr);
    usleep(25'000);  // a short life is not noted
    do on_cpu_ns = ThreadCpuNs();
    while (on_cpu_ns < 3 * kNsPerMs);
  }).Join();
  std::vector<NotedEnd> ends;
  Reader().Read([](NotedCall&&) {},
                [&](const NotedEnd& end) { ends.push_back(end); });
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].tid, static_cast<uint32_t>(tid.load()));
  EXPECT_GE(ends[0].on_cpu_ns, on_cpu_ns.load());
  EXPECT_LE(ends[0].time_ns, static_cast<uint64_t>(MonotonicNs()));
  EXPECT_TRUE(ends[0].counts.has_faults);
  EXPECT_TRUE(ends[0].counts.has_io);
  // Reads of the files before that of the I/O.
  EXPECT_GE(ends[0].counts.read_calls, 1u);
}

TEST_F(HooksTest, ASleepIsNotedWithItsStack) {
  const int64_t before_ns = MonotonicNs();
  errno = 77;
  const uint64_t here = SleepAndReturn();
  EXPECT_EQ(errno, 77);
  const NotedCall call = LongCall();
  EXPECT_EQ(call.kind, WaitKind::kSleep);
  EXPECT_GE(call.begin_ns + kNsPerUs, static_cast<uint64_t>(before_ns));
  EXPECT_LE(call.end_ns, static_cast<uint64_t>(MonotonicNs() + kNsPerUs));
  ASSERT_GT(call.addresses.size(), 2u);
  EXPECT_NE(FunctionAt(call.addresses[0]).find("nanosleep"), std::string::npos);
  EXPECT_EQ(call.addresses[1], here);
  EXPECT_FALSE(call.is_cut);
}

TEST_F(HooksTest, WhatDoesNotBlockIsNotNoted) {
  int pipe_ends[2];
  ASSERT_EQ(pipe2(pipe_ends, O_NONBLOCK), 0);
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  char byte = 0;
  // On a busy machine, the thread may be preempted in some of them.
  constexpr int kTimes = 1'000;
  for (int i = 0; i < kTimes; ++i) {
    errno = 0;
    EXPECT_EQ(read(pipe_ends[0], &byte, 1), -1);
    EXPECT_EQ(errno, EAGAIN);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  }
  EXPECT_LT(Calls().size(), kTimes / 2);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

// On a busy machine, what a thread is to wait for may come before it does.
constexpr int kTries = 20;

TEST_F(HooksTest, APipeIsNotedWithItsDescriptor) {
  static int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  for (int i = 0; i < kTries; ++i) {
    Other writer([] {
      usleep(5'000);
      (void)!write(pipe_ends[1], "x", 1);
    });
    char byte = 0;
    EXPECT_EQ(read(pipe_ends[0], &byte, 1), 1);
    writer.Join();
    for (const NotedCall& call : Calls()) {
      if (call.kind != WaitKind::kRead) continue;
      EXPECT_EQ(call.object_is, CallObject::kDescriptor);
      EXPECT_EQ(call.object, static_cast<uint64_t>(pipe_ends[0]));
      return;
    }
  }
  ADD_FAILURE() << "not noted";
}

TEST_F(HooksTest, APollIsNotedWithItsDescriptors) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pollfd files[] = {{ends[0], POLLIN, 0}, {ends[0], POLLIN, 0}};
  EXPECT_EQ(poll(files, 1, 2), 0);
  const NotedCall one = LongCall();
  EXPECT_EQ(one.object_is, CallObject::kDescriptor);
  EXPECT_EQ(one.object, static_cast<uint64_t>(ends[0]));
  EXPECT_TRUE(S_ISFIFO(one.mode));
  EXPECT_EQ(poll(files, 2, 2), 0);
  const NotedCall two = LongCall();
  EXPECT_EQ(two.object_is, CallObject::kDescriptorCount);
  EXPECT_EQ(two.object, 2u);
  files[0].fd = -1;
  EXPECT_EQ(poll(files, 1, 2), 0);
  EXPECT_EQ(LongCall().object_is, CallObject::kOther);
  // What the kernel cannot read, hooks do not either.
  auto* volatile nowhere = reinterpret_cast<pollfd*>(ends[0]);
  EXPECT_EQ(poll(nowhere, 1, 0), -1);
  EXPECT_EQ(errno, EFAULT);
  close(ends[0]);
  close(ends[1]);
}

TEST_F(HooksTest, ALockIsNotedWithItsHolder) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static std::atomic<pid_t> holder;
  for (int i = 0; i < kTries; ++i) {
    holder = 0;
    Other other([] {
      pthread_mutex_lock(&mutex);
      holder = gettid();
      usleep(5'000);
      pthread_mutex_unlock(&mutex);
    });
    while (holder == 0) sched_yield();
    pthread_mutex_lock(&mutex);
    const auto calls = Calls();
    pthread_mutex_unlock(&mutex);
    other.Join();
    for (const NotedCall& call : calls) {
      if (call.object != reinterpret_cast<uint64_t>(&mutex)) continue;
      EXPECT_EQ(call.kind, WaitKind::kLock);
      EXPECT_EQ(call.holder_tid, static_cast<uint32_t>(holder.load()));
      return;
    }
  }
  ADD_FAILURE() << "not noted";
}

// Whoever ends a wait notes it with what the thread waited for; nobody does if
// nobody waits.
TEST_F(HooksTest, WakesAreNotedWithTheirObject) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  static sem_t semaphore;
  static std::atomic<int> word;
  sem_init(&semaphore, 0, 0);
  struct Way {
    void* object;
    void (*block)();
    void (*wait)();
    void (*wake)();
  };
  const Way ways[] = {
      {&mutex, [] { pthread_mutex_lock(&mutex); },
       [] {
         pthread_mutex_lock(&mutex);
         pthread_mutex_unlock(&mutex);
       },
       [] { pthread_mutex_unlock(&mutex); }},
      {&lock, [] { pthread_rwlock_wrlock(&lock); },
       [] {
         pthread_rwlock_rdlock(&lock);
         pthread_rwlock_unlock(&lock);
       },
       [] { pthread_rwlock_unlock(&lock); }},
      {&condition, [] {},
       [] {
         pthread_mutex_lock(&mutex);
         pthread_cond_wait(&condition, &mutex);
         pthread_mutex_unlock(&mutex);
       },
       [] { pthread_cond_broadcast(&condition); }},
      {&semaphore, [] {}, [] { sem_wait(&semaphore); },
       [] { sem_post(&semaphore); }},
      {&word, [] {}, [] { syscall(SYS_futex, &word, FUTEX_WAIT, 0, nullptr); },
       [] { syscall(SYS_futex, &word, FUTEX_WAKE, 1); }},
  };
  const auto wakes_of = [&](const Way& way) {
    int count = 0;
    for (const NotedCall& call : Calls()) {
      if (!call.is_wake ||
          call.object != reinterpret_cast<uint64_t>(way.object)) {
        continue;
      }
      EXPECT_EQ(call.pid, static_cast<uint32_t>(getpid()));
      EXPECT_EQ(call.is_shared, way.object == &semaphore);
      EXPECT_GT(call.addresses.size(), 2u);
      ++count;
    }
    return count;
  };
  for (const Way& way : ways) {
    SCOPED_TRACE(&way - ways);
    way.block();
    way.wake();
    EXPECT_EQ(wakes_of(way), 0);
    sem_init(&semaphore, /*pshared=*/1, 0);
    // On a busy machine, the wake may come before the wait.
    int wakes = 0;
    for (int i = 0; i < kTries && wakes == 0; ++i) {
      way.block();
      static std::atomic<bool> has_waited;
      has_waited = false;
      static void (*wait)();
      wait = way.wait;
      Other other([] {
        wait();
        has_waited = true;
      });
      usleep(5'000);
      way.wake();
      const bool forgets = way.object == &condition || way.object == &word;
      for (; forgets && !has_waited; usleep(1'000)) way.wake();
      other.Join();
      wakes = wakes_of(way);
    }
    EXPECT_GT(wakes, 0);
  }
}

TEST_F(HooksTest, TooManyWakesAreCountedInstead) {
  static sem_t ping, pong;
  sem_init(&ping, 0, 0);
  sem_init(&pong, 0, 0);
  constexpr int kTimes = 2'000;
  const uint64_t before = Reader().SkippedWakes();
  Other other([] {
    for (int i = 0; i < kTimes; ++i) {
      sem_wait(&ping);
      sem_post(&pong);
    }
  });
  for (int i = 0; i < kTimes; ++i) {
    sem_post(&ping);
    sem_wait(&pong);
  }
  other.Join();
  uint64_t wakes = 0;
  Reader().Read([&](NotedCall&& call) { wakes += call.is_wake; });
  EXPECT_LE(wakes, 130u);  // two threads may take the last one
  EXPECT_GT(wakes + Reader().SkippedWakes() - before, wakes);
}

// A lock that is tried first says what it would have said.
TEST_F(HooksTest, LocksKeepTheirErrors) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_t checked;
  pthread_mutex_init(&checked, &attributes);
  EXPECT_EQ(pthread_mutex_lock(&checked), 0);
  EXPECT_EQ(pthread_mutex_lock(&checked), EDEADLK);
  EXPECT_EQ(pthread_mutex_unlock(&checked), 0);

  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_t recursive;
  pthread_mutex_init(&recursive, &attributes);
  EXPECT_EQ(pthread_mutex_lock(&recursive), 0);
  EXPECT_EQ(pthread_mutex_lock(&recursive), 0);
  EXPECT_EQ(pthread_mutex_unlock(&recursive), 0);
  EXPECT_EQ(pthread_mutex_unlock(&recursive), 0);
  EXPECT_EQ(pthread_mutex_unlock(&recursive), EPERM);

  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_NORMAL);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  static pthread_mutex_t robust;
  pthread_mutex_init(&robust, &attributes);
  Other([] { pthread_mutex_lock(&robust); }).Join();
  EXPECT_EQ(pthread_mutex_lock(&robust), EOWNERDEAD);
  EXPECT_EQ(pthread_mutex_consistent(&robust), 0);
  timespec past = {};
  EXPECT_EQ(pthread_mutex_unlock(&robust), 0);
  EXPECT_EQ(pthread_mutex_timedlock(&robust, &past), 0);
  EXPECT_EQ(pthread_mutex_timedlock(&robust, &past), ETIMEDOUT);

  pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
  EXPECT_EQ(pthread_rwlock_wrlock(&lock), 0);
  EXPECT_EQ(pthread_rwlock_rdlock(&lock), EDEADLK);
  EXPECT_EQ(pthread_rwlock_timedwrlock(&lock, &past), EDEADLK);
}

// The C library refuses a wrong time or clock even if the lock is free.
TEST_F(HooksTest, WrongTimesAreRefusedAsEver) {
  constexpr timespec kWrong = {.tv_sec = 1, .tv_nsec = 2 * kNsPerSecond};
  constexpr timespec kPast = {.tv_sec = 1};
  constexpr clockid_t kWrongClock = CLOCK_PROCESS_CPUTIME_ID;
  FindRealCalls();
  const auto expect_same = [](auto real_call, auto hook, auto init,
                              auto... arguments) {
    decltype(init()) first = init(), second = init();
    errno = 0;
    const int expected = real_call(&first, arguments...);
    const int expected_errno = errno;
    errno = 0;
    EXPECT_EQ(hook(&second, arguments...), expected);
    EXPECT_EQ(errno, expected_errno);
  };
  const auto mutex = [] { return pthread_mutex_t PTHREAD_MUTEX_INITIALIZER; };
  const auto lock = [] { return pthread_rwlock_t PTHREAD_RWLOCK_INITIALIZER; };
  const auto semaphore = [] {
    sem_t made;
    sem_init(&made, 0, 1);
    return made;
  };
#define EXPECT_SAME(name, ...) \
  expect_same(                 \
      real.name, [](auto... all) { return name(all...); }, __VA_ARGS__)
  for (const timespec& until : {kWrong, kPast}) {
    EXPECT_SAME(pthread_mutex_timedlock, mutex, &until);
    EXPECT_SAME(pthread_rwlock_timedrdlock, lock, &until);
    EXPECT_SAME(pthread_rwlock_timedwrlock, lock, &until);
    EXPECT_SAME(sem_timedwait, semaphore, &until);
    for (const clockid_t clock : {CLOCK_MONOTONIC, kWrongClock}) {
      EXPECT_SAME(pthread_mutex_clocklock, mutex, clock, &until);
      EXPECT_SAME(pthread_rwlock_clockrdlock, lock, clock, &until);
      EXPECT_SAME(pthread_rwlock_clockwrlock, lock, clock, &until);
      EXPECT_SAME(sem_clockwait, semaphore, clock, &until);
    }
  }
#undef EXPECT_SAME
}

TEST_F(HooksTest, SemaphoresKeepErrno) {
  sem_t semaphore;
  sem_init(&semaphore, 0, 1);
  errno = 77;
  EXPECT_EQ(sem_wait(&semaphore), 0);
  EXPECT_EQ(errno, 77);
  timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  EXPECT_EQ(sem_timedwait(&semaphore, &until), -1);
  EXPECT_EQ(errno, ETIMEDOUT);
}

// Of its two versions, the old one takes another structure.
TEST_F(HooksTest, ConditionsAreThoseOfToday) {
  FindRealCalls();
#if defined(__x86_64__)
  void* const today = dlvsym(RTLD_NEXT, "pthread_cond_wait", "GLIBC_2.3.2");
  EXPECT_EQ(reinterpret_cast<void*>(real.pthread_cond_wait), today);
#endif
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 2 * kNsPerMs;
  if (until.tv_nsec >= kNsPerSecond) {
    ++until.tv_sec;
    until.tv_nsec -= kNsPerSecond;
  }
  pthread_mutex_lock(&mutex);
  EXPECT_EQ(pthread_cond_timedwait(&condition, &mutex, &until), ETIMEDOUT);
  const NotedCall call = LongCall();
  EXPECT_EQ(call.kind, WaitKind::kCondition);
  EXPECT_EQ(call.object, reinterpret_cast<uint64_t>(&condition));
}

TEST_F(HooksTest, ThreadsAreCancelledInHooks) {
  static int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  static std::atomic<bool> is_unwound;
  is_unwound = false;
  Other reader([] {
    pthread_cleanup_push([](void*) { is_unwound = true; }, nullptr);
    char byte;
    (void)!read(pipe_ends[0], &byte, 1);
    pthread_cleanup_pop(0);
  });
  usleep(2'000);
  pthread_cancel(reader.thread());
  EXPECT_EQ(reader.Join(), PTHREAD_CANCELED);
  EXPECT_TRUE(is_unwound);
  // A semaphore that is free is a cancellation point, too.
  static sem_t semaphore;
  sem_init(&semaphore, 0, 1);
  Other waiter([] {
    pthread_cancel(pthread_self());
    sem_wait(&semaphore);
  });
  EXPECT_EQ(waiter.Join(), PTHREAD_CANCELED);
  EXPECT_EQ(sem_trywait(&semaphore), 0);
}

sigjmp_buf jump;

TEST_F(HooksTest, AHandlerMayJumpOutOfAHook) {
  signal(SIGALRM, [](int) { siglongjmp(jump, 1); });
  if (sigsetjmp(jump, 1) == 0) {
    const itimerval soon = {.it_value = {.tv_usec = 2'000}};
    setitimer(ITIMER_REAL, &soon, nullptr);
    sleep(10);
    ADD_FAILURE() << "the signal did not come";
  }
  signal(SIGALRM, SIG_DFL);
  nanosleep(&kMs, nullptr);
  EXPECT_EQ(LongCall().kind, WaitKind::kSleep);
}

TEST_F(HooksTest, SignalsEndWaitsAsEver) {
  signal(SIGALRM, [](int) { nanosleep(&kMs, nullptr); });
  const itimerval soon = {.it_value = {.tv_usec = 2'000}};
  setitimer(ITIMER_REAL, &soon, nullptr);
  EXPECT_EQ(poll(nullptr, 0, 10'000), -1);
  EXPECT_EQ(errno, EINTR);
  signal(SIGALRM, SIG_DFL);
  // Both: the handler's, and the one that it interrupted.
  EXPECT_GE(Calls().size(), 2u);
}

// However it is forked.
TEST_F(HooksTest, AForkedChildHasItsOwnNumber) {
  for (pid_t (*const fork_it)() :
       {+[] { return fork(); }, +[] { return _Fork(); },
        +[] { return static_cast<pid_t>(syscall(SYS_fork)); }}) {
    nanosleep(&kMs, nullptr);
    const pid_t child = fork_it();
    if (child == 0) {
      nanosleep(&kMs, nullptr);
      _exit(0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    bool has_child = false, has_wait = false;
    Reader().Read([&](NotedCall&& call) {
      has_child |= call.tid == static_cast<uint32_t>(child);
      has_wait |= call.kind == WaitKind::kChild &&
                  call.object == static_cast<uint64_t>(child);
    });
    EXPECT_TRUE(has_child);
    EXPECT_TRUE(has_wait);
  }
}

// Until its exec, the child runs in this process's memory.
TEST_F(HooksTest, AChildOfVforkLeavesItsParentsNumber) {
  Other other([] {
    const pid_t child = vfork();
    if (child == 0) {
      usleep(1'000);
      _exit(0);
    }
    waitpid(child, nullptr, 0);
    usleep(1'000);
  });
  other.Join();
  std::vector<uint32_t> sleepers;
  Reader().Read([&](NotedCall&& call) {
    if (call.kind == WaitKind::kSleep) sleepers.push_back(call.tid);
  });
  ASSERT_EQ(sleepers.size(), 2u);
  EXPECT_NE(sleepers[0], sleepers[1]);
}

TEST_F(HooksTest, FunctionsWithMoreArgumentsGetThem) {
  char name[] = "/tmp/kymo-hooks-XXXXXX";
  const int made = mkstemp(name);
  ASSERT_GE(made, 0);
  unlink(name);
  const int fd = open(name, O_CREAT | O_RDWR | O_EXCL, 0640);
  ASSERT_GE(fd, 0);
  struct stat status;
  ASSERT_EQ(fstat(fd, &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0640u);
  EXPECT_EQ(fcntl(fd, F_SETFD, FD_CLOEXEC), 0);
  EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
  struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  EXPECT_EQ(fcntl(fd, F_SETLKW, &range), 0);
  EXPECT_EQ(flock(fd, LOCK_EX), 0);
  unlink(name);
  close(fd);
  close(made);
}

std::unique_ptr<sampling::SampleRingReader> TimerRing() {
  auto timers = *sampling::SampleRingReader::Create(
      kNsPerMs, sampling::kLeastCellBytes, 8);
  setenv(kTargetTimerVariable, timers->path().c_str(), 1);
  return timers;
}

// True if `body` returns true in a child that has timers.
template <typename Body>
bool IsTrueWithTimers(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    TargetTimerInit();
    _exit(body() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status == 0;
}

TEST_F(HooksTest, AProgramThatCountsItsOwnTimeHasNoTimers) {
#if defined(__aarch64__)
  GTEST_SKIP() << "there are no timers on AArch64";
#endif
  for (void (*const begin)() :
       {+[] {
          static unsigned short counts[100];
          profil(counts, sizeof(counts), 0, 2);
        },
        +[] {
          static struct prof part = {};
          sprofil(&part, 1, nullptr, PROF_USHORT);
        },
        +[] { monstartup(4096, 8192); }, +[] { __monstartup(4096, 8192); }}) {
    const auto timers = TimerRing();
    EXPECT_TRUE(IsTrueWithTimers([&] {
      begin();
      return true;
    }));
    EXPECT_EQ(timers->ring()->stops[1], 1u);
  }
}

TEST_F(HooksTest, TheSignalOfTimersIsNotBlocked) {
#if defined(__aarch64__)
  GTEST_SKIP() << "there are no timers on AArch64";
#endif
  const auto timers = TimerRing();
  for (const auto change : {pthread_sigmask, sigprocmask}) {
    EXPECT_TRUE(IsTrueWithTimers([&] {
      sigset_t set;
      sigfillset(&set);
      uint64_t real = 0;
      return change(SIG_BLOCK, &set, nullptr) == 0 &&
             syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &real,
                     sizeof(real)) == 0 &&
             (real >> (SIGUSR1 - 1) & 1) == 1 &&
             (real >> (SIGPROF - 1) & 1) == 0 &&
             change(SIG_BLOCK, nullptr, &set) == 0 &&
             sigismember(&set, SIGPROF) == 1;
    }));
  }
}

// The last test: it ends the watching.
TEST_F(HooksTest, AProgramThatRestrictsItselfHasNoHooksAndNoTimers) {
  struct Call {
    long (*make)();
    bool restricts;
  };
  for (const auto& [make, restricts] : std::initializer_list<Call>{
           {[] { return long{prctl(PR_SET_SECCOMP, 9, 0, 0, 0)}; }, true},
           {[] { return syscall(SYS_prctl, PR_SET_SECCOMP, 9, 0, 0, 0); },
            true},
           {[] { return syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, 0); },
            true},
           // haproxy does so, and sets no filter.
           {[] { return long{prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)}; }, false},
           {[] { return syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); },
            false}}) {
    const auto timers = TimerRing();
    EXPECT_TRUE(IsTrueWithTimers([&, make = make, restricts = restricts] {
      (void)make();
      return IsWatching() != restricts &&
             record::calls_are_restricted == restricts;
    }));
#if !defined(__aarch64__)  // where there are no timers
    EXPECT_EQ(timers->ring()->stops[0], restricts ? 1u : 0u);
#endif
  }
  // Numbers that restrict nothing.
  EXPECT_EQ(syscall(SYS_getpid), getpid());
  uint32_t action = SECCOMP_RET_ALLOW;
  syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action);
  EXPECT_TRUE(IsWatching());
  Calls();
  Reader().Disable();
  nanosleep(&kMs, nullptr);
  EXPECT_FALSE(IsWatching());
  EXPECT_TRUE(Calls().empty());
}

}  // namespace
}  // namespace kymo::off_cpu
