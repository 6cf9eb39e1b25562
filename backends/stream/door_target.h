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

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/stream/decode/arena_shard.h"
#include "profiler/door/knock.h"
#include "profiler/record/arena/arena.h"

namespace kymo::stream {

// Where an arena stood when the recording began. All 0: it was new.
struct ArenaBefore {
  uint64_t ticks = 0;
  uint64_t first_ticket = 0;
  LossCounters losses;
  std::vector<HeapNumbers> heap;
};

class DoorTarget {
 public:
  // Null: the target is started, and has no door.
  explicit DoorTarget(std::shared_ptr<door::OpenDoor> door)
      : is_there_(door != nullptr), door_(std::move(door)) {}

  bool is_there() const { return is_there_; }

  // The caller closes `fd` and unmaps the arena.
  absl::StatusOr<record::Arena> Take(int* fd) const;
  absl::Status Begin(const record::Arena& arena, const door::Wishes& wishes);
  void End() { end_ = door_->End(); }
  // The program is nobody's any more. REQUIRES: its arena is not needed.
  void Leave() { door_.reset(); }

  const ArenaBefore& before() const { return before_; }
  std::vector<std::string> Remarks() const {
    if (end_.ok()) return {};
    return {std::string(end_.message())};
  }

 private:
  const bool is_there_;
  std::shared_ptr<door::OpenDoor> door_;
  ArenaBefore before_;
  absl::Status end_;
};

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_DOOR_TARGET_H_
