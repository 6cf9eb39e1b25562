#include "profiler/processes/thread_reads.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "profiler/base/descriptor.h"
#include "profiler/processes/other_memory.h"

namespace kymo::processes {

std::optional<std::string_view> ReadThreadFile(int64_t pid, int64_t tid,
                                               const char* name,
                                               std::span<char> buffer) {
  char path[96];  // two numbers of 20 digits, and a short name
  snprintf(path, sizeof(path), "/proc/%lld/task/%lld/%s",
           static_cast<long long>(pid), static_cast<long long>(tid), name);
  const int fd = AboveStandardStreams(open(path, O_RDONLY | O_CLOEXEC));
  if (fd < 0) return std::nullopt;
  const ssize_t size = read(fd, buffer.data(), buffer.size());
  const int error = errno;
  close(fd);
  errno = error;
  if (size < 0) return std::nullopt;
  return std::string_view(buffer.data(), static_cast<size_t>(size));
}

bool ReadThreadMemory(int64_t tid, uint64_t address,
                      std::span<std::byte> bytes) {
  const iovec from = {reinterpret_cast<void*>(address), bytes.size()};
  return ReadOtherMemory(tid, tid, {&from, 1}, bytes) ==
         static_cast<ssize_t>(bytes.size());
}

}  // namespace kymo::processes
