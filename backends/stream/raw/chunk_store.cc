#include "backends/stream/raw/chunk_store.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "profiler/base/descriptor.h"
#include "profiler/base/whole_io.h"

namespace kymo::stream {
namespace {

uint64_t PageBytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

// The whole pages among these bytes.
void ReleasePages(std::span<const std::byte> bytes) {
  const uintptr_t page = PageBytes();
  const uintptr_t first = reinterpret_cast<uintptr_t>(bytes.data());
  const uintptr_t begin = (first + page - 1) & ~(page - 1);
  const uintptr_t end = (first + bytes.size()) & ~(page - 1);
  if (begin < end) {
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
}

}  // namespace

ChunkStore::~ChunkStore() {
  if (mapped_ != nullptr) munmap(mapped_, mapped_bytes_);
}

absl::Status ChunkStore::Open(const std::string& directory, uint64_t begin) {
  begin_ = begin;
  file_ = MakeUnnamedFile(directory);
  if (file_.is_open()) return absl::OkStatus();
  return absl::ErrnoToStatus(
      errno,
      absl::StrCat("cannot make a file for drained records in ", directory));
}

void ChunkStore::OpenAt(int fd, uint64_t begin) {
  file_ = OwnedDescriptor(fcntl(fd, F_DUPFD_CLOEXEC, kFirstOwnDescriptor));
  begin_ = begin;
}

// Writes the slots first, so that an entry always has a complete chunk.
void ChunkStore::Add(const record::ChunkView& chunk) {
  const uint64_t size = chunk.slots.size_bytes();
  const ChunkEntry entry = {.stream = chunk.stream,
                            .first_index = chunk.first_index,
                            .slots = static_cast<uint32_t>(chunk.slots.size()),
                            .ticket = chunk.ticket};
  const uint64_t at = begin_ + bytes_;
  if (bytes() + sizeof(entry) + size > most_bytes_ || !HasRoom() ||
      !WriteWhole(file_.get(), at + sizeof(entry), chunk.slots.data(), size) ||
      !WriteWhole(file_.get(), at, &entry, sizeof(entry))) {
    lost_bytes_ += size;
    // A part of the chunk would only take room.
    static_cast<void>(!ftruncate(file_.get(), static_cast<off_t>(at)));
    return;
  }
  bytes_ += sizeof(entry) + size;
}

void ChunkStore::FindEnd() {
  const off_t size = lseek(file_.get(), 0, SEEK_END);
  ChunkEntry entry;
  while (size > 0 && end() + sizeof(entry) <= static_cast<uint64_t>(size) &&
         ReadWhole(file_.get(), end(), &entry, sizeof(entry)) &&
         IsChunkEntry(entry, size - end() - sizeof(entry))) {
    bytes_ += sizeof(entry) + entry.slots * sizeof(record::Slot);
  }
}

// Asks again before half of the free space is used, since others write there,
// too.
bool ChunkStore::HasRoom() {
  constexpr uint64_t kAskEvery = uint64_t{64} << 20;
  const uint64_t seen = bytes_ + lost_bytes_;
  if (seen < next_check_at_) return has_room_;
  next_check_at_ = seen + record::kChunkBytes;
  const uint64_t room = RoomBytes();
  has_room_ = room != 0;
  if (has_room_) next_check_at_ = seen + std::min(kAskEvery, room / 2);
  return has_room_;
}

uint64_t ChunkStore::RoomBytes() const {
  struct statvfs disk;
  // Writing will tell.
  if (fstatvfs(file_.get(), &disk) != 0) return ~uint64_t{0};
  const uint64_t block = disk.f_frsize;
  const uint64_t available = disk.f_bavail * block;
  const uint64_t reserve =
      std::min(kMaxReserveBytes, disk.f_blocks * block / 20);
  return available > reserve ? available - reserve : 0;
}

// Whole pages only. A page with the end of the last chunk stays until the next
// call, which begins there.
void ChunkStore::Erase(uint64_t from, uint64_t to) const {
  const uint64_t page = PageBytes();
  const uint64_t begin = from / page * page;
  const uint64_t end = to / page * page;
  if (begin >= end) return;
  fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
            static_cast<off_t>(begin), static_cast<off_t>(end - begin));
}

absl::Status ChunkStore::Map(std::vector<record::ChunkView>& chunks) {
  if (bytes() == 0) return absl::OkStatus();
  // A mapping begins with a page.
  const uint64_t skipped = front() % PageBytes();
  mapped_bytes_ = skipped + bytes();
  mapped_ = mmap(nullptr, mapped_bytes_, PROT_READ, MAP_PRIVATE, file_.get(),
                 static_cast<off_t>(front() - skipped));
  if (mapped_ == MAP_FAILED) {
    mapped_ = nullptr;
    return absl::ErrnoToStatus(errno, "cannot map the drained records");
  }
  guard_ = ShrinkGuard(mapped_, mapped_bytes_);
  madvise(mapped_, mapped_bytes_, MADV_SEQUENTIAL);
  const std::span<const std::byte> chunk_bytes = mapped().subspan(skipped);
  lost_bytes_ += chunk_bytes.size() - ReadMappedChunks(chunk_bytes, chunks);
  return absl::OkStatus();
}

void ChunkStore::Release(const record::ChunkView& chunk) const {
  ReleaseMappedChunk(mapped(), chunk);
}

bool IsChunkEntry(const ChunkEntry& entry, uint64_t bytes) {
  return entry.magic == ChunkEntry::kMagic && entry.slots != 0 &&
         entry.slots <= record::kSlotsPerChunk &&
         entry.slots <= bytes / sizeof(record::Slot);
}

size_t ReadChunkEntries(std::span<const std::byte> bytes,
                        std::vector<record::ChunkView>& chunks) {
  size_t at = 0;
  while (bytes.size() - at >= sizeof(ChunkEntry)) {
    ChunkEntry entry;
    std::memcpy(&entry, bytes.data() + at, sizeof(entry));
    const size_t begin = at + sizeof(entry);
    if (!IsChunkEntry(entry, bytes.size() - begin)) break;
    const auto* const slots =
        reinterpret_cast<const record::Slot*>(bytes.data() + begin);
    chunks.push_back({.stream = entry.stream,
                      .ticket = entry.ticket,
                      .first_index = entry.first_index,
                      .slots = {slots, entry.slots}});
    at = begin + entry.slots * sizeof(record::Slot);
  }
  return at;
}

// An access maps many pages around: without giving memory back, all of the file
// would be in it.
size_t ReadMappedChunks(std::span<const std::byte> mapped,
                        std::vector<record::ChunkView>& chunks) {
  constexpr size_t kStep = size_t{8} << 20;  // many chunks
  size_t at = 0;
  while (at < mapped.size()) {
    const size_t taken = ReadChunkEntries(
        mapped.subspan(at, std::min(kStep, mapped.size() - at)), chunks);
    if (taken == 0) break;
    ReleasePages(mapped.subspan(at, taken));
    at += taken;
  }
  return at;
}

// The kernel maps pages around each one that is read (fault_around_bytes, 64
// KiB), which are the neighbours' that may have been given back already.
void ReleaseMappedChunk(std::span<const std::byte> mapped,
                        const record::ChunkView& chunk) {
  constexpr size_t kAround = size_t{64} << 10;
  const std::span slots = std::as_bytes(chunk.slots);
  const auto at = reinterpret_cast<uintptr_t>(slots.data()) -
                  reinterpret_cast<uintptr_t>(mapped.data());
  if (at >= mapped.size()) return;  // another memory's
  const size_t begin = at - std::min(at, kAround);
  const size_t end = std::min(at + slots.size() + kAround, mapped.size());
  ReleasePages(mapped.subspan(begin, end - begin));
}

}  // namespace kymo::stream
