#include "backends/host/file_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "profiler/base/descriptor.h"

namespace kymo::host {
namespace {

constexpr size_t kMostBytes = 8 << 20;

// Fills the front of `buffer`; an errno, or 0 and `size`.
int ReadAll(int fd, std::string& buffer, size_t& size) {
  size = 0;
  while (size < kMostBytes) {
    if (buffer.size() - size < 4096) buffer.resize(2 * buffer.size() + 8192);
    const ssize_t got = read(fd, buffer.data() + size, buffer.size() - size);
    if (got == 0) return 0;
    if (got > 0) {
      size += static_cast<size_t>(got);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

std::optional<std::string_view> FileReader::Read(const std::string& path,
                                                 const char* kind,
                                                 Absent absent) {
  const int fd = AboveStandardStreams(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  size_t size = 0;
  int error = errno;
  was_absent_ = false;
  if (fd >= 0) {
    error = ReadAll(fd, buffer_, size);
    close(fd);
    if (error == 0) return std::string_view(buffer_.data(), size);
  }
  was_absent_ = error == ENOENT || error == ESRCH;
  if (!was_absent_ || absent == Absent::kIsOdd) {
    unreadable_.try_emplace(kind, error);
  }
  return std::nullopt;
}

}  // namespace kymo::host
