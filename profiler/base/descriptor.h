// descriptor.h - keeps file descriptors of ours away from the standard streams.
//
//   const int fd = AboveStandardStreams(open(path, O_RDWR | O_CLOEXEC));
//   if (fd < 0) return absl::ErrnoToStatus(errno, "could not open");
//
// A program may run with standard input, output or error closed. The kernel
// gives their numbers (0, 1, 2) to the next files that are opened. Whatever the
// program then prints would go into our file. So each descriptor that Kymo
// opens in a program of somebody else passes through this function.
//
// Threads:   any; also in signal handlers.
// Errors:    -1 and errno, of the caller's open() or of fcntl().
// Ownership: takes `fd` and returns a descriptor of the same open file, which
//   is closed on exec.
#ifndef KYMO_PROFILER_BASE_DESCRIPTOR_H_
#define KYMO_PROFILER_BASE_DESCRIPTOR_H_

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kymo {

inline constexpr int kFirstOwnDescriptor = 3;

inline int AboveStandardStreams(int fd) noexcept {
  if (fd < 0 || fd >= kFirstOwnDescriptor) return fd;
  // Not by libc's functions: programs replace these, and close() ends a thread
  // that was cancelled.
  const int above = static_cast<int>(
      syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, kFirstOwnDescriptor));
  const int error = errno;
  syscall(SYS_close, fd);
  errno = error;
  return above;
}

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_DESCRIPTOR_H_
