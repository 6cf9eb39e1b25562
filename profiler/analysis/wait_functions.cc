#include "profiler/analysis/wait_functions.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace kymo::analysis {
namespace {

template <size_t n>
bool IsOneOf(const std::string_view (&names)[n], std::string_view name) {
  return std::ranges::count(names, name) > 0;
}
template <size_t n>
bool BeginsWithOneOf(const std::string_view (&begins)[n],
                     std::string_view name) {
  return std::ranges::any_of(
      begins, [&](auto begin) { return name.starts_with(begin); });
}
template <size_t n>
bool EndsWithOneOf(const std::string_view (&ends)[n], std::string_view name) {
  return std::ranges::any_of(ends,
                             [&](auto end) { return name.ends_with(end); });
}

// Two underscores are reserved for the C library. Compilers have such names for
// parts of a function, too.
bool IsOfRuntime(std::string_view function) {
  if (function.find("omp_outlined") != std::string_view::npos) return false;
  constexpr std::string_view kBegins[] = {"__", "_IO_", "pthread_", "sem_",
                                          "futex_"};
  constexpr std::string_view kNames[] = {"clock_nanosleep", "nanosleep",
                                         "sleep", "syscall", "usleep"};
  return BeginsWithOneOf(kBegins, function) || IsOneOf(kNames, function);
}

// Libraries of C name their locks after the C library's: "uv_mutex_lock",
// "caml_mutex_lock", "ethr_event_wait", "g_cond_wait_until".
bool IsLockOfC(std::string_view function) {
  constexpr std::string_view kEnds[] = {"_mutex_lock",
                                        "_mutex_lock_slowpath",
                                        "_mutex_timedlock",
                                        "_mutex_unlock",
                                        "_mutex_unlock_slowpath",
                                        "_cond_wait",
                                        "_cond_wait_until",
                                        "_cond_timedwait",
                                        "_cond_signal",
                                        "_cond_broadcast",
                                        "_rwlock_rdlock",
                                        "_rwlock_wrlock",
                                        "_rwlock_rdunlock",
                                        "_rwlock_wrunlock",
                                        "_rwlock_unlock",
                                        "_rw_lock_reader_lock",
                                        "_rw_lock_reader_unlock",
                                        "_rw_lock_writer_lock",
                                        "_rw_lock_writer_unlock",
                                        "_sem_wait",
                                        "_sem_timedwait",
                                        "_sem_post",
                                        "_event_wait",
                                        "_event_twait",
                                        "_event_set",
                                        "_barrier_wait",
                                        "_thread_join"};
  return EndsWithOneOf(kEnds, function);
}

// Where the parameters of a function begin. A namespace without a name has a
// parenthesis, too, "(anonymous namespace)::".
size_t ParametersOf(std::string_view function) {
  size_t at = function.find('(');
  while (at != std::string_view::npos &&
         function.substr(at).starts_with("(anonymous ")) {
    at = function.find('(', at + 1);
  }
  return at;
}

// The class and the name of a member function, without parameters and return
// type: of "void v8::base::Mutex::Lock(int) const" it is "Mutex", "Lock".
struct Member {
  std::string_view of;
  std::string_view name;
};
Member MemberOf(std::string_view function) {
  function = function.substr(0, ParametersOf(function));
  const size_t name = function.rfind("::");
  if (name == std::string_view::npos) return {};
  const std::string_view path = function.substr(0, name);
  const size_t of = path.find_last_of(": ");
  return {path.substr(of == std::string_view::npos ? 0 : of + 1),
          function.substr(name + 2)};
}

// Those of C++: Qt, V8, Abseil, Java's machine.
bool IsLockOfClass(std::string_view function) {
  constexpr std::string_view kClasses[] = {
      "Mutex",     "mutex",         "Monitor",           "PlatformEvent",
      "Semaphore", "Condition",     "ConditionVariable", "CondVar",
      "Parker",    "WaitCondition", "ReadWriteLock",     "WaitBarrier"};
  constexpr std::string_view kMembers[] = {"acquire",
                                           "lock",
                                           "lockForRead",
                                           "lockForWrite",
                                           "park",
                                           "release",
                                           "signal",
                                           "unlock",
                                           "unpark",
                                           "wait",
                                           "wait_for",
                                           "wait_until",
                                           "notify",
                                           "notify_all",
                                           "notify_one",
                                           "notifyAll",
                                           "Acquire",
                                           "Lock",
                                           "LockSlow",
                                           "LockSlowLoop",
                                           "NotifyAll",
                                           "NotifyOne",
                                           "ReaderLock",
                                           "Release",
                                           "Signal",
                                           "SignalAll",
                                           "Unlock",
                                           "UnlockSlow",
                                           "Wait",
                                           "WaitFor",
                                           "WaitUntil",
                                           "WriterLock",
                                           "lock_shared",
                                           "lock_contended",
                                           "unlock_shared",
                                           "wakeAll",
                                           "wakeOne",
                                           "lock_without_safepoint_check",
                                           "wait_without_safepoint_check"};
  const Member member = MemberOf(function);
  return EndsWithOneOf(kClasses, member.of) && IsOneOf(kMembers, member.name);
}

// What waits for a lock that is part of each object of Java.
bool IsJavaMonitor(std::string_view function) {
  constexpr std::string_view kBegins[] = {
      "ObjectMonitor::", "ObjectSynchronizer::", "JavaThread::sleep"};
  return BeginsWithOneOf(kBegins, function);
}

// Of Go, system calls and what its library puts around them, and the futexes of
// its runtime.
bool IsCallOfGo(std::string_view function) {
  constexpr std::string_view kBegins[] = {"internal/poll.",
                                          "internal/runtime/syscall.",
                                          "internal/syscall/",
                                          "golang.org/x/sys/",
                                          "os.",
                                          "runtime.futex",
                                          "runtime.lock",
                                          "runtime.note",
                                          "runtime.unlock",
                                          "runtime/internal/syscall.",
                                          "syscall."};
  return BeginsWithOneOf(kBegins, function);
}

}  // namespace

bool IsWaitFunction(std::string_view function) {
  return IsOfRuntime(function) || IsLockOfC(function) ||
         IsLockOfClass(function) || IsJavaMonitor(function) ||
         IsCallOfGo(function);
}

bool IsStaticCall(std::string_view function) {
  if (function.ends_with("64")) function.remove_suffix(2);
  constexpr std::string_view kNames[] = {
      "accept",      "accept4",    "connect",    "epoll_pwait",  "epoll_wait",
      "fcntl",       "fdatasync",  "fflush",     "fgetc",        "fgets",
      "flock",       "fputs",      "fread",      "fsync",        "fwrite",
      "getc",        "getline",    "lockf",      "msgrcv",       "msgsnd",
      "open",        "openat",     "pause",      "pclose",       "poll",
      "popen",       "ppoll",      "pread",      "preadv",       "pselect",
      "puts",        "pwrite",     "pwritev",    "read",         "readv",
      "recv",        "recvfrom",   "recvmmsg",   "recvmsg",      "select",
      "semop",       "semtimedop", "send",       "sendfile",     "sendmmsg",
      "sendmsg",     "sendto",     "sigsuspend", "sigtimedwait", "sigwait",
      "sigwaitinfo", "splice",     "syncfs",     "system",       "vfork",
      "wait",        "wait3",      "wait4",      "waitid",       "waitpid",
      "write",       "writev"};
  return IsOneOf(kNames, function);
}

bool IsVirtualMachine(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name == "libjvm.so" || name == "node" ||
         name.starts_with("libnode.so");
}

bool HasNodeJs(const model::StringTable& names) {
  constexpr std::string_view kBegins[] = {"v8::", "Builtins_"};
  for (uint32_t i = 0; i < names.size(); ++i) {
    if (BeginsWithOneOf(kBegins, names.Get(model::NameId{i}))) return true;
  }
  return false;
}

bool IsPythonsFile(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with("python") || name.starts_with("libpython") ||
         path.find("/lib-dynload/") != std::string_view::npos;
}

bool IsV8sInterpreter(std::string_view function) {
  return function.starts_with("Builtins_InterpreterEntry");
}

JitFunction KindOfJitFunction(std::string_view function) {
  if (function == "Interpreter" || function == "[anon]" || function.empty()) {
    return JitFunction::kInterpreter;
  }
  constexpr std::string_view kStubs[] = {
      "DeoptimizationBlob", "ExceptionBlob",    "MethodHandlesAdapterBlob",
      "SafepointBlob",      "UncommonTrapBlob", "flush_icache_stub"};
  if (IsOneOf(kStubs, function)) return JitFunction::kStub;
  // C2's own: "_complete_monitor_locking_Java".
  if (function.starts_with('_') && function.ends_with("_Java")) {
    return JitFunction::kStub;
  }
  // JavaScript's accessors: "get size".
  if (function.starts_with("get ") || function.starts_with("set ")) {
    return JitFunction::kProgram;
  }
  // Java's have their parameters: "int java.io.FileInputStream.read()".
  const size_t parameters = function.find('(');
  if (parameters == std::string_view::npos) {
    return function.find(' ') == std::string_view::npos ? JitFunction::kProgram
                                                        : JitFunction::kStub;
  }
  const std::string_view path = function.substr(0, parameters);
  if (path.ends_with(' ')) return JitFunction::kStub;
  constexpr std::string_view kLibraries[] = {"java.", "javax.", "jdk.", "sun."};
  const size_t name = path.rfind(' ');
  return BeginsWithOneOf(kLibraries, name == std::string_view::npos
                                         ? path
                                         : path.substr(name + 1))
             ? JitFunction::kLibrary
             : JitFunction::kProgram;
}

}  // namespace kymo::analysis
