// seccomp_filters.h - counts the filters of system calls that a process has
// inherited or set (seccomp(2)).
//
//   const int filters = CountSeccompFilters();
//
// Needs libc only. Makes three system calls, and takes 4 KiB of stack.
#ifndef KYMO_BACKENDS_SAMPLING_TARGET_SECCOMP_FILTERS_H_
#define KYMO_BACKENDS_SAMPLING_TARGET_SECCOMP_FILTERS_H_

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler/base/descriptor.h"

namespace kymo {

// 0 if the kernel does not tell (before 5.9). The system calls are not libc's
// functions, since programs replace these.
inline int CountSeccompFilters() noexcept {
  char text[4096];
  const int fd = AboveStandardStreams(static_cast<int>(syscall(
      SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC)));
  if (fd < 0) return 0;
  const long size = syscall(SYS_read, fd, text, sizeof(text) - 1);
  syscall(SYS_close, fd);
  if (size <= 0) return 0;
  text[size] = '\0';
  constexpr char kName[] = "\nSeccomp_filters:";
  const char* const found = strstr(text, kName);
  return found == nullptr ? 0 : atoi(found + strlen(kName));
}

}  // namespace kymo

#endif  // KYMO_BACKENDS_SAMPLING_TARGET_SECCOMP_FILTERS_H_
