// sealed_memory.h - memory to share with a program that is not trusted.
//
//   const OwnedDescriptor file(MakeSealedMemory("kymo-samples", bytes));
//   if (!file.is_open()) return absl::ErrnoToStatus(errno, "no memory");
//   mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
//
// Nobody can shorten or lengthen the file. If a program could, the collector's
// next access to its mapping would be a SIGBUS.
//
// Threads:   any.
// Errors:    -1 and errno.
// Ownership: the caller closes the descriptor, which is none of the standard
//   streams and is closed on exec.
// Standard library: none, for code in the profiled program.
#ifndef KYMO_PROFILER_BASE_MAPPED_SEALED_MEMORY_H_
#define KYMO_PROFILER_BASE_MAPPED_SEALED_MEMORY_H_

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "profiler/base/descriptor.h"

namespace kymo {

// The memory is all zero. `name` is for those who look at /proc.
inline int MakeSealedMemory(const char* name, uint64_t bytes) noexcept {
  const int fd =
      AboveStandardStreams(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (fd < 0) return -1;
  if (ftruncate(fd, static_cast<off_t>(bytes)) == 0 &&
      fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
    return fd;
  }
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_MAPPED_SEALED_MEMORY_H_
