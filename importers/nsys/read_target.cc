#include <optional>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "importers/nsys/nsys_file.h"
#include "importers/sqlite/device_json.h"
#include "profiler/base/strings.h"
#include "profiler/text/python_text.h"

namespace kymo::nsys {
namespace {

using sqlite::kRequired;
using sqlite::Rows;
using sqlite::Severity;

// Times count from the session's start: adds that start to them.
void ReadClock(File& file) {
  Rows table = file.db.Read("TARGET_INFO_SESSION_START_TIME",
                            {{"utcEpochNs", kRequired}}, file.rows.findings());
  while (table.Next()) {
    const std::optional<int64_t> start = table.Int(0);
    if (!start || *start < 0 || *start > sqlite::kLastTime) continue;
    file.rows.SetOffset(*start);
    return;
  }
  file.rows.findings().Add(Severity::kNote, "no_session_start",
                           "times count from the start of the session: when "
                           "that was is not in the file");
}

// Checks the version, which is "3.16.1", or one row for each of its parts.
void CheckVersion(File& file) {
  enum { kName, kValue };
  Rows table = file.db.Read("META_DATA_EXPORT",
                            {{"name", kRequired}, {"value", kRequired}},
                            file.rows.findings());
  std::string version;
  while (table.Next()) {
    const std::string name(table.Text(kName));
    if (name == "EXPORT_SCHEMA_VERSION" ||
        (name == "EXPORT_SCHEMA_VERSION_MAJOR" && version.empty())) {
      version = std::string(table.Text(kValue));
    }
  }
  if (version.empty()) return;
  file.rows.AddMetadata("nsys schema version", PythonJsonString(version));
  const std::string major = version.substr(0, version.find('.'));
  if (major == "2" || major == "3") return;
  file.rows.findings().Add(
      Severity::kWarning, "schema_unknown",
      absl::StrCat("the schema has version ", version,
                   ", but only 2 and 3 are known: tables may be misread"));
}

void ReadHost(File& file) {
  enum { kName, kValue };
  Rows table = file.db.Read("TARGET_INFO_SYSTEM_ENV",
                            {{"name", kRequired}, {"value", kRequired}},
                            file.rows.findings());
  while (table.Next()) {
    if (table.Text(kName) != "Hostname") continue;
    file.rows.AddMetadata("host name", PythonJsonString(table.Text(kValue)));
    return;
  }
}

void ReadDevices(File& file) {
  enum { kId, kName, kMemory, kProcessors, kMajor, kMinor };
  Rows table = file.db.Read("TARGET_INFO_GPU",
                            {{"id", kRequired},
                             {"name"},
                             {"totalMemory"},
                             {"smCount"},
                             {"computeMajor"},
                             {"computeMinor"}},
                            file.rows.findings());
  std::vector<sqlite::DeviceProperties> devices;
  while (table.Next()) {
    devices.push_back({.id = table.IntOr(kId, 0),
                       .name = std::string(table.Text(kName)),
                       .memory_bytes = table.Int(kMemory),
                       .compute_major = table.Int(kMajor),
                       .compute_minor = table.Int(kMinor),
                       .multiprocessors = table.Int(kProcessors)});
  }
  if (devices.empty()) return;
  file.rows.AddMetadata("deviceProperties",
                        sqlite::DevicePropertiesJson(devices));
}

void ReadProcesses(File& file) {
  enum { kGlobal, kName };
  Rows table = file.db.Read("PROCESSES", {{"globalPid", kRequired}, {"name"}},
                            file.rows.findings());
  while (table.Next()) {
    const std::optional<int64_t> global = table.Int(kGlobal);
    if (!global.has_value()) continue;
    file.rows.SetProcessName(ThreadOf(*global).pid, table.Text(kName));
  }
}

// Threads without a name get no track here: machines have thousands of them.
void ReadThreads(File& file) {
  enum { kName, kGlobal };
  Rows table = file.db.Read("ThreadNames",
                            {{"nameId", kRequired}, {"globalTid", kRequired}},
                            file.rows.findings());
  while (table.Next()) {
    const std::optional<int64_t> global = table.Int(kGlobal);
    if (!global.has_value() || !table.Int(kName).has_value()) continue;
    const ThreadId thread = ThreadOf(*global);
    file.rows.SetThreadName(thread.pid, thread.tid,
                            file.StringOf(table.Int(kName)));
  }
}

}  // namespace

model::NameId File::StringOf(std::optional<int64_t> id) {
  const auto it = strings.find(id.value_or(-1));
  if (it != strings.end()) return it->second;
  const std::string text = id ? absl::StrCat("string ", *id) : "(no name)";
  rows.findings().Add(Severity::kWarning, "string_missing",
                      absl::StrCat("a name is not in StringIds: ", text));
  return rows.Intern(text);
}

void ReadStrings(File& file) {
  enum { kId, kValue };
  Rows table =
      file.db.Read("StringIds", {{"id", kRequired}, {"value", kRequired}},
                   file.rows.findings());
  while (table.Next()) {
    const std::optional<int64_t> id = table.Int(kId);
    if (id.has_value())
      file.strings[*id] = file.rows.Intern(table.Text(kValue));
  }
}

void ReadTarget(File& file) {
  ReadClock(file);
  CheckVersion(file);
  ReadHost(file);
  ReadDevices(file);
  ReadProcesses(file);
  ReadThreads(file);
}

}  // namespace kymo::nsys
