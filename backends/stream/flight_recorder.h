// flight_recorder.h - keeps the newest records of a long recording.
//
//   const FlightLimit limit = *ParseFlightLimit("30s");
//   FlightRecorder recorder(arena, limit.keep_ns, &store);
//   while (target runs) recorder.Poll(MonotonicNs());
//   SnapshotChunks(arena, [&](const ChunkView& chunk) {...});
//
// The arena's policy is to overwrite: recorders that find no free chunk take
// the oldest. With a time to keep, a chunk is also freed once all of its
// records are older. If a chunk is overwritten sooner, the arena is too small
// for the time, and its records are lost (events_dropped_arena_full). Chunks
// that a session of the program has yet to read are left to it.
//
// Some records are written once and needed for ever: code mappings and names of
// resources. They are copied out of every sealed chunk into `store`, under
// tickets that no chunk has. Each is copied once, however often it is written.
// Beyond most_kept_bytes no more are copied. Otherwise a server that keeps
// starting processes would add them without end.
//
// Threads: one at a time, which is the arena's only reader. The recorders run
//   on; chunks that one of them overwrites meanwhile are left out.
#ifndef KYMO_BACKENDS_STREAM_FLIGHT_RECORDER_H_
#define KYMO_BACKENDS_STREAM_FLIGHT_RECORDER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "backends/stream/raw/chunk_store.h"
#include "profiler/base/clock.h"
#include "profiler/base/time.h"
#include "profiler/record/arena/arena.h"
#include "profiler/record/arena/chunk_reader.h"

namespace kymo::stream {

// The time or the size to keep; one of them is 0.
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

// The bit that sets tickets of copied records apart from chunks' tickets.
inline constexpr uint64_t kKeptTicket = uint64_t{1} << 63;

class FlightRecorder {
 public:
  static constexpr uint64_t kMostKeptBytes = uint64_t{64} << 20;

  // `keep_ns` 0: keeps all that fits. `store` may write anywhere.
  FlightRecorder(const record::Arena& arena, DurationNs keep_ns,
                 ChunkStore* store, uint64_t most_kept_bytes = kMostKeptBytes)
      : arena_(arena),
        keep_ns_(keep_ns),
        store_(*store),
        most_kept_bytes_(most_kept_bytes) {}

  void Poll(int64_t now_ns);

  // Copies of the records that are written once; their chunks may be gone.
  // Valid until the next Poll.
  const std::vector<record::ChunkView>& kept() const noexcept { return kept_; }

 private:
  // A sealed chunk, and when it was first seen to be sealed.
  struct Seen {
    uint64_t ticket = 0;
    int64_t at_ns = 0;
  };

  // Does nothing if the chunk is no longer the one that was seen.
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

// Visits copies of the chunks as they are now, sealed or owned. It frees and
// marks nothing, and the recorders run on.
void SnapshotChunks(const record::Arena& arena,
                    const record::ChunkReader::Visit& visit);
// Visits only the chunks that one session reads.
void SnapshotSession(const record::Arena& arena,
                     const record::SessionChunks& of,
                     const record::ChunkReader::Visit& visit);

// The chunk from the first record on that ends at `oldest_ns` or later, or that
// has no end.
record::ChunkView WithoutOld(record::ChunkView chunk,
                             const TickConverter& clock, TimeNs oldest_ns);

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_FLIGHT_RECORDER_H_
