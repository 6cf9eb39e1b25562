#include "profiler/record/host/own_process.h"

#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>

#include "profiler/base/clock.h"
#include "profiler/base/descriptor.h"

namespace kymo::record {
namespace {

// The kernel puts 16 random bytes into every program that it starts.
uint64_t ProgramImage() noexcept {
  uint64_t image = 0;
  const void* const random =
      reinterpret_cast<const void*>(getauxval(AT_RANDOM));
  if (random != nullptr) memcpy(&image, random, sizeof(image));
  return image;
}

size_t ReadFile(const char* path, char* to, size_t size) noexcept {
  const int fd = AboveStandardStreams(static_cast<int>(
      syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC)));
  if (fd < 0) return 0;
  const ssize_t got = syscall(SYS_read, fd, to, size);
  syscall(SYS_close, fd);
  return got > 0 ? static_cast<size_t>(got) : 0;
}

}  // namespace

void RegisterProcess(Wiped* wiped) noexcept {
  if (wiped->process_registered != 0) return;
  wiped->process_registered = 1;
  ProcessEntry* const entry = own.arena.AddProcess();
  if (entry == nullptr) return;
  wiped->process = static_cast<uint32_t>(entry - &own.arena.process(0)) + 1;
  entry->parent_pid = getppid();
  entry->attach_monotonic_ns = MonotonicNs();
  entry->image = ProgramImage();
  const size_t name_size =
      ReadFile("/proc/self/comm", entry->name, sizeof(entry->name) - 1);
  if (name_size > 0 && entry->name[name_size - 1] == '\n') {
    entry->name[name_size - 1] = '\0';
  }
  ReadFile("/proc/self/cmdline", entry->command_line,
           sizeof(entry->command_line) - 1);
  entry->pid.store(getpid(), std::memory_order_release);
}

}  // namespace kymo::record
