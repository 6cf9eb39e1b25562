// live_sums.h - hands the oldest drained records to a reducer while the target
// still runs, so that a recording of any length needs bounded disk and memory.
//
//   LiveSums sums(reducer, arena, &store, options);
//   while (target runs) {
//     if (!sums.is_full()) reader.DrainSealed(... sums.Store(view) ...);
//     sums.EndPass(clock);
//   }
//   reader.ReadAll([&](const ChunkView& view) { sums.Store(view); });
//   if (sums.has_begun()) {
//     sums.Shrink(memory_limit);
//     ... sums.carried() and the store's chunks, less those that
//     was_dropped(), make the newest part's shard
//     sums.Finish(stopped_ticks);
//   }
//
// Nothing happens until the records take three quarters of most_disk_bytes, or
// their trace would take most_whole_trace_bytes.
// From then on a thread of its own reads the oldest records, window by window
// (profiler/plugin/window_reducer.h), and the store forgets them. What is left
// are the newest records, as many as disk and memory allow.
//
// A thread's chunks must be read in their order. After a whole pass of
// DrainSealed all that came before are there. So the passes of a window are
// sorted, and a pass that is larger than a window makes several.
//
// One clock converts the times of all windows: it is measured when the first
// window is read. Windows of different clocks would disagree by nanoseconds,
// and ranges at their borders would overlap.
//
// Memory: the window (16 MiB of records) and its trace, 16 bytes for each chunk
//   that is left, and the ranges that are open.
// Errors:  a window that cannot be added up is lost; lost_bytes() counts it.
// Threads: one at a time.
#ifndef KYMO_BACKENDS_STREAM_LIVE_SUMS_H_
#define KYMO_BACKENDS_STREAM_LIVE_SUMS_H_

#include <cstdint>
#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/stream/raw/carried_records.h"
#include "backends/stream/raw/chunk_store.h"
#include "profiler/base/clock.h"
#include "profiler/plugin/window_reducer.h"
#include "profiler/record/arena/arena.h"
#include "profiler/record/arena/chunk_reader.h"

namespace kymo::stream {

struct LiveSumsOptions {
  uint64_t started_ticks = 0;
  uint64_t most_disk_bytes = 0;
  // Whether it is a limit. Else the disk is, and the records may take more
  // while the target is faster than this.
  bool disk_is_limited = false;
  uint64_t most_memory_bytes = 0;  // for the trace of what is left
  // For the trace of a recording of which nothing was added up.
  uint64_t most_whole_trace_bytes = ~uint64_t{0};

  // The limits of the user, or else those that suit the machine: 2 GiB of the
  // store's disk or half of its room, and 200 MiB of memory or what there is.
  // If the user set none, a whole trace takes 544 MiB or a quarter of the
  // memory that is left. A user's disk has room for one arena more than
  // most_disk_bytes, if that leaves half of it.
  static LiveSumsOptions Of(uint64_t started_ticks, const ChunkStore& store,
                            uint64_t arena_bytes,
                            std::optional<uint64_t> max_disk,
                            std::optional<uint64_t> max_memory);
};

// What was dropped after it was added up.
struct DroppedRecords {
  uint64_t events = 0;
  uint64_t counter_values = 0;
};

class LiveSums {
 public:
  // All must outlive the object.
  LiveSums(std::shared_ptr<WindowReducer> reducer, const record::Arena& arena,
           ChunkStore* store, const LiveSumsOptions& options);
  ~LiveSums();

  void Store(const record::ChunkView& chunk);
  // Every sealed chunk has been stored. Takes what the thread has finished, and
  // gives it the next window, or reads it here if there can be no thread.
  // `clock` is the best one so far.
  void EndPass(const TickConverter& clock);

  bool has_begun() const { return clock_.has_value(); }
  // Whether chunks should stay in the arena until there is room. A pass that
  // has begun goes on, so the disk may have one arena more than its limit.
  bool is_full() const {
    return has_begun() && disk_is_limited_ &&
           store_.bytes() >= most_disk_bytes_;
  }
  // Bytes of the windows that could not be added up.
  uint64_t lost_bytes() const { return lost_bytes_; }

  // After the last pass: waits for the thread, and drops more records if their
  // trace would take more than `memory_bytes`.
  void Shrink(uint64_t memory_bytes);
  // Whether a chunk that the store still has was added up before Finish.
  bool was_dropped(const record::ChunkView& chunk) const {
    return dropped_tickets_.contains(chunk.ticket);
  }
  const DroppedRecords& dropped() const { return dropped_; }
  // The records from before that belong to those which are left, such as ranges
  // that are open. Valid until Finish.
  std::vector<record::ChunkView> carried() const {
    return carried_.UncountedViews();
  }
  // Adds the records that are left, without those that began after the end of
  // the recording. They stay in the store. REQUIRES: Shrink.
  void Finish(uint64_t stopped_ticks);

 private:
  struct Piece {  // a chunk in the store
    uint64_t ticket = 0;
    uint64_t begin = 0, end = 0;  // positions
    uint64_t bytes() const { return end - begin; }
  };
  struct Window {
    std::vector<Piece> pieces;
    uint64_t bytes = 0;
    uint64_t drop_to = 0;  // position; 0: more windows of its passes follow
    bool is_left = false;  // it stays in the store
    bool is_last = false;
    uint64_t stopped_ticks = ~uint64_t{0};
    std::unordered_set<uint64_t> later;  // tickets of later windows
  };

  // Takes whole passes out of pending_, if there is one.
  void TakePasses();
  std::optional<Window> NextWindow();
  // These return what the window has.
  absl::StatusOr<DroppedRecords> Read(const Window& window);
  absl::StatusOr<DroppedRecords> ReadGuarded(const Window& window);
  void Begin(Window window);
  // Reads the window, and erases what will be dropped.
  absl::StatusOr<DroppedRecords> ReadAndErase(const Window& window);
  void Take(const Window& window,
            const absl::StatusOr<DroppedRecords>& records);

  const std::shared_ptr<WindowReducer> reducer_;
  const record::Arena& arena_;
  ChunkStore& store_;
  const uint64_t started_ticks_;
  const uint64_t most_disk_bytes_;
  const bool disk_is_limited_;
  const uint64_t begin_at_bytes_;
  const uint64_t window_bytes_;
  uint64_t keep_bytes_;
  uint64_t left_bytes_ = 0;         // of chunks that were not dropped
  std::deque<Piece> pending_;       // by place
  std::deque<uint64_t> pass_ends_;  // positions in the store
  std::deque<Piece> passes_;        // those that windows are made of, by ticket
  uint64_t passes_end_ = 0;         // position in the store
  std::unordered_set<uint64_t> dropped_tickets_;  // of these passes
  std::optional<TickConverter> clock_;
  CarriedRecords carried_;  // the thread's, while it works
  Window at_work_;
  std::future<absl::StatusOr<DroppedRecords>> work_;
  DroppedRecords dropped_;
  uint64_t lost_bytes_ = 0;
};

}  // namespace kymo::stream

#endif  // KYMO_BACKENDS_STREAM_LIVE_SUMS_H_
