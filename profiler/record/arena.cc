#include "profiler/record/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14
#endif

namespace kymo::record {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kHugePage = 2 * 1024 * 1024;
constexpr uint32_t kStreamCapacity = 1u << 18;
constexpr uint32_t kProcessCapacity = 1u << 14;
constexpr uint32_t kStartCapacity = 1u << 16;
constexpr uint32_t kNameIndexCapacity = 1u << 19;
constexpr uint64_t kNameTextBytes = uint64_t{32} << 20;
constexpr std::string_view kLostName = "(name lost)";

constexpr uint64_t RoundUp(uint64_t value, uint64_t to) noexcept {
  return (value + to - 1) / to * to;
}

// A name in the text region, at byte offset 8 * id: its size, then its bytes.
// The size is written last (with release); 0 = not there yet.
struct NameEntry {
  std::atomic<uint32_t> size_plus_1;
  char bytes[4];
};

// Maps `bytes` at a multiple of the huge page size. Chunks are then aligned to
// their own size, and the kernel can back anonymous ones with huge pages, whose
// first touch costs a tenth per record.
std::byte* MapAligned(uint64_t bytes, int flags, int fd) noexcept {
  const uint64_t reserved = bytes + kHugePage;
  void* const mapped = mmap(nullptr, reserved, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  std::byte* const first = static_cast<std::byte*>(mapped);
  const uint64_t skip = RoundUp(reinterpret_cast<uint64_t>(first), kHugePage) -
                        reinterpret_cast<uint64_t>(first);
  void* const aligned = mmap(first + skip, bytes, PROT_READ | PROT_WRITE,
                             flags | MAP_FIXED | MAP_NORESERVE, fd, 0);
  if (aligned == MAP_FAILED) {
    const int error = errno;
    munmap(mapped, reserved);
    errno = error;
    return nullptr;
  }
  if (skip != 0) munmap(first, skip);
  const uint64_t end = RoundUp(bytes, kPage);
  munmap(first + skip + end, reserved - skip - end);
  return first + skip;
}

// Takes the next index below `limit`; `limit` when there is none.
uint32_t CountUp(std::atomic<uint32_t>& count, uint32_t limit) noexcept {
  uint32_t next = count.load(std::memory_order_relaxed);
  do {
    if (next >= limit) return limit;
  } while (
      !count.compare_exchange_weak(next, next + 1, std::memory_order_relaxed));
  return next;
}

void RaiseHighWater(ArenaHeader& header, uint32_t chunks) noexcept {
  uint32_t seen = header.high_water.load(std::memory_order_relaxed);
  while (seen < chunks && !header.high_water.compare_exchange_weak(
                              seen, chunks, std::memory_order_relaxed)) {
  }
}

uint64_t HashText(std::string_view text) noexcept {
  // FNV-1a over 8-byte words; the tail is padded with zeros.
  uint64_t hash = 0xcbf29ce484222325u ^ text.size();
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word;
    memcpy(&word, text.data() + i, 8);
    hash = (hash ^ word) * 0x100000001b3u;
    hash ^= hash >> 32;
  }
  uint64_t word = 0;
  memcpy(&word, text.data() + i, text.size() - i);
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

struct Capacities {
  uint32_t streams, processes, starts, names;
  uint64_t name_text_bytes;
  uint32_t chunks;
};

Capacities CapacitiesFor(const ArenaOptions& options) noexcept {
  return {
      .streams = kStreamCapacity,
      .processes = kProcessCapacity,
      .starts = kStartCapacity,
      .names = kNameIndexCapacity,
      .name_text_bytes = kNameTextBytes,
      .chunks = static_cast<uint32_t>(options.capacity_bytes / kChunkBytes)};
}

Capacities CapacitiesOf(const ArenaHeader& header) noexcept {
  return {.streams = header.stream_capacity,
          .processes = header.process_capacity,
          .starts = header.start_capacity,
          .names = header.name_index_capacity,
          .name_text_bytes = header.name_text_bytes,
          .chunks = header.chunk_count};
}

struct Offsets {
  uint64_t streams, heap_counts, processes, starts, name_index, name_text,
      words, chunks, end;
};

Offsets Lay(const Capacities& of) noexcept {
  Offsets at;
  at.streams = kPage;
  at.heap_counts =
      RoundUp(at.streams + uint64_t{of.streams} * sizeof(StreamEntry), kPage);
  at.processes = RoundUp(
      at.heap_counts + uint64_t{of.streams} * sizeof(HeapCounts), kPage);
  at.starts = RoundUp(
      at.processes + uint64_t{of.processes} * sizeof(ProcessEntry), kPage);
  at.name_index =
      RoundUp(at.starts + uint64_t{of.starts} * sizeof(StartEntry), kPage);
  at.name_text =
      RoundUp(at.name_index + uint64_t{of.names} * sizeof(uint32_t), kPage);
  at.words = RoundUp(at.name_text + of.name_text_bytes, kPage);
  at.chunks =
      RoundUp(at.words + uint64_t{of.chunks} * sizeof(ChunkWord), kHugePage);
  at.end = at.chunks + uint64_t{of.chunks} * kChunkBytes;
  return at;
}

}  // namespace

Arena Arena::CreateAnonymous(const ArenaOptions& options) noexcept {
  const uint64_t bytes = Lay(CapacitiesFor(options)).end;
  Arena arena;
  arena.base_ = MapAligned(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  if (arena.base_ == nullptr) return arena;
  arena.Format(options, bytes);
  madvise(arena.base_ + arena.chunks_offset_, bytes - arena.chunks_offset_,
          MADV_HUGEPAGE);
  return arena;
}

Arena Arena::CreateShared(const ArenaOptions& options, int* fd) noexcept {
  const uint64_t bytes = Lay(CapacitiesFor(options)).end;
  Arena arena;
  *fd = memfd_create("kymo-arena", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (*fd < 0) return arena;
  // Sealed: a target that shortened it would take the collector's memory away.
  if (ftruncate(*fd, static_cast<off_t>(bytes)) == 0 &&
      fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0) {
    arena.base_ = MapAligned(bytes, MAP_SHARED, *fd);
  }
  if (arena.base_ == nullptr) {
    const int error = errno;
    close(*fd);
    *fd = -1;
    errno = error;
    return arena;
  }
  arena.Format(options, bytes);
  return arena;
}

Arena Arena::CreateInFile(const ArenaOptions& options, int fd) noexcept {
  const uint64_t bytes = Lay(CapacitiesFor(options)).end;
  Arena arena;
  if (fallocate(fd, 0, 0, static_cast<off_t>(bytes)) != 0) return arena;
  arena.base_ = MapAligned(bytes, MAP_SHARED, fd);
  if (arena.base_ != nullptr) arena.Format(options, bytes);
  return arena;
}

Arena Arena::Attach(int fd) noexcept { return MapFront(fd, MAP_SHARED); }

Arena Arena::MapCopy(int fd) noexcept { return MapFront(fd, MAP_PRIVATE); }

// A file may go on behind its arena.
Arena Arena::MapFront(int fd, int map_flags) noexcept {
  Arena arena;
  struct stat status;
  uint64_t bytes = 0;
  if (fstat(fd, &status) != 0) return arena;
  if (pread(fd, &bytes, sizeof(bytes), offsetof(ArenaHeader, arena_bytes)) !=
          sizeof(bytes) ||
      bytes < kPage || bytes > static_cast<uint64_t>(status.st_size)) {
    errno = EPROTO;
    return arena;
  }
  std::byte* const mapped = MapAligned(bytes, map_flags, fd);
  if (mapped == nullptr) return arena;
  if (!arena.Adopt(mapped, bytes)) {
    munmap(mapped, bytes);
    arena = Arena();
    errno = EPROTO;
  }
  return arena;
}

void Arena::Unmap() noexcept {
  if (base_ != nullptr) munmap(base_, bytes_);
  *this = Arena();
}

void Arena::Format(const ArenaOptions& options, uint64_t bytes) noexcept {
  ArenaHeader& h = header();
  const Capacities capacities = CapacitiesFor(options);
  const Offsets at = Lay(capacities);
  h.version = kLayoutVersion;
  h.header_bytes = sizeof(ArenaHeader);
  h.arena_bytes = bytes;
  h.clock_source = static_cast<uint32_t>(options.clock_source);
  h.stream_capacity = capacities.streams;
  h.process_capacity = capacities.processes;
  h.start_capacity = capacities.starts;
  h.name_index_capacity = capacities.names;
  h.chunk_count = capacities.chunks;
  h.streams_offset = at.streams;
  h.heap_counts_offset = at.heap_counts;
  h.processes_offset = at.processes;
  h.starts_offset = at.starts;
  h.name_index_offset = at.name_index;
  h.name_text_offset = at.name_text;
  h.name_text_bytes = capacities.name_text_bytes;
  h.words_offset = at.words;
  h.chunks_offset = at.chunks;
  h.next_ticket.store(1, std::memory_order_relaxed);
  // Offset 0 is id 0, kNameLost.
  h.name_text_used.store(sizeof(NameEntry), std::memory_order_relaxed);
  h.magic = kArenaMagic;
  Adopt(base_, bytes);
  SetLimits(options.chunk_bytes_total, options.policy);
}

void Arena::SetLimits(uint64_t chunk_bytes_total,
                      FullPolicy policy) const noexcept {
  const uint64_t wanted = chunk_bytes_total / kChunkBytes;
  ArenaHeader& h = header();
  h.chunk_limit.store(
      wanted < chunk_count_ ? static_cast<uint32_t>(wanted) : chunk_count_,
      std::memory_order_relaxed);
  h.policy.store(static_cast<uint32_t>(policy), std::memory_order_relaxed);
  h.free_hint.store(0, std::memory_order_relaxed);
  RecountFree();
}

void Arena::RecountFree() const noexcept {
  const uint32_t usable = usable_chunks();
  const uint32_t taken = std::min(usable, high_water());
  int64_t free = usable - taken;
  for (uint32_t chunk = 0; chunk < taken; ++chunk) {
    free += OwnerState(word(chunk).owner.load(std::memory_order_relaxed)) ==
            ChunkState::kFree;
  }
  header().free_chunks.store(free, std::memory_order_relaxed);
}

uint32_t Arena::high_water() const noexcept {
  return std::min(header().high_water.load(std::memory_order_relaxed),
                  chunk_count_);
}

uint32_t Arena::usable_chunks() const noexcept {
  const uint32_t limit = header().chunk_limit.load(std::memory_order_relaxed);
  return limit < chunk_count_ ? limit : chunk_count_;
}

bool Arena::Adopt(std::byte* base, uint64_t bytes) noexcept {
  const ArenaHeader& h = *reinterpret_cast<const ArenaHeader*>(base);
  if (h.magic != kArenaMagic || h.version != kLayoutVersion ||
      h.header_bytes != sizeof(ArenaHeader) || h.arena_bytes != bytes) {
    return false;
  }
  // Read once: others may write here.
  const Capacities of = CapacitiesOf(h);
  // The one size of 64 bits; with it in bounds no sum can run over, and
  // everything is in bounds if the end is.
  if (of.name_text_bytes > bytes) return false;
  const Offsets at = Lay(of);
  if (at.end != bytes || at.chunks != h.chunks_offset ||
      !std::has_single_bit(of.names)) {
    return false;
  }
  base_ = base;
  bytes_ = bytes;
  streams_offset_ = at.streams;
  heap_counts_offset_ = at.heap_counts;
  processes_offset_ = at.processes;
  starts_offset_ = at.starts;
  name_index_offset_ = at.name_index;
  name_text_offset_ = at.name_text;
  name_text_bytes_ = of.name_text_bytes;
  words_offset_ = at.words;
  chunks_offset_ = at.chunks;
  stream_capacity_ = of.streams;
  process_capacity_ = of.processes;
  start_capacity_ = of.starts;
  name_index_capacity_ = of.names;
  chunk_count_ = of.chunks;
  clock_source_ = static_cast<ClockSource>(h.clock_source);
  return true;
}

uint32_t Arena::TakeFree(uint32_t stream) const noexcept {
  ArenaHeader& h = header();
  if (h.free_chunks.load(std::memory_order_relaxed) <= 0) return kNoChunk;
  const uint32_t usable = usable_chunks();
  if (usable == 0) return kNoChunk;
  const uint32_t hint = h.free_hint.load(std::memory_order_relaxed) % usable;
  for (uint32_t step = 0; step < usable; ++step) {
    const uint32_t chunk =
        hint + step < usable ? hint + step : hint + step - usable;
    uint64_t owner = word(chunk).owner.load(std::memory_order_relaxed);
    if (OwnerState(owner) != ChunkState::kFree) continue;
    // acquire: pairs with FreeChunk's release, so that the zeros are seen.
    if (word(chunk).owner.compare_exchange_strong(
            owner, PackOwner(ChunkState::kOwned, stream),
            std::memory_order_acquire, std::memory_order_relaxed)) {
      h.free_hint.store(chunk + 1, std::memory_order_relaxed);
      RaiseHighWater(h, chunk + 1);
      h.free_chunks.fetch_sub(1, std::memory_order_relaxed);
      return chunk;
    }
  }
  return kNoChunk;
}

uint32_t Arena::TakeOldestSealed(uint32_t stream) const noexcept {
  // Another thread may win the race for the oldest one; then look again.
  for (int attempt = 0; attempt < 8; ++attempt) {
    uint32_t oldest = kNoChunk;
    uint64_t oldest_ticket = UINT64_MAX;
    const uint32_t taken = std::min(usable_chunks(), high_water());
    for (uint32_t chunk = 0; chunk < taken; ++chunk) {
      const uint64_t ticket =
          word(chunk).ticket.load(std::memory_order_relaxed);
      if (ticket < oldest_ticket &&
          OwnerState(word(chunk).owner.load(std::memory_order_relaxed)) ==
              ChunkState::kSealed) {
        oldest = chunk;
        oldest_ticket = ticket;
      }
    }
    if (oldest == kNoChunk) return kNoChunk;
    uint64_t owner = word(oldest).owner.load(std::memory_order_relaxed);
    if (OwnerState(owner) != ChunkState::kSealed ||
        !word(oldest).owner.compare_exchange_strong(
            owner, PackOwner(ChunkState::kOwned, stream),
            std::memory_order_acquire, std::memory_order_relaxed)) {
      continue;
    }
    word(oldest).ticket.store(0, std::memory_order_relaxed);
    CountOverwritten(OwnerStream(owner), slots(oldest),
                     word(oldest).read_slots.load(std::memory_order_relaxed));
    // Whose process dies up to here leaves it to the reader to count them.
    word(oldest).read_slots.store(kSlotsPerChunk, std::memory_order_release);
    memset(static_cast<void*>(slots(oldest)), 0, kChunkBytes);
    return oldest;
  }
  return kNoChunk;
}

void Arena::CountOverwritten(uint32_t loser, const Slot* old,
                             uint32_t read_slots) const noexcept {
  if (loser >= stream_capacity_) return;
  uint64_t events = 0;
  // What a reader has had is not lost.
  for (uint32_t i = read_slots; i < kSlotsPerChunk;) {
    const uint32_t extra = old[i].extra_slots;
    // Behind a record that was never finished there may be others.
    if (old[i].begin.load(std::memory_order_relaxed) == 0 ||
        extra >= kSlotsPerChunk - i) {
      ++i;
      continue;
    }
    events += IsEvent(UnpackKind(old[i].kind_scope_depth));
    i += 1 + extra;
  }
  stream(loser).overwritten.fetch_add(events, std::memory_order_relaxed);
}

uint32_t Arena::AcquireChunk(uint32_t stream, uint32_t session,
                             uint64_t* ticket) const noexcept {
  uint32_t chunk = TakeFree(stream);
  if (chunk == kNoChunk && policy() == FullPolicy::kOverwrite) {
    chunk = TakeOldestSealed(stream);
  }
  if (chunk == kNoChunk) return kNoChunk;
  word(chunk).read_slots.store(0, std::memory_order_relaxed);
  word(chunk).session.store(session, std::memory_order_relaxed);
  *ticket = header().next_ticket.fetch_add(1, std::memory_order_relaxed);
  word(chunk).ticket.store(*ticket, std::memory_order_release);
  return chunk;
}

void Arena::SealChunk(uint32_t chunk) const noexcept {
  const uint64_t owner = word(chunk).owner.load(std::memory_order_relaxed);
  // release: the reader that sees kSealed sees every record.
  word(chunk).owner.store(PackOwner(ChunkState::kSealed, OwnerStream(owner)),
                          std::memory_order_release);
}

void Arena::FreeChunk(uint32_t chunk) const noexcept {
  memset(static_cast<void*>(slots(chunk)), 0, kChunkBytes);
  ArenaHeader& h = header();
  word(chunk).ticket.store(0, std::memory_order_relaxed);
  word(chunk).owner.store(PackOwner(ChunkState::kFree, 0),
                          std::memory_order_release);
  h.free_chunks.fetch_add(1, std::memory_order_relaxed);
  // Low chunks first: they are warm, and the working set stays small.
  uint32_t hint = h.free_hint.load(std::memory_order_relaxed);
  if (chunk < hint) h.free_hint.store(chunk, std::memory_order_relaxed);
}

void Arena::DiscardSealed() const noexcept {
  const uint32_t taken = high_water();
  for (uint32_t chunk = 0; chunk < taken; ++chunk) {
    uint64_t owner = word(chunk).owner.load(std::memory_order_relaxed);
    if (OwnerState(owner) != ChunkState::kSealed) continue;
    // acquire: pairs with the owner's seal.
    if (word(chunk).owner.compare_exchange_strong(
            owner, PackOwner(ChunkState::kReading, OwnerStream(owner)),
            std::memory_order_acquire, std::memory_order_relaxed)) {
      FreeChunk(chunk);
    }
  }
}

void Arena::Retag(int32_t pid, uint32_t from, uint32_t to) const noexcept {
  const uint32_t taken = high_water();
  for (uint32_t chunk = 0; chunk < taken; ++chunk) {
    const uint64_t owner = word(chunk).owner.load(std::memory_order_relaxed);
    const ChunkState state = OwnerState(owner);
    if (state != ChunkState::kOwned && state != ChunkState::kSealed) continue;
    if (OwnerStream(owner) >= stream_count() ||
        stream(OwnerStream(owner)).pid.load(std::memory_order_relaxed) != pid) {
      continue;
    }
    uint32_t session = from;
    word(chunk).session.compare_exchange_strong(session, to,
                                                std::memory_order_relaxed);
  }
}

void Arena::Populate(uint32_t first, uint32_t count) const noexcept {
  // Failure (an older kernel) only means that pages come as they are touched.
  madvise(slots(first), uint64_t{count} * kChunkBytes, MADV_POPULATE_WRITE);
}

uint32_t Arena::AddStream(int32_t pid, int32_t tid) const noexcept {
  const uint32_t id = CountUp(header().stream_count, stream_capacity_);
  if (id == stream_capacity_) return kNoStream;
  stream(id).tid.store(tid, std::memory_order_relaxed);
  stream(id).pid.store(pid, std::memory_order_release);
  return id;
}

uint32_t Arena::stream_count() const noexcept {
  const uint32_t count = header().stream_count.load(std::memory_order_acquire);
  return count < stream_capacity_ ? count : stream_capacity_;
}

ProcessEntry* Arena::AddProcess() const noexcept {
  const uint32_t index = CountUp(header().process_count, process_capacity_);
  if (index < process_capacity_) return &process(index);
  header().processes_without_entry.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

uint32_t Arena::process_count() const noexcept {
  const uint32_t count = header().process_count.load(std::memory_order_acquire);
  return count < process_capacity_ ? count : process_capacity_;
}

StartEntry* Arena::AddStart(int32_t pid, std::string_view program,
                            int64_t start_monotonic_ns) const noexcept {
  const uint32_t index = CountUp(header().start_count, start_capacity_);
  if (index >= start_capacity_) {
    header().starts_without_entry.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  StartEntry& entry = start(index);
  entry.program = InternName(program);
  entry.start_monotonic_ns = start_monotonic_ns;
  // release: whoever sees the pid sees the rest.
  entry.pid.store(pid, std::memory_order_release);
  return &entry;
}

uint32_t Arena::start_count() const noexcept {
  const uint32_t count = header().start_count.load(std::memory_order_acquire);
  return count < start_capacity_ ? count : start_capacity_;
}

bool Arena::EntryIs(uint32_t id, std::string_view text) const noexcept {
  return NameText(id) == text;
}

uint32_t Arena::StoreText(std::string_view text) const noexcept {
  const uint64_t bytes = RoundUp(sizeof(uint32_t) + text.size(), 8);
  ArenaHeader& h = header();
  uint64_t at = h.name_text_used.load(std::memory_order_relaxed);
  do {
    // Another process may have written anything here.
    if (at % 8 != 0 || at > name_text_bytes_ || bytes > name_text_bytes_ - at) {
      return kNameLost;
    }
  } while (!h.name_text_used.compare_exchange_weak(at, at + bytes,
                                                   std::memory_order_relaxed));
  NameEntry* const entry =
      reinterpret_cast<NameEntry*>(base_ + name_text_offset_ + at);
  memcpy(entry->bytes, text.data(), text.size());
  entry->size_plus_1.store(static_cast<uint32_t>(text.size() + 1),
                           std::memory_order_release);
  return static_cast<uint32_t>(at / 8);
}

uint32_t Arena::InternName(std::string_view text) const noexcept {
  if (text.size() > kMaxNameBytes) {
    text = text.substr(0, kMaxNameBytes);
    header().texts_truncated.fetch_add(1, std::memory_order_relaxed);
  }
  const uint32_t mask = name_index_capacity_ - 1;
  std::atomic<uint32_t>* const index =
      reinterpret_cast<std::atomic<uint32_t>*>(base_ + name_index_offset_);
  uint32_t stored = kNameLost;
  uint32_t at = static_cast<uint32_t>(HashText(text)) & mask;
  for (uint32_t probe = 0; probe < 1024; ++probe, at = (at + 1) & mask) {
    // acquire: the text behind a published id is complete.
    uint32_t id = index[at].load(std::memory_order_acquire);
    if (id == 0) {
      if (stored == kNameLost) stored = StoreText(text);
      if (stored == kNameLost) break;
      if (index[at].compare_exchange_strong(id, stored,
                                            std::memory_order_release,
                                            std::memory_order_acquire)) {
        return stored;
      }
    }
    // `stored`'s bytes leak when another thread published the text first.
    if (EntryIs(id, text)) return id;
  }
  header().names_lost.fetch_add(1, std::memory_order_relaxed);
  return kNameLost;
}

std::string_view Arena::NameText(uint32_t id) const noexcept {
  const uint64_t at = uint64_t{id} * 8;
  if (id == kNameLost || at + sizeof(NameEntry) > name_text_bytes_) {
    return kLostName;
  }
  const NameEntry* const entry =
      reinterpret_cast<const NameEntry*>(base_ + name_text_offset_ + at);
  const uint32_t size_plus_1 =
      entry->size_plus_1.load(std::memory_order_acquire);
  if (size_plus_1 == 0 || size_plus_1 - 1 > kMaxNameBytes ||
      at + sizeof(uint32_t) + (size_plus_1 - 1) > name_text_bytes_) {
    return kLostName;
  }
  return std::string_view(entry->bytes, size_plus_1 - 1);
}

std::span<const std::byte> Arena::name_texts() const noexcept {
  return {base_ + name_text_offset_,
          std::min(header().name_text_used.load(std::memory_order_relaxed),
                   name_text_bytes_)};
}

}  // namespace kymo::record
