#include "backends/stream/raw/raw_front.h"

#include <errno.h>

#include <cstddef>
#include <cstring>
#include <span>

#include "absl/strings/str_cat.h"
#include "backends/stream/raw/raw_version.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/whole_io.h"
#include "profiler/record/arena/layout.h"

namespace kymo::stream {
namespace {

using record::Arena;
using record::ArenaHeader;

absl::Status Write(int fd, const std::string& path, const void* data,
                   uint64_t size, uint64_t at) {
  if (WriteWhole(fd, at, data, size)) return absl::OkStatus();
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
}

}  // namespace

absl::Status WriteRawFront(int fd, const std::string& path, const Arena& arena,
                           const RawHeader& header) {
  const char* const base = reinterpret_cast<const char*>(&arena.header());
  const auto write = [&](const void* from, uint64_t size) {
    const auto at =
        static_cast<uint64_t>(static_cast<const char*>(from) - base);
    return Write(fd, path, from, size, at);
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
  if (arena.start_count() != 0) {
    KYMO_RETURN_IF_ERROR(write(
        &arena.start(0), arena.start_count() * sizeof(record::StartEntry)));
  }
  const std::span<const std::byte> names = arena.name_texts();
  KYMO_RETURN_IF_ERROR(write(names.data(), names.size()));
  KYMO_RETURN_IF_ERROR(Write(fd, path, &header, sizeof(header), arena.bytes()));
  if (!WriteRawVersion(fd)) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot write ", path));
  }
  // Written last, since it says how long the rest is.
  alignas(ArenaHeader) std::byte copied[sizeof(ArenaHeader)];
  std::memcpy(copied, base, sizeof(copied));
  auto& copy = *reinterpret_cast<ArenaHeader*>(copied);
  copy.arena_bytes = arena.bytes();
  copy.high_water.store(0, std::memory_order_relaxed);
  copy.recording.store(0, std::memory_order_relaxed);
  return Write(fd, path, copied, sizeof(copied), 0);
}

}  // namespace kymo::stream
