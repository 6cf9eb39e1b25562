// flight_recorder.h - the newest of a recording that never ends.
//
//   const FlightLimit limit = *ParseFlightLimit("30s");
//   FlightRecorder recorder(arena, limit.keep_ns, &store);
//   while (target runs) recorder.Poll(MonotonicNs());
//   SnapshotChunks(arena, [&](const ChunkView& chunk) {...});
//
// The arena's policy is to overwrite: recorders that find no free chunk take
// the oldest. With a time to keep, chunks are also freed once everything in
// them is older; what is overwritten sooner than that is lost
// (events_dropped_arena_full): the arena is too small for the time. Chunks
// that a session of the program has yet to read are left to it.
//
// Some records are written once and needed forever: where code is mapped, what
// things are called. They are copied out of every sealed chunk into `store`,
// under tickets that no chunk has. Each is copied once, however often it is
// written. Beyond most_kept_bytes such records go with their chunks: a server
// that keeps starting processes would add them without end.
//
// Threads: one at a time, which is the arena's only reader; the recorders run
//   on. What one of them overwrites meanwhile is left out.
#ifndef KYMO_BACKENDS_CPU_FLIGHT_RECORDER_H_
#define KYMO_BACKENDS_CPU_FLIGHT_RECORDER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "backends/cpu/raw/chunk_store.h"
#include "profiler/base/clock.h"
#include "profiler/base/time.h"
#include "profiler/record/arena/arena.h"
#include "profiler/record/arena/chunk_reader.h"

namespace kymo::cpu {

// What is kept; one of them is 0.
struct FlightLimit {
  DurationNs keep_ns = 0;
  uint64_t bytes = 0;
};

inline constexpr int64_t kMostFlightSeconds = 86'400;
inline constexpr int64_t kMostFlightMib = 65'536;

// "30s" (from 1 to kMostFlightSeconds) or "64MiB" (from 1 to kMostFlightMib);
// nothing for other texts.
std::optional<FlightLimit> ParseFlightLimit(std::string_view text);
std::string FlightLimitText(const FlightLimit& limit);

// Beside the tickets of chunks: those of copied records.
inline constexpr uint64_t kKeptTicket = uint64_t{1} << 63;

class FlightRecorder {
 public:
  static constexpr uint64_t kMostKeptBytes = uint64_t{64} << 20;

  // `keep_ns` 0: whatever fits. `store` may write anywhere.
  FlightRecorder(const record::Arena& arena, DurationNs keep_ns,
                 ChunkStore* store, uint64_t most_kept_bytes = kMostKeptBytes)
      : arena_(arena),
        keep_ns_(keep_ns),
        store_(*store),
        most_kept_bytes_(most_kept_bytes) {}

  void Poll(int64_t now_ns);

  // What is said once, of chunks that may be gone. Valid until the next Poll.
  const std::vector<record::ChunkView>& kept() const noexcept { return kept_; }

 private:
  // A sealed chunk, and when it was first seen to be sealed.
  struct Seen {
    uint64_t ticket = 0;
    int64_t at_ns = 0;
  };

  // Unless it is no longer the chunk that was seen.
  void Free(uint32_t chunk, uint64_t owner);
  void KeepSaidOnce(uint32_t chunk, uint64_t owner, uint64_t ticket);

  const record::Arena& arena_;
  const DurationNs keep_ns_;
  ChunkStore& store_;
  const uint64_t most_kept_bytes_;
  uint64_t kept_bytes_ = 0;
  std::vector<Seen> seen_;  // by chunk
  std::vector<record::ChunkView> kept_;
  std::vector<std::unique_ptr<record::Slot[]>> kept_slots_;
  std::unordered_set<std::string> kept_texts_;  // streams and bytes of kept_
};

// Visits copies of the chunks as they stand, sealed or owned; nothing is freed
// or marked, and the recorders run on.
void SnapshotChunks(const record::Arena& arena,
                    const record::ChunkReader::Visit& visit);
// Those alone that a session of process `pid` has to itself.
void SnapshotSession(const record::Arena& arena, record::SessionId session,
                     int32_t pid, const record::ChunkReader::Visit& visit);

// The chunk without its front, up to the first record that ends at `oldest_ns`
// or later, or not at all.
record::ChunkView WithoutOld(record::ChunkView chunk,
                             const TickConverter& clock, TimeNs oldest_ns);

}  // namespace kymo::cpu

#endif  // KYMO_BACKENDS_CPU_FLIGHT_RECORDER_H_
