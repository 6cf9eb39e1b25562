#include "backends/cupti/log/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>

#include "profiler/base/clock.h"

namespace kymo::cupti {

bool LogFile::Open(const char* folder) noexcept {
  // The time tells apart the programs that one process executes in turn.
  const int length =
      snprintf(path_, sizeof(path_), "%s/cuda-%d-%lld.log", folder, getpid(),
               static_cast<long long>(MonotonicNs()));
  if (length < 0 || static_cast<size_t>(length) >= sizeof(path_)) return false;
  const int fd = open(path_, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
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
  const int fd = open(file.path_, O_WRONLY | O_CLOEXEC);
  const char* rest = static_cast<const char*>(data);
  size_t left = size;
  while (fd >= 0 && left > 0) {
    const ssize_t written =
        pwrite(fd, rest, left, static_cast<off_t>(file.offset_ + size - left));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    rest += written;
    left -= static_cast<size_t>(written);
  }
  if (fd >= 0) close(fd);
  if (left == 0) {
    file.offset_ += size;
  } else {
    // Half a block would hide the blocks behind it, so the next block goes
    // here.
    file.header_->bytes_lost.fetch_add(size, std::memory_order_relaxed);
  }
}

}  // namespace kymo::cupti
