// shard_rows.h - makes the tracks of a shard from events in any order.
//
//   ShardRows rows;
//   const TrackIndex stream = rows.Stream(/*pid=*/7, /*device=*/0, /*id=*/13);
//   rows.BeginDetail(/*correlation_id=*/42);
//   rows.AddArg("bytes", int64_t{4096});
//   rows.Add(stream, {.start_ns = 10, .end_ns = 30, .name = name,
//                     .type = ActivityType::kGpuMemcpy});
//   ImportedTrace imported = std::move(rows).Finish();
//
// Times outside of [0, kLastTime] cannot be real. Events with such times are
// left out and counted (kImpossibleTimestamps, finding `time_impossible`). An
// event without an end is open.
// Threads: none.
#ifndef KYMO_IMPORTERS_SQLITE_SHARD_ROWS_H_
#define KYMO_IMPORTERS_SQLITE_SHARD_ROWS_H_

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "importers/sqlite/findings.h"
#include "profiler/base/time.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/records.h"
#include "profiler/model/string_table.h"
#include "profiler/model/trace_shard.h"
#include "profiler/plugin/trace_importer.h"

namespace kymo::sqlite {

// A time in the year 2116. Differences of times up to here cannot overflow.
inline constexpr TimeNs kLastTime = std::numeric_limits<TimeNs>::max() / 2;

struct RowEvent {
  std::optional<TimeNs> start_ns;
  std::optional<TimeNs> end_ns;  // none: still open
  model::NameId name = model::kEmptyName;
  model::ActivityType type = model::ActivityType::kCpuOp;
  uint8_t flags = 0;  // model::EventFlag bits; an instant's end is ignored
};

class ShardRows {
 public:
  // The offset is added to every time. If the sum overflows, the time is
  // impossible.
  void SetOffset(TimeNs offset_ns) { offset_ns_ = offset_ns; }

  model::NameId Intern(std::string_view text) {
    return shard_.strings.Intern(text);
  }
  std::string_view Name(model::NameId id) const {
    return shard_.strings.Get(id);
  }

  // Tracks are made when they are first asked for.
  model::TrackIndex Thread(int64_t pid, int64_t tid);
  model::TrackIndex Stream(int64_t pid, int64_t device, int64_t id);
  void SetThreadName(int64_t pid, int64_t tid, model::NameId name);
  void SetProcessName(int64_t pid, std::string_view name);

  // The next event gets this correlation id (0: none) and the arguments that
  // follow.
  void BeginDetail(uint64_t correlation_id);
  void AddArg(std::string_view key, int64_t value);
  void AddArg(std::string_view key, double value);
  void AddArg(std::string_view key, std::string_view text);
  void AddJsonArg(std::string_view key, std::string_view json);
  // Call it instead of Add for an event that has no place in the trace. Counts
  // it.
  void LeaveOut(Severity severity, std::string_view rule,
                std::string_view message);
  // False if the event was left out.
  bool Add(model::TrackIndex track, const RowEvent& event);

  void AddMemory(const model::MemoryRecord& record);
  void AddMetadata(std::string_view key, std::string_view json);

  // The time as the trace will have it; nullopt if it is impossible.
  std::optional<TimeNs> TimeOf(std::optional<TimeNs> time_ns) const;

  Findings& findings() { return findings_; }
  size_t event_count() const { return event_count_; }

  // The shard, with events sorted by start, parents first.
  ImportedTrace Finish() &&;

 private:
  struct Item {
    TimeNs start_ns;
    TimeNs end_ns;  // 0: open
    model::NameId name;
    model::DetailIndex detail;
    model::ActivityType type;
    uint8_t flags;
  };
  using TrackKey = std::tuple<model::TrackKind, int64_t, int64_t, int64_t>;

  model::TrackIndex TrackOf(const model::Track& track);
  void See(TimeNs time_ns);
  void Emit(model::TrackIndex track, std::vector<Item>& items);

  model::TraceShard shard_;
  std::map<TrackKey, model::TrackIndex> tracks_;
  std::vector<std::vector<Item>> items_;  // by track
  model::DetailIndex next_detail_ = model::kNoDetail;
  TimeNs offset_ns_ = 0;
  TimeNs first_ns_ = std::numeric_limits<TimeNs>::max();
  TimeNs last_ns_ = 0;
  size_t event_count_ = 0;
  Findings findings_;
};

}  // namespace kymo::sqlite

#endif  // KYMO_IMPORTERS_SQLITE_SHARD_ROWS_H_
