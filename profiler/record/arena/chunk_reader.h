// chunk_reader.h - takes the records out of an arena.
//
//   ChunkReader reader(arena);
//   while (target runs) reader.DrainSealed([&](const ChunkView& chunk) {...});
//   reader.ReadAll(visit);         // the rest, and what threads still hold
//
// The reader visits, clears and frees sealed chunks. It visits owned chunks
// from where the last ReadOwned stopped, and leaves them to their threads.
//
// A session of a recorded process reads its own chunks first (ReadSession), and
// calls Release. Its host then hands on the chunks that are left
// (ReleaseSession in host.h). Until then, or until the end, a collector's
// reader leaves these chunks alone (ChunkWord::session says whose they are).
//
// Threads: one reader per arena and session, one call at a time; the recorders
//   run on.
// Trust:   a view never reaches beyond its chunk, whatever is in there;
//   ForEachRecord checks the records.
#ifndef KYMO_PROFILER_RECORD_ARENA_CHUNK_READER_H_
#define KYMO_PROFILER_RECORD_ARENA_CHUNK_READER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "profiler/record/arena/arena.h"
#include "profiler/record/arena/layout.h"

namespace kymo::record {

// A chunk or the front part of one. `first_index` is the index of slots[0] in
// its chunk, by which kEnd and kExtra records name it.
struct ChunkView {
  uint32_t stream = 0;
  uint64_t ticket = 0;
  uint32_t first_index = 0;
  std::span<const Slot> slots;
};

// The number of slots of the record at `i`, with its head. 0 if no record can
// be there: it is not written yet, or its payload reaches beyond the end.
inline size_t RecordSlots(std::span<const Slot> slots, size_t i) noexcept {
  // acquire: pairs with the recorder's release of a record's head.
  if (slots[i].begin.load(std::memory_order_acquire) == 0) return 0;
  const size_t extra = slots[i].extra_slots;
  return extra < slots.size() - i ? 1 + extra : 0;
}

// Number of slots at the front that hold records: everything up to the first
// slot that is not written yet. A slot that cannot be a record counts as one.
size_t UsedSlots(std::span<const Slot> slots) noexcept;
// The same for a chunk that nobody writes any more: up to the last slot that is
// not zero, whatever lies before it.
size_t WrittenSlots(std::span<const Slot> slots) noexcept;

// A copy of slots whose ranges may end meanwhile.
std::unique_ptr<Slot[]> CopySlots(std::span<const Slot> slots);

// Whether the view's chunk still holds the records of its ticket. If so, all
// that was read from it before this call is valid. Under kOverwrite a recorder
// may take any sealed chunk at any time.
// REQUIRES: the view's slots are those of the arena, not a copy.
bool IsStill(const Arena& arena, const ChunkView& view) noexcept;

// Calls visit(head, payload, index) for each record of `chunk`, and
// skip(slot) for each slot between records that cannot begin one.
template <typename Visit, typename Skip>
void ForEachRecord(const ChunkView& chunk, Visit&& visit, Skip&& skip) {
  size_t i = 0;
  while (i < chunk.slots.size()) {
    const Slot& head = chunk.slots[i];
    const size_t taken = RecordSlots(chunk.slots, i);
    if (taken == 0) {
      skip(head);
      ++i;
      continue;
    }
    visit(head, chunk.slots.subspan(i + 1, taken - 1),
          static_cast<uint32_t>(chunk.first_index + i));
    i += taken;
  }
}

template <typename Visit>
void ForEachRecord(const ChunkView& chunk, Visit&& visit) {
  ForEachRecord(chunk, visit, [](const Slot&) {});
}

// Which chunks a session of process `pid` reads.
struct SessionChunks {
  SessionId session = kNoSession;
  int32_t pid = 0;
  // A session of all threads has records in every chunk of the process. A
  // thread goes on in the chunk of an earlier session, even if that session has
  // not read the chunk yet.
  bool all_threads = false;
  // When the session ended. A chunk with later records is not freed if a later
  // session has started.
  uint64_t end_ticks = ~uint64_t{0};
};

class ChunkReader {
 public:
  using Visit = std::function<void(const ChunkView&)>;

  explicit ChunkReader(const Arena& arena) : arena_(arena) {}
  // Frees what was taken, if Release was not called.
  ~ChunkReader();
  ChunkReader(const ChunkReader&) = delete;
  ChunkReader& operator=(const ChunkReader&) = delete;

  // Returns the number of chunks visited.
  size_t DrainSealed(const Visit& visit);
  void ReadOwned(const Visit& visit);
  // Both, at the end of a recording. It also reads chunks that sessions have
  // not read, and chunks that a surviving thread seals meanwhile.
  void ReadAll(const Visit& visit);

  // Visits the chunks of one session, sealed or owned, from their start.
  // Nothing is freed or marked. Other sessions may record, so copy the slots,
  // and then ask IsStill.
  void ReadSession(const SessionChunks& of, const Visit& visit);
  // The same where no collector reads the arena: the sealed chunks that no
  // other session reads are taken. Their slots stay as they are until Release,
  // and need no copy.
  void TakeSession(const SessionChunks& of, const Visit& visit_taken,
                   const Visit& visit_shared);
  // Frees the session's taken chunks, and without a collector its sealed ones.
  // Chunks with records of a later session stay.
  // Freeing writes to all recorded memory, so for_each(n, call) may do call(0)
  // to call(n - 1) at the same time.
  using ForEach =
      std::function<void(size_t, const std::function<void(size_t)>&)>;
  void Release(const SessionChunks& of, bool collector_records,
               const ForEach& for_each = InTurn);

 private:
  size_t Drain(bool sessions_too, const Visit& visit);
  void VisitSession(const SessionChunks& of, bool take_sealed,
                    const Visit& visit_taken, const Visit& visit_shared);
  bool HoldsLater(uint32_t chunk, const SessionChunks& of) const;
  bool Take(uint32_t chunk, SessionId session) const;
  void ReleaseChunk(uint32_t chunk, const SessionChunks& of) const;
  static void InTurn(size_t count, const std::function<void(size_t)>& call);

  const Arena& arena_;
  std::vector<uint32_t> taken_;  // by TakeSession
};

}  // namespace kymo::record

#endif  // KYMO_PROFILER_RECORD_ARENA_CHUNK_READER_H_
