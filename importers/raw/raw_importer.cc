#include "importers/raw/raw_importer.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "backends/stream/raw/raw_file.h"
#include "backends/stream/raw/raw_windows.h"
#include "backends/stream/trace_memory.h"
#include "importers/raw/unpacked_raw.h"
#include "profiler/base/status_macros.h"

namespace kymo {
namespace {

class RawImporter : public TraceImporter {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  bool Recognizes(std::string_view head) const override {
    return stream::BeginsLikeRawFile(head);
  }

  absl::StatusOr<ImportedTrace> Import(
      const std::string& path, const ImportOptions& options) const override {
    KYMO_ASSIGN_OR_RETURN(const RawSettings settings,
                          RawTable().Read(options.settings));
    KYMO_ASSIGN_OR_RETURN(const UnpackedRaw file,
                          UnpackedRaw::Open(path, options.max_unpacked_bytes));
    absl::StatusOr<stream::RawRecording> read = stream::ReadRawFile(
        file.path(), static_cast<uint64_t>(settings.fold_above));
    if (!read.ok()) return file.Named(read.status());
    stream::RawRecording raw = *std::move(read);
    ImportedTrace trace;
    trace.start_ns = raw.start_ns;
    trace.end_ns = raw.end_ns;
    if (!raw.is_complete) {
      trace.findings.push_back(
          {.rule = "collector_died",
           .message = "nobody ended this recording: the command was killed, or "
                      "still runs",
           .count = 1});
    }
    if (raw.cut_bytes != 0) {
      trace.findings.push_back(
          {.rule = "chunk_cut",
           .message =
               "the file ends within a chunk, or has bytes that are no chunk",
           .count = 1,
           .first_offset = raw.first_cut_byte});
    }
    trace.shards.push_back(std::move(raw.shard));
    return trace;
  }

  absl::StatusOr<std::optional<LargeTrace>> OpenLarge(
      const std::string& path, const ImportOptions& options) const override {
    KYMO_ASSIGN_OR_RETURN(const RawSettings settings,
                          RawTable().Read(options.settings));
    if (settings.windows == InWindows::kNever) return std::nullopt;
    const uint64_t limit = stream::MemoryLimit(settings.max_memory);
    KYMO_ASSIGN_OR_RETURN(const UnpackedRaw file,
                          UnpackedRaw::Open(path, options.max_unpacked_bytes));
    absl::StatusOr<std::unique_ptr<stream::RawWindows>> opened =
        stream::RawWindows::Open(file.path(), stream::WindowBytesFor(limit));
    if (!opened.ok()) return file.Named(opened.status());
    std::unique_ptr<stream::RawWindows> windows = *std::move(opened);
    const uint64_t record_bytes = windows->chunk_bytes();
    const uint64_t trace_bytes = stream::TraceMemoryBytes(record_bytes);
    if (settings.windows == InWindows::kAuto && trace_bytes <= limit) {
      return std::nullopt;
    }
    return LargeTrace{.windows = std::move(windows),
                      .record_bytes = record_bytes,
                      .trace_bytes = trace_bytes,
                      .memory_limit = limit,
                      .whole_flag = "--raw_windows=never"};
  }

 private:
  const PluginInfo info_ = {
      .name = "raw",
      .purpose =
          "what `kymo profile --cpu_keep_raw` kept, also if it was killed",
      .settings = RawTable().infos()};
};

}  // namespace

SettingTable<RawSettings> RawTable() {
  using S = RawSettings;
  return SettingTable<S>(
      "raw",
      {{.name = "windows",
        .value = setting::Word(&S::windows, {{"always", InWindows::kAlways},
                                             {"auto", InWindows::kAuto},
                                             {"never", InWindows::kNever}}),
        .purpose = "Read a recording part by part. This gives the table, the "
                   "folded stacks and the summary only. auto does so if the "
                   "trace would take more than raw_max_memory.",
        .old_name = "windows"},
       {.name = "max_memory",
        .value = setting::Bytes(&S::max_memory, stream::kLeastMemoryLimit,
                                stream::kMostMemoryLimit),
        .purpose = "Memory that a trace may take before it is read in "
                   "windows. Default: three quarters of what is left.",
        .old_name = "max_memory"},
       {.name = "fold_above",
        .value = setting::Integer(&S::fold_above, -1,
                                  std::numeric_limits<int64_t>::max()),
        .purpose = "Read sums of allocations and frees if there are more of "
                   "them. -1 = each one. Default: 0 if tables and files show "
                   "sums alone, otherwise -1."}});
}

std::unique_ptr<TraceImporter> NewRawImporter() {
  return std::make_unique<RawImporter>();
}

}  // namespace kymo
