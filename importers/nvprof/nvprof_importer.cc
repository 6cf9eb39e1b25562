#include "importers/nvprof/nvprof_importer.h"

#include <cstddef>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "importers/nvprof/nvprof_file.h"
#include "importers/sqlite/database.h"
#include "importers/sqlite/shard_rows.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/settings.h"

namespace kymo {
namespace {

bool HasText(std::string_view head, std::string_view text) {
  return head.find(text) != std::string_view::npos;
}

struct NvprofSettings {
  bool strict = false;
};

SettingTable<NvprofSettings> NvprofTable() {
  return SettingTable<NvprofSettings>(
      "nvprof", {{.name = "strict",
                  .value = setting::Switch(&NvprofSettings::strict),
                  .purpose = "Refuse what PyTorch's load_nvprof refuses.",
                  .old_name = "strict"}});
}

absl::Status CheckTables(const sqlite::Database& db) {
  if (db.HasTable("StringTable")) {
    for (const std::string& table : db.TableNames()) {
      if (table.rfind("CUPTI_ACTIVITY_KIND_", 0) == 0) return absl::OkStatus();
    }
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "not a database of nvprof, which has StringTable and "
      "CUPTI_ACTIVITY_KIND_...; the tables here: ",
      db.TableNames().empty() ? "none" : absl::StrJoin(db.TableNames(), ", ")));
}

// With `is_strict`, what PyTorch would refuse is an error.
absl::Status ReadAll(nvprof::File& file, bool is_strict,
                     const std::function<void(double)>& progress) {
  KYMO_RETURN_IF_ERROR(CheckTables(file.db));
  using Step = void (*)(nvprof::File&);
  static constexpr Step kSteps[] = {
      nvprof::ReadStrings, nvprof::ReadDevices,   nvprof::ReadCalls,
      nvprof::ReadMarkers, nvprof::ReadOverheads, nvprof::ReadDeviceWork};
  size_t done = 0;
  for (const Step step : kSteps) {
    step(file);
    if (progress) progress(double(++done) / double(std::size(kSteps)));
  }
  const absl::Status refused = file.check.Run();
  if (!is_strict || refused.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(refused.message());
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
    KYMO_ASSIGN_OR_RETURN(const NvprofSettings settings,
                          NvprofTable().Read(options.settings));
    KYMO_ASSIGN_OR_RETURN(const sqlite::Database database,
                          sqlite::Database::Open(path));
    sqlite::ShardRows rows;
    nvprof::File file(database, rows);
    const absl::Status status =
        ReadAll(file, settings.strict, options.progress);
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
      .settings = NvprofTable().infos()};
};

}  // namespace

std::unique_ptr<TraceImporter> NewNvprofImporter() {
  return std::make_unique<NvprofImporter>();
}

}  // namespace kymo
