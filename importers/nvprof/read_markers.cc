#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "importers/nvprof/nvprof_file.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/records.h"

namespace kymo::nvprof {
namespace {

using model::ActivityType;
using model::NameId;
using sqlite::kRequired;
using sqlite::Rows;

constexpr int64_t kInstantFlag = 1;  // of a marker

// A little-endian number of 4 bytes. REQUIRES: 4 bytes at `at`.
int64_t Number32(std::string_view bytes, size_t at) {
  int64_t value = 0;
  for (size_t i = 4; i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  }
  return value;
}

// CUpti_ActivityOverheadKind in Kineto's words.
std::string_view OverheadName(int64_t kind) {
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

struct Range {
  ThreadId thread;
  NameId name = model::kEmptyName;
  NameId domain = model::kEmptyName;
  int64_t id = 0;
  bool is_of_process = false;
  TimeNs start_ns = 0;
  std::optional<TimeNs> end_ns;
};

class MarkerReader {
 public:
  explicit MarkerReader(File& file) : file_(file) {}

  void Run() {
    Rows table = file_.db.Read("CUPTI_ACTIVITY_KIND_MARKER",
                               {{"id", kRequired},
                                {"timestamp", kRequired},
                                {"name", kRequired},
                                {"flags"},
                                {"objectKind"},
                                {"objectId"},
                                {"domain"}},
                               file_.rows.findings());
    while (table.Next()) ReadRow(table);
    JoinEnds();
  }

 private:
  enum { kId, kTime, kName, kFlags, kKind, kObject, kDomain };

  // A row with a name begins a range, or is an instant. An end has no name.
  void ReadRow(Rows& table) {
    const int64_t id = table.IntOr(kId, 0);
    const std::optional<int64_t> time = table.Int(kTime);
    if (!time.has_value()) {
      file_.rows.LeaveOut(sqlite::Severity::kError, "time_impossible",
                          "a marker of NVTX has no time");
      return;
    }
    const int64_t name = table.IntOr(kName, 0);
    if (name == 0) {
      if (file_.check.AddMarkerEnd(id, *time)) ends_[id] = *time;
      return;
    }
    Range range{.thread = file_.ThreadOf(table, kKind, kObject),
                .name = file_.StringOf(name),
                .id = id,
                .is_of_process = table.IntOr(kKind, 0) == kProcessObject,
                .start_ns = *time};
    const int64_t domain = table.IntOr(kDomain, 0);
    if (domain != 0) range.domain = file_.StringOf(domain);
    if (table.IntOr(kFlags, 0) & kInstantFlag) {
      Add(range, model::kEventInstant);
    } else if (file_.check.AddMarkerStart(id, *time)) {
      ranges_.push_back(range);
    }
  }

  void JoinEnds() {
    for (Range& range : ranges_) {
      const auto end = ends_.find(range.id);
      if (end != ends_.end()) {
        range.end_ns = end->second;
        ends_.erase(end);
      }
      Add(range, range.is_of_process ? model::kEventAsync : 0);
    }
    if (ends_.empty()) return;
    file_.rows.findings().Add(
        sqlite::Severity::kWarning, "marker_without_start",
        "a range of NVTX ends that did not begin", ends_.size());
  }

  void Add(const Range& range, int flags) {
    file_.rows.BeginDetail(range.id > 0 ? uint64_t(range.id) : 0);
    if (range.domain != model::kEmptyName) {
      file_.rows.AddArg("domain", file_.rows.Name(range.domain));
    }
    file_.rows.Add(
        file_.rows.Thread(range.thread.pid, range.thread.tid),
        {.start_ns = range.start_ns,
         .end_ns = range.end_ns,
         .name = range.name,
         .type = flags == model::kEventInstant ? ActivityType::kCpuInstantEvent
                                               : ActivityType::kNvtxRange,
         .flags = static_cast<uint8_t>(flags)});
  }

  File& file_;
  std::vector<Range> ranges_;
  absl::flat_hash_map<int64_t, TimeNs> ends_;
};

}  // namespace

// A process takes 4 bytes. A thread takes 4 bytes for its process and 8 for
// itself; calls have the lower 4 of these.
ThreadId File::ThreadOf(Rows& table, size_t kind_column,
                        size_t id_column) const {
  const int64_t kind = table.IntOr(kind_column, 0);
  const std::string_view id = table.Blob(id_column);
  if (kind == kThreadObject && id.size() >= 8) {
    return {Number32(id, 0), Number32(id, 4)};
  }
  if (kind == kProcessObject && id.size() >= 4) {
    return {Number32(id, 0), Number32(id, 0)};
  }
  return has_threads || !first_thread ? ThreadId() : *first_thread;
}

void ReadMarkers(File& file) { MarkerReader(file).Run(); }

void ReadOverheads(File& file) {
  enum { kStart, kEnd, kWhat, kKind, kObject };
  Rows table = file.db.Read("CUPTI_ACTIVITY_KIND_OVERHEAD",
                            {{"start", kRequired},
                             {"end", kRequired},
                             {"overheadKind"},
                             {"objectKind"},
                             {"objectId"}},
                            file.rows.findings());
  while (table.Next()) {
    const ThreadId thread = file.ThreadOf(table, kKind, kObject);
    file.rows.Add(
        file.rows.Thread(thread.pid, thread.tid),
        {.start_ns = table.Int(kStart),
         .end_ns = table.Int(kEnd),
         .name = file.rows.Intern(OverheadName(table.IntOr(kWhat, 0))),
         .type = ActivityType::kOverhead});
  }
}

}  // namespace kymo::nvprof
