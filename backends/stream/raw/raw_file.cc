#include "backends/stream/raw/raw_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/stream/decode/arena_shard.h"
#include "backends/stream/decode/heap_estimate.h"
#include "backends/stream/raw/chunk_store.h"
#include "backends/stream/raw/raw_parts.h"
#include "backends/stream/raw/raw_version.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/whole_io.h"
#include "profiler/model/shard_times.h"
#include "profiler/record/arena/chunk_reader.h"

namespace kymo::stream {
namespace {

using record::Arena;
using record::ChunkView;

absl::Status FileError(const std::string& path, const char* what) {
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot ", what, " ", path));
}

// The file from `begin` on, mapped for reading. Empty if the file ends before.
class MappedEnd {
 public:
  MappedEnd() = default;
  ~MappedEnd() {
    guard_ = ShrinkGuard();
    if (base_ != nullptr) munmap(base_, size_);
  }
  MappedEnd(const MappedEnd&) = delete;
  MappedEnd& operator=(const MappedEnd&) = delete;

  absl::Status Map(const std::string& path, int fd, uint64_t begin,
                   uint64_t end) {
    if (end <= begin) return absl::OkStatus();
    void* const mapped = mmap(nullptr, end - begin, PROT_READ, MAP_PRIVATE, fd,
                              static_cast<off_t>(begin));
    if (mapped == MAP_FAILED) return FileError(path, "map");
    base_ = mapped;
    size_ = end - begin;
    guard_ = ShrinkGuard(base_, size_);
    return absl::OkStatus();
  }
  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(base_), size_};
  }

 private:
  void* base_ = nullptr;
  size_t size_ = 0;
  ShrinkGuard guard_;
};

}  // namespace

bool BeginsLikeRawFile(std::string_view head) {
  uint64_t magic = 0;
  if (head.size() < sizeof(magic)) return false;
  std::memcpy(&magic, head.data(), sizeof(magic));
  return magic == record::kArenaMagic;
}

absl::StatusOr<RawFile> RawFile::Create(const std::string& path,
                                        const record::ArenaOptions& options) {
  RawFile file;
  // Never reuse the file of an earlier recording: its processes may still write
  // there.
  if (unlink(path.c_str()) != 0 && errno != ENOENT) {
    return FileError(path, "replace");
  }
  file.file_ = OwnedDescriptor(
      open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.file_.is_open()) return FileError(path, "make");
  file.arena_ = Arena::CreateInFile(options, file.file_.get());
  if (!file.arena_.valid()) return FileError(path, "reserve space for");
  if (!WriteRawVersion(file.fd())) return FileError(path, "write");
  file.guard_ = ShrinkGuard(&file.arena_.header(), file.arena_.bytes());
  return file;
}

RawFile::RawFile(RawFile&& other) noexcept
    : file_(std::move(other.file_)),
      arena_(std::exchange(other.arena_, Arena())),
      guard_(std::move(other.guard_)) {}

RawFile& RawFile::operator=(RawFile&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(arena_, other.arena_);
  std::swap(guard_, other.guard_);
  return *this;
}

RawFile::~RawFile() { arena_.Unmap(); }

uint64_t RawFile::chunks_begin() const {
  return arena_.bytes() + kRawHeaderBytes;
}

void RawFile::Note(const RawHeader& header) const {
  static_cast<void>(
      !WriteWhole(file_.get(), arena_.bytes(), &header, sizeof(header)));
}

absl::StatusOr<RawRecording> ReadRawFile(const std::string& path,
                                         uint64_t fold_heap_above) {
  KYMO_ASSIGN_OR_RETURN(const std::unique_ptr<RawParts> parts,
                        RawParts::Open(path));
  MappedEnd drained;
  KYMO_RETURN_IF_ERROR(drained.Map(path, parts->fd(), parts->chunks_begin(),
                                   parts->file_bytes()));
  RawRecording result;
  const RawHeader& header = parts->header();
  result.is_complete = header.is_complete == 1;
  std::vector<ChunkView> chunks;
  if (SaysCategories(parts->arena())) fold_heap_above = ~uint64_t{0};
  const bool may_fold = fold_heap_above != ~uint64_t{0};
  const size_t read = may_fold ? ReadMappedChunks(drained.bytes(), chunks)
                               : ReadChunkEntries(drained.bytes(), chunks);
  result.cut_bytes = drained.bytes().size() - read;
  if (!drained.bytes().empty()) {
    result.first_cut_byte = parts->chunks_begin() + read;
  }
  std::set<uint64_t> tickets;
  for (const ChunkView& chunk : chunks) tickets.insert(chunk.ticket);
  const std::vector<ChunkView> undrained = parts->TakeUndrained(tickets);
  chunks.insert(chunks.end(), undrained.begin(), undrained.end());
  std::function<void(const ChunkView&)> release;
  if (may_fold) {
    release = [&drained](const ChunkView& chunk) {
      ReleaseMappedChunk(drained.bytes(), chunk);
    };
  }
  const TickConverter clock = parts->clock();
  result.shard.ledger.Add(model::Loss::kDrainBytesLost, header.lost_bytes);
  FillShard({.arena = parts->arena(),
             .chunks = std::move(chunks),
             .clock = clock,
             .first_ticket = parts->first_ticket(),
             .losses_at_start = header.losses_before,
             .heap_sample_interval = header.heap_sample_interval,
             .with_memory = header.with_memory == 1,
             .was_to_hold_time = header.was_to_hold_time == 1,
             .fold_heap_above = fold_heap_above,
             .release = std::move(release),
             .epoch_offset_ns = header.epoch_offset_ns},
            result.shard);
  result.start_ns = clock.ToEpochNs(header.first_anchor.ticks);
  result.end_ns = clock.ToEpochNs(header.last_anchor.ticks);
  if (const auto times = model::TimesOf(result.shard)) {
    if (parts->overwrites()) {
      result.start_ns = std::max(result.start_ns, times->first_ns);
    }
    if (!result.is_complete) {
      result.end_ns = std::max(result.end_ns, times->last_ns);
    }
  }
  return result;
}

}  // namespace kymo::stream
