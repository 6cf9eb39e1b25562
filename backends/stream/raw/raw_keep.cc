#include "backends/stream/raw/raw_keep.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/stream/raw/raw_front.h"
#include "profiler/base/descriptor.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/whole_io.h"

namespace kymo::stream {
namespace {

constexpr off_t kBlockBytes = off_t{4} << 20;

absl::Status CannotKeep(const std::string& path) {
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
}

// Moves only data; holes stay holes.
bool MoveData(int from, int to) {
  std::vector<std::byte> buffer(kBlockBytes);
  const off_t size = lseek(from, 0, SEEK_END);
  if (size < 0 || ftruncate(to, size) != 0) return false;
  for (off_t at = 0; at < size;) {
    const off_t begin = lseek(from, at, SEEK_DATA);
    if (begin < 0) return errno == ENXIO;  // a hole up to the end
    const off_t hole = lseek(from, begin, SEEK_HOLE);
    if (hole < 0) return false;
    at = std::min(hole, begin + kBlockBytes);
    const auto place = static_cast<uint64_t>(begin);
    const auto bytes = static_cast<uint64_t>(at - begin);
    if (!ReadWhole(from, place, buffer.data(), bytes) ||
        !WriteWhole(to, place, buffer.data(), bytes)) {
      return false;
    }
    // If the space cannot be given back, both files need room.
    fallocate(from, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, begin,
              at - begin);
  }
  return true;
}

}  // namespace

absl::Status MoveContents(int from, const std::string& path) {
  const int to = AboveStandardStreams(
      open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (to < 0) return CannotKeep(path);
  absl::Status status;
  if (!MoveData(from, to)) {
    status = absl::ErrnoToStatus(
        errno, absl::StrCat("cannot write all of ", path,
                            ", which has what came first of the recording"));
  }
  if (close(to) != 0 && status.ok()) return CannotKeep(path);
  return status;
}

absl::Status KeepRawFile(int fd, const std::string& path,
                         const record::Arena& arena, const RawHeader& header) {
  KYMO_RETURN_IF_ERROR(WriteRawFront(fd, path, arena, header));
  if (unlink(path.c_str()) != 0 && errno != ENOENT) return CannotKeep(path);
  const std::string self = absl::StrCat("/proc/self/fd/", fd);
  if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, path.c_str(),
             AT_SYMLINK_FOLLOW) == 0) {
    return absl::OkStatus();
  }
  return MoveContents(fd, path);
}

}  // namespace kymo::stream
