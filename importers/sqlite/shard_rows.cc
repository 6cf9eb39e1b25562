#include "importers/sqlite/shard_rows.h"

#include <algorithm>
#include <utility>

namespace kymo::sqlite {

using model::TrackIndex;
using model::TrackKind;

TrackIndex ShardRows::Thread(int64_t pid, int64_t tid) {
  return TrackOf({.kind = TrackKind::kThread, .pid = pid, .id = tid});
}

TrackIndex ShardRows::Stream(int64_t pid, int64_t device, int64_t id) {
  return TrackOf({.kind = TrackKind::kStream,
                  .pid = pid,
                  .id = id,
                  .device_index = static_cast<int32_t>(device)});
}

TrackIndex ShardRows::TrackOf(const model::Track& track) {
  const TrackKey key{track.kind, track.pid, track.device_index, track.id};
  const auto [it, is_new] =
      tracks_.try_emplace(key, static_cast<TrackIndex>(shard_.tracks.size()));
  if (is_new) {
    shard_.tracks.push_back(track);
    items_.emplace_back();
  }
  return it->second;
}

void ShardRows::SetThreadName(int64_t pid, int64_t tid, model::NameId name) {
  shard_.tracks[Thread(pid, tid)].name = name;
}

void ShardRows::SetProcessName(int64_t pid, std::string_view name) {
  const model::NameId id = Intern(name);
  shard_.processes.push_back({.pid = pid, .name = id, .command_line = id});
}

void ShardRows::BeginDetail(uint64_t correlation_id) {
  const uint32_t args = static_cast<uint32_t>(shard_.args.size());
  next_detail_ = static_cast<model::DetailIndex>(shard_.details.size());
  shard_.details.push_back(
      {.correlation_id = correlation_id, .args_begin = args, .args_end = args});
}

void ShardRows::AddArg(std::string_view key, int64_t value) {
  shard_.args.push_back(model::Arg::Int(Intern(key), value));
  ++shard_.details.back().args_end;
}

void ShardRows::AddArg(std::string_view key, double value) {
  shard_.args.push_back(model::Arg::Double(Intern(key), value));
  ++shard_.details.back().args_end;
}

void ShardRows::AddArg(std::string_view key, std::string_view text) {
  shard_.args.push_back(model::Arg::String(Intern(key), Intern(text)));
  ++shard_.details.back().args_end;
}

void ShardRows::AddJsonArg(std::string_view key, std::string_view json) {
  shard_.args.push_back(model::Arg::Json(Intern(key), Intern(json)));
  ++shard_.details.back().args_end;
}

std::optional<TimeNs> ShardRows::TimeOf(std::optional<TimeNs> time_ns) const {
  if (!time_ns.has_value() || *time_ns < -kLastTime || *time_ns > kLastTime) {
    return std::nullopt;
  }
  const TimeNs sum = *time_ns + offset_ns_;
  if (sum < 0 || sum > kLastTime) return std::nullopt;
  return sum;
}

void ShardRows::LeaveOut(Severity severity, std::string_view rule,
                         std::string_view message) {
  next_detail_ = model::kNoDetail;
  shard_.ledger.Add(model::Loss::kRecordsCorrupt, 1);
  findings_.Add(severity, rule, message);
}

bool ShardRows::Add(TrackIndex track, const RowEvent& event) {
  const model::DetailIndex detail =
      std::exchange(next_detail_, model::kNoDetail);
  const std::optional<TimeNs> start = TimeOf(event.start_ns);
  const bool is_instant = (event.flags & model::kEventInstant) != 0;
  const bool is_open = !is_instant && !event.end_ns.has_value();
  const std::optional<TimeNs> end = is_instant ? start
                                    : is_open  ? 0
                                               : TimeOf(event.end_ns);
  if (!start.has_value() || !end.has_value()) {
    LeaveOut(Severity::kError, "time_impossible",
             "an event has no time, or one that cannot be");
    return false;
  }
  See(*start);
  See(is_open ? *start : *end);
  items_[track].push_back({.start_ns = *start,
                           .end_ns = *end,
                           .name = event.name,
                           .detail = detail,
                           .type = event.type,
                           .flags = event.flags});
  ++event_count_;
  return true;
}

void ShardRows::AddMemory(const model::MemoryRecord& record) {
  See(record.time_ns);
  shard_.memory.push_back(record);
}

void ShardRows::AddMetadata(std::string_view key, std::string_view json) {
  shard_.metadata.push_back({Intern(key), Intern(json)});
}

void ShardRows::See(TimeNs time_ns) {
  first_ns_ = std::min(first_ns_, time_ns);
  last_ns_ = std::max(last_ns_, time_ns);
}

void ShardRows::Emit(TrackIndex track, std::vector<Item>& items) {
  const auto end_of = [](const Item& item) {
    return item.end_ns == 0 && !(item.flags & model::kEventInstant)
               ? kLastTime
               : item.end_ns;
  };
  std::stable_sort(items.begin(), items.end(),
                   [&](const Item& a, const Item& b) {
                     if (a.start_ns != b.start_ns) {
                       return a.start_ns < b.start_ns;
                     }
                     return end_of(a) > end_of(b);
                   });
  model::TrackEvents& events = shard_.events.emplace_back();
  events.track = track;
  for (const Item& item : items) {
    events.start_ns.push_back(item.start_ns);
    events.end_ns.push_back(item.end_ns);
    events.name.push_back(item.name);
    events.type.push_back(item.type);
    events.scope.push_back(item.type == model::ActivityType::kUserAnnotation
                               ? model::RecordScope::kUserScope
                               : model::RecordScope::kFunction);
    events.flags.push_back(item.flags);
    events.detail.push_back(item.detail);
  }
  items = {};
}

ImportedTrace ShardRows::Finish() && {
  for (TrackIndex track = 0; track < items_.size(); ++track) {
    Emit(track, items_[track]);
  }
  ImportedTrace imported;
  if (first_ns_ <= last_ns_) {
    imported.start_ns = first_ns_;
    imported.end_ns = last_ns_;
  }
  imported.shards.push_back(std::move(shard_));
  imported.findings = std::move(findings_).Take();
  return imported;
}

}  // namespace kymo::sqlite
