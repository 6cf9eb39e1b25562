#include "profiler/record/arena/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>

#include "profiler/base/mapped/sealed_memory.h"
#include "profiler/record/arena/layout_note.h"

namespace kymo::record {
namespace {

KYMO_LAYOUT_NOTE(kLayoutVersion);

constexpr uint64_t kPage = 4096;
constexpr uint64_t kHugePage = 2 * 1024 * 1024;
static_assert(sizeof(ArenaHeader) <= kPage);

constexpr uint64_t RoundUp(uint64_t value, uint64_t to) noexcept {
  return (value + to - 1) / to * to;
}

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

// Sets the offsets of a plan whose capacities are set: the one place that says
// where each part of an arena is.
void PlaceParts(ArenaPlan& plan) noexcept {
  uint64_t end = kPage;  // of the header, and of each part in turn
  const auto place = [&end](uint64_t count, uint64_t entry_bytes,
                            uint64_t alignment = kPage) noexcept {
    const uint64_t at = RoundUp(end, alignment);
    end = at + count * entry_bytes;
    return at;
  };
  plan.streams_offset = place(plan.stream_capacity, sizeof(StreamEntry));
  plan.heap_counts_offset = place(plan.stream_capacity, sizeof(HeapCounts));
  plan.processes_offset = place(plan.process_capacity, sizeof(ProcessEntry));
  plan.starts_offset = place(plan.start_capacity, sizeof(StartEntry));
  plan.name_index_offset = place(plan.name_index_capacity, sizeof(uint32_t));
  plan.name_text_offset = place(plan.name_text_bytes, 1);
  plan.words_offset = place(plan.chunk_count, sizeof(ChunkWord));
  plan.chunks_offset = place(plan.chunk_count, kChunkBytes, kHugePage);
}

uint64_t ArenaBytes(const ArenaPlan& plan) noexcept {
  return plan.chunks_offset + uint64_t{plan.chunk_count} * kChunkBytes;
}

ArenaPlan PlanFor(const ArenaOptions& options) noexcept {
  ArenaPlan plan = {
      .stream_capacity = 1u << 18,
      .process_capacity = 1u << 14,
      .start_capacity = 1u << 16,
      .name_index_capacity = 1u << 19,
      .chunk_count =
          static_cast<uint32_t>(options.capacity_bytes / kChunkBytes),
      .name_text_bytes = uint64_t{32} << 20,
  };
  PlaceParts(plan);
  return plan;
}

// Whether a plan of others, for `bytes`, can be an arena's. Its offsets are
// made anew: of those that others wrote, only the last one is looked at.
bool CheckPlan(ArenaPlan& plan, uint64_t bytes) noexcept {
  // The one size of 64 bits. With it in bounds no sum can run over, and every
  // part is in bounds if the end is.
  if (plan.name_text_bytes > bytes) return false;
  const uint64_t chunks_offset = plan.chunks_offset;
  PlaceParts(plan);
  return plan.chunks_offset == chunks_offset && ArenaBytes(plan) == bytes &&
         std::has_single_bit(plan.name_index_capacity);
}

ArenaHeader* HeaderAt(std::byte* base) noexcept {
  return reinterpret_cast<ArenaHeader*>(base);
}

template <typename Entry>
Entry* PartAt(std::byte* base, uint64_t offset) noexcept {
  return reinterpret_cast<Entry*>(base + offset);
}

}  // namespace

Arena::Arena(std::byte* base, const ArenaPlan& plan) noexcept
    : StreamTable(HeaderAt(base),
                  PartAt<StreamEntry>(base, plan.streams_offset),
                  PartAt<HeapCounts>(base, plan.heap_counts_offset),
                  plan.stream_capacity),
      ProcessTable(HeaderAt(base),
                   PartAt<ProcessEntry>(base, plan.processes_offset),
                   plan.process_capacity),
      NameTable(HeaderAt(base),
                PartAt<std::atomic<uint32_t>>(base, plan.name_index_offset),
                plan.name_index_capacity, base + plan.name_text_offset,
                plan.name_text_bytes),
      StartTable(HeaderAt(base), PartAt<StartEntry>(base, plan.starts_offset),
                 plan.start_capacity, *this),
      ChunkPool(HeaderAt(base), PartAt<ChunkWord>(base, plan.words_offset),
                base + plan.chunks_offset, plan.chunk_count, *this),
      base_(base),
      bytes_(ArenaBytes(plan)),
      clock_source_(static_cast<ClockSource>(header().clock_source)) {}

Arena Arena::CreateAnonymous(const ArenaOptions& options) noexcept {
  const ArenaPlan plan = PlanFor(options);
  const uint64_t bytes = ArenaBytes(plan);
  std::byte* const base = MapAligned(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  if (base == nullptr) return Arena();
  madvise(base + plan.chunks_offset, bytes - plan.chunks_offset, MADV_HUGEPAGE);
  return Format(base, plan, options);
}

Arena Arena::CreateShared(const ArenaOptions& options, int* fd) noexcept {
  const ArenaPlan plan = PlanFor(options);
  const uint64_t bytes = ArenaBytes(plan);
  *fd = MakeSealedMemory("kymo-arena", bytes);
  if (*fd < 0) return Arena();
  std::byte* const base = MapAligned(bytes, MAP_SHARED, *fd);
  if (base == nullptr) {
    const int error = errno;
    close(*fd);
    *fd = -1;
    errno = error;
    return Arena();
  }
  return Format(base, plan, options);
}

Arena Arena::CreateInFile(const ArenaOptions& options, int fd) noexcept {
  const ArenaPlan plan = PlanFor(options);
  const uint64_t bytes = ArenaBytes(plan);
  if (fallocate(fd, 0, 0, static_cast<off_t>(bytes)) != 0) return Arena();
  std::byte* const base = MapAligned(bytes, MAP_SHARED, fd);
  return base == nullptr ? Arena() : Format(base, plan, options);
}

Arena Arena::Attach(int fd) noexcept { return MapFront(fd, MAP_SHARED); }

Arena Arena::MapCopy(int fd) noexcept { return MapFront(fd, MAP_PRIVATE); }

// A file may go on behind its arena.
Arena Arena::MapFront(int fd, int map_flags) noexcept {
  struct stat status;
  uint64_t bytes = 0;
  if (fstat(fd, &status) != 0) return Arena();
  if (pread(fd, &bytes, sizeof(bytes), offsetof(ArenaHeader, arena_bytes)) !=
          sizeof(bytes) ||
      bytes < kPage || bytes > static_cast<uint64_t>(status.st_size)) {
    errno = EPROTO;
    return Arena();
  }
  std::byte* const mapped = MapAligned(bytes, map_flags, fd);
  if (mapped == nullptr) return Arena();
  const Arena arena = Adopt(mapped, bytes);
  if (!arena.valid()) {
    munmap(mapped, bytes);
    errno = EPROTO;
  }
  return arena;
}

void Arena::Unmap() noexcept {
  if (base_ != nullptr) munmap(base_, bytes_);
  *this = Arena();
}

// Makes memory that is all zero an arena.
Arena Arena::Format(std::byte* base, const ArenaPlan& plan,
                    const ArenaOptions& options) noexcept {
  ArenaHeader& header = *HeaderAt(base);
  header.version = kLayoutVersion;
  header.header_bytes = sizeof(ArenaHeader);
  header.arena_bytes = ArenaBytes(plan);
  header.clock_source = static_cast<uint32_t>(options.clock_source);
  header.plan = plan;
  header.next_ticket.store(1, std::memory_order_relaxed);
  const Arena arena(base, plan);
  arena.FormatNames();
  header.magic = kArenaMagic;
  arena.SetLimits(options.chunk_bytes_total, options.policy);
  return arena;
}

// The arena that another process has made here; not valid if it is none.
Arena Arena::Adopt(std::byte* base, uint64_t bytes) noexcept {
  const ArenaHeader& header = *HeaderAt(base);
  if (header.magic != kArenaMagic || header.version != kLayoutVersion ||
      header.header_bytes != sizeof(ArenaHeader) ||
      header.arena_bytes != bytes) {
    return Arena();
  }
  // A copy, read once: others may write there.
  ArenaPlan plan = header.plan;
  return CheckPlan(plan, bytes) ? Arena(base, plan) : Arena();
}

}  // namespace kymo::record
