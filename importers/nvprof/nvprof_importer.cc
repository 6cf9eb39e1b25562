#include "importers/nvprof/nvprof_importer.h"

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "importers/nvprof/nvprof_reader.h"
#include "importers/sqlite/database.h"
#include "importers/sqlite/shard_rows.h"
#include "profiler/base/status_macros.h"

namespace kymo {
namespace {

bool HasText(std::string_view head, std::string_view text) {
  return head.find(text) != std::string_view::npos;
}

absl::StatusOr<bool> IsStrict(const ImportOptions& options) {
  const auto setting = options.settings.find("strict");
  if (setting == options.settings.end() || setting->second == "false") {
    return false;
  }
  if (setting->second == "true") return true;
  return absl::InvalidArgumentError(absl::StrCat(
      "nvprof: strict is true or false, not '", setting->second, "'"));
}

class NvprofImporter : public TraceImporter {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  bool Recognizes(std::string_view head) const override {
    return head.substr(0, 16) == std::string_view("SQLite format 3\0", 16) &&
           HasText(head, "StringTable") && HasText(head, "_id_");
  }

  absl::StatusOr<ImportedTrace> Import(
      const std::string& path, const ImportOptions& options) const override {
    KYMO_ASSIGN_OR_RETURN(const bool strict, IsStrict(options));
    KYMO_ASSIGN_OR_RETURN(const sqlite::Database database,
                          sqlite::Database::Open(path));
    sqlite::ShardRows rows;
    const absl::Status status =
        nvprof::ReadDatabase(database, strict, options.progress, rows);
    if (!status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat(path, ": ", status.message()));
    }
    return std::move(rows).Finish();
  }

 private:
  const PluginInfo info_ = {
      .name = "nvprof",
      .purpose = "databases of nvprof: ranges of NVTX, CUDA calls, GPU work",
      .maturity = Maturity::kStable,
      .options = {{.name = "strict",
                   .default_value = "false",
                   .purpose = "refuse what PyTorch's load_nvprof refuses"}}};
};

}  // namespace

std::unique_ptr<TraceImporter> NewNvprofImporter() {
  return std::make_unique<NvprofImporter>();
}

}  // namespace kymo
