#include "importers/parquet/parquet_importer.h"

#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "importers/parquet/part_files.h"
#include "importers/parquet/shard_reader.h"
#include "importers/parquet/shard_tables.h"
#include "profiler/base/status_macros.h"
#include "profiler/parquet/format.h"

namespace kymo {
namespace {

using parquet_import::PartFiles;

class ParquetImporter final : public TraceImporter {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  bool Recognizes(std::string_view head) const override {
    return head.starts_with(parquet::kMagic);
  }

  absl::StatusOr<ImportedTrace> Import(
      const std::string& path, const ImportOptions& options) const override {
    KYMO_ASSIGN_OR_RETURN(const PartFiles files, PartFiles::Open(path));
    if (files.value_count() >
        static_cast<uint64_t>(options.max_unpacked_bytes) / sizeof(int64_t)) {
      return absl::ResourceExhaustedError(
          absl::StrCat(path, ": its tables have ", files.value_count(),
                       " values, which take more than ",
                       options.max_unpacked_bytes, " bytes"));
    }
    ImportedTrace trace;
    trace.start_ns = files.Fact("kymo.start_ns");
    trace.end_ns = files.Fact("kymo.end_ns");
    if (!parquet_import::IsTime(trace.start_ns) ||
        !parquet_import::IsTime(trace.end_ns) ||
        trace.end_ns < trace.start_ns) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": the recording has impossible times"));
    }
    if (!files.missing().empty()) {
      trace.findings.push_back(
          {.severity = ImportFinding::Severity::kNote,
           .rule = "table_missing",
           .message = absl::StrCat("these tables have no file beside it: ",
                                   absl::StrJoin(files.missing(), ", ")),
           .count = files.missing().size()});
    }
    KYMO_ASSIGN_OR_RETURN(model::TraceShard shard,
                          parquet_import::ReadShard(files));
    trace.shards.push_back(std::move(shard));
    if (options.progress) options.progress(1.0);
    return trace;
  }

 private:
  const PluginInfo info_ = {.name = "parquet",
                            .purpose = "tables that `--export=parquet` wrote"};
};

}  // namespace

std::unique_ptr<TraceImporter> NewParquetImporter() {
  return std::make_unique<ParquetImporter>();
}

}  // namespace kymo
