// arena.h - the memory that records go to, in either of its two homes.
//
//   Arena a = Arena::CreateAnonymous(options);    this process's own memory
//   Arena b = Arena::CreateShared(options, &fd);  a memfd that a collector owns
//   Arena c = Arena::Attach(fd);                  the same, in the target
//
// Address space is reserved in full, memory is taken as it is touched: a
// generous size costs nothing until it is used.
//
// Invariants
//  1. Only the owner of a chunk writes into it, and only until it seals it.
//  2. A free chunk is all zero bytes.
//  3. Tickets are unique in an arena; a stream's chunks in ticket order are the
//     stream.
//  4. A name id, once published, means the same text for ever.
//  5. Death of any process at any instruction leaves 1 to 4 true; at worst a
//     chunk stays owned (the reader takes it at the end) and name bytes leak.
//
// Threads:   everything may be called concurrently, from several processes.
//            Lock-free; no call allocates or throws. Reserving address space
//            and populating pages are system calls.
// Errors:    creation returns errno; everything else counts in the header.
// Standard library: nothing that needs linking, for the preloaded runtime.
#ifndef KYMO_PROFILER_RECORD_ARENA_H_
#define KYMO_PROFILER_RECORD_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "profiler/base/clock.h"
#include "profiler/record/layout.h"

namespace kymo::record {

struct ArenaOptions {
  // Address space for chunks.
  uint64_t capacity_bytes = uint64_t{1} << 30;
  // How much of it may be used; see SetLimits.
  uint64_t chunk_bytes_total = uint64_t{1} << 30;
  FullPolicy policy = FullPolicy::kStop;
  ClockSource clock_source = ClockSource::kSystem;
};

inline constexpr uint32_t kNoChunk = ~uint32_t{0};

class Arena {
 public:
  // No memory; valid() is false.
  constexpr Arena() noexcept = default;

  // On failure the result is not valid and errno says why.
  static Arena CreateAnonymous(const ArenaOptions& options) noexcept;
  static Arena CreateShared(const ArenaOptions& options, int* fd) noexcept;
  // The same at the front of an empty file, which keeps what was recorded when
  // its collector dies. The file's space is reserved, so that no record can
  // find the disk full.
  static Arena CreateInFile(const ArenaOptions& options, int fd) noexcept;
  // Maps another process's arena; the descriptor may be closed afterwards.
  // EPROTO when it is not one, or of another layout version.
  static Arena Attach(int fd) noexcept;
  // The arena as it stands in a file, for reading: what is written into it
  // reaches nobody. EPROTO as Attach.
  static Arena MapCopy(int fd) noexcept;
  // Gives the memory back. Nobody may use it any more.
  void Unmap() noexcept;

  bool valid() const noexcept { return base_ != nullptr; }
  uint64_t bytes() const noexcept { return bytes_; }
  ArenaHeader& header() const noexcept {
    return *reinterpret_cast<ArenaHeader*>(base_);
  }
  ClockSource clock_source() const noexcept { return clock_source_; }
  FullPolicy policy() const noexcept {
    return static_cast<FullPolicy>(
        header().policy.load(std::memory_order_relaxed));
  }
  // For the next session; REQUIRES: none is live.
  void SetLimits(uint64_t chunk_bytes_total, FullPolicy policy) const noexcept;
  // Recounts the free chunks, which deaths may have left wrong.
  void RecountFree() const noexcept;
  uint32_t chunk_count() const noexcept { return chunk_count_; }
  // Chunks that have ever been taken are below; bounds every walk over them.
  uint32_t high_water() const noexcept;

  // --- chunks ---

  // A free chunk for `stream`, all zero, and its new ticket; kNoChunk when
  // there is none even after the policy was applied.
  // `session`: who reads it first, see ChunkWord.
  uint32_t AcquireChunk(uint32_t stream, uint32_t session,
                        uint64_t* ticket) const noexcept;
  // The owner is done with it.
  void SealChunk(uint32_t chunk) const noexcept;
  // For the reader: clears the chunk and makes it free.
  // REQUIRES: its state is kReading, set by the caller.
  void FreeChunk(uint32_t chunk) const noexcept;
  // Frees every sealed chunk unread. REQUIRES: nobody reads this arena.
  void DiscardSealed() const noexcept;
  // The chunks that process `pid` owns, or has sealed, and that are session
  // `from`'s become session `to`'s.
  void Retag(int32_t pid, uint32_t from, uint32_t to) const noexcept;

  ChunkWord& word(uint32_t chunk) const noexcept {
    return reinterpret_cast<ChunkWord*>(base_ + words_offset_)[chunk];
  }
  Slot* slots(uint32_t chunk) const noexcept {
    return reinterpret_cast<Slot*>(base_ + chunks_offset_ +
                                   uint64_t{chunk} * kChunkBytes);
  }

  // Makes the pages of [first, first + count) present in this process.
  void Populate(uint32_t first, uint32_t count) const noexcept;

  // --- streams, processes, starts ---

  // kNoStream when the table is full; counted by the caller.
  static constexpr uint32_t kNoStream = ~uint32_t{0};
  uint32_t AddStream(int32_t pid, int32_t tid) const noexcept;
  StreamEntry& stream(uint32_t id) const noexcept {
    return reinterpret_cast<StreamEntry*>(base_ + streams_offset_)[id];
  }
  HeapCounts& heap_counts(uint32_t stream) const noexcept {
    return reinterpret_cast<HeapCounts*>(base_ + heap_counts_offset_)[stream];
  }
  // Entries that may be read.
  uint32_t stream_count() const noexcept;
  uint32_t stream_capacity() const noexcept { return stream_capacity_; }

  // Null when the table is full, which is counted.
  ProcessEntry* AddProcess() const noexcept;
  ProcessEntry& process(uint32_t index) const noexcept {
    return reinterpret_cast<ProcessEntry*>(base_ + processes_offset_)[index];
  }
  uint32_t process_count() const noexcept;

  // Null when the table is full, which is counted.
  StartEntry* AddStart(int32_t pid, std::string_view program,
                       int64_t start_monotonic_ns) const noexcept;
  StartEntry& start(uint32_t index) const noexcept {
    return reinterpret_cast<StartEntry*>(base_ + starts_offset_)[index];
  }
  uint32_t start_count() const noexcept;

  // --- names ---

  // The id of `text`, which is copied; equal texts get equal ids, whichever
  // thread or process asks. kNameLost (and counted) when the table is full.
  uint32_t InternName(std::string_view text) const noexcept;
  // Checks the id; "(name lost)" for kNameLost and for one that is no id.
  std::string_view NameText(uint32_t id) const noexcept;
  // The memory that texts have taken so far.
  std::span<const std::byte> name_texts() const noexcept;

 private:
  static Arena MapFront(int fd, int map_flags) noexcept;
  void Format(const ArenaOptions& options, uint64_t bytes) noexcept;
  bool Adopt(std::byte* base, uint64_t bytes) noexcept;
  uint32_t usable_chunks() const noexcept;
  uint32_t TakeFree(uint32_t stream) const noexcept;
  uint32_t TakeOldestSealed(uint32_t stream) const noexcept;
  void CountOverwritten(uint32_t loser, const Slot* old,
                        uint32_t read_slots) const noexcept;
  bool EntryIs(uint32_t id, std::string_view text) const noexcept;
  uint32_t StoreText(std::string_view text) const noexcept;

  std::byte* base_ = nullptr;
  uint64_t bytes_ = 0;
  // Copies from the header, which a broken process could overwrite.
  uint64_t streams_offset_ = 0;
  uint64_t heap_counts_offset_ = 0;
  uint64_t processes_offset_ = 0;
  uint64_t starts_offset_ = 0;
  uint64_t name_index_offset_ = 0;
  uint64_t name_text_offset_ = 0;
  uint64_t name_text_bytes_ = 0;
  uint64_t words_offset_ = 0;
  uint64_t chunks_offset_ = 0;
  uint32_t stream_capacity_ = 0;
  uint32_t process_capacity_ = 0;
  uint32_t start_capacity_ = 0;
  uint32_t name_index_capacity_ = 0;
  uint32_t chunk_count_ = 0;
  ClockSource clock_source_ = ClockSource::kSystem;
};

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_ARENA_H_
