#include "backends/stream/raw/raw_dump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "backends/stream/raw/raw_front.h"
#include "profiler/base/descriptor.h"
#include "profiler/base/status_macros.h"

namespace kymo::stream {
namespace {

// A file that has a temporary name until it is complete.
class PartFile {
 public:
  explicit PartFile(const std::string& path)
      : path_(path), part_(path + ".part") {
    // Left by a process that was killed, or a link that somebody made.
    unlink(part_.c_str());
    fd_ = AboveStandardStreams(
        open(part_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  }
  ~PartFile() {
    if (fd_ < 0) return;
    close(fd_);
    if (!is_complete_) unlink(part_.c_str());
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;

  int fd() const { return fd_; }
  absl::Status Error() const {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path_));
  }
  absl::Status Commit() {
    if (rename(part_.c_str(), path_.c_str()) != 0) return Error();
    is_complete_ = true;
    return absl::OkStatus();
  }

 private:
  const std::string path_;
  const std::string part_;
  int fd_ = -1;
  bool is_complete_ = false;
};

}  // namespace

absl::Status WriteRawDump(
    const std::string& path, const record::Arena& arena,
    const std::function<RawHeader(ChunkStore&)>& add_chunks) {
  PartFile file(path);
  if (file.fd() < 0) return file.Error();
  const uint64_t chunks_begin = RawChunksBegin(arena);
  if (ftruncate(file.fd(), static_cast<off_t>(chunks_begin)) != 0) {
    return file.Error();
  }
  // Chunks before tables: by then, overwritten chunks are counted and the names
  // that chunks use are stored.
  ChunkStore store;
  store.OpenAt(file.fd(), chunks_begin);
  RawHeader header = add_chunks(store);
  header.lost_bytes += store.lost_bytes();
  KYMO_RETURN_IF_ERROR(WriteRawFront(file.fd(), path, arena, header));
  return file.Commit();
}

}  // namespace kymo::stream
