#include "backends/cpu/raw_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cpu/arena_shard.h"
#include "backends/cpu/chunk_store.h"
#include "backends/cpu/flight_recorder.h"
#include "profiler/base/status_macros.h"
#include "profiler/record/chunk_reader.h"

namespace kymo::cpu {
namespace {

using record::Arena;
using record::ChunkState;
using record::ChunkView;

absl::Status FileError(const std::string& path, const char* what) {
  return absl::ErrnoToStatus(errno, absl::StrCat("cannot ", what, " ", path));
}

absl::Status NotRaw(const std::string& path, std::string_view why) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, " is no raw file of this version of Kymo: ",
                   absl::string_view(why.data(), why.size())));
}

// A file as memory, for reading.
class MappedFile {
 public:
  MappedFile() = default;
  ~MappedFile() {
    if (base_ != nullptr) munmap(base_, size_);
    if (fd_ >= 0) close(fd_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  absl::Status Open(const std::string& path) {
    fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (fd_ < 0 || fstat(fd_, &about) != 0) return FileError(path, "read");
    if (about.st_size == 0) return NotRaw(path, "it is empty");
    size_ = static_cast<size_t>(about.st_size);
    void* const mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd_, 0);
    if (mapped == MAP_FAILED) return FileError(path, "map");
    base_ = mapped;
    return absl::OkStatus();
  }
  int fd() const { return fd_; }
  std::span<const std::byte> bytes() const {
    return {static_cast<const std::byte*>(base_), size_};
  }

 private:
  int fd_ = -1;
  void* base_ = nullptr;
  size_t size_ = 0;
};

class MappedArena {
 public:
  explicit MappedArena(int fd) : arena_(Arena::MapCopy(fd)) {}
  ~MappedArena() { arena_.Unmap(); }
  MappedArena(const MappedArena&) = delete;
  MappedArena& operator=(const MappedArena&) = delete;
  const Arena& arena() const { return arena_; }

 private:
  Arena arena_;
};

// Chunks that a dying collector had in its hands: those that it had not written
// are to be drained still.
void GiveBackHalfRead(const Arena& arena, const std::vector<ChunkView>& known) {
  std::set<uint64_t> tickets;
  for (const ChunkView& chunk : known) tickets.insert(chunk.ticket);
  for (uint32_t i = 0; i < arena.high_water(); ++i) {
    record::ChunkWord& word = arena.word(i);
    const uint64_t owner = word.owner.load(std::memory_order_relaxed);
    if (record::OwnerState(owner) != ChunkState::kReading ||
        tickets.contains(word.ticket.load(std::memory_order_relaxed))) {
      continue;
    }
    word.owner.store(
        record::PackOwner(ChunkState::kSealed, record::OwnerStream(owner)),
        std::memory_order_relaxed);
  }
}

// Of the first event in the shard, or `otherwise`.
TimeNs FirstTime(const model::TraceShard& shard, TimeNs otherwise) {
  const auto& starts = shard.block.start_ns;
  const auto first = std::min_element(starts.begin(), starts.end());
  return first == starts.end() ? otherwise : std::max(*first, otherwise);
}

// The latest time in the shard, or `otherwise`.
TimeNs LastTime(const model::TraceShard& shard, TimeNs otherwise) {
  TimeNs last = otherwise;
  for (const TimeNs t : shard.block.start_ns) last = std::max(last, t);
  for (const TimeNs t : shard.block.end_ns) last = std::max(last, t);
  for (const auto& record : shard.memory) last = std::max(last, record.time_ns);
  for (const auto& counter : shard.counters) {
    last = std::max(last, counter.time_ns);
  }
  return last;
}

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
  file.fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file.fd_ < 0) return FileError(path, "make");
  file.arena_ = Arena::CreateInFile(options, file.fd_);
  if (!file.arena_.valid()) return FileError(path, "reserve space for");
  return file;
}

RawFile::RawFile(RawFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      arena_(std::exchange(other.arena_, Arena())) {}

RawFile& RawFile::operator=(RawFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(arena_, other.arena_);
  return *this;
}

RawFile::~RawFile() {
  arena_.Unmap();
  if (fd_ >= 0) close(fd_);
}

uint64_t RawFile::chunks_begin() const {
  return arena_.header().arena_bytes + kRawHeaderBytes;
}

void RawFile::Note(const RawHeader& header) const {
  const auto at = static_cast<off_t>(arena_.header().arena_bytes);
  static_cast<void>(!pwrite(fd_, &header, sizeof(header), at));
}

void RawFile::DropArenaChunks() const {
  const record::ArenaHeader& header = arena_.header();
  // Where holes are not possible, the file stays as large as it is.
  static_cast<void>(
      fallocate(fd_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                static_cast<off_t>(header.chunks_offset),
                static_cast<off_t>(header.arena_bytes - header.chunks_offset)));
}

absl::StatusOr<RawRecording> ReadRawFile(const std::string& path) {
  MappedFile file;
  KYMO_RETURN_IF_ERROR(file.Open(path));
  const MappedArena mapped(file.fd());
  const Arena& arena = mapped.arena();
  if (!arena.valid()) return NotRaw(path, "the arena at its front is not one");
  const std::span<const std::byte> bytes = file.bytes();
  const uint64_t header_at = arena.header().arena_bytes;
  RawHeader header;
  if (bytes.size() < header_at + sizeof(header)) {
    return NotRaw(path, "it ends before its header");
  }
  std::memcpy(&header, bytes.data() + header_at, sizeof(header));
  if (header.magic != RawHeader::kMagic ||
      header.version != RawHeader::kVersion) {
    return NotRaw(path, "its header is not one");
  }
  if (header.last_anchor.ticks <= header.first_anchor.ticks) {
    return NotRaw(path,
                  "the collector ended before it had read the clock twice");
  }
  RawRecording result;
  result.is_complete = header.is_complete == 1;
  std::vector<ChunkView> chunks;
  if (bytes.size() > header_at + kRawHeaderBytes) {
    const std::span<const std::byte> drained =
        bytes.subspan(header_at + kRawHeaderBytes);
    const size_t read = ReadChunkEntries(drained, chunks);
    result.cut_bytes = drained.size() - read;
    result.first_cut_byte = header_at + kRawHeaderBytes + read;
  }
  GiveBackHalfRead(arena, chunks);
  // Copies, since draining clears chunks.
  std::vector<std::unique_ptr<record::Slot[]>> copies;
  const auto add = [&](const ChunkView& view) {
    copies.push_back(record::CopySlots(view.slots));
    chunks.push_back(view);
    chunks.back().slots = {copies.back().get(), view.slots.size()};
  };
  record::ChunkReader reader(arena);
  reader.DrainRest(add);
  reader.ReadOwned(add);
  const TickConverter clock(arena.clock_source(), header.first_anchor,
                            header.last_anchor, header.epoch_offset_ns);
  result.shard.ledger.Add(model::Loss::kDrainBytesLost, header.lost_bytes);
  // A flight recorder's: what began before it is not missing.
  const bool overwrites = arena.policy() == record::FullPolicy::kOverwrite;
  FillShard({.arena = arena,
             .chunks = std::move(chunks),
             .clock = clock,
             .first_ticket = overwrites ? kNoFirstTicket : 0,
             .losses_at_start = {},
             .heap_sample_interval = header.heap_sample_interval,
             .with_memory = header.with_memory == 1,
             .epoch_offset_ns = header.epoch_offset_ns},
            result.shard);
  result.start_ns = clock.ToEpochNs(header.first_anchor.ticks);
  if (overwrites) result.start_ns = FirstTime(result.shard, result.start_ns);
  result.end_ns = clock.ToEpochNs(header.last_anchor.ticks);
  if (!result.is_complete) {
    result.end_ns = LastTime(result.shard, result.end_ns);
  }
  return result;
}

}  // namespace kymo::cpu
