#include "importers/nsys/nsys_importer.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "importers/nsys/nsys_file.h"
#include "importers/sqlite/database.h"
#include "importers/sqlite/shard_rows.h"
#include "profiler/base/status_macros.h"

namespace kymo {
namespace {

using sqlite::Database;
using sqlite::Severity;
using sqlite::ShardRows;

bool HasText(std::string_view head, std::string_view text) {
  return head.find(text) != std::string_view::npos;
}

absl::Status CheckTables(const Database& db) {
  static constexpr const char* kKnown[] = {"NVTX_EVENTS",
                                           "CUPTI_ACTIVITY_KIND_KERNEL",
                                           "CUPTI_ACTIVITY_KIND_RUNTIME",
                                           "CUPTI_ACTIVITY_KIND_MEMCPY",
                                           "OSRT_API",
                                           "META_DATA_EXPORT"};
  const bool is_nsys =
      db.HasTable("StringIds") &&
      std::any_of(std::begin(kKnown), std::end(kKnown),
                  [&](const char* table) { return db.HasTable(table); });
  if (is_nsys) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "a SQLite database, but no export of Nsight Systems, which has StringIds "
      "and one of ",
      absl::StrJoin(kKnown, ", "), "; the tables here: ",
      db.TableNames().empty() ? "none" : absl::StrJoin(db.TableNames(), ", ")));
}

// Adds findings about what a reader of the trace would miss.
void Explain(const Database& db, ShardRows& rows) {
  if (db.CountRows("CUPTI_ACTIVITY_KIND_KERNEL") == 0 &&
      db.CountRows("CUPTI_ACTIVITY_KIND_GRAPH_TRACE") == 0) {
    rows.findings().Add(Severity::kNote, "no_device_work",
                        "no kernels: the session was recorded without CUDA, or "
                        "the program used none");
  } else if (db.CountRows("CUPTI_ACTIVITY_KIND_RUNTIME") == 0) {
    rows.findings().Add(Severity::kWarning, "no_calls",
                        "kernels, but no calls that launched them");
  }
  for (const char* table : {"COMPOSITE_EVENTS", "OSRT_API", "GPU_METRICS",
                            "MPI_P2P_EVENTS", "MPI_COLLECTIVES_EVENTS"}) {
    const int64_t count = db.CountRows(table);
    if (count <= 0) continue;
    rows.findings().Add(Severity::kNote, "table_not_read",
                        absl::StrCat(table, " and the like are not read"),
                        static_cast<uint64_t>(count));
  }
}

class NsysImporter : public TraceImporter {
 public:
  const PluginInfo& info() const noexcept override { return info_; }

  // Accepts any SQLite database but nvprof's: Import says what is missing.
  bool Recognizes(std::string_view head) const override {
    return head.substr(0, 16) == std::string_view("SQLite format 3\0", 16) &&
           !(HasText(head, "StringTable") && HasText(head, "_id_"));
  }

  absl::StatusOr<ImportedTrace> Import(
      const std::string& path, const ImportOptions& options) const override {
    KYMO_ASSIGN_OR_RETURN(const Database database, Database::Open(path));
    const absl::Status status = CheckTables(database);
    if (!status.ok()) {
      return absl::Status(status.code(),
                          absl::StrCat(path, ": ", status.message()));
    }
    ShardRows rows;
    nsys::File file(database, rows);
    using Step = void (*)(nsys::File&);
    static constexpr Step kSteps[] = {
        nsys::ReadStrings, nsys::ReadTarget,     nsys::ReadCalls,
        nsys::ReadNvtx,    nsys::ReadDeviceWork, nsys::ReadDeviceMemory};
    size_t done = 0;
    for (const Step step : kSteps) {
      step(file);
      if (options.progress) {
        options.progress(double(++done) / double(std::size(kSteps)));
      }
    }
    Explain(database, rows);
    return std::move(rows).Finish();
  }

 private:
  const PluginInfo info_ = {
      .name = "nsys",
      .purpose = "SQLite exports of Nsight Systems: NVTX, CUDA, GPU work",
      .maturity = Maturity::kStable,
      .settings = {}};
};

}  // namespace

std::unique_ptr<TraceImporter> NewNsysImporter() {
  return std::make_unique<NsysImporter>();
}

}  // namespace kymo
