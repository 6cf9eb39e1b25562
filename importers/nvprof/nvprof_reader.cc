#include "importers/nvprof/nvprof_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "importers/nvprof/api_names.h"
#include "importers/nvprof/launch_check.h"
#include "importers/sqlite/device_json.h"
#include "importers/sqlite/gpu_rows.h"
#include "profiler/base/status_macros.h"
#include "profiler/events/event_names.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/records.h"
#include "profiler/model/string_table.h"

namespace kymo::nvprof {
namespace {

using model::ActivityType;
using model::NameId;
using sqlite::Database;
using sqlite::kRequired;
using sqlite::Rows;
using sqlite::Severity;
using sqlite::ShardRows;

// CUPTI's kinds of objects that a marker or an overhead belongs to.
constexpr int64_t kProcessObject = 1;
constexpr int64_t kThreadObject = 2;
constexpr int64_t kInstantMarker = 1;  // a flag

struct ThreadId {
  int64_t pid = 0;
  int64_t tid = 0;
};

// Of a number that was stored with or without its sign.
int64_t Low32(int64_t value) { return value & 0xffffffff; }

// A little-endian number of 4 bytes at `at`; 0 behind the end.
int64_t Number32(std::string_view bytes, size_t at) {
  if (bytes.size() < at + 4) return 0;
  int64_t value = 0;
  for (size_t i = 4; i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  }
  return value;
}

// Columns that work of a device has in every table, in this order.
enum { kStart, kEnd, kDevice, kContext, kStream, kCorrelation, kFirstOwn };
#define KYMO_NVPROF_GPU_COLUMNS                                          \
  {"start", kRequired}, {"end", kRequired}, {"deviceId"}, {"contextId"}, \
      {"streamId"}, {                                                    \
    "correlationId"                                                      \
  }

class Reader {
 public:
  Reader(const Database& database, ShardRows& rows)
      : db_(database), rows_(rows), check_(rows.findings()) {}

  absl::Status Run(bool strict, const std::function<void(double)>& progress) {
    KYMO_RETURN_IF_ERROR(CheckTables());
    using Step = void (Reader::*)();
    static constexpr Step kSteps[] = {
        &Reader::ReadStrings, &Reader::ReadDevices, &Reader::ReadCalls,
        &Reader::ReadMarkers, &Reader::ReadKernels, &Reader::ReadCopies,
        &Reader::ReadMemsets, &Reader::ReadSyncs,   &Reader::ReadOverheads};
    size_t done = 0;
    for (const Step step : kSteps) {
      (this->*step)();
      if (progress) progress(double(++done) / double(std::size(kSteps)));
    }
    const absl::Status refused = check_.Run();
    if (strict && !refused.ok()) {
      return absl::InvalidArgumentError(refused.message());
    }
    return absl::OkStatus();
  }

 private:
  absl::Status CheckTables() {
    if (db_.HasTable("StringTable")) {
      for (const std::string& table : db_.TableNames()) {
        if (table.rfind("CUPTI_ACTIVITY_KIND_", 0) == 0) {
          return absl::OkStatus();
        }
      }
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "not a database of nvprof, which has StringTable and "
        "CUPTI_ACTIVITY_KIND_...; the tables here: ",
        db_.TableNames().empty() ? "none"
                                 : absl::StrJoin(db_.TableNames(), ", ")));
  }

  void ReadStrings() {
    enum { kId, kValue };
    Rows table =
        db_.Read("StringTable", {{"_id_", kRequired}, {"value", kRequired}},
                 rows_.findings());
    while (table.Next()) {
      const std::optional<int64_t> id = table.Int(kId);
      if (!id.has_value()) continue;
      const std::string text(table.Text(kValue));
      strings_[*id] = rows_.Intern(RewriteName(text, StepNames::kKeep));
    }
  }

  NameId StringOf(std::optional<int64_t> id) {
    const auto it = strings_.find(id.value_or(0));
    if (it != strings_.end()) return it->second;
    rows_.findings().Add(
        Severity::kWarning, "string_missing",
        absl::StrCat("no text ", id.value_or(0), " in StringTable"));
    return rows_.Intern(absl::StrCat("string ", id.value_or(0)));
  }

  void ReadDevices() {
    enum { kId, kName, kMajor, kMinor, kProcessors, kMemory };
    Rows table = db_.Read("CUPTI_ACTIVITY_KIND_DEVICE",
                          {{"id", kRequired},
                           {"name"},
                           {"computeCapabilityMajor"},
                           {"computeCapabilityMinor"},
                           {"numMultiprocessors"},
                           {"globalMemorySize"}},
                          rows_.findings());
    std::vector<sqlite::DeviceProperties> devices;
    while (table.Next()) {
      const std::optional<int64_t> name = table.Int(kName);
      devices.push_back(
          {.id = table.IntOr(kId, 0),
           .name = name ? std::string(rows_.Name(StringOf(name))) : "",
           .memory_bytes = table.Int(kMemory),
           .compute_major = table.Int(kMajor),
           .compute_minor = table.Int(kMinor),
           .multiprocessors = table.Int(kProcessors)});
    }
    if (devices.empty()) return;
    rows_.AddMetadata("deviceProperties",
                      sqlite::DevicePropertiesJson(devices));
  }

  // Calls of the runtime first: where one of the driver shares its id, the
  // runtime's counts.
  void ReadCalls() {
    ReadCalls("CUPTI_ACTIVITY_KIND_RUNTIME", ActivityType::kCudaRuntime);
    ReadCalls("CUPTI_ACTIVITY_KIND_DRIVER", ActivityType::kCudaDriver);
  }

  void ReadCalls(const char* name, ActivityType type) {
    enum { kId, kCbid, kFrom, kTo, kPid, kTid, kId2, kResult };
    Rows table = db_.Read(name,
                          {{"_id_"},
                           {"cbid", kRequired},
                           {"start", kRequired},
                           {"end", kRequired},
                           {"processId"},
                           {"threadId"},
                           {"correlationId", kRequired},
                           {"returnValue"}},
                          rows_.findings());
    while (table.Next()) {
      const ThreadId thread{Low32(table.IntOr(kPid, 0)),
                            Low32(table.IntOr(kTid, 0))};
      const int64_t cbid = table.IntOr(kCbid, 0);
      const int64_t correlation = table.IntOr(kId2, 0);
      SeeThread(thread);
      pid_of_call_.try_emplace(correlation, thread.pid);
      rows_.BeginDetail(correlation > 0 ? uint64_t(correlation) : 0);
      rows_.AddArg("cbid", cbid);
      if (table.IntOr(kResult, 0) != 0) {
        rows_.AddArg("returnValue", table.IntOr(kResult, 0));
      }
      const bool is_runtime = type == ActivityType::kCudaRuntime;
      const std::optional<int64_t> start = table.Int(kFrom);
      const std::optional<int64_t> end = table.Int(kTo);
      rows_.Add(rows_.Thread(thread.pid, thread.tid),
                {.start_ns = start,
                 .end_ns = end,
                 .name = rows_.Intern(is_runtime ? RuntimeName(cbid)
                                                 : DriverName(cbid)),
                 .type = type});
      if (!is_runtime || !start || !end) continue;
      check_.AddCall({.row = table.IntOr(kId, 0),
                      .cbid = cbid,
                      .start_ns = *start,
                      .end_ns = *end,
                      .correlation = correlation});
    }
  }

  void SeeThread(const ThreadId& thread) {
    if (!first_thread_.has_value()) {
      first_thread_ = thread;
    } else if (first_thread_->pid != thread.pid ||
               first_thread_->tid != thread.tid) {
      has_threads_ = true;
    }
  }

  // Where a record of no thread belongs: to the only thread that made calls.
  ThreadId OnlyThread() const {
    return has_threads_ || !first_thread_ ? ThreadId() : *first_thread_;
  }

  // The thread that a marker or an overhead names.
  ThreadId ThreadOf(Rows& table, size_t kind_column, size_t id_column) {
    const int64_t kind = table.IntOr(kind_column, 0);
    const std::string_view id = table.Blob(id_column);
    if (kind == kThreadObject && id.size() >= 8) {
      return {Number32(id, 0), Number32(id, 4)};
    }
    if (kind == kProcessObject && id.size() >= 4) {
      return {Number32(id, 0), Number32(id, 0)};
    }
    return OnlyThread();
  }

  struct Range {
    ThreadId thread;
    NameId name = model::kEmptyName;
    NameId domain = model::kEmptyName;
    int64_t id = 0;
    bool is_of_process = false;
    TimeNs start_ns = 0;
    std::optional<TimeNs> end_ns;
  };

  void ReadMarkers() {
    enum { kId, kTime, kName, kFlags, kKind, kObject, kDomain };
    Rows table = db_.Read("CUPTI_ACTIVITY_KIND_MARKER",
                          {{"id", kRequired},
                           {"timestamp", kRequired},
                           {"name", kRequired},
                           {"flags"},
                           {"objectKind"},
                           {"objectId"},
                           {"domain"}},
                          rows_.findings());
    std::vector<Range> ranges;
    absl::flat_hash_map<int64_t, size_t> range_of_id;
    absl::flat_hash_map<int64_t, TimeNs> ends;
    while (table.Next()) {
      const int64_t id = table.IntOr(kId, 0);
      const std::optional<int64_t> time = table.Int(kTime);
      if (!time.has_value()) continue;
      const int64_t name = table.IntOr(kName, 0);
      if (name == 0) {
        if (check_.AddMarkerEnd(id, *time)) ends[id] = *time;
        continue;
      }
      Range range{.thread = ThreadOf(table, kKind, kObject),
                  .name = StringOf(name),
                  .id = id,
                  .is_of_process = table.IntOr(kKind, 0) == kProcessObject,
                  .start_ns = *time};
      const int64_t domain = table.IntOr(kDomain, 0);
      if (domain != 0) range.domain = StringOf(domain);
      if (table.IntOr(kFlags, 0) & kInstantMarker) {
        AddRange(range, model::kEventInstant);
      } else if (check_.AddMarkerStart(id, *time)) {
        ranges.push_back(range);
      }
    }
    AddRanges(ranges, ends);
  }

  void AddRanges(std::vector<Range>& ranges,
                 absl::flat_hash_map<int64_t, TimeNs>& ends) {
    for (Range& range : ranges) {
      const auto end = ends.find(range.id);
      if (end != ends.end()) {
        range.end_ns = end->second;
        ends.erase(end);
      }
      AddRange(range, range.is_of_process ? model::kEventAsync : 0);
    }
    if (ends.empty()) return;
    rows_.findings().Add(Severity::kWarning, "marker_without_start",
                         "a range of NVTX ends that did not begin",
                         ends.size());
  }

  void AddRange(const Range& range, int flags) {
    rows_.BeginDetail(range.id > 0 ? uint64_t(range.id) : 0);
    if (range.domain != model::kEmptyName) {
      rows_.AddArg("domain", rows_.Name(range.domain));
    }
    rows_.Add(
        rows_.Thread(range.thread.pid, range.thread.tid),
        {.start_ns = range.start_ns,
         .end_ns = range.end_ns,
         .name = range.name,
         .type = flags == model::kEventInstant ? ActivityType::kCpuInstantEvent
                                               : ActivityType::kNvtxRange,
         .flags = static_cast<uint8_t>(flags)});
  }

  // The columns that all work of a device has. Its process is that of the
  // call.
  sqlite::GpuWork WorkOf(Rows& table) {
    sqlite::GpuWork work{.device = table.IntOr(kDevice, 0),
                         .stream = table.IntOr(kStream, 0),
                         .context = table.Int(kContext),
                         .start_ns = table.Int(kStart),
                         .end_ns = table.Int(kEnd),
                         .correlation = table.IntOr(kCorrelation, 0)};
    const auto call = pid_of_call_.find(work.correlation);
    if (call != pid_of_call_.end()) {
      work.pid = call->second;
    } else if (first_thread_.has_value()) {
      work.pid = first_thread_->pid;
    }
    return work;
  }

  // One table or the other: kernels are serialised or they are not.
  void ReadKernels() {
    ReadKernels("CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL");
    ReadKernels("CUPTI_ACTIVITY_KIND_KERNEL");
  }

  void ReadKernels(const char* name) {
    enum {
      kName = kFirstOwn,
      kGrid,
      kBlock = kGrid + 3,
      kRegisters = kBlock + 3,
      kStatic,
      kDynamic
    };
    Rows table = db_.Read(name,
                          {KYMO_NVPROF_GPU_COLUMNS,
                           {"name", kRequired},
                           {"gridX"},
                           {"gridY"},
                           {"gridZ"},
                           {"blockX"},
                           {"blockY"},
                           {"blockZ"},
                           {"registersPerThread"},
                           {"staticSharedMemory"},
                           {"dynamicSharedMemory"}},
                          rows_.findings());
    while (table.Next()) {
      const sqlite::GpuWork work = WorkOf(table);
      check_.AddKernel(work.correlation);
      sqlite::KernelShape shape{.registers = table.Int(kRegisters),
                                .static_shared_bytes = table.Int(kStatic),
                                .dynamic_shared_bytes = table.Int(kDynamic)};
      for (size_t i = 0; i < 3; ++i) {
        shape.grid[i] = table.Int(kGrid + i);
        shape.block[i] = table.Int(kBlock + i);
      }
      sqlite::AddKernel(rows_, work, StringOf(table.Int(kName)), shape);
    }
  }

  void ReadCopies() {
    enum { kKind = kFirstOwn, kSource, kDestination, kBytes, kRuntimeId };
    Rows table = db_.Read("CUPTI_ACTIVITY_KIND_MEMCPY",
                          {KYMO_NVPROF_GPU_COLUMNS,
                           {"copyKind"},
                           {"srcKind"},
                           {"dstKind"},
                           {"bytes"},
                           {"runtimeCorrelationId"}},
                          rows_.findings());
    while (table.Next()) {
      sqlite::GpuWork work = WorkOf(table);
      // An older name for the same id.
      if (!pid_of_call_.contains(work.correlation) &&
          table.IntOr(kRuntimeId, 0) != 0) {
        work.correlation = table.IntOr(kRuntimeId, 0);
      }
      sqlite::AddCopy(rows_, work,
                      {.kind = table.IntOr(kKind, 0),
                       .source = table.IntOr(kSource, 0),
                       .destination = table.IntOr(kDestination, 0),
                       .bytes = table.Int(kBytes)});
    }
    ReadPeerCopies();
  }

  void ReadPeerCopies() {
    enum { kKind = kFirstOwn, kSource, kDestination, kBytes, kFrom, kTo };
    Rows table = db_.Read("CUPTI_ACTIVITY_KIND_MEMCPY2",
                          {KYMO_NVPROF_GPU_COLUMNS,
                           {"copyKind"},
                           {"srcKind"},
                           {"dstKind"},
                           {"bytes"},
                           {"srcDeviceId"},
                           {"dstDeviceId"}},
                          rows_.findings());
    while (table.Next()) {
      sqlite::AddCopy(rows_, WorkOf(table),
                      {.kind = table.IntOr(kKind, 0),
                       .source = table.IntOr(kSource, 0),
                       .destination = table.IntOr(kDestination, 0),
                       .bytes = table.Int(kBytes),
                       .source_device = table.Int(kFrom),
                       .destination_device = table.Int(kTo)});
    }
  }

  void ReadMemsets() {
    enum { kBytes = kFirstOwn, kKind };
    Rows table = db_.Read("CUPTI_ACTIVITY_KIND_MEMSET",
                          {KYMO_NVPROF_GPU_COLUMNS, {"bytes"}, {"memoryKind"}},
                          rows_.findings());
    while (table.Next()) {
      sqlite::AddMemset(rows_, WorkOf(table), table.IntOr(kKind, 0),
                        table.Int(kBytes));
    }
  }

  void ReadSyncs() {
    enum { kType = kFirstOwn, kEvent };
    Rows table = db_.Read("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                          {KYMO_NVPROF_GPU_COLUMNS, {"type"}, {"cudaEventId"}},
                          rows_.findings());
    while (table.Next()) {
      sqlite::AddSync(rows_, WorkOf(table), table.IntOr(kType, 0),
                      table.Int(kEvent));
    }
  }

  void ReadOverheads() {
    enum { kFrom, kTo, kWhat, kKind, kObject };
    Rows table = db_.Read("CUPTI_ACTIVITY_KIND_OVERHEAD",
                          {{"start", kRequired},
                           {"end", kRequired},
                           {"overheadKind"},
                           {"objectKind"},
                           {"objectId"}},
                          rows_.findings());
    while (table.Next()) {
      const ThreadId thread = ThreadOf(table, kKind, kObject);
      rows_.Add(rows_.Thread(thread.pid, thread.tid),
                {.start_ns = table.Int(kFrom),
                 .end_ns = table.Int(kTo),
                 .name = rows_.Intern(OverheadName(table.IntOr(kWhat, 0))),
                 .type = ActivityType::kOverhead});
    }
  }

  // CUpti_ActivityOverheadKind in Kineto's words.
  static std::string_view OverheadName(int64_t kind) {
    switch (kind) {
      case 1:
        return "Driver Compiler";
      case 1 << 16:
        return "Buffer Flush";
      case 2 << 16:
        return "Instrumentation";
      case 3 << 16:
        return "Resource";
      default:
        return "Overhead";
    }
  }

  const Database& db_;
  ShardRows& rows_;
  LaunchCheck check_;
  absl::flat_hash_map<int64_t, NameId> strings_;
  absl::flat_hash_map<int64_t, int64_t> pid_of_call_;  // by correlation id
  std::optional<ThreadId> first_thread_;               // that made a call
  bool has_threads_ = false;                           // more than one did
};

#undef KYMO_NVPROF_GPU_COLUMNS

}  // namespace

absl::Status ReadDatabase(const Database& database, bool strict,
                          const std::function<void(double)>& progress,
                          ShardRows& rows) {
  return Reader(database, rows).Run(strict, progress);
}

}  // namespace kymo::nvprof
