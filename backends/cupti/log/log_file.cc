#include "backends/cupti/log/log_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "profiler/base/clock.h"
#include "profiler/base/descriptor.h"
#include "profiler/base/whole_io.h"

namespace kymo::cupti {

bool LogFile::Open(const char* folder) noexcept {
  // The time tells apart the programs that one process executes in turn.
  const int length =
      snprintf(path_, sizeof(path_), "%s/cuda-%d-%lld.log", folder, getpid(),
               static_cast<long long>(MonotonicNs()));
  if (length < 0 || static_cast<size_t>(length) >= sizeof(path_)) return false;
  const int fd = AboveStandardStreams(
      open(path_, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (fd < 0) return false;
  void* memory = MAP_FAILED;
  if (ftruncate(fd, kLogHeaderBytes) == 0) {
    memory = mmap(nullptr, kLogHeaderBytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                  fd, 0);
  }
  close(fd);
  if (memory == MAP_FAILED) {
    unlink(path_);
    return false;
  }
  header_ = new (memory) LogHeader;
  header_->version = kLogVersion;
  header_->pid = getpid();
  header_->magic = kLogMagic;
  offset_ = kLogHeaderBytes;
  return true;
}

void LogFile::Append(void* to, const void* data, size_t size) noexcept {
  LogFile& file = *static_cast<LogFile*>(to);
  const int fd = AboveStandardStreams(open(file.path_, O_WRONLY | O_CLOEXEC));
  const bool is_written = fd >= 0 && WriteWhole(fd, file.offset_, data, size);
  if (fd >= 0) close(fd);
  if (is_written) {
    file.offset_ += size;
  } else {
    // Half a block would hide the blocks behind it, so the next block goes
    // here.
    file.header_->bytes_lost.fetch_add(size, std::memory_order_relaxed);
  }
}

}  // namespace kymo::cupti
