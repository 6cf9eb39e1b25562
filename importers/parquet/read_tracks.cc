#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>

#include "importers/parquet/row_group.h"
#include "importers/parquet/shard_tables.h"
#include "profiler/model/thread_states.h"

namespace kymo::parquet_import {
namespace {

using parquet::Type;

enum ProcessColumn { kPid, kParentPid, kName, kCommandLine, kStart, kEnd };
constexpr ColumnWish kProcesses[] = {{"pid"},
                                     {"parent_pid"},
                                     {"name", Type::kText},
                                     {"command_line", Type::kText},
                                     {"start_ns"},
                                     {"end_ns"}};

enum TrackColumn {
  kTrackKind,
  kTrackPid,
  kTid,
  kDevice,
  kStream,
  kTrackName,
  kLogicalId
};
constexpr ColumnWish kTracks[] = {
    {"kind", Type::kText}, {"pid"},       {"tid"}, {"device"}, {"stream"},
    {"name", Type::kText}, {"logical_id"}};

enum ThreadColumn {
  kTrackId,
  kBegin,
  kThreadEnd,
  kWall,
  kOnCpu,
  kRunnable,
  kBlocked,
  kUnknown,
  kOpenWait,
  kRunQueue,
  kVoluntary,
  kInvoluntary,
  kMinorFaults,
  kMajorFaults,
  kReadCalls,
  kReadBytes,
  kWriteCalls,
  kWrittenBytes,
  kDiskReadBytes,
  kDiskWrittenBytes,
  kCreator,
  kAllocations,
  kFrees,
  kAllocatedBytes
};
constexpr ColumnWish kThreads[] = {{"track_id"},
                                   {"start_ns"},
                                   {"end_ns"},
                                   {"wall_ns"},
                                   {"on_cpu_ns"},
                                   {"runnable_ns"},
                                   {"blocked_ns"},
                                   {"unknown_ns"},
                                   {"open_wait_ns"},
                                   {"run_queue", Type::kText},
                                   {"voluntary_switches"},
                                   {"involuntary_switches"},
                                   {"minor_faults"},
                                   {"major_faults"},
                                   {"read_calls"},
                                   {"read_bytes"},
                                   {"write_calls"},
                                   {"written_bytes"},
                                   {"disk_read_bytes"},
                                   {"disk_written_bytes"},
                                   {"creator_id"},
                                   {"allocations"},
                                   {"frees"},
                                   {"allocated_bytes"}};

// The times of a thread are parts of its life, which is less than a century.
constexpr int64_t kMostThreadNs = int64_t{1} << 52;

bool AreThreadTimes(const RowGroup& group, size_t row) {
  for (const size_t column : {kWall, kOnCpu, kRunnable, kBlocked, kUnknown}) {
    const int64_t ns = group.Int(column, row);
    if (ns < 0 || ns > kMostThreadNs) return false;
  }
  return IsTime(group.Int(kBegin, row)) && IsTime(group.Int(kThreadEnd, row)) &&
         group.Int(kOpenWait, row) >= 0 &&
         group.Int(kOpenWait, row) <= group.Int(kBlocked, row) &&
         group.Int(kVoluntary, row) >= 0 && group.Int(kInvoluntary, row) >= 0;
}

model::RunQueueTime RunQueueOf(std::string_view text) {
  const auto name = std::ranges::find(model::kRunQueueNames, text);
  return name == std::end(model::kRunQueueNames)
             ? model::RunQueueTime::kPreemptions
             : static_cast<model::RunQueueTime>(
                   name - std::begin(model::kRunQueueNames));
}

model::ThreadCounts CountsOf(const RowGroup& group, size_t row) {
  const auto count = [&](size_t column) {
    return static_cast<uint64_t>(std::max<int64_t>(group.Int(column, row), 0));
  };
  return {.has_faults = group.Has(kMinorFaults, row),
          .minor_faults = count(kMinorFaults),
          .major_faults = count(kMajorFaults),
          .has_io = group.Has(kReadCalls, row),
          .read_calls = count(kReadCalls),
          .read_bytes = count(kReadBytes),
          .write_calls = count(kWriteCalls),
          .written_bytes = count(kWrittenBytes),
          .disk_read_bytes = count(kDiskReadBytes),
          .disk_written_bytes = count(kDiskWrittenBytes)};
}

model::ThreadTimes TimesOf(const RowGroup& group, size_t row,
                           model::TrackIndex track) {
  model::ThreadTimes times;
  times.track = track;
  times.on_cpu_ns = group.Int(kOnCpu, row);
  times.runnable_ns = group.Int(kRunnable, row);
  times.unknown_ns = group.Int(kUnknown, row);
  // The states add up to the life.
  times.wall_ns = times.on_cpu_ns + times.runnable_ns + times.unknown_ns +
                  group.Int(kBlocked, row);
  times.open_wait_ns = group.Int(kOpenWait, row);
  times.run_queue = RunQueueOf(group.TextOf(kRunQueue, row));
  times.voluntary_switches = static_cast<uint64_t>(group.Int(kVoluntary, row));
  times.involuntary_switches =
      static_cast<uint64_t>(group.Int(kInvoluntary, row));
  times.counts = CountsOf(group, row);
  times.begin_ns = group.Int(kBegin, row);
  times.end_ns = group.Int(kThreadEnd, row);
  return times;
}

model::CpuLimit CpuLimitOf(const PartFiles& files) {
  const auto count = [&files](std::string_view key) {
    return static_cast<uint64_t>(files.Fact(key));
  };
  const model::CpuLimit limit = {
      .quota_ns = files.Fact("kymo.cpu_quota_ns"),
      .period_ns = files.Fact("kymo.cpu_period_ns"),
      .periods = count("kymo.cpu_periods"),
      .throttled_periods = count("kymo.cpu_throttled_periods"),
      .throttled_ns = files.Fact("kymo.cpu_throttled_ns")};
  return limit.is_possible() ? limit : model::CpuLimit();
}

void AddCounts(const RowGroup& group, size_t row, model::TrackIndex track,
               model::TraceShard& shard) {
  if (!group.Has(kAllocations, row)) return;
  shard.allocation_counts.push_back(
      {.track = track,
       .allocations = static_cast<uint64_t>(group.Int(kAllocations, row)),
       .frees = static_cast<uint64_t>(group.Int(kFrees, row)),
       .allocated_bytes =
           static_cast<uint64_t>(group.Int(kAllocatedBytes, row))});
}

}  // namespace

absl::Status ReadProcesses(Reading& reading) {
  const parquet::FileReader* const file = reading.files.Find("processes");
  if (file == nullptr) return absl::OkStatus();
  model::TraceShard& shard = reading.shard;
  return ForEachRowGroup(
      *file, kProcesses, shard.strings, [&](const RowGroup& group) {
        for (size_t row = 0; row < group.rows(); ++row) {
          if (!IsTime(group.Int(kStart, row)) ||
              !IsTime(group.Int(kEnd, row))) {
            return Wrong(*file, "a process has an impossible time");
          }
          shard.processes.push_back(
              {.pid = group.Int(kPid, row),
               .parent_pid = group.Int(kParentPid, row),
               .name = group.Name(kName, row),
               .command_line = group.Name(kCommandLine, row),
               .start_ns = group.Int(kStart, row),
               .end_ns = group.Int(kEnd, row)});
        }
        return absl::OkStatus();
      });
}

absl::Status ReadTracks(Reading& reading) {
  const parquet::FileReader* const file = reading.files.Find("tracks");
  reading.has_tracks = file != nullptr;
  if (file == nullptr) return absl::OkStatus();
  model::TraceShard& shard = reading.shard;
  return ForEachRowGroup(
      *file, kTracks, shard.strings, [&](const RowGroup& group) {
        for (size_t row = 0; row < group.rows(); ++row) {
          const bool is_stream = group.TextOf(kTrackKind, row) == "stream";
          reading.tracks.emplace(
              static_cast<int64_t>(shard.tracks.size()),
              static_cast<model::TrackIndex>(shard.tracks.size()));
          shard.tracks.push_back(
              {.kind = is_stream ? model::TrackKind::kStream
                                 : model::TrackKind::kThread,
               .pid = group.Int(kTrackPid, row),
               .id = group.Int(is_stream ? kStream : kTid, row),
               .device_index =
                   is_stream ? AsDevice(group.Int(kDevice, row)) : -1,
               .name = group.Name(kTrackName, row),
               .logical_id =
                   static_cast<uint64_t>(group.Int(kLogicalId, row))});
        }
        return absl::OkStatus();
      });
}

absl::Status ReadThreads(Reading& reading) {
  const parquet::FileReader* const file = reading.files.Find("threads");
  if (file == nullptr || !reading.has_tracks) return absl::OkStatus();
  model::TraceShard& shard = reading.shard;
  const auto states = std::make_shared<model::ThreadStates>();
  std::vector<int64_t> creators;
  const absl::Status status = ForEachRowGroup(
      *file, kThreads, shard.strings, [&](const RowGroup& group) {
        for (size_t row = 0; row < group.rows(); ++row) {
          const auto track = reading.Track(group.Int(kTrackId, row));
          if (!track) return Wrong(*file, "a thread has no track");
          reading.threads.push_back(*track);
          AddCounts(group, row, *track, shard);
          if (!group.Has(kWall, row)) continue;
          if (!AreThreadTimes(group, row)) {
            return Wrong(*file, "a thread has impossible times");
          }
          states->threads.push_back(TimesOf(group, row, *track));
          creators.push_back(group.IntOr(kCreator, row, -1));
        }
        return absl::OkStatus();
      });
  if (!status.ok() || states->threads.empty()) return status;
  for (size_t i = 0; i < creators.size(); ++i) {
    const auto creator = static_cast<uint64_t>(creators[i]);
    if (creator < reading.threads.size()) {
      states->threads[i].creator = reading.threads[creator];
    }
  }
  states->cpu_count =
      static_cast<uint32_t>(reading.files.Fact("kymo.cpu_count"));
  states->cpu_limit = CpuLimitOf(reading.files);
  states->kymo_cpu_ns = std::clamp(reading.files.Fact("kymo.own_cpu_ns"),
                                   int64_t{0}, kMostThreadNs);
  states->min_wait_ns = std::clamp(reading.files.Fact("kymo.min_wait_ns"),
                                   int64_t{0}, kMostThreadNs);
  shard.thread_states = states;
  return absl::OkStatus();
}

}  // namespace kymo::parquet_import
