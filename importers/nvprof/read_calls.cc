#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "importers/nvprof/api_names.h"
#include "importers/nvprof/nvprof_file.h"
#include "importers/sqlite/device_json.h"
#include "profiler/events/event_names.h"
#include "profiler/model/activity_type.h"

namespace kymo::nvprof {
namespace {

using model::ActivityType;
using sqlite::kRequired;
using sqlite::Rows;

// The low half of a number that was stored with or without its sign.
int64_t Low32(int64_t value) { return value & 0xffffffff; }

void SeeThread(File& file, const ThreadId& thread) {
  if (!file.first_thread.has_value()) {
    file.first_thread = thread;
  } else if (*file.first_thread != thread) {
    file.has_threads = true;
  }
}

void ReadTable(File& file, const char* name, ActivityType type) {
  enum { kId, kCbid, kStart, kEnd, kPid, kTid, kCorrelation, kResult };
  Rows table = file.db.Read(name,
                            {{"_id_"},
                             {"cbid", kRequired},
                             {"start", kRequired},
                             {"end", kRequired},
                             {"processId"},
                             {"threadId"},
                             {"correlationId", kRequired},
                             {"returnValue"}},
                            file.rows.findings());
  const bool is_runtime = type == ActivityType::kCudaRuntime;
  while (table.Next()) {
    const ThreadId thread{Low32(table.IntOr(kPid, 0)),
                          Low32(table.IntOr(kTid, 0))};
    const int64_t cbid = table.IntOr(kCbid, 0);
    const int64_t correlation = table.IntOr(kCorrelation, 0);
    const std::optional<int64_t> start = table.Int(kStart);
    const std::optional<int64_t> end = table.Int(kEnd);
    SeeThread(file, thread);
    file.pid_of_call.try_emplace(correlation, thread.pid);
    file.rows.BeginDetail(correlation > 0 ? uint64_t(correlation) : 0);
    file.rows.AddArg("cbid", cbid);
    if (table.IntOr(kResult, 0) != 0) {
      file.rows.AddArg("returnValue", table.IntOr(kResult, 0));
    }
    file.rows.Add(file.rows.Thread(thread.pid, thread.tid),
                  {.start_ns = start,
                   .end_ns = end,
                   .name = file.rows.Intern(is_runtime ? RuntimeName(cbid)
                                                       : DriverName(cbid)),
                   .type = type});
    if (!is_runtime || !start || !end) continue;
    file.check.AddCall({.row = table.IntOr(kId, 0),
                        .cbid = cbid,
                        .start_ns = *start,
                        .end_ns = *end,
                        .correlation = correlation});
  }
}

}  // namespace

model::NameId File::StringOf(std::optional<int64_t> id) {
  const auto it = strings.find(id.value_or(0));
  if (it != strings.end()) return it->second;
  const std::string text = absl::StrCat("string ", id.value_or(0));
  rows.findings().Add(sqlite::Severity::kWarning, "string_missing",
                      absl::StrCat("a name is not in StringTable: ", text));
  return rows.Intern(text);
}

int64_t File::ProcessOf(int64_t correlation) const {
  const auto call = pid_of_call.find(correlation);
  if (call != pid_of_call.end()) return call->second;
  return first_thread.has_value() ? first_thread->pid : 0;
}

void ReadStrings(File& file) {
  enum { kId, kValue };
  Rows table =
      file.db.Read("StringTable", {{"_id_", kRequired}, {"value", kRequired}},
                   file.rows.findings());
  while (table.Next()) {
    const std::optional<int64_t> id = table.Int(kId);
    if (!id.has_value()) continue;
    file.strings[*id] = file.rows.Intern(
        RewriteName(std::string(table.Text(kValue)), StepNames::kKeep));
  }
}

void ReadDevices(File& file) {
  enum { kId, kName, kMajor, kMinor, kProcessors, kMemory };
  Rows table = file.db.Read("CUPTI_ACTIVITY_KIND_DEVICE",
                            {{"id", kRequired},
                             {"name"},
                             {"computeCapabilityMajor"},
                             {"computeCapabilityMinor"},
                             {"numMultiprocessors"},
                             {"globalMemorySize"}},
                            file.rows.findings());
  std::vector<sqlite::DeviceProperties> devices;
  while (table.Next()) {
    const std::optional<int64_t> name = table.Int(kName);
    devices.push_back(
        {.id = table.IntOr(kId, 0),
         .name = name ? std::string(file.rows.Name(file.StringOf(name))) : "",
         .memory_bytes = table.Int(kMemory),
         .compute_major = table.Int(kMajor),
         .compute_minor = table.Int(kMinor),
         .multiprocessors = table.Int(kProcessors)});
  }
  if (devices.empty()) return;
  file.rows.AddMetadata("deviceProperties",
                        sqlite::DevicePropertiesJson(devices));
}

// Reads runtime calls first: if a driver call shares an id with one, the
// runtime call counts.
void ReadCalls(File& file) {
  ReadTable(file, "CUPTI_ACTIVITY_KIND_RUNTIME", ActivityType::kCudaRuntime);
  ReadTable(file, "CUPTI_ACTIVITY_KIND_DRIVER", ActivityType::kCudaDriver);
}

}  // namespace kymo::nvprof
