// kept_descriptor.h - a descriptor that the host keeps open in the program.
//
//   own.door = KeptDescriptor(socket(...));
//   const int door = own.door.get();
//   if (door < 0) return;  // the program has closed it
//
// A program may close descriptors that it does not know (daemons close all),
// and open its own files under their numbers. So this remembers which file it
// was, and never gives out, nor closes, the number of another one.
//
// Threads:   one changes it at a time. Also in fork handlers and signal
//   handlers; one that interrupts a change takes the descriptor for closed.
// Ownership: as an int: copies are the same descriptor, and whoever ends it
//   calls Close().
#ifndef KYMO_PROFILER_RECORD_HOST_KEPT_DESCRIPTOR_H_
#define KYMO_PROFILER_RECORD_HOST_KEPT_DESCRIPTOR_H_

#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace kymo::record {

class KeptDescriptor {
 public:
  constexpr KeptDescriptor() noexcept = default;
  // Takes `fd`; negative: none.
  explicit KeptDescriptor(int fd) noexcept {
    struct stat about;
    if (fd < 0 || !Look(fd, &about)) return;
    fd_plus_1_ = fd + 1;
    device_ = about.st_dev;
    inode_ = about.st_ino;
  }

  // Whether there was one, which the program may have closed since.
  constexpr bool is_set() const noexcept { return fd_plus_1_ != 0; }

  // Negative: there is none, or the program has closed it.
  int get() const noexcept {
    struct stat about;
    return is_set() && Look(fd_plus_1_ - 1, &about) &&
                   about.st_dev == device_ && about.st_ino == inode_
               ? fd_plus_1_ - 1
               : -1;
  }

  void Close() noexcept {
    const int fd = get();
    if (fd >= 0) syscall(SYS_close, fd);
    *this = KeptDescriptor();
  }

 private:
  // Not by libc's functions: programs replace these, and close() ends a thread
  // that was cancelled.
  static bool Look(int fd, struct stat* about) noexcept {
    const int saved_errno = errno;
    const bool is_open = syscall(SYS_fstat, fd, about) == 0;
    errno = saved_errno;
    return is_open;
  }

  int fd_plus_1_ = 0;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_HOST_KEPT_DESCRIPTOR_H_
