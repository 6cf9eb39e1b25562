// door_target.h - the arena of a program that runs already, as its door hands
// it over.
//
//   DoorTarget target(door);
//   KYMO_ASSIGN_OR_RETURN(record::Arena arena, target.Take(&fd));
//   KYMO_RETURN_IF_ERROR(target.Begin(arena, wishes));
//   ...
//   target.End();
//   FillShard({.losses_at_start = target.before().losses, ...});
//
// The arena has been used before, so its counts do not begin at 0.
//
// Threads: one at a time.
#ifndef KYMO_BACKENDS_STREAM_DOOR_TARGET_H_
#define KYMO_BACKENDS_STREAM_DOOR_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/stream/decode/arena_shard.h"
#include "profiler/door/knock.h"
#include "profiler/model/trace_shard.h"
#include "profiler/record/arena/arena.h"

namespace kymo::stream {

// Where an arena stood when the recording began. All 0: it was new.
struct ArenaBefore {
  uint64_t ticks = 0;
  uint64_t first_ticket = 0;
  LossCounters losses;
  std::vector<HeapNumbers> heap;
};

// How much a shard has.
struct ShardSize {
  size_t processes = 0;
  size_t tracks = 0;

  static ShardSize Of(const model::TraceShard& shard) {
    return {.processes = shard.processes.size(), .tracks = shard.tracks.size()};
  }
};

// Numbers by those that a program sees in its container. Empty: it is in none.
using OuterNumbers = std::map<int64_t, int64_t>;
// What came into the shard since `before` gets the outer numbers. A process's
// parent is then not known any more: it is not among them.
void Renumber(const ShardSize& before, const OuterNumbers& outer,
              model::TraceShard& shard);

class DoorTarget {
 public:
  // Null: the target is started, and has no door.
  explicit DoorTarget(std::shared_ptr<door::OpenDoor> door)
      : is_there_(door != nullptr), door_(std::move(door)) {}

  bool is_there() const { return is_there_; }

  // The caller closes `fd` and unmaps the arena.
  absl::StatusOr<record::Arena> Take(int* fd) const;
  absl::Status Begin(const record::Arena& arena, const door::Wishes& wishes);
  void End();
  // The program is nobody's any more. What came into the shard since
  // `before_filling` gets the numbers of processes and threads that this
  // process sees. REQUIRES: the arena is not needed.
  void Leave(const ShardSize& before_filling, model::TraceShard& shard);

  const ArenaBefore& before() const { return before_; }
  std::vector<std::string> Remarks() const {
    if (end_.ok()) return {};
    return {std::string(end_.message())};
  }

 private:
  const bool is_there_;
  std::shared_ptr<door::OpenDoor> door_;
  // Threads that begin and end within the recording are not among them.
  void NoteNumbers();

  ArenaBefore before_;
  OuterNumbers outer_;  // empty: they are the same
  absl::Status end_;
};

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_DOOR_TARGET_H_
