#include "backends/sampling/python/target_memory.h"

#include <errno.h>
#include <sys/types.h>
#include <sys/uio.h>

namespace kymo::sampling {

bool ProcessMemory::Read(uint64_t address, std::span<std::byte> into) {
  const iovec local = {into.data(), into.size()};
  const iovec remote = {reinterpret_cast<void*>(address), into.size()};
  const ssize_t size = process_vm_readv(static_cast<pid_t>(pid_), &local, 1,
                                        &remote, 1, /*flags=*/0);
  if (size < 0 && (errno == EPERM || errno == ENOSYS)) was_refused_ = true;
  return size >= 0 && static_cast<size_t>(size) == into.size();
}

}  // namespace kymo::sampling
