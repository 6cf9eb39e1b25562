#include "importers/raw/raw_importer.h"

#include <string>
#include <string_view>
#include <utility>

#include "backends/cpu/raw/raw_file.h"
#include "profiler/base/status_macros.h"

namespace kymo {
namespace {

class RawImporter : public TraceImporter {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  bool Recognizes(std::string_view head) const override {
    return cpu::BeginsLikeRawFile(head);
  }

  absl::StatusOr<ImportedTrace> Import(const std::string& path,
                                       const ImportOptions&) const override {
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
