// run_by_musl.h - whether a program is one of musl, Alpine Linux's C library.
//
//   if (IsRunByMusl(AT_FDCWD, path)) DoNotPreloadInto(path);
//
// musl's loader ends a program that is to preload a library of glibc.
//
// Threads: may be called in signal handlers and between vfork and exec. Needs
//   libc only, allocates nothing, takes no lock and leaves errno alone.
// Errors: what cannot be read is not run by musl.
#ifndef KYMO_PROFILER_RECORD_RUN_BY_MUSL_H_
#define KYMO_PROFILER_RECORD_RUN_BY_MUSL_H_

namespace kymo {

// Whether musl's loader runs the file `path`, or the interpreter that the file
// names if it is a script. True also of that loader itself, `ld-musl-...`,
// which can be called to run a program. A relative path begins at the open
// `folder`, or at the working folder for AT_FDCWD.
bool IsRunByMusl(int folder, const char* path) noexcept;

// The same for a `file` that is looked up in the PATH of this process, unless
// it has a slash.
bool IsFoundRunByMusl(const char* file) noexcept;

}  // namespace kymo

#endif  // KYMO_PROFILER_RECORD_RUN_BY_MUSL_H_
