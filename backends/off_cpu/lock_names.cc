// Long, because what a futex was for has one rule for each library.
#include "backends/off_cpu/lock_names.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "backends/off_cpu/look/lock_owner.h"
#include "profiler/base/time.h"
#include "profiler/model/stack_table.h"

namespace kymo::off_cpu {
namespace {

using model::WaitKind;

// Farther out, functions are the program's: a server's may be called anything.
constexpr int kMostFrames = 8;

struct Word {
  std::string_view text;
  WaitKind kind;
};
// Of the functions of the C library, C++'s, Rust's and Abseil's.
constexpr Word kWords[] = {
    {"cond_wait", WaitKind::kCondition},
    {"cond_timedwait", WaitKind::kCondition},
    {"cond_clockwait", WaitKind::kCondition},
    {"condition_variable::wait", WaitKind::kCondition},
    // Whoever notifies waits there until threads that were woken have left.
    {"pthread_cond_signal", WaitKind::kCondition},
    {"pthread_cond_broadcast", WaitKind::kCondition},
    {"__condvar_", WaitKind::kCondition},
    {"Condvar::wait", WaitKind::kCondition},
    {"Condvar>::wait", WaitKind::kCondition},  // Rust's newer mangling
    {"CondVar::Wait", WaitKind::kCondition},
    // One that is signalled has to get the lock again.
    {"Mutex::Trans(", WaitKind::kLock},
    // For a condition. Inside, both are calls of LockSlow.
    {"Mutex::Await", WaitKind::kCondition},
    {"Mutex::LockWhen", WaitKind::kCondition},
    {"Mutex::ReaderLockWhen", WaitKind::kCondition},
    {"Mutex::Lock(", WaitKind::kLock},
    {"Mutex::ReaderLock(", WaitKind::kLock},
    {"barrier_wait", WaitKind::kCondition},
    {"pthread_join", WaitKind::kCondition},
    {"pthread_timedjoin", WaitKind::kCondition},
    {"pthread_clockjoin", WaitKind::kCondition},
    {"std::latch::", WaitKind::kCondition},
    {"std::barrier<", WaitKind::kCondition},
    {"std::__atomic_wait", WaitKind::kCondition},
    {"std::__atomic_base<", WaitKind::kCondition},
    {"std::__atomic_futex_unsigned", WaitKind::kCondition},  // of futures
    {"sem_wait", WaitKind::kLock},
    {"sem_timedwait", WaitKind::kLock},
    {"sem_clockwait", WaitKind::kLock},
    {"mutex_lock", WaitKind::kLock},
    {"mutex_timedlock", WaitKind::kLock},
    {"mutex_clocklock", WaitKind::kLock},
    {"rwlock_", WaitKind::kLock},
    {"lll_lock", WaitKind::kLock},
    {"Mutex::lock", WaitKind::kLock},
    {"Mutex>::lock", WaitKind::kLock},
    {"RwLock::", WaitKind::kLock},
    {"RwLock>::", WaitKind::kLock},
    {"r1::wait_on_address", WaitKind::kLock},  // oneTBB's mutexes
    {"GOMP_critical", WaitKind::kLock},
    {"omp_set_lock", WaitKind::kLock},
    {"omp_set_nest_lock", WaitKind::kLock},
    // Of Java's machine, which stops its threads there.
    {"WaitBarrier::wait", WaitKind::kCondition},
    // Erlang's threads that have nothing to run. Its locks have another one.
    {"ethr_event_wait", WaitKind::kCondition},
    {"ethr_event_twait", WaitKind::kCondition},
    // Go's threads that have nothing to run.
    {"runtime.notesleep", WaitKind::kCondition},
    {"runtime.notetsleep", WaitKind::kCondition},
};

// Their threads wait for tasks, and for the end of tasks, without the C
// library's conditions: oneTBB's, and those of OpenMP.
constexpr std::string_view kTaskLibraries[] = {"libtbb.so", "libgomp.so",
                                               "libomp.so", "libiomp5.so"};

// Abseil's threads all wait in this function: for a Mutex when that has called
// it, else for a CondVar, whose function often has no name (WaitCommon.cold).
constexpr std::string_view kAbseilWait = "AbslInternalPerThreadSemWait";
constexpr std::string_view kAbseilMutex = "Mutex::";

// CPython's global interpreter lock is made of a mutex and conditions, which
// these functions take and give back. Hardly anything else waits so near to
// them: signal handlers, pending calls and the collector, which run in one.
constexpr std::string_view kGilFunctions[] = {"take_gil",
                                              "drop_gil",
                                              "PyEval_RestoreThread",
                                              "PyEval_SaveThread",
                                              "PyEval_AcquireThread",
                                              "PyEval_ReleaseThread",
                                              "_Py_HandlePending",
                                              "PyGILState_Ensure"};
constexpr std::string_view kInterpreter = "_PyEval_EvalFrameDefault";
std::string_view BaseName(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}
bool IsInterpreter(std::string_view module) {
  const std::string_view name = BaseName(module);
  return name.starts_with("python") || name.starts_with("libpython");
}
// take_gil is no symbol of a stripped Python.
constexpr int kMostFramesToGil = 3;

// Whether the C library's function at the inner end of `stack` was called to
// get the interpreter's lock.
bool IsGil(const model::TraceShard& shard, model::StackId stack) {
  const auto frame_of = [&](model::StackId id) -> const model::Frame& {
    return shard.stacks.frame(shard.stacks.leaf(id));
  };
  // Out of the kernel and the C library.
  bool is_wait = false;
  for (; stack != model::kEmptyStack; stack = shard.stacks.parent(stack)) {
    const model::Frame& frame = frame_of(stack);
    const std::string_view function = shard.strings.Get(frame.function);
    if (function.find("pthread_cond_") != std::string_view::npos ||
        function.find("pthread_mutex_lock") != std::string_view::npos) {
      is_wait = true;
    } else if (is_wait) {
      break;
    }
  }
  const model::NameId python =
      stack == model::kEmptyStack ? model::kEmptyName : frame_of(stack).module;
  for (int i = 0; i < kMostFramesToGil && stack != model::kEmptyStack;
       ++i, stack = shard.stacks.parent(stack)) {
    const model::Frame& frame = frame_of(stack);
    if (i == 1 && frame.is_of_python()) {
      return IsInterpreter(shard.strings.Get(python));
    }
    if (frame.module != python) return false;
    const std::string_view function = shard.strings.Get(frame.function);
    if (std::ranges::count(kGilFunctions, function) > 0) return true;
    if (function == kInterpreter) return i == 1;
  }
  return false;
}

// What waits in these functions of Python's library waits for a notification,
// for work or for the end of a thread. Each waiter has a lock of its own for
// that, so it looks like a wait for a lock.
struct PythonWait {
  std::string_view file;  // its end
  std::string_view function;
};
constexpr PythonWait kPythonWaits[] = {
    {"/threading.py", "wait"},
    {"/threading.py", "join"},
    {"/threading.py", "_wait_for_tstate_lock"},
    {"/concurrent/futures/thread.py", "_worker"},
    {"/multiprocessing/pool.py", "_handle_results"},
    {"/multiprocessing/pool.py", "_handle_tasks"},
    {"/multiprocessing/pool.py", "_handle_workers"},
    {"/multiprocessing/pool.py", "worker"}};
// The part of the library that is queue.SimpleQueue, in C.
constexpr std::string_view kPythonQueue = "_queue.";

// By the innermost function of Python.
bool IsPythonWait(const model::TraceShard& shard, model::StackId stack) {
  for (; stack != model::kEmptyStack; stack = shard.stacks.parent(stack)) {
    const model::Frame& frame = shard.stacks.frame(shard.stacks.leaf(stack));
    if (!frame.is_of_python()) {
      const std::string_view module = shard.strings.Get(frame.module);
      if (BaseName(module).starts_with(kPythonQueue)) return true;
      continue;
    }
    const std::string_view file = shard.strings.Get(frame.file);
    // "Condition.wait (threading.py:320)"
    std::string_view function = shard.strings.Get(frame.function);
    function = function.substr(0, function.find(" ("));
    function.remove_prefix(function.rfind('.') + 1);
    return std::ranges::any_of(kPythonWaits, [&](const PythonWait& wait) {
      return function == wait.function && file.ends_with(wait.file);
    });
  }
  return false;
}

// A futex of Go's library, called by nobody that is known: where a program has
// lost its tables of frames. A thread that has nothing to run waits so.
bool IsGoAlone(const model::TraceShard& shard, model::StackId stack) {
  while (stack != model::kEmptyStack &&
         shard.stacks.frame(shard.stacks.leaf(stack)).is_kernel) {
    stack = shard.stacks.parent(stack);
  }
  return stack != model::kEmptyStack &&
         shard.stacks.parent(stack) == model::kEmptyStack &&
         shard.strings.Get(
             shard.stacks.frame(shard.stacks.leaf(stack)).function) ==
             "runtime.futex";
}

// Java's virtual machine makes all of its waits of conditions, one of each
// thread. These of its functions say what for.
struct JavaWait {
  std::string_view function;  // its begin
  WaitKind kind;
};
constexpr JavaWait kJavaWaits[] = {{"ObjectMonitor::EnterI", WaitKind::kLock},
                                   {"ObjectMonitor::ReenterI", WaitKind::kLock},
                                   {"ObjectMonitor::enter", WaitKind::kLock},
                                   {"JavaThread::sleep", WaitKind::kSleep}};
constexpr std::string_view kJavaMachine = "libjvm.so";
constexpr std::string_view kJavaMonitor = "Java monitor";
constexpr int kMostFramesToJavaWait = 3;

// `stack` begins with a wait for a condition, inside of the C library.
std::optional<WaitKind> KindOfJava(const model::TraceShard& shard,
                                   model::StackId stack) {
  int frames = 0;
  for (; stack != model::kEmptyStack && frames < kMostFramesToJavaWait;
       stack = shard.stacks.parent(stack)) {
    const model::Frame& frame = shard.stacks.frame(shard.stacks.leaf(stack));
    if (BaseName(shard.strings.Get(frame.module)) != kJavaMachine) {
      if (frames > 0) break;
      continue;
    }
    ++frames;
    const std::string_view function = shard.strings.Get(frame.function);
    for (const JavaWait& wait : kJavaWaits) {
      if (function.starts_with(wait.function)) return wait.kind;
    }
  }
  return std::nullopt;
}

// The function of glibc's signal and broadcast that waits, and where the words
// are that it waits for: two of 4 bytes, at a multiple of 8 of the condition.
constexpr std::string_view kWaitOfNotifier = "__condvar_quiesce_and_switch_g1";
constexpr uint64_t kWordsOfNotifier = 16;

struct KindAndLock {
  std::optional<WaitKind> kind;
  // The object is a word inside of a read-write lock, not the lock: the stack
  // is that of the futex call, not of the lock's function.
  bool is_in_rwlock = false;
  bool is_semaphore = false;
  bool is_java_monitor = false;
  bool is_in_condition = false;  // the same of a notifier's condition
};

KindAndLock KindOfStack(const model::TraceShard& shard, model::StackId stack) {
  if (IsPythonWait(shard, stack)) return {WaitKind::kCondition};
  const model::StackId innermost = stack;
  int frames = 0;
  bool is_of_tasks = false;
  bool is_abseil_wait = false;  // the frame before is
  bool is_abseil_condition = false;
  for (; stack != model::kEmptyStack && frames < kMostFrames;
       stack = shard.stacks.parent(stack)) {
    const model::Frame& frame = shard.stacks.frame(shard.stacks.leaf(stack));
    if (frame.is_kernel) continue;
    const std::string_view function = shard.strings.Get(frame.function);
    if (const auto kind = KindOfFunction(function)) {
      const auto java = kind == WaitKind::kCondition ? KindOfJava(shard, stack)
                                                     : std::nullopt;
      if (java) return {java, false, false, java == WaitKind::kLock};
      const auto is_of = [&](std::string_view word) {
        return function.find(word) != std::string_view::npos;
      };
      return {kind, stack != innermost && is_of("rwlock_"), is_of("sem_"),
              false, function == kWaitOfNotifier};
    }
    is_abseil_condition |=
        is_abseil_wait && function.find(kAbseilMutex) == std::string_view::npos;
    is_abseil_wait = function.starts_with(kAbseilWait);
    const std::string_view module = shard.strings.Get(frame.module);
    is_of_tasks |= std::ranges::any_of(kTaskLibraries, [&](auto library) {
      return module.find(library) != std::string_view::npos;
    });
    ++frames;
  }
  if (is_of_tasks || is_abseil_condition || IsGoAlone(shard, innermost)) {
    return {WaitKind::kCondition};
  }
  return {};
}

struct PythonParts {
  bool has_interpreter = false;
  bool has_python = false;  // functions of Python are known
};
PythonParts PythonPartsOf(const model::TraceShard& shard,
                          model::StackId stack) {
  PythonParts parts;
  for (; stack != model::kEmptyStack; stack = shard.stacks.parent(stack)) {
    const model::Frame& frame = shard.stacks.frame(shard.stacks.leaf(stack));
    parts.has_python |= frame.is_of_python();
    parts.has_interpreter |= IsInterpreter(shard.strings.Get(frame.module));
  }
  return parts;
}

// Semaphores for which only threads wait that never give them back, such as
// those of a pool that waits for work: nobody holds one of these. Of a
// process's first thread it is not known, as in PostgreSQL.
//
// The program's own futexes are locks more often, whose holders may never have
// had to wait. So only what nobody ever ended counts as a signal, as a wait for
// an event that never came. A futex with a bit set looks like a condition: it
// is a lock if a thread both waits for it and wakes others, as in a stripped
// program of Rust.
class Signals {
 public:
  explicit Signals(const model::ThreadStates& states) {
    for (const model::ThreadTimes& times : states.threads) {
      thread_ends_[times.track] = times.end_ns;
    }
  }

  template <typename W>
  void Add(const model::TraceShard& shard, const W& wait) {
    const model::Track& track = shard.tracks[wait.track];
    Semaphore& semaphore = semaphores_[{track.pid, wait.object}];
    semaphore.waiters.insert(wait.track);
    semaphore.has_first_thread |= track.id == track.pid;
    if constexpr (requires { wait.waker; }) {
      semaphore.has_ended |= !wait.is_open && !EndsWithThread(wait);
      if (wait.waker != model::kNoTrack) semaphore.wakers.insert(wait.waker);
    } else {
      semaphore.has_ended = true;
    }
  }
  template <typename W>
  bool IsSignal(const model::TraceShard& shard, const W& wait,
                bool is_semaphore) const {
    const auto found =
        semaphores_.find({shard.tracks[wait.track].pid, wait.object});
    if (found == semaphores_.end()) return false;
    const Semaphore& semaphore = found->second;
    if (semaphore.has_first_thread) return false;
    if (semaphore.wakers.empty()) return !semaphore.has_ended;
    return is_semaphore && !IsHandedOn(semaphore);
  }
  // Whether its waiters end each other's waits.
  template <typename W>
  bool IsHandedOn(const model::TraceShard& shard, const W& wait) const {
    const auto found =
        semaphores_.find({shard.tracks[wait.track].pid, wait.object});
    return found != semaphores_.end() && IsHandedOn(found->second);
  }

 private:
  // The end of the process ended it.
  bool EndsWithThread(const model::Wait& wait) const {
    constexpr DurationNs kMostNs = 50 * kNsPerMs;
    const auto end = thread_ends_.find(wait.track);
    return wait.waker == model::kNoTrack && end != thread_ends_.end() &&
           end->second - wait.end_ns() < kMostNs;
  }

  struct Semaphore {
    std::set<model::TrackIndex> waiters;
    std::set<model::TrackIndex> wakers;
    bool has_first_thread = false;
    bool has_ended = false;  // a wait for it
  };
  static bool IsHandedOn(const Semaphore& semaphore) {
    return std::ranges::any_of(semaphore.wakers, [&](auto waker) {
      return semaphore.waiters.contains(waker);
    });
  }
  std::map<model::TrackIndex, TimeNs> thread_ends_;
  std::map<std::pair<int64_t, uint64_t>, Semaphore> semaphores_;
};

// A wait for Python's interpreter lock has a time limit, after which the thread
// asks for the lock and waits on. Whoever gives the lock back next had it when
// the limit was over.
void FindGilHolders(const model::TraceShard& shard,
                    model::ThreadStates& states) {
  const auto gil = shard.strings.Find(model::kGilName);
  if (!gil) return;
  const auto is_gil = [&](const model::Wait& wait) {
    return wait.kind == WaitKind::kLock && wait.object_name == *gil;
  };
  struct GivenBack {
    TimeNs time_ns = 0;
    model::TrackIndex by = model::kNoTrack;
  };
  std::map<int64_t, std::vector<GivenBack>> given_back;  // by process
  for (const model::Wait& wait : states.waits) {
    if (!is_gil(wait) || wait.waker == model::kNoTrack) continue;
    given_back[shard.tracks[wait.track].pid].push_back(
        {wait.begin_ns + wait.blocked_ns(), wait.waker});
  }
  for (auto& [pid, times] : given_back) {
    std::ranges::sort(times, {}, &GivenBack::time_ns);
  }
  constexpr DurationNs kMostBetweenNs = kNsPerMs;
  for (auto wait = states.waits.begin(); wait != states.waits.end(); ++wait) {
    if (!is_gil(*wait) || wait->waker != model::kNoTrack ||
        wait->holder != model::kNoTrack) {
      continue;
    }
    TimeNs until_ns = wait->end_ns();
    bool waits_on = false;
    for (auto next = wait + 1;
         next != states.waits.end() && next->track == wait->track &&
         next->begin_ns <= until_ns + kMostBetweenNs &&
         (is_gil(*next) || next->kind == WaitKind::kCpuBusy);
         ++next) {
      waits_on |= is_gil(*next);
      until_ns = next->end_ns();
      if (next->waker != model::kNoTrack) break;
    }
    if (!waits_on) continue;
    const auto& times = given_back[shard.tracks[wait->track].pid];
    const auto given = std::ranges::lower_bound(times, wait->end_ns(), {},
                                                &GivenBack::time_ns);
    if (given != times.end() && given->time_ns <= until_ns &&
        given->by != wait->track) {
      wait->holder = given->by;
    }
  }
}

// Whether the stack ends in a system call that the program made itself. Then
// the words behind its futex are not those of the C library's locks.
bool MadeItsOwnCall(const model::TraceShard& shard, model::StackId stack) {
  for (; stack != model::kEmptyStack; stack = shard.stacks.parent(stack)) {
    const model::Frame& frame = shard.stacks.frame(shard.stacks.leaf(stack));
    if (frame.is_kernel) continue;
    return shard.strings.Get(frame.function) == "syscall";
  }
  return false;
}

// Whoever ends the program or sends a signal ends waits for locks that it never
// had.
bool EndsOthers(const model::TraceShard& shard, model::StackId stack) {
  if (stack == model::kEmptyStack) return false;
  constexpr std::string_view kNames[] = {
      "_exit", "_Exit", "__GI__exit", "kill",
      "raise", "abort", "tgkill",     "__pthread_kill_implementation"};
  return std::ranges::find(
             kNames,
             shard.strings.Get(
                 shard.stacks.frame(shard.stacks.leaf(stack)).function)) !=
         std::end(kNames);
}

}  // namespace

std::optional<WaitKind> KindOfFunction(std::string_view function) {
  for (const Word& word : kWords) {
    if (function.find(word.text) != std::string_view::npos) return word.kind;
  }
  return std::nullopt;
}

void TellLocksFromConditions(model::TraceShard& shard,
                             model::ThreadStates& states) {
  struct Told {
    KindAndLock of_stack;
    bool is_gil = false;
    bool is_own_call = false;
    bool is_python = false;
  };
  absl::flat_hash_map<uint32_t, Told> known;  // by stack
  const auto tell = [&](auto& wait) {
    if (wait.kind != WaitKind::kLock && wait.kind != WaitKind::kCondition) {
      return;
    }
    const auto [at, is_new] = known.try_emplace(model::Index(wait.stack));
    if (is_new) {
      at->second = {KindOfStack(shard, wait.stack), IsGil(shard, wait.stack),
                    MadeItsOwnCall(shard, wait.stack),
                    PythonPartsOf(shard, wait.stack).has_interpreter};
    }
    wait.kind = at->second.of_stack.kind.value_or(wait.kind);
    if (at->second.of_stack.is_in_rwlock && wait.object != 0) {
      wait.object = RwLockOf(wait.object);
    }
    if (at->second.of_stack.is_in_condition && wait.object > kWordsOfNotifier) {
      wait.object = (wait.object & ~uint64_t{7}) - kWordsOfNotifier;
    }
    if constexpr (requires { wait.holder; }) {
      if (at->second.is_own_call) {
        wait.holder = model::kNoTrack;
        wait.holder_stack = model::kEmptyStack;
      }
    }
    if (at->second.of_stack.is_java_monitor) {
      wait.object = 0;  // it was the waiting thread's, not the monitor's
      wait.object_name = shard.strings.Intern(kJavaMonitor);
    } else if (wait.kind == WaitKind::kSleep) {
      wait.object = 0;
    }
    if (!at->second.is_gil) return;
    wait.kind = WaitKind::kLock;
    wait.object = 0;  // it has several futexes
    wait.object_name = shard.strings.Intern(model::kGilName);
  };
  Signals signals(states);
  enum class May { kNotSignal, kSemaphore, kOwnFutex, kOwnBits };
  const auto may_signal = [&](const auto& wait) {
    const auto found = known.find(model::Index(wait.stack));
    const bool is_lock = wait.kind == WaitKind::kLock;
    if ((!is_lock && wait.kind != WaitKind::kCondition) || wait.object == 0 ||
        found == known.end() || found->second.is_python) {
      return May::kNotSignal;
    }
    const Told& told = found->second;
    if (is_lock && told.of_stack.is_semaphore) return May::kSemaphore;
    if (!told.is_own_call || told.of_stack.kind) return May::kNotSignal;
    return is_lock ? May::kOwnFutex : May::kOwnBits;
  };
  const auto add = [&](auto& wait) {
    tell(wait);
    if (may_signal(wait) != May::kNotSignal) signals.Add(shard, wait);
  };
  for (model::Wait& wait : states.waits) add(wait);
  for (model::WaitSum& sum : states.short_waits) add(sum);
  const auto set_signal = [&](auto& wait) {
    const May may = may_signal(wait);
    if (may == May::kOwnBits) {
      if (signals.IsHandedOn(shard, wait)) wait.kind = WaitKind::kLock;
    } else if (may != May::kNotSignal &&
               signals.IsSignal(shard, wait, may == May::kSemaphore)) {
      wait.kind = WaitKind::kCondition;
    }
  };
  for (model::WaitSum& sum : states.short_waits) set_signal(sum);
  for (model::Wait& wait : states.waits) {
    set_signal(wait);
    if (wait.kind == WaitKind::kLock) {
      if (EndsOthers(shard, wait.waker_stack)) {
        wait.waker = model::kNoTrack;
        wait.waker_stack = model::kEmptyStack;
      }
      // Its own waits and samples tell in which function of Python it had it.
      const PythonParts waker = PythonPartsOf(shard, wait.waker_stack);
      if (wait.holder == model::kNoTrack && waker.has_interpreter &&
          !waker.has_python) {
        wait.holder = wait.waker;
      }
      continue;
    }
    // It only looked like a lock.
    wait.holder = model::kNoTrack;
    wait.holder_stack = model::kEmptyStack;
  }
  FindGilHolders(shard, states);
}

}  // namespace kymo::off_cpu
