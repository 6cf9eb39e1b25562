#include "backends/cpu/raw_dump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/record/layout.h"

namespace kymo::cpu {
namespace {

using record::Arena;
using record::ArenaHeader;

// A file under a name of its own until it is complete.
class PartFile {
 public:
  explicit PartFile(const std::string& path)
      : path_(path), part_(path + ".part") {
    fd_ = open(part_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
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
  absl::Status Write(const void* data, uint64_t size, uint64_t at) const {
    const char* const bytes = static_cast<const char*>(data);
    for (uint64_t written = 0; written < size;) {
      const ssize_t got = pwrite(fd_, bytes + written, size - written,
                                 static_cast<off_t>(at + written));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return Error();
      written += static_cast<uint64_t>(got);
    }
    return absl::OkStatus();
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

absl::Status WriteTables(const Arena& arena, uint64_t arena_bytes,
                         const PartFile& file) {
  const char* const base = reinterpret_cast<const char*>(&arena.header());
  const auto write = [&](const void* from, uint64_t size) {
    const auto at =
        static_cast<uint64_t>(static_cast<const char*>(from) - base);
    return file.Write(from, size, at);
  };
  if (arena.stream_count() != 0) {
    KYMO_RETURN_IF_ERROR(write(
        &arena.stream(0), arena.stream_count() * sizeof(record::StreamEntry)));
    KYMO_RETURN_IF_ERROR(
        write(&arena.heap_counts(0),
              arena.stream_count() * sizeof(record::HeapCounts)));
  }
  if (arena.process_count() != 0) {
    KYMO_RETURN_IF_ERROR(
        write(&arena.process(0),
              arena.process_count() * sizeof(record::ProcessEntry)));
  }
  const std::span<const std::byte> names = arena.name_texts();
  KYMO_RETURN_IF_ERROR(write(names.data(), names.size()));
  // Last: it says how much of the rest there is.
  alignas(ArenaHeader) std::byte header[sizeof(ArenaHeader)];
  std::memcpy(header, base, sizeof(header));
  auto& copy = *reinterpret_cast<ArenaHeader*>(header);
  copy.arena_bytes = arena_bytes;
  copy.high_water.store(0, std::memory_order_relaxed);
  copy.recording.store(0, std::memory_order_relaxed);
  return file.Write(header, sizeof(header), 0);
}

}  // namespace

absl::Status WriteRawDump(
    const std::string& path, const Arena& arena,
    const std::function<RawHeader(ChunkStore&)>& add_chunks) {
  PartFile file(path);
  if (file.fd() < 0) return file.Error();
  const uint64_t arena_bytes = arena.bytes();
  if (ftruncate(file.fd(), static_cast<off_t>(arena_bytes + kRawHeaderBytes)) !=
      0) {
    return file.Error();
  }
  // Chunks before tables: what was overwritten meanwhile is counted by then,
  // and what chunks name is there.
  ChunkStore store;
  store.OpenAt(file.fd(), arena_bytes + kRawHeaderBytes);
  RawHeader header = add_chunks(store);
  header.lost_bytes += store.lost_bytes();
  KYMO_RETURN_IF_ERROR(WriteTables(arena, arena_bytes, file));
  KYMO_RETURN_IF_ERROR(file.Write(&header, sizeof(header), arena_bytes));
  return file.Commit();
}

}  // namespace kymo::cpu
