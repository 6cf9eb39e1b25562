// Long, because each library waits in functions of its own.
#include "backends/off_cpu/lock_names.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/base/time.h"

namespace kymo::off_cpu {
namespace {

using model::WaitKind;

// Names of glibc 2.36 and of Rust's library.
TEST(KindOfFunctionTest, KnowsFunctionsThatWait) {
  EXPECT_EQ(KindOfFunction("__new_sem_wait_slow64"), WaitKind::kLock);
  EXPECT_EQ(KindOfFunction("___pthread_mutex_lock"), WaitKind::kLock);
  EXPECT_EQ(
      KindOfFunction("std::sys::sync::mutex::futex::Mutex::lock_contended"),
      WaitKind::kLock);
  // In Rust's newer mangling.
  EXPECT_EQ(
      KindOfFunction("<std::sys::sync::mutex::futex::Mutex>::lock_contended"),
      WaitKind::kLock);
  EXPECT_EQ(
      KindOfFunction("<std::sys::sync::rwlock::futex::RwLock>::read_contended"),
      WaitKind::kLock);
  EXPECT_EQ(
      KindOfFunction("<std::sys::sync::condvar::futex::Condvar>::wait_timeout"),
      WaitKind::kCondition);
  EXPECT_EQ(KindOfFunction("___pthread_cond_wait"), WaitKind::kCondition);
  EXPECT_EQ(KindOfFunction("__pthread_clockjoin_ex"), WaitKind::kCondition);
  EXPECT_EQ(KindOfFunction("runtime.notetsleep_internal"),
            WaitKind::kCondition);
  EXPECT_EQ(KindOfFunction("LinuxWaitBarrier::wait(int)"),
            WaitKind::kCondition);
  EXPECT_EQ(KindOfFunction("ethr_event_twait"), WaitKind::kCondition);
  EXPECT_FALSE(KindOfFunction("ethr_event_swait").has_value());  // of its locks
  EXPECT_FALSE(KindOfFunction("__futex_abstimed_wait_common").has_value());
}

class LockNamesTest : public ::testing::Test {
 protected:
  // The kind of a wait whose stack has these functions, outermost first.
  WaitKind KindOf(WaitKind kind, std::initializer_list<const char*> functions) {
    model::StackId stack = model::kEmptyStack;
    for (const char* const function : functions) {
      stack = shard_.stacks.Push(
          stack, shard_.stacks.AddFrame(
                     {.function = shard_.strings.Intern(function)}));
    }
    model::ThreadStates states;
    states.waits.push_back({.kind = kind, .stack = stack});
    states.short_waits.push_back({.kind = kind, .stack = stack});
    TellLocksFromConditions(shard_, states);
    EXPECT_EQ(states.short_waits[0].kind, states.waits[0].kind);
    return states.waits[0].kind;
  }

  // The name of the object of a wait for a condition. Functions of the C
  // library begin with "pthread" or "__", the others are in `module`.
  std::string ObjectOf(std::initializer_list<const char*> functions,
                       WaitKind kind = WaitKind::kCondition) {
    model::StackId stack = model::kEmptyStack;
    for (const std::string_view function : functions) {
      const bool is_libc =
          function.starts_with("pthread") || function.starts_with("__");
      const bool is_extension = function.starts_with("extension");
      stack = shard_.stacks.Push(
          stack,
          shard_.stacks.AddFrame({.function = shard_.strings.Intern(function),
                                  .module = shard_.strings.Intern(
                                      is_libc        ? "libc.so.6"
                                      : is_extension ? "extension.so"
                                                     : "python3.11")}));
    }
    model::ThreadStates states;
    states.waits.push_back({.kind = kind, .stack = stack, .object = 7});
    TellLocksFromConditions(shard_, states);
    const model::Wait& wait = states.waits[0];
    EXPECT_EQ(wait.object, wait.object_name == model::kEmptyName ? 7u : 0u);
    if (wait.object_name != model::kEmptyName) {
      EXPECT_EQ(wait.kind, WaitKind::kLock);
    }
    return std::string(shard_.strings.Get(wait.object_name));
  }

  model::TraceShard shard_;
};

// A stripped libtbb: a worker without tasks, and a mutex.
TEST_F(LockNamesTest, OneTbbsThreadsWaitForTasks) {
  const auto frame = [&](const char* function, const char* module) {
    return shard_.stacks.AddFrame({.function = shard_.strings.Intern(function),
                                   .module = shard_.strings.Intern(module)});
  };
  const auto worker = shard_.stacks.Push(
      shard_.stacks.Push(model::kEmptyStack,
                         frame("libtbb.so.12.8+0x22180", "/lib/libtbb.so.12")),
      frame("syscall", "libc.so.6"));
  const auto mutex = shard_.stacks.Push(
      shard_.stacks.Push(
          model::kEmptyStack,
          frame("tbb::detail::r1::wait_on_address", "/lib/libtbb.so.12")),
      frame("syscall", "libc.so.6"));
  const auto openmp = shard_.stacks.Push(
      model::kEmptyStack, frame("libgomp.so.1+0x1f5e0", "/lib/libgomp.so.1"));
  const auto critical = shard_.stacks.Push(
      shard_.stacks.Push(model::kEmptyStack,
                         frame("GOMP_critical_start", "/lib/libgomp.so.1")),
      frame("libgomp.so.1+0x1f000", "/lib/libgomp.so.1"));
  const auto latch = shard_.stacks.Push(
      shard_.stacks.Push(model::kEmptyStack,
                         frame("std::latch::wait() const", "program")),
      frame("syscall", "libc.so.6"));
  const auto future = shard_.stacks.Push(
      shard_.stacks.Push(
          model::kEmptyStack,
          frame("std::__atomic_futex_unsigned_base::_M_futex_wait_until",
                "/lib/libstdc++.so.6")),
      frame("syscall", "libc.so.6"));
  model::ThreadStates states;
  for (const auto stack : {worker, mutex, openmp, critical, latch, future}) {
    states.waits.push_back({.kind = WaitKind::kLock, .stack = stack});
  }
  TellLocksFromConditions(shard_, states);
  std::vector<WaitKind> kinds;
  for (const model::Wait& wait : states.waits) kinds.push_back(wait.kind);
  constexpr WaitKind kCondition = WaitKind::kCondition;
  constexpr WaitKind kLock = WaitKind::kLock;
  EXPECT_EQ(kinds, (std::vector<WaitKind>{kCondition, kLock, kCondition, kLock,
                                          kCondition, kCondition}));
}

// Behind a futex of the program's own may be any number.
TEST_F(LockNamesTest, OwnFutexesHaveNoHolder) {
  const auto stack_in = [&](const char* function) {
    return shard_.stacks.Push(
        model::kEmptyStack,
        shard_.stacks.AddFrame({.function = shard_.strings.Intern(function)}));
  };
  model::ThreadStates states;
  for (const char* const function : {"syscall", "__lll_lock_wait"}) {
    states.waits.push_back(
        {.kind = WaitKind::kLock, .stack = stack_in(function), .holder = 3});
  }
  TellLocksFromConditions(shard_, states);
  EXPECT_EQ(states.waits[0].holder, model::kNoTrack);
  EXPECT_EQ(states.waits[1].holder, 3u);
}

// With symbols, and stripped as Debian's.
TEST_F(LockNamesTest, PythonsInterpreterLockHasItsName) {
  EXPECT_EQ(ObjectOf({"PyEval_RestoreThread", "take_gil", "PyCOND_TIMEDWAIT",
                      "pthread_cond_timedwait"}),
            "GIL");
  EXPECT_EQ(ObjectOf({"PyEval_RestoreThread", "python3.11+0x4f92c0",
                      "pthread_mutex_lock", "__lll_lock_wait"},
                     WaitKind::kLock),
            "GIL");
  EXPECT_EQ(ObjectOf({"_PyEval_EvalFrameDefault", "python3.11+0x4f92c0",
                      "pthread_cond_timedwait", "__futex_wait"}),
            "GIL");
  // A thread that runs Python gives it to another one, and wants it back.
  EXPECT_EQ(ObjectOf({"_Py_HandlePending", "python3.14+0x6ef6f0",
                      "python3.14+0x540620", "pthread_cond_timedwait"}),
            "GIL");
}

// As a sample or a look has it, and as a hook does, which knows the lock.
TEST_F(LockNamesTest, WordsOfAReadWriteLockAreTheLock) {
  const auto stack_of = [&](std::initializer_list<const char*> functions) {
    model::StackId stack = model::kEmptyStack;
    for (const char* const function : functions) {
      stack = shard_.stacks.Push(
          stack, shard_.stacks.AddFrame(
                     {.function = shard_.strings.Intern(function)}));
    }
    return stack;
  };
  const auto futex = stack_of({"main", "___pthread_rwlock_rdlock", "futex"});
  const auto hook = stack_of({"main", "___pthread_rwlock_rdlock"});
  const auto mutex = stack_of({"main", "___pthread_mutex_lock", "futex"});
  const auto notifier = stack_of({"main", "___pthread_cond_signal",
                                  "__condvar_quiesce_and_switch_g1", "futex"});
  model::ThreadStates states;
  for (const auto& [stack, object] : {std::pair(futex, 88u),
                                      {futex, 92u},
                                      {hook, 80u},
                                      {mutex, 80u},
                                      {notifier, 96u},
                                      {notifier, 100u}}) {
    states.waits.push_back(
        {.kind = WaitKind::kLock, .stack = stack, .object = object});
    states.short_waits.push_back(
        {.kind = WaitKind::kLock, .stack = stack, .object = object});
  }
  TellLocksFromConditions(shard_, states);
  for (const model::Wait& wait : states.waits) EXPECT_EQ(wait.object, 80u);
  for (const auto& sum : states.short_waits) EXPECT_EQ(sum.object, 80u);
}

// Samples have the functions of Python in the place of the interpreter's.
TEST_F(LockNamesTest, ThreadsOfPythonWaitForItsLock) {
  const auto object_of = [&](const char* caller, const char* module) {
    const auto file = shard_.strings.Intern("/src/pool.py");
    const auto push = [&](model::StackId parent, const char* function,
                          model::NameId of) {
      return shard_.stacks.Push(
          parent,
          shard_.stacks.AddFrame({.function = shard_.strings.Intern(function),
                                  .file = of == file ? file : model::kEmptyName,
                                  .module = of}));
    };
    auto stack = push(model::kEmptyStack, "spin (pool.py:6)", file);
    stack = push(stack, caller, shard_.strings.Intern(module));
    stack = push(stack, "pthread_cond_timedwait",
                 shard_.strings.Intern("/lib/libc.so.6"));
    model::ThreadStates states;
    states.waits.push_back({.kind = WaitKind::kCondition, .stack = stack});
    TellLocksFromConditions(shard_, states);
    return std::string(shard_.strings.Get(states.waits[0].object_name));
  };
  EXPECT_EQ(object_of("python3.11+0x4f92c0", "/usr/bin/python3.11"), "GIL");
  EXPECT_EQ(object_of("libpython3.13.so.1.0+0x4f92c0",
                      "/usr/lib/libpython3.13.so.1.0"),
            "GIL");
  EXPECT_EQ(object_of("extension_wait", "/home/python/extension.so"), "");
}

TEST_F(LockNamesTest, OtherLocksOfPythonProgramsStayNameless) {
  // A lock of Python's own, and one of a library that it calls.
  EXPECT_EQ(ObjectOf({"_PyEval_EvalFrameDefault", "lock_PyThread_acquire_lock",
                      "PyThread_acquire_lock_timed", "pthread_cond_wait"}),
            "");
  EXPECT_EQ(ObjectOf({"_PyEval_EvalFrameDefault", "extension_wait",
                      "pthread_cond_wait"}),
            "");
  EXPECT_EQ(ObjectOf({"PyEval_RestoreThread", "__new_sem_wait_slow64"},
                     WaitKind::kLock),
            "");
}

// As samples and looks have them.
TEST_F(LockNamesTest, PythonsWaitsForNotificationsAreNoLocks) {
  const auto kind_in = [&](const char* function, const char* path) {
    const auto file = shard_.strings.Intern(path);
    model::StackId stack = shard_.stacks.Push(
        model::kEmptyStack,
        shard_.stacks.AddFrame({.function = shard_.strings.Intern(function),
                                .file = file,
                                .module = file}));
    for (const char* const inner :
         {"PyThread_acquire_lock_timed", "__new_sem_wait_slow64"}) {
      stack = shard_.stacks.Push(
          stack, shard_.stacks.AddFrame(
                     {.function = shard_.strings.Intern(inner),
                      .module = shard_.strings.Intern("/usr/bin/python3")}));
    }
    model::ThreadStates states;
    states.waits.push_back({.kind = WaitKind::kLock, .stack = stack});
    TellLocksFromConditions(shard_, states);
    return states.waits[0].kind;
  };
  const char* const threading = "/usr/lib/python3.11/threading.py";
  EXPECT_EQ(kind_in("Condition.wait (threading.py:320)", threading),
            WaitKind::kCondition);
  EXPECT_EQ(
      kind_in("Thread._wait_for_tstate_lock (threading.py:1116)", threading),
      WaitKind::kCondition);
  EXPECT_EQ(kind_in("_worker (thread.py:81)",
                    "/usr/lib/python3.11/concurrent/futures/thread.py"),
            WaitKind::kCondition);
  // The condition's own lock, and one of the program.
  EXPECT_EQ(kind_in("Condition.__enter__ (threading.py:271)", threading),
            WaitKind::kLock);
  EXPECT_EQ(kind_in("Server.wait (server.py:5)", "/srv/server.py"),
            WaitKind::kLock);
}

TEST_F(LockNamesTest, TheInnermostNameCounts) {
  EXPECT_EQ(KindOf(WaitKind::kCondition,
                   {"main", "pthread_cond_wait", "lll_lock_wait"}),
            WaitKind::kLock);
  EXPECT_EQ(KindOf(WaitKind::kLock, {"sem_wait", "pthread_cond_wait", "futex"}),
            WaitKind::kCondition);
}

// Both wait for threads that they woke, as locks do.
TEST_F(LockNamesTest, NotifiersWaitForNoLock) {
  for (const char* const call :
       {"___pthread_cond_signal", "___pthread_cond_broadcast"}) {
    EXPECT_EQ(KindOf(WaitKind::kLock, {"main", call}), WaitKind::kCondition);
    EXPECT_EQ(KindOf(WaitKind::kLock,
                     {"main", call, "__condvar_quiesce_and_switch_g1",
                      "futex_wait_simple", "futex_wait"}),
              WaitKind::kCondition);
  }
}

TEST_F(LockNamesTest, WithoutANameTheCallDecides) {
  EXPECT_EQ(KindOf(WaitKind::kLock, {"main", "syscall"}), WaitKind::kLock);
  EXPECT_EQ(KindOf(WaitKind::kCondition, {}), WaitKind::kCondition);
}

class LocksOfThreadsTest : public LockNamesTest {
 protected:
  // Thread `tid` of process 7.
  model::TrackIndex Thread(int64_t tid) {
    shard_.tracks.push_back({.pid = 7, .id = tid});
    return static_cast<model::TrackIndex>(shard_.tracks.size() - 1);
  }
  model::StackId Stack(std::initializer_list<const char*> functions,
                       const char* module = "app") {
    model::StackId stack = model::kEmptyStack;
    for (const std::string_view function : functions) {
      const bool is_libc = function.starts_with("pthread");
      stack = shard_.stacks.Push(
          stack,
          shard_.stacks.AddFrame({.function = shard_.strings.Intern(function),
                                  .module = shard_.strings.Intern(
                                      is_libc ? "libc.so.6" : module)}));
    }
    return stack;
  }
  void Wait(model::TrackIndex track, model::StackId stack, uint64_t object,
            model::TrackIndex waker, bool is_open = false) {
    states_.waits.push_back({.track = track,
                             .kind = WaitKind::kLock,
                             .is_open = is_open,
                             .stack = stack,
                             .object = object,
                             .waker = waker});
  }
  std::vector<WaitKind> Kinds() {
    TellLocksFromConditions(shard_, states_);
    std::vector<WaitKind> kinds;
    for (const model::Wait& wait : states_.waits) kinds.push_back(wait.kind);
    return kinds;
  }

  model::ThreadStates states_;
};

// Of Java's and Node's threads, for example.
TEST_F(LocksOfThreadsTest, SemaphoresThatTellOfWorkAreNoLocks) {
  const auto main = Thread(7), a = Thread(8), b = Thread(9);
  const auto stack = Stack({"Run", "sem_wait"});
  Wait(a, stack, 1, main);  // main tells a and b of work
  Wait(b, stack, 1, main);
  Wait(a, stack, 2, b);  // a and b share a lock
  Wait(b, stack, 2, a);
  Wait(a, stack, 3, model::kNoTrack, /*is_open=*/true);  // nobody ever told
  Wait(a, stack, 4, model::kNoTrack);                    // not known who
  Wait(main, stack, 5, a);                               // as PostgreSQL's
  Wait(b, stack, 7, model::kNoTrack);  // until the process ended
  states_.waits.back().duration_ns = 100 * kNsPerMs;
  states_.threads = {{.track = a, .end_ns = kNsPerSecond},
                     {.track = b, .end_ns = 101 * kNsPerMs}};
  Wait(a, Stack({"Run", "pthread_mutex_lock"}), 6, b);
  states_.short_waits.push_back(
      {.track = a, .kind = WaitKind::kLock, .stack = stack, .object = 1});
  constexpr auto kLock = WaitKind::kLock, kCondition = WaitKind::kCondition;
  EXPECT_EQ(Kinds(), (std::vector<WaitKind>{kCondition, kCondition, kLock,
                                            kLock, kCondition, kLock, kLock,
                                            kCondition, kLock}));
  EXPECT_EQ(states_.short_waits[0].kind, kCondition);
}

// QEMU's idle threads wait for events that it makes of futexes.
TEST_F(LocksOfThreadsTest, OwnFutexesThatNobodyEverWokeAreNoLocks) {
  const auto main = Thread(7), a = Thread(8), b = Thread(9);
  const auto stack = Stack({"WaitForEvent", "syscall"});
  constexpr auto kNobody = model::kNoTrack;
  Wait(a, stack, 1, kNobody, /*is_open=*/true);
  Wait(a, stack, 2, main);  // main may have had it
  Wait(a, stack, 3, kNobody);
  Wait(main, stack, 4, kNobody, /*is_open=*/true);
  Wait(b, Stack({"absl::Mutex::Lock()", "absl::Mutex::LockSlow()", "syscall"}),
       5, kNobody, /*is_open=*/true);
  Wait(b, Stack({"Lock"}), 6, kNobody, /*is_open=*/true);
  constexpr auto kLock = WaitKind::kLock;
  EXPECT_EQ(Kinds(), (std::vector<WaitKind>{WaitKind::kCondition, kLock, kLock,
                                            kLock, kLock, kLock}));
}

// A stripped program of Rust: its locks and its events wait for a bit set.
TEST_F(LocksOfThreadsTest, OwnFutexesThatWaitersHandOnAreLocks) {
  const auto main = Thread(7), a = Thread(8), b = Thread(9);
  const auto stack = Stack({"app+0x3bfb0", "syscall"});
  Wait(a, stack, 1, b);  // a lock
  Wait(b, stack, 1, a);
  Wait(a, stack, 2, main);  // an event
  Wait(b, Stack({"Condvar::wait", "syscall"}), 3, a);
  Wait(a, Stack({"Condvar::wait", "syscall"}), 3, b);
  for (model::Wait& wait : states_.waits) wait.kind = WaitKind::kCondition;
  states_.short_waits.push_back(
      {.track = a, .kind = WaitKind::kCondition, .stack = stack, .object = 1});
  constexpr auto kLock = WaitKind::kLock, kCondition = WaitKind::kCondition;
  EXPECT_EQ(Kinds(), (std::vector<WaitKind>{kLock, kLock, kCondition,
                                            kCondition, kCondition}));
  EXPECT_EQ(states_.short_waits[0].kind, kLock);
}

// A wait has a time limit of 5 ms; then the thread waits on.
TEST_F(LocksOfThreadsTest, WhoGivesTheInterpretersLockBackHadIt) {
  const auto a = Thread(8), b = Thread(9), c = Thread(10);
  const auto stack =
      Stack({"_PyEval_EvalFrameDefault", "take_gil", "pthread_cond_timedwait"},
            "python3.11");
  const auto wait = [&](model::TrackIndex track, TimeNs begin_ns,
                        model::TrackIndex waker) {
    Wait(track, stack, 1, waker);
    states_.waits.back().begin_ns = begin_ns * kNsPerMs;
    states_.waits.back().duration_ns = 5 * kNsPerMs;
  };
  wait(a, 0, model::kNoTrack);
  wait(a, 5, b);                 // until 10
  wait(c, 2, model::kNoTrack);   // until 7
  wait(c, 7, model::kNoTrack);   // until 12
  wait(c, 12, a);                // until 17
  wait(c, 30, model::kNoTrack);  // does not wait on
  wait(c, 50, a);
  TellLocksFromConditions(shard_, states_);
  std::vector<model::TrackIndex> holders;
  for (const model::Wait& w : states_.waits) holders.push_back(w.holder);
  constexpr auto kNone = model::kNoTrack;
  EXPECT_EQ(holders, (std::vector<model::TrackIndex>{b, kNone, b, a, kNone,
                                                     kNone, kNone}));
}

// A program without its tables of frames.
TEST_F(LocksOfThreadsTest, GosFutexesWithoutACallerAreNoLocks) {
  const auto a = Thread(8);
  Wait(a, Stack({"runtime.futex"}), 1, model::kNoTrack);
  Wait(a, Stack({"runtime.lock2", "runtime.futex"}), 1, model::kNoTrack);
  EXPECT_EQ(Kinds(),
            (std::vector<WaitKind>{WaitKind::kCondition, WaitKind::kLock}));
}

// Java waits in conditions, whatever for.
TEST_F(LocksOfThreadsTest, JavasMonitorsAreLocksAndItsSleepsAreSleeps) {
  const auto a = Thread(8);
  for (const char* const caller :
       {"ObjectMonitor::EnterI(JavaThread*)", "JavaThread::sleep(long)",
        "ObjectMonitor::wait(long, bool, JavaThread*)", "Unsafe_Park"}) {
    Wait(a,
         Stack({"[anon]", "more", caller, "os::PlatformEvent::park(long)",
                "pthread_cond_timedwait"},
               "/usr/lib/jvm/lib/server/libjvm.so"),
         1, model::kNoTrack);
  }
  EXPECT_EQ(Kinds(), (std::vector<WaitKind>{WaitKind::kLock, WaitKind::kSleep,
                                            WaitKind::kCondition,
                                            WaitKind::kCondition}));
  EXPECT_EQ(shard_.strings.Get(states_.waits[0].object_name), "Java monitor");
  EXPECT_EQ(states_.waits[0].object, 0u);
  EXPECT_EQ(states_.waits[1].object, 0u);
}

// Who put something into the queue held nothing.
TEST_F(LocksOfThreadsTest, PythonsSimpleQueueIsNoLock) {
  const auto a = Thread(8), b = Thread(9);
  Wait(a, Stack({"queue+0x10", "sem_wait"}, "/usr/lib/_queue.cpython-311.so"),
       1, b);
  const auto sem =
      Stack({"lock_PyThread_acquire_lock", "sem_wait"}, "/usr/bin/python3.11");
  Wait(a, sem, 2, b);
  states_.waits.back().waker_stack = Stack(
      {"PyObject_Vectorcall", "PyThread_release_lock"}, "/usr/bin/python3.11");
  EXPECT_EQ(Kinds(),
            (std::vector<WaitKind>{WaitKind::kCondition, WaitKind::kLock}));
  EXPECT_EQ(states_.waits[1].holder, b) << "for its own waits and samples";
}

// Both wait in the same functions of Mutex.
TEST_F(LockNamesTest, AbseilsConditionsAreNoLocks) {
  const auto kind_in = [&](const char* outer, const char* inner) {
    return KindOf(WaitKind::kLock,
                  {"main", outer, inner, "absl::lts::Mutex::LockSlowLoop(int)",
                   "absl::lts::Mutex::Block()", "syscall"});
  };
  constexpr char kDeadline[] = "absl::lts::Mutex::LockSlowWithDeadline(int)";
  EXPECT_EQ(kind_in("absl::lts::Mutex::Lock()", kDeadline), WaitKind::kLock);
  EXPECT_EQ(kind_in("absl::lts::Mutex::ReaderLock()", kDeadline),
            WaitKind::kLock);
  for (const char* const condition :
       {"absl::lts::Mutex::LockWhen(absl::lts::Condition const&)",
        "absl::lts::Mutex::ReaderLockWhenWithTimeout(int)",
        "absl::lts::Mutex::Await(absl::lts::Condition const&)",
        "absl::lts::Mutex::AwaitCommon(absl::lts::Condition const&)",
        "absl::lts::CondVar::WaitCommon(absl::lts::Mutex*)"}) {
    EXPECT_EQ(kind_in(condition, kDeadline), WaitKind::kCondition) << condition;
  }
  EXPECT_EQ(kind_in("absl::lts::CondVar::WaitCommon(absl::lts::Mutex*)",
                    "absl::lts::Mutex::Trans(absl::lts::MuHowS const*)"),
            WaitKind::kLock);
  // Functions without a name, as Debian's library has them.
  constexpr char kWait[] = "AbslInternalPerThreadSemWait_lts";
  const auto kind_of = [&](const char* outer, const char* inner) {
    return KindOf(WaitKind::kLock, {"main", outer, inner, kWait, "syscall"});
  };
  EXPECT_EQ(kind_of("Worker()", "libabsl.so+0x51ec"), WaitKind::kCondition);
  EXPECT_EQ(kind_of("libabsl.so+0x50bc", "absl::lts::Mutex::Block()"),
            WaitKind::kLock);
  EXPECT_EQ(kind_of("absl::lts::Mutex::Lock()", "libabsl.so+0x50bc"),
            WaitKind::kLock);
}

TEST_F(LockNamesTest, OtherKindsStayAndFarFunctionsDoNotCount) {
  EXPECT_EQ(KindOf(WaitKind::kSleep, {"sem_wait"}), WaitKind::kSleep);
  EXPECT_EQ(KindOf(WaitKind::kCondition,
                   {"sem_wait", "1", "2", "3", "4", "5", "6", "7", "8"}),
            WaitKind::kCondition);
}

}  // namespace
}  // namespace kymo::off_cpu
