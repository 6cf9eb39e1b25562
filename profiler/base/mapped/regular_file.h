// regular_file.h - opens files whose names come from other programs.
//
//   const OwnedDescriptor file = OpenRegularFile(path);
//   if (!file.is_open()) return absl::ErrnoToStatus(errno, "could not open");
//
// A name can be that of a file that a profiled program has mapped. What is
// there meanwhile may be a FIFO, and to open it could wait for ever.
//
// Threads: any.
// Errors:  one that is not open, with errno; EINVAL if it is no regular file.
#ifndef KYMO_PROFILER_BASE_MAPPED_REGULAR_FILE_H_
#define KYMO_PROFILER_BASE_MAPPED_REGULAR_FILE_H_

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <string>

#include "profiler/base/owned_descriptor.h"

namespace kymo {

// For reading; in the folder, if `path` does not begin at the root. `about`
// gets what fstat() says, if it is not null.
inline OwnedDescriptor OpenRegularFile(const std::string& path,
                                       struct stat* about = nullptr,
                                       int folder = AT_FDCWD) {
  OwnedDescriptor file(openat(folder, path.c_str(),
                              O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat own;
  if (about == nullptr) about = &own;
  if (!file.is_open() || fstat(file.get(), about) != 0) return {};
  if (S_ISREG(about->st_mode)) return file;
  errno = EINVAL;
  return {};
}

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_MAPPED_REGULAR_FILE_H_
