#include "tools/runtime/start_hooks.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <string_view>

#include "profiler/base/clock.h"
#include "profiler/record/arena/layout.h"
#include "profiler/record/host/host.h"
#include "profiler/record/run_by_musl.h"
#include "profiler/record/starts.h"
#include "tools/runtime/musl_programs.h"

#define KYMO_EXPORT extern "C" __attribute__((visibility("default")))

namespace kymo {
namespace {

using Spawn = int (*)(pid_t*, const char*, const posix_spawn_file_actions_t*,
                      const posix_spawnattr_t*, Words, Words);

// The next function of a name, usually libc's. Null before FindRealStarts, and
// if there is none.
template <typename Function>
class Real {
 public:
  explicit constexpr Real(const char* name) : name_(name) {}

  Function Get() noexcept {
    Function function = function_.load(std::memory_order_relaxed);
    if (function == nullptr) {
      function = reinterpret_cast<Function>(dlsym(RTLD_NEXT, name_));
      function_.store(function, std::memory_order_relaxed);
    }
    return function;
  }

 private:
  const char* name_;
  std::atomic<Function> function_ = nullptr;  // threads may find it at once
};

constinit Real<int (*)(const char*, Words, Words)> real_execve("execve");
constinit Real<int (*)(const char*, Words, Words)> real_execvpe("execvpe");
constinit Real<int (*)(int, const char*, Words, Words, int)> real_execveat(
    "execveat");
constinit Real<int (*)(int, Words, Words)> real_fexecve("fexecve");
constinit Real<Spawn> real_posix_spawn("posix_spawn");
constinit Real<Spawn> real_posix_spawnp("posix_spawnp");

record::StartEnvironment EnvironmentOf(Words envp) noexcept {
  if (PreloadOfKymo(envp) == nullptr) {
    return record::StartEnvironment::kNoPreload;
  }
  constexpr size_t kName = sizeof(record::kArenaVariable) - 1;
  for (; *envp != nullptr; ++envp) {
    if (strncmp(*envp, record::kArenaVariable, kName) == 0 &&
        (*envp)[kName] == '=') {
      return record::StartEnvironment::kComplete;
    }
  }
  return record::StartEnvironment::kNoArena;
}

// A program may pass null, for which the kernel has an errno. The headers of
// libc say that none does, so without the `asm` compilers drop the comparison.
std::string_view TextOf(const char* path) noexcept {
  asm("" : "+r"(path));
  return path == nullptr ? std::string_view() : path;
}

// Calls exec(environment), which returns only if it could not run the program.
template <typename IsRunByMusl, typename Function>
int Exec(std::string_view program, IsRunByMusl is_run_by_musl, Words envp,
         Function exec) noexcept {
  return WithEnvironmentFor(is_run_by_musl, envp, [&](Words environment) {
    record::StartEntry* const start = record::NoteStart(
        getpid(), program, MonotonicNs(), EnvironmentOf(envp));
    const int result = exec(environment);
    record::TakeBackStart(start);
    return result;
  });
}

// In place of a function that libc does not have.
int NotThere() noexcept {
  errno = ENOSYS;
  return -1;
}

int ExecFile(const char* path, Words argv, Words envp) noexcept {
  const auto exec = real_execve.Get();
  if (exec == nullptr) return NotThere();
  return Exec(
      TextOf(path), [&] { return IsRunByMusl(AT_FDCWD, path); }, envp,
      [&](Words environment) { return exec(path, argv, environment); });
}

// Looks `file` up in the PATH.
int ExecFound(const char* file, Words argv, Words envp) noexcept {
  const auto exec = real_execvpe.Get();
  if (exec == nullptr) return NotThere();
  return Exec(
      TextOf(file), [&] { return IsFoundRunByMusl(file); }, envp,
      [&](Words environment) { return exec(file, argv, environment); });
}

template <typename IsRunByMusl>
int SpawnAndNote(Spawn spawn, IsRunByMusl is_run_by_musl, pid_t* pid,
                 const char* program, const posix_spawn_file_actions_t* actions,
                 const posix_spawnattr_t* attributes, Words argv,
                 Words envp) noexcept {
  if (spawn == nullptr) return ENOSYS;
  const int64_t start_ns = MonotonicNs();
  pid_t child = 0;
  const int error =
      WithEnvironmentFor(is_run_by_musl, envp, [&](Words environment) {
        return spawn(&child, program, actions, attributes, argv, environment);
      });
  if (error != 0) return error;
  if (pid != nullptr) *pid = child;
  record::NoteStart(child, TextOf(program), start_ns, EnvironmentOf(envp));
  return 0;
}

// Calls `exec` with the arguments of execl and the like, as an array on the
// stack.
template <typename Function>
int WithWords(const char* first, va_list* rest, Function exec) noexcept {
  va_list counted;
  va_copy(counted, *rest);
  size_t count = 1;
  for (const char* word = first; word != nullptr; ++count) {
    word = va_arg(counted, const char*);
  }
  va_end(counted);
  auto* const words =
      static_cast<char**>(__builtin_alloca(count * sizeof(char*)));
  words[0] = const_cast<char*>(first);
  for (size_t i = 1; i < count; ++i) words[i] = va_arg(*rest, char*);
  return exec(words);
}

// Stores the path of an open file in `path`, with a zero behind it. It is empty
// for negative descriptors.
std::string_view PathOf(int fd, char (&path)[PATH_MAX]) noexcept {
  char link[] = "/proc/self/fd/0000000000";
  const size_t prefix = sizeof("/proc/self/fd/") - 1;
  size_t digits = 1;
  for (int left = fd; left >= 10; left /= 10) ++digits;
  link[prefix + digits] = '\0';
  char* digit = link + prefix + digits;
  for (int left = fd; digits-- > 0; left /= 10) {
    *--digit = static_cast<char>('0' + left % 10);
  }
  const ssize_t size = readlink(link, path, sizeof(path) - 1);
  const size_t length = size > 0 ? static_cast<size_t>(size) : 0;
  path[length] = '\0';
  return {path, length};
}

}  // namespace

void FindRealStarts() noexcept {
  real_execve.Get();
  real_execvpe.Get();
  real_execveat.Get();
  real_fexecve.Get();
  real_posix_spawn.Get();
  real_posix_spawnp.Get();
}

}  // namespace kymo

KYMO_EXPORT int execve(const char* path, char* const* argv,
                       char* const* envp) noexcept {
  return kymo::ExecFile(path, argv, envp);
}

KYMO_EXPORT int execv(const char* path, char* const* argv) noexcept {
  return kymo::ExecFile(path, argv, environ);
}

KYMO_EXPORT int execvp(const char* file, char* const* argv) noexcept {
  return kymo::ExecFound(file, argv, environ);
}

KYMO_EXPORT int execvpe(const char* file, char* const* argv,
                        char* const* envp) noexcept {
  return kymo::ExecFound(file, argv, envp);
}

KYMO_EXPORT int execl(const char* path, const char* first, ...) noexcept {
  va_list rest;
  va_start(rest, first);
  const int result = kymo::WithWords(
      first, &rest, [path](char** words) { return execv(path, words); });
  va_end(rest);
  return result;
}

KYMO_EXPORT int execlp(const char* file, const char* first, ...) noexcept {
  va_list rest;
  va_start(rest, first);
  const int result = kymo::WithWords(
      first, &rest, [file](char** words) { return execvp(file, words); });
  va_end(rest);
  return result;
}

// The environment follows the list of arguments.
KYMO_EXPORT int execle(const char* path, const char* first, ...) noexcept {
  va_list rest;
  va_start(rest, first);
  const int result = kymo::WithWords(first, &rest, [path, &rest](char** words) {
    return execve(path, words, va_arg(rest, char* const*));
  });
  va_end(rest);
  return result;
}

KYMO_EXPORT int execveat(int folder, const char* path, char* const* argv,
                         char* const* envp, int flags) noexcept {
  const auto exec = kymo::real_execveat.Get();
  if (exec == nullptr) return kymo::NotThere();
  char opened[PATH_MAX];
  const bool is_folder_itself =
      (flags & AT_EMPTY_PATH) != 0 && kymo::TextOf(path).empty();
  const std::string_view program =
      is_folder_itself ? kymo::PathOf(folder, opened) : kymo::TextOf(path);
  return kymo::Exec(
      program,
      [&] {
        return kymo::IsRunByMusl(folder, is_folder_itself ? opened : path);
      },
      envp,
      [&](kymo::Words environment) {
        return exec(folder, path, argv, environment, flags);
      });
}

KYMO_EXPORT int fexecve(int fd, char* const* argv, char* const* envp) noexcept {
  const auto exec = kymo::real_fexecve.Get();
  if (exec == nullptr) return kymo::NotThere();
  char opened[PATH_MAX];
  return kymo::Exec(
      kymo::PathOf(fd, opened),
      [&] { return kymo::IsRunByMusl(AT_FDCWD, opened); }, envp,
      [&](kymo::Words environment) { return exec(fd, argv, environment); });
}

KYMO_EXPORT int posix_spawn(pid_t* pid, const char* path,
                            const posix_spawn_file_actions_t* actions,
                            const posix_spawnattr_t* attributes,
                            char* const* argv, char* const* envp) {
  return kymo::SpawnAndNote(
      kymo::real_posix_spawn.Get(),
      [&] { return kymo::IsRunByMusl(AT_FDCWD, path); }, pid, path, actions,
      attributes, argv, envp);
}

KYMO_EXPORT int posix_spawnp(pid_t* pid, const char* file,
                             const posix_spawn_file_actions_t* actions,
                             const posix_spawnattr_t* attributes,
                             char* const* argv, char* const* envp) {
  return kymo::SpawnAndNote(
      kymo::real_posix_spawnp.Get(),
      [&] { return kymo::IsFoundRunByMusl(file); }, pid, file, actions,
      attributes, argv, envp);
}
