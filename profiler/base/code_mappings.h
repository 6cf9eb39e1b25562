// code_mappings.h - where this process's code is, read in the program itself.
//
//   char buffer[8192];
//   ForEachCodeMapping(buffer, sizeof(buffer), [](const CodeMapping& mapping) {
//     Use(mapping.start, mapping.end, mapping.path);
//   });
//
// Reads /proc/self/maps and visits its executable mappings. The path is valid
// during the visit; it is empty for memory without a file.
//
// Threads: any, also signal handlers: no lock, no allocation, errno is kept.
//   The buffer is the caller's, because a program's stacks may be small.
// Cost: opens, reads and closes a file, 50 us in a small program.
// Needs libc only.
#ifndef KYMO_PROFILER_BASE_CODE_MAPPINGS_H_
#define KYMO_PROFILER_BASE_CODE_MAPPINGS_H_

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "profiler/base/descriptor.h"

namespace kymo {

struct CodeMapping {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t file_offset = 0;
  uint64_t inode = 0;  // 0 = no file
  const char* path = nullptr;
};

namespace code_mappings {

// Reads a file line by line.
class LineReader {
 public:
  LineReader(int fd, char* buffer, size_t buffer_bytes) noexcept
      : fd_(fd), buffer_(buffer), buffer_bytes_(buffer_bytes) {}

  // Null at the end. A line longer than the buffer is left out.
  const char* Next() noexcept {
    for (;;) {
      char* const newline =
          static_cast<char*>(memchr(buffer_ + begin_, '\n', end_ - begin_));
      if (newline != nullptr) {
        const char* const line = buffer_ + begin_;
        *newline = '\0';
        begin_ = static_cast<size_t>(newline - buffer_) + 1;
        if (!std::exchange(is_behind_cut_, false)) return line;
        continue;
      }
      if (!Fill()) return nullptr;
    }
  }

  size_t too_long() const noexcept { return too_long_; }

 private:
  bool Fill() noexcept {
    if (begin_ == 0 && end_ == buffer_bytes_) {
      end_ = 0;
      if (!std::exchange(is_behind_cut_, true)) ++too_long_;
    }
    memmove(buffer_, buffer_ + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    const ssize_t got =
        syscall(SYS_read, fd_, buffer_ + end_, buffer_bytes_ - end_);
    if (got <= 0) return false;
    end_ += static_cast<size_t>(got);
    return true;
  }

  const int fd_;
  char* const buffer_;
  const size_t buffer_bytes_;
  size_t begin_ = 0;
  size_t end_ = 0;
  size_t too_long_ = 0;
  // The buffer begins inside of a line that is too long.
  bool is_behind_cut_ = false;
};

// Reads a hexadecimal number and moves on behind it.
inline uint64_t ParseHex(const char*& at) noexcept {
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

inline uint64_t ParseDecimal(const char*& at) noexcept {
  uint64_t value = 0;
  for (; *at >= '0' && *at <= '9'; ++at) {
    value = value * 10 + static_cast<uint64_t>(*at - '0');
  }
  return value;
}

inline const char* SkipWord(const char* at) noexcept {
  while (*at != '\0' && *at != ' ') ++at;
  while (*at == ' ') ++at;
  return at;
}

// The line is: start-end access offset device inode path. False if the mapping
// is not executable, or if the line makes no sense.
inline bool ParseLine(const char* at, CodeMapping* mapping) noexcept {
  mapping->start = ParseHex(at);
  if (*at != '-') return false;
  ++at;
  mapping->end = ParseHex(at);
  if (*at != ' ') return false;
  ++at;
  if (strnlen(at, 4) < 4 || at[2] != 'x') return false;
  at = SkipWord(at);
  mapping->file_offset = ParseHex(at);
  at = SkipWord(at);  // what is left of the offset
  at = SkipWord(at);  // device
  mapping->inode = ParseDecimal(at);
  mapping->path = SkipWord(at);  // what is left of the inode
  return true;
}

}  // namespace code_mappings

// Returns how many lines were left out, because they are longer than `buffer`.
template <typename Visit>
size_t ForEachCodeMapping(char* buffer, size_t buffer_bytes,
                          const Visit& visit) noexcept {
  const int saved_errno = errno;
  size_t too_long = 0;
  const int fd = AboveStandardStreams(static_cast<int>(
      syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC)));
  if (fd >= 0) {
    code_mappings::LineReader lines(fd, buffer, buffer_bytes);
    CodeMapping mapping;
    while (const char* const line = lines.Next()) {
      if (code_mappings::ParseLine(line, &mapping)) visit(mapping);
    }
    too_long = lines.too_long();
    syscall(SYS_close, fd);
  }
  errno = saved_errno;
  return too_long;
}

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_CODE_MAPPINGS_H_
