// trace_importer.h - the contract between one file format and a trace.
//
//   #include "profiler/plugin/registry.h"
//
//   kymo::ImporterRegistry registry;   // RegisterBuiltinImporters() fills it
//   const kymo::TraceImporter* const importer = registry.Find("chrome");
//   if (importer == nullptr) return absl::NotFoundError(registry.Names());
//   absl::StatusOr<kymo::ImportedTrace> imported =
//       importer->Import("trace.json", {});
//   if (!imported.ok()) return imported.status();
//   for (const kymo::ImportFinding& finding : imported->findings) {
//     Print(finding.rule, finding.message);   // what is wrong with the file
//   }
//
// An importer turns a file of its format into shards. Normalisation makes a
// Trace of them, so every analysis and exporter works on it as on a recording.
//
// A file that is cut off or wrong in places is no error: the importer reads
// what it can. The findings and the shards' ledgers say what it could not read.
//
// Threads:   Import may run concurrently on several files.
// Errors:    kNotFound, kPermissionDenied: the file cannot be read.
//   kInvalidArgument: it is not of this format; the message says at which byte.
//   kResourceExhausted: it is over a limit of the options.
// Ownership: the caller owns the result.
#ifndef KYMO_PROFILER_PLUGIN_TRACE_IMPORTER_H_
#define KYMO_PROFILER_PLUGIN_TRACE_IMPORTER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/base/time.h"
#include "profiler/model/trace_shard.h"
#include "profiler/plugin/plugin_info.h"
#include "profiler/plugin/trace_windows.h"

namespace kymo {

struct ImportOptions {
  // A compressed file may unpack to this many bytes.
  int64_t max_unpacked_bytes = int64_t{64} << 30;
  // Called now and then with the finished part, 0 to 1, by the importing
  // thread. It may be empty.
  std::function<void(double)> progress;
  // Further settings by their full names (settings.h). The caller has checked
  // them.
  SettingMap settings;
};

// One kind of mistake in a file.
struct ImportFinding {
  enum class Severity : uint8_t {
    kNote,     // unusual, but its meaning is clear
    kWarning,  // read in part, or with a guess
    kError,    // the format does not allow it
  };
  Severity severity = Severity::kWarning;
  std::string rule;     // stable, lower_snake: "duration_negative"
  std::string message;  // one sentence about the first mistake of this kind
  uint64_t count = 0;
  uint64_t first_offset = 0;  // byte of the unpacked file; 0: not known
};

struct ImportedTrace {
  std::vector<model::TraceShard> shards;
  // The time of the recording, if the file says it. Both 0: from the first
  // event to the last.
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
  std::vector<ImportFinding> findings;
};

class TraceImporter {
 public:
  TraceImporter() = default;
  TraceImporter(const TraceImporter&) = delete;
  TraceImporter& operator=(const TraceImporter&) = delete;
  virtual ~TraceImporter() = default;

  // Never changes.
  virtual const PluginInfo& info() const noexcept = 0;

  // Whether a file that begins with these bytes is likely of this format.
  // `head` has up to 64 KiB, which are unpacked if the file is gzip.
  virtual bool Recognizes(std::string_view head) const = 0;

  // Reads the file at `path`.
  virtual absl::StatusOr<ImportedTrace> Import(
      const std::string& path, const ImportOptions& options) const = 0;

  // The file in windows, if the importer can read it so and either its trace
  // does not fit into memory or the settings ask for windows. Otherwise
  // nothing: Import reads the file as a whole.
  virtual absl::StatusOr<std::optional<LargeTrace>> OpenLarge(
      const std::string& /*path*/, const ImportOptions& /*options*/) const {
    return std::nullopt;
  }
};

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_TRACE_IMPORTER_H_
