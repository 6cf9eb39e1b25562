// musl_programs.h - keeps the preloaded runtime out of programs of musl.
//
//   return WithEnvironmentFor(
//       [&] { return IsRunByMusl(AT_FDCWD, path); }, envp,
//       [&](Words environment) { return execve(path, argv, environment); });
//
// The runtime needs glibc. musl's loader ends a program that is to preload it.
// So such a program gets an environment whose LD_PRELOAD does not name Kymo's
// libraries; other libraries stay in it. Every other program gets `envp`.
//
// Threads: may be called in signal handlers and between vfork and exec. It
//   allocates on the stack only and takes no lock.
#ifndef KYMO_TOOLS_RUNTIME_MUSL_PROGRAMS_H_
#define KYMO_TOOLS_RUNTIME_MUSL_PROGRAMS_H_

#include <alloca.h>
#include <stddef.h>

namespace kymo {

using Words = char* const*;

// The value of LD_PRELOAD, if it names libraries of Kymo; otherwise null.
// `envp` may be null.
const char* PreloadOfKymo(Words envp) noexcept;

size_t CountWords(Words words) noexcept;

// Stores `envp` in `words`, which has room for as many words and the null, with
// an LD_PRELOAD that is in `text`. REQUIRES: PreloadOfKymo(envp) is not null,
// and `text` has as much room as its variable.
void LeaveOutPreloadOfKymo(Words envp, char** words, char* text) noexcept;

// Calls exec(environment). `is_run_by_musl` is called only if LD_PRELOAD names
// libraries of Kymo.
template <typename IsRunByMusl, typename Function>
int WithEnvironmentFor(IsRunByMusl is_run_by_musl, Words envp,
                       Function exec) noexcept {
  const char* const preload = PreloadOfKymo(envp);
  if (preload == nullptr || !is_run_by_musl()) return exec(envp);
  auto* const words =
      static_cast<char**>(alloca((CountWords(envp) + 1) * sizeof(char*)));
  auto* const text = static_cast<char*>(
      alloca(sizeof("LD_PRELOAD=") + __builtin_strlen(preload)));
  LeaveOutPreloadOfKymo(envp, words, text);
  return exec(words);
}

}  // namespace kymo

#endif  // KYMO_TOOLS_RUNTIME_MUSL_PROGRAMS_H_
