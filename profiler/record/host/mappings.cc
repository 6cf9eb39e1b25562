#include "profiler/record/host/mappings.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profiler/base/clock.h"
#include "profiler/record/host/own_host.h"
#include "profiler/record/host/thread_streams.h"

namespace kymo::record {
namespace {

// Reads the file line by line. The buffer is not on the stack, because a
// program's stacks may be small. No allocation.
class LineReader {
 public:
  LineReader(int fd, char* buffer) noexcept : fd_(fd), buffer_(buffer) {}

  // Null at the end. A line longer than the buffer is cut.
  const char* Next() noexcept {
    for (;;) {
      char* const newline =
          static_cast<char*>(memchr(buffer_ + begin_, '\n', end_ - begin_));
      if (newline != nullptr) {
        const char* const line = buffer_ + begin_;
        *newline = '\0';
        begin_ = static_cast<size_t>(newline - buffer_) + 1;
        return line;
      }
      if (!Fill()) return nullptr;
    }
  }

 private:
  bool Fill() noexcept {
    if (begin_ == 0 && end_ == kBufferBytes) {
      end_ = 0;  // too long: skip it
      OwnCountTruncated();
    }
    memmove(buffer_, buffer_ + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    const ssize_t got =
        syscall(SYS_read, fd_, buffer_ + end_, kBufferBytes - end_);
    if (got <= 0) return false;
    end_ += static_cast<size_t>(got);
    return true;
  }

  static constexpr size_t kBufferBytes = sizeof(Wiped::maps_buffer);

  const int fd_;
  char* const buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
};

// Reads a hexadecimal number and moves on behind it.
uint64_t ParseHex(const char*& at) noexcept {
  uint64_t value = 0;
  for (;; ++at) {
    const char c = *at;
    if (c >= '0' && c <= '9') {
      value = value << 4 | static_cast<uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      value = value << 4 | static_cast<uint64_t>(c - 'a' + 10);
    } else {
      return value;
    }
  }
}

uint64_t ParseDecimal(const char*& at) noexcept {
  uint64_t value = 0;
  for (; *at >= '0' && *at <= '9'; ++at) {
    value = value * 10 + static_cast<uint64_t>(*at - '0');
  }
  return value;
}

const char* SkipWord(const char* at) noexcept {
  while (*at != '\0' && *at != ' ') ++at;
  while (*at == ' ') ++at;
  return at;
}

// start-end perms offset device inode path
void RecordLine(const char* at) noexcept {
  MappingPayload mapping = {};
  mapping.start = ParseHex(at);
  if (*at != '-') return;
  ++at;
  mapping.end = ParseHex(at);
  if (*at != ' ') return;
  ++at;
  if (strnlen(at, 4) < 4 || at[2] != 'x') return;
  at = SkipWord(at);
  mapping.file_offset = ParseHex(at);
  at = SkipWord(at);  // what is left of the offset
  at = SkipWord(at);  // device
  mapping.inode = ParseDecimal(at);
  at = SkipWord(at);  // what is left of the inode
  const size_t path_bytes = strlen(at) + 1;
  const uint32_t payload_slots =
      static_cast<uint32_t>(1 + (path_bytes + sizeof(Slot) - 1) / sizeof(Slot));
  Slot* const slot = OwnTake(1 + payload_slots);
  if (slot == nullptr) return;
  memcpy(static_cast<void*>(slot + 1), &mapping, sizeof(mapping));
  memcpy(static_cast<void*>(slot + 2), at, path_bytes);
  slot->extra_slots = payload_slots;
  slot->kind_scope_depth = PackKind(SlotKind::kMapping, 0, 0);
  slot->begin.store(ReadTicks(thread_stream->clock_source),
                    std::memory_order_release);
}

}  // namespace

void RecordMappings() noexcept {
  Wiped* const wiped = GetWiped();
  if (wiped == nullptr ||
      wiped->maps_buffer_taken.exchange(1, std::memory_order_acquire) != 0) {
    // Another thread is recording them; the next stack asks again.
    if (wiped != nullptr) {
      wiped->mappings_recorded.store(0, std::memory_order_relaxed);
    }
    return;
  }
  const int saved_errno = errno;
  const int fd = static_cast<int>(
      syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC));
  if (fd >= 0) {
    LineReader lines(fd, wiped->maps_buffer);
    while (const char* const line = lines.Next()) RecordLine(line);
    syscall(SYS_close, fd);
  }
  errno = saved_errno;
  wiped->maps_buffer_taken.store(0, std::memory_order_release);
}

}  // namespace kymo::record
