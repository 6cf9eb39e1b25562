#include "backends/sampling/python/target_memory.h"

#include <errno.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "profiler/processes/other_memory.h"

namespace kymo::sampling {

bool ProcessMemory::Read(uint64_t address, std::span<std::byte> into) {
  const iovec remote = {reinterpret_cast<void*>(address), into.size()};
  const ssize_t size =
      processes::ReadOtherMemory(pid_, pid_, {&remote, 1}, into);
  if (size < 0 && (errno == EPERM || errno == ENOSYS)) was_refused_ = true;
  return size >= 0 && static_cast<size_t>(size) == into.size();
}

}  // namespace kymo::sampling
