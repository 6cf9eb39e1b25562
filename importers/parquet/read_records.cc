#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "importers/parquet/row_group.h"
#include "importers/parquet/shard_tables.h"
#include "profiler/base/device_type.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/waits.h"

namespace kymo::parquet_import {
namespace {

using parquet::Type;

enum CounterColumn { kCounterTrack, kCounterName, kCounterTime, kValue };
constexpr ColumnWish kCounters[] = {
    {"track_id"}, {"name", Type::kText}, {"time_ns"}, {"value", Type::kDouble}};

enum MemoryColumn {
  kTrack,
  kTime,
  kKind,
  kSource,
  kDeviceType,
  kDevice,
  kAddress,
  kBytes,
  kAllocated,
  kReserved,
  kStack
};
constexpr ColumnWish kMemory[] = {{"track_id"},
                                  {"time_ns"},
                                  {"kind", Type::kText},
                                  {"source", Type::kText},
                                  {"device_type", Type::kText},
                                  {"device"},
                                  {"address"},
                                  {"bytes"},
                                  {"total_allocated"},
                                  {"total_reserved"},
                                  {"stack_id"}};

enum WaitColumn {
  kWaitTrack,
  kWaitKind,
  kBegin,
  kDuration,
  kCount,
  kLongest,
  kRunnable,
  kOpen,
  kWaitStack,
  kObject,
  kObjectName,
  kWaker,
  kWakerStack,
  kHolder,
  kHolderStack
};
constexpr ColumnWish kWaits[] = {{"track_id"},
                                 {"kind", Type::kText},
                                 {"start_ns"},
                                 {"dur_ns"},
                                 {"count"},
                                 {"longest_ns"},
                                 {"runnable_ns"},
                                 {"is_open", Type::kBool},
                                 {"stack_id"},
                                 {"object"},
                                 {"object_name", Type::kText},
                                 {"waker_track_id"},
                                 {"waker_stack_id"},
                                 {"holder_track_id"},
                                 {"holder_stack_id"}};

constexpr ColumnWish kLedger[] = {{"name", Type::kText}, {"count"}};
constexpr ColumnWish kMetadata[] = {{"key", Type::kText},
                                    {"value", Type::kText}};

// The sums of all bytes and of all waits fit into an int64.
constexpr int64_t kMostBytes = int64_t{1} << 50;
constexpr int64_t kMostWaitNs = int64_t{1} << 52;

// The free of a block of 0 bytes has no sign that would tell it.
model::MemoryEvent EventOf(std::string_view kind, model::MemorySource source,
                           int64_t bytes) {
  if (kind == "out_of_memory") return model::MemoryEvent::kOutOfMemory;
  return kind == "free" && bytes == 0 && source == model::MemorySource::kHeap
             ? model::MemoryEvent::kFreeOfUnknown
             : model::MemoryEvent::kAllocation;
}

model::MemorySource SourceOf(std::string_view text) {
  if (text == "heap") return model::MemorySource::kHeap;
  if (text == "mapped") return model::MemorySource::kMapped;
  return model::MemorySource::kReported;
}

int8_t DeviceTypeOf(std::string_view text) {
  for (int i = 0; i < static_cast<int>(DeviceType::kCount); ++i) {
    if (DeviceTypeName(static_cast<DeviceType>(i)) == text) {
      return static_cast<int8_t>(i);
    }
  }
  return 0;
}

model::WaitKind WaitKindOf(std::string_view text) {
  for (int i = 0; i <= static_cast<int>(model::kLastWaitKind); ++i) {
    const auto kind = static_cast<model::WaitKind>(i);
    if (model::NameOf(kind) == text) return kind;
  }
  return model::WaitKind::kUnknown;
}

// Losses that normalisation finds again by itself.
bool IsFoundAgain(model::Loss loss) {
  return loss == model::Loss::kRangesOpenAtEnd ||
         loss == model::Loss::kRangesOverlapping ||
         loss == model::Loss::kFreesNotSeen;
}

// A wait or a sum of waits.
absl::Status AddWait(const Reading& reading, const parquet::FileReader& file,
                     const RowGroup& group, size_t row, int64_t& total,
                     model::ThreadStates& states) {
  const auto track = reading.Track(group.Int(kWaitTrack, row));
  const auto stack = reading.Stack(group.IntOr(kWaitStack, row, 0));
  const auto waker_stack = reading.Stack(group.IntOr(kWakerStack, row, 0));
  const auto holder_stack = reading.Stack(group.IntOr(kHolderStack, row, 0));
  const int64_t duration = group.Int(kDuration, row);
  const int64_t longest = group.Int(kLongest, row);
  const int64_t runnable = group.IntOr(kRunnable, row, -1);
  const int64_t count = group.Int(kCount, row);
  const auto is_wait = [](int64_t ns) { return ns >= 0 && ns <= kMostWaitNs; };
  if (!track || !stack || !waker_stack || !holder_stack || !is_wait(duration) ||
      !is_wait(longest) || runnable < -1 || runnable > duration || count < 0 ||
      !IsTime(group.Int(kBegin, row)) ||
      __builtin_add_overflow(total, duration, &total)) {
    return Wrong(file, "a wait has no thread, stack or time");
  }
  const model::WaitKind kind = WaitKindOf(group.TextOf(kWaitKind, row));
  const auto object = static_cast<uint64_t>(group.Int(kObject, row));
  if (!group.Has(kBegin, row)) {
    states.short_waits.push_back({.track = *track,
                                  .kind = kind,
                                  .stack = *stack,
                                  .object = object,
                                  .object_name = group.Name(kObjectName, row),
                                  .count = static_cast<uint64_t>(count),
                                  .duration_ns = duration,
                                  .longest_ns = longest});
    return absl::OkStatus();
  }
  const auto other = [&](size_t column) {
    return group.Has(column, row)
               ? reading.Track(group.Int(column, row)).value_or(model::kNoTrack)
               : model::kNoTrack;
  };
  states.waits.push_back({.track = *track,
                          .kind = kind,
                          .is_open = group.Bool(kOpen, row),
                          .begin_ns = group.Int(kBegin, row),
                          .duration_ns = duration,
                          .runnable_ns = runnable,
                          .stack = *stack,
                          .object = object,
                          .object_name = group.Name(kObjectName, row),
                          .waker = other(kWaker),
                          .waker_stack = *waker_stack,
                          .holder = other(kHolder),
                          .holder_stack = *holder_stack});
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadCounters(Reading& reading) {
  const parquet::FileReader* const file = reading.files.Find("counters");
  if (file == nullptr || !reading.has_tracks) return absl::OkStatus();
  model::TraceShard& shard = reading.shard;
  return ForEachRowGroup(
      *file, kCounters, shard.strings, [&](const RowGroup& group) {
        for (size_t row = 0; row < group.rows(); ++row) {
          const auto track = reading.Track(group.Int(kCounterTrack, row));
          const int64_t time = group.Int(kCounterTime, row);
          if (!track || !IsTime(time)) {
            return Wrong(*file, "a counter has no track or time");
          }
          shard.counters.push_back({*track, group.Name(kCounterName, row), time,
                                    group.Double(kValue, row)});
        }
        return absl::OkStatus();
      });
}

namespace {

// The text is "pid:time pid:time", from exporters/parquet/table_file.cc. Each
// program of a process is a description of that process.
absl::Status AddPrograms(const parquet::FileReader& file, std::string_view text,
                         model::TraceShard& shard) {
  std::map<int64_t, model::Process> processes;
  for (const model::Process& process : shard.processes) {
    processes.emplace(process.pid, process);
  }
  for (const absl::string_view word :
       absl::StrSplit(ToAbsl(text), ' ', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(word, absl::MaxSplits(':', 1));
    int64_t pid = 0;
    int64_t time_ns = 0;
    if (!absl::SimpleAtoi(parts.first, &pid) ||
        !absl::SimpleAtoi(parts.second, &time_ns) || !IsTime(time_ns)) {
      return Wrong(file, "a program has an impossible start");
    }
    const auto of_pid = processes.find(pid);
    if (of_pid == processes.end()) continue;
    model::Process described = of_pid->second;
    described.start_ns = time_ns;
    shard.processes.push_back(described);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadMemory(Reading& reading) {
  const parquet::FileReader* const file = reading.files.Find("memory");
  if (file == nullptr || !reading.has_tracks) return absl::OkStatus();
  model::TraceShard& shard = reading.shard;
  KYMO_RETURN_IF_ERROR(AddPrograms(
      *file, file->Metadata("kymo.program_starts").value_or(""), shard));
  return ForEachRowGroup(
      *file, kMemory, shard.strings, [&](const RowGroup& group) {
        for (size_t row = 0; row < group.rows(); ++row) {
          const auto track = reading.Track(group.Int(kTrack, row));
          const auto stack = reading.Stack(group.IntOr(kStack, row, 0));
          const int64_t bytes = group.Int(kBytes, row);
          if (!track || !stack || !IsTime(group.Int(kTime, row)) ||
              bytes < -kMostBytes || bytes > kMostBytes) {
            return Wrong(*file, "a record has no track, stack or time");
          }
          const model::MemorySource source =
              SourceOf(group.TextOf(kSource, row));
          shard.memory.push_back(
              {.track = *track,
               .event = EventOf(group.TextOf(kKind, row), source, bytes),
               .source = source,
               .device_type = DeviceTypeOf(group.TextOf(kDeviceType, row)),
               .device_index =
                   static_cast<int8_t>(group.IntOr(kDevice, row, -1)),
               .time_ns = group.Int(kTime, row),
               .address = static_cast<uint64_t>(group.Int(kAddress, row)),
               .bytes = bytes,
               .total_allocated = group.Int(kAllocated, row),
               .total_reserved = group.Int(kReserved, row),
               .stack = *stack});
        }
        return absl::OkStatus();
      });
}

absl::Status ReadWaits(Reading& reading) {
  const parquet::FileReader* const file = reading.files.Find("waits");
  if (file == nullptr || reading.shard.thread_states == nullptr) {
    return absl::OkStatus();
  }
  model::ThreadStates& states = *reading.shard.thread_states;
  int64_t total = 0;
  return ForEachRowGroup(
      *file, kWaits, reading.shard.strings, [&](const RowGroup& group) {
        for (size_t row = 0; row < group.rows(); ++row) {
          const absl::Status status =
              AddWait(reading, *file, group, row, total, states);
          if (!status.ok()) return status;
        }
        return absl::OkStatus();
      });
}

absl::Status ReadLedger(Reading& reading) {
  const parquet::FileReader* const file = reading.files.Find("ledger");
  if (file == nullptr) return absl::OkStatus();
  std::map<std::string_view, model::Loss> losses;
  for (size_t i = 0; i < static_cast<size_t>(model::Loss::kCount); ++i) {
    const auto loss = static_cast<model::Loss>(i);
    if (!IsFoundAgain(loss)) losses.emplace(model::LossName(loss), loss);
  }
  model::TraceShard& shard = reading.shard;
  return ForEachRowGroup(
      *file, kLedger, shard.strings, [&](const RowGroup& group) {
        for (size_t row = 0; row < group.rows(); ++row) {
          const auto loss = losses.find(group.TextOf(0, row));
          if (loss == losses.end()) continue;
          shard.ledger.Add(loss->second,
                           static_cast<uint64_t>(group.Int(1, row)));
        }
        return absl::OkStatus();
      });
}

absl::Status ReadMetadata(Reading& reading) {
  const parquet::FileReader* const file = reading.files.Find("metadata");
  if (file == nullptr) return absl::OkStatus();
  model::TraceShard& shard = reading.shard;
  return ForEachRowGroup(
      *file, kMetadata, shard.strings, [&](const RowGroup& group) {
        for (size_t row = 0; row < group.rows(); ++row) {
          shard.metadata.push_back(
              {.key = group.Name(0, row), .json_value = group.Name(1, row)});
        }
        return absl::OkStatus();
      });
}

}  // namespace kymo::parquet_import
