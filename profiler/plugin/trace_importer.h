// trace_importer.h - the contract between a file that some tool wrote and a
// trace.
//
// An importer turns a file of its format into shards, which normalisation makes
// a Trace of: every analysis and exporter then serves it like a recording.
//
//   KYMO_ASSIGN_OR_RETURN(ImportedTrace imported, importer->Import(path, {}));
//   // imported.findings: what is wrong with the file, though it could be read
//
// Threads:   Import may run concurrently on several files.
// Errors:    kNotFound, kPermissionDenied  the file cannot be read
//            kInvalidArgument              it is not of this format; the
//                                          message says where (byte offset)
//            kResourceExhausted            over a limit of the options
// A file that is cut off or wrong in places is no error: what can be read is,
// and the shards' ledger and the findings say what was not.
#ifndef KYMO_PROFILER_PLUGIN_TRACE_IMPORTER_H_
#define KYMO_PROFILER_PLUGIN_TRACE_IMPORTER_H_

#include <cstdint>
#include <functional>
#include <map>
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
  // Most bytes that a compressed file may unpack to.
  int64_t max_unpacked_bytes = int64_t{64} << 30;
  // Called now and then from the importing thread with done / total in 0..1.
  // May be empty.
  std::function<void(double)> progress;
  // Further settings by name, as the importer's PluginInfo lists them.
  std::map<std::string, std::string> settings;
};

// One kind of thing that is wrong with a file.
struct ImportFinding {
  enum class Severity : uint8_t {
    kNote,     // odd, and read as it was meant
    kWarning,  // read in part, or guessed
    kError,    // not what the format allows
  };
  Severity severity = Severity::kWarning;
  std::string rule;     // stable, lower_snake: "duration_negative"
  std::string message;  // one sentence about the first of them
  uint64_t count = 0;
  uint64_t first_offset =
      0;  // in bytes of the (unpacked) file, where it is one
};

struct ImportedTrace {
  std::vector<model::TraceShard> shards;
  // The recording's window, where the file tells; both 0 = from the first to
  // the last event.
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

  // Constant.
  virtual const PluginInfo& info() const noexcept = 0;

  // Whether a file that begins with these bytes (up to 64 KiB, unpacked if it
  // is gzip) is likely one of this format.
  virtual bool Recognizes(std::string_view head) const = 0;

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
