#include "backends/off_cpu/lock_names.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "absl/container/flat_hash_map.h"
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
// Of the functions of the C library, C++'s and Rust's.
constexpr Word kWords[] = {
    {"cond_wait", WaitKind::kCondition},
    {"cond_timedwait", WaitKind::kCondition},
    {"cond_clockwait", WaitKind::kCondition},
    {"condition_variable::wait", WaitKind::kCondition},
    {"Condvar::wait", WaitKind::kCondition},
    {"barrier_wait", WaitKind::kCondition},
    {"pthread_join", WaitKind::kCondition},
    {"pthread_timedjoin", WaitKind::kCondition},
    {"pthread_clockjoin", WaitKind::kCondition},
    {"sem_wait", WaitKind::kLock},
    {"sem_timedwait", WaitKind::kLock},
    {"sem_clockwait", WaitKind::kLock},
    {"mutex_lock", WaitKind::kLock},
    {"mutex_timedlock", WaitKind::kLock},
    {"mutex_clocklock", WaitKind::kLock},
    {"rwlock_", WaitKind::kLock},
    {"lll_lock", WaitKind::kLock},
    {"Mutex::lock", WaitKind::kLock},
    {"RwLock::", WaitKind::kLock},
    {"r1::wait_on_address", WaitKind::kLock},  // oneTBB's mutexes
    // Go's threads that have nothing to run.
    {"runtime.notesleep", WaitKind::kCondition},
    {"runtime.notetsleep", WaitKind::kCondition},
};

// Its threads wait for tasks, and for the end of tasks, without the C library.
constexpr std::string_view kTbb = "libtbb.so";

// CPython's global interpreter lock is made of a mutex and conditions, which
// these functions take and give back. Nothing else of them waits.
constexpr std::string_view kGilFunctions[] = {"take_gil",
                                              "drop_gil",
                                              "PyEval_RestoreThread",
                                              "PyEval_SaveThread",
                                              "PyEval_AcquireThread",
                                              "PyEval_ReleaseThread",
                                              "PyGILState_Ensure"};
constexpr std::string_view kInterpreter = "_PyEval_EvalFrameDefault";
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
    if (frame.module != python) return false;
    const std::string_view function = shard.strings.Get(frame.function);
    if (std::ranges::count(kGilFunctions, function) > 0) return true;
    if (function == kInterpreter) return i == 1;
  }
  return false;
}

std::optional<WaitKind> KindOfStack(const model::TraceShard& shard,
                                    model::StackId stack) {
  int frames = 0;
  bool is_tbb = false;
  for (; stack != model::kEmptyStack && frames < kMostFrames;
       stack = shard.stacks.parent(stack)) {
    const model::Frame& frame = shard.stacks.frame(shard.stacks.leaf(stack));
    if (frame.is_kernel) continue;
    const auto kind = KindOfFunction(shard.strings.Get(frame.function));
    if (kind) return kind;
    is_tbb |=
        shard.strings.Get(frame.module).find(kTbb) != std::string_view::npos;
    ++frames;
  }
  return is_tbb ? std::optional(WaitKind::kCondition) : std::nullopt;
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
    std::optional<WaitKind> kind;
    bool is_gil = false;
  };
  absl::flat_hash_map<uint32_t, Told> known;  // by stack
  const auto tell = [&](auto& wait) {
    if (wait.kind != WaitKind::kLock && wait.kind != WaitKind::kCondition) {
      return;
    }
    const auto [at, is_new] = known.try_emplace(model::Index(wait.stack));
    if (is_new) {
      at->second = {KindOfStack(shard, wait.stack), IsGil(shard, wait.stack)};
    }
    wait.kind = at->second.kind.value_or(wait.kind);
    if (!at->second.is_gil) return;
    wait.kind = WaitKind::kLock;
    wait.object = 0;  // it has several futexes
    wait.object_name = shard.strings.Intern("GIL");
  };
  for (model::Wait& wait : states.waits) {
    tell(wait);
    if (wait.kind == WaitKind::kLock) {
      if (EndsOthers(shard, wait.waker_stack)) {
        wait.waker = model::kNoTrack;
        wait.waker_stack = model::kEmptyStack;
      }
      continue;
    }
    // It only looked like a lock.
    wait.holder = model::kNoTrack;
    wait.holder_stack = model::kEmptyStack;
  }
  for (model::WaitSum& sum : states.short_waits) tell(sum);
}

}  // namespace kymo::off_cpu
