#include "backends/stream/raw/raw_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "absl/strings/str_cat.h"
#include "backends/stream/decode/arena_shard.h"
#include "backends/stream/raw/raw_version.h"
#include "kymo/version.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/whole_io.h"

namespace kymo::stream {
namespace {

using record::Arena;
using record::ChunkState;
using record::ChunkView;

absl::Status NotRaw(const std::string& path, const char* why) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, " is no raw file of this version of Kymo: ", why));
}

absl::Status OtherVersion(const std::string& path, int file) {
  const std::string version = ReadRawVersion(file);
  const bool is_known = !version.empty();
  const bool is_this = version == KYMO_VERSION;
  return absl::InvalidArgumentError(absl::StrCat(
      path, " was recorded by ",
      !is_known ? "another version of Kymo"
      : is_this ? "another build of Kymo " KYMO_VERSION
                : "Kymo " + version,
      is_known && !is_this ? ", and this is Kymo " KYMO_VERSION : "",
      ": read it with `kymo report` of that ", is_this ? "build" : "version"));
}

absl::Status CutOff(const std::string& path, uint64_t bytes) {
  return absl::InvalidArgumentError(absl::StrCat(
      path, " is cut off: only its first ", bytes,
      " bytes are there, and ranges come later; copy it again, or record "
      "again"));
}

// What the front says of a file that begins with an arena, whole or not. Every
// layout begins with these two words.
absl::Status CheckFront(const std::string& path, int file, uint64_t bytes) {
  struct {
    uint64_t magic;
    uint32_t layout;
  } front;
  static_assert(offsetof(record::ArenaHeader, version) == sizeof(uint64_t));
  if (!ReadWhole(file, 0, &front, sizeof(front)) ||
      front.magic != record::kArenaMagic) {
    return NotRaw(path, "the arena at its front is not one");
  }
  if (front.layout != record::kLayoutVersion) {
    return OtherVersion(path, file);
  }
  uint64_t least = 0;
  if (!ReadWhole(file, offsetof(record::ArenaHeader, arena_bytes), &least,
                 sizeof(least)) ||
      bytes < least) {
    return CutOff(path, bytes);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<RawParts>> RawParts::Open(
    const std::string& path) {
  std::unique_ptr<RawParts> parts(new RawParts);
  KYMO_RETURN_IF_ERROR(parts->Read(path));
  return parts;
}

RawParts::~RawParts() { arena_.Unmap(); }

absl::Status RawParts::Read(const std::string& path) {
  file_ = OwnedDescriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about;
  if (!file_.is_open() || fstat(file_.get(), &about) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot read ", path));
  }
  if (about.st_size == 0) return NotRaw(path, "it is empty");
  file_bytes_ = static_cast<uint64_t>(about.st_size);
  KYMO_RETURN_IF_ERROR(CheckFront(path, file_.get(), file_bytes_));
  arena_ = Arena::MapCopy(file_.get());
  if (!arena_.valid()) return NotRaw(path, "the arena at its front is not one");
  guard_ = ShrinkGuard(&arena_.header(), arena_.bytes());
  const uint64_t header_at = arena_.header().arena_bytes;
  if (!ReadWhole(file_.get(), header_at, &header_, sizeof(header_))) {
    return CutOff(path, file_bytes_);
  }
  if (header_.magic != RawHeader::kMagic) {
    return NotRaw(path, "its header is not one");
  }
  if (header_.version != RawHeader::kVersion) {
    return OtherVersion(path, file_.get());
  }
  if (header_.last_anchor.ticks <= header_.first_anchor.ticks) {
    return NotRaw(path,
                  "the collector ended before it had read the clock twice");
  }
  return absl::OkStatus();
}

TickConverter RawParts::clock() const {
  return TickConverter(arena_.clock_source(), header_.first_anchor,
                       header_.last_anchor, header_.epoch_offset_ns);
}

uint64_t RawParts::chunks_begin() const {
  return arena_.header().arena_bytes + kRawHeaderBytes;
}

bool RawParts::overwrites() const {
  return arena_.policy() == record::FullPolicy::kOverwrite ||
         header_.keeps_newest == 1;
}

uint64_t RawParts::first_ticket() const {
  return overwrites() ? kNoFirstTicket : 0;
}

// Chunks that the collector was reading when it died. Those that it had not
// written still have to be drained.
void RawParts::GiveBackHalfRead(const std::set<uint64_t>& drained) {
  for (uint32_t i = 0; i < arena_.high_water(); ++i) {
    record::ChunkWord& word = arena_.word(i);
    const uint64_t owner = word.owner.load(std::memory_order_relaxed);
    if (record::OwnerState(owner) != ChunkState::kReading ||
        drained.contains(word.ticket.load(std::memory_order_relaxed))) {
      continue;
    }
    word.owner.store(
        record::PackOwner(ChunkState::kSealed, record::OwnerStream(owner)),
        std::memory_order_relaxed);
  }
}

std::vector<ChunkView> RawParts::TakeUndrained(
    const std::set<uint64_t>& drained) {
  GiveBackHalfRead(drained);
  std::vector<ChunkView> chunks;
  // Copies, since draining clears chunks.
  const auto add = [&](const ChunkView& view) {
    copies_.push_back(record::CopySlots(view.slots));
    chunks.push_back(view);
    chunks.back().slots = {copies_.back().get(), view.slots.size()};
  };
  record::ChunkReader(arena_).ReadAll(add);
  return chunks;
}

}  // namespace kymo::stream
