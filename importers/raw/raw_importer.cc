#include "importers/raw/raw_importer.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/raw/raw_file.h"
#include "backends/cpu/raw/raw_windows.h"
#include "backends/cpu/trace_memory.h"
#include "profiler/base/status_macros.h"

namespace kymo {
namespace {

std::string Setting(const ImportOptions& options, const std::string& name,
                    const char* otherwise) {
  const auto it = options.settings.find(name);
  return it == options.settings.end() ? otherwise : it->second;
}

// When a file is read in windows.
absl::StatusOr<std::string> ReadWhen(const ImportOptions& options) {
  std::string when = Setting(options, "windows", "auto");
  if (when == "auto" || when == "always" || when == "never") return when;
  return absl::InvalidArgumentError(absl::StrCat(
      "windows is '", when, "'; it takes one of: always, auto, never"));
}

class RawImporter : public TraceImporter {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  bool Recognizes(std::string_view head) const override {
    return cpu::BeginsLikeRawFile(head);
  }

  absl::StatusOr<ImportedTrace> Import(
      const std::string& path, const ImportOptions& options) const override {
    KYMO_RETURN_IF_ERROR(ReadWhen(options).status());
    KYMO_ASSIGN_OR_RETURN(cpu::RawRecording raw, cpu::ReadRawFile(path));
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
           .message = "the file ends within a chunk, or holds what is none",
           .count = 1,
           .first_offset = raw.first_cut_byte});
    }
    trace.shards.push_back(std::move(raw.shard));
    return trace;
  }

  absl::StatusOr<std::optional<LargeTrace>> OpenLarge(
      const std::string& path, const ImportOptions& options) const override {
    KYMO_ASSIGN_OR_RETURN(const std::string when, ReadWhen(options));
    if (when == "never") return std::nullopt;
    KYMO_ASSIGN_OR_RETURN(const uint64_t limit,
                          cpu::MemoryLimit(Setting(options, "max_memory", "")));
    KYMO_ASSIGN_OR_RETURN(
        std::unique_ptr<cpu::RawWindows> windows,
        cpu::RawWindows::Open(path, cpu::WindowBytesFor(limit)));
    const uint64_t record_bytes = windows->chunk_bytes();
    const uint64_t trace_bytes = cpu::TraceMemoryBytes(record_bytes);
    if (when == "auto" && trace_bytes <= limit) return std::nullopt;
    return LargeTrace{.windows = std::move(windows),
                      .record_bytes = record_bytes,
                      .trace_bytes = trace_bytes,
                      .memory_limit = limit,
                      .whole_flag = "--windows=never"};
  }

 private:
  const PluginInfo info_ = {
      .name = "raw",
      .purpose =
          "what //tools:profile --keep_raw=1 kept, also if it was killed",
      .options = {
          {"windows", "auto",
           "for a recording that is larger than memory: the table and the "
           "folded stacks from one part after the other: auto, always, "
           "never"},
          {"max_memory", "",
           "what auto goes by: memory that a trace may take, as 512MiB or "
           "4GiB; default: three quarters of what is left"}}};
};

}  // namespace

std::unique_ptr<TraceImporter> NewRawImporter() {
  return std::make_unique<RawImporter>();
}

}  // namespace kymo
