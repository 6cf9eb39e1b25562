// trace_exporter.h - the contract between a finished trace and one file format.
// To write an exporter of yours, derive from TraceExporter at namespace scope:
//
//   class CountExporter final : public kymo::TraceExporter {
//    public:
//     const kymo::PluginInfo& info() const noexcept override { return info_; }
//
//     absl::StatusOr<std::vector<std::string>> Export(
//         const kymo::model::Trace& trace, const kymo::ExportOptions&,
//         kymo::OutputDirectory& out) const override {
//       auto sink = out.Open("count.txt");
//       if (!sink.ok()) return sink.status();
//       absl::Status status =
//           (*sink)->Append(std::to_string(trace.event_count()));
//       if (status.ok()) status = (*sink)->Commit();
//       if (!status.ok()) return status;
//       return std::vector<std::string>{"count.txt"};
//     }
//
//    private:
//     const kymo::PluginInfo info_ = {.name = "count",
//                                     .purpose = "the number of events"};
//   };
//
// An exporter turns a trace into the files of its format. It has no state
// between calls. The same trace and options give the same bytes, whatever the
// number of threads. docs/add-an-exporter.md shows a whole one.
//
// There is no trace of a recording that is larger than memory, but there are
// sums: averages by name and by call path
// (profiler/analysis/averages/window_sums.h). An exporter that has files for
// sums sets info().exports_sums.
//
// Threads:   Export may run concurrently with other exporters on one trace.
// Errors:    a Status that names the file. No file then has its final name.
// Ownership: Export borrows its arguments until it returns.
#ifndef KYMO_PROFILER_PLUGIN_TRACE_EXPORTER_H_
#define KYMO_PROFILER_PLUGIN_TRACE_EXPORTER_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/plugin_info.h"
#include "profiler/plugin/sink.h"

namespace kymo::analysis {
class LazyJobOfRanks;
class LazyMemoryProfiles;
class RankSums;
class WindowSums;
}  // namespace kymo::analysis

namespace kymo {

// What the files of a run do not show of the trace, although it is there.
struct ExportNotes {
  std::vector<std::string> notices;  // for people: what, why, and what to do
  model::LossLedger ledger;          // kEventsFolded, kStacksFolded
};

struct ExportOptions {
  bool gzip = false;  // compress, if the format has a compressed form
  // The most bytes that the files of this exporter should take together. An
  // exporter with info().takes_max_bytes first compresses, and then folds what
  // is still too large. 0: any number.
  uint64_t max_bytes = 0;
  // The timeline is read again, as rank 0 of a job reads those of the ranks:
  // trace.json has every range, also if it is then larger than max_bytes.
  bool keeps_ranges = false;
  // An earlier trace, with which an exporter that has info().compares compares
  // the one that it gets. Null: none.
  const model::Trace* before = nullptr;
  // The averages of all ranks of a job, if the trace has only some of them.
  // Null: it is no such trace.
  const analysis::RankSums* job = nullptr;
  // The memory profiles of the trace, made for the first exporter that asks
  // (profiler/analysis/memory/lazy_profiles.h). Null: nobody shares them.
  const analysis::LazyMemoryProfiles* memory = nullptr;
  // The same of the ranks of a job (profiler/analysis/ranks/lazy_job.h).
  const analysis::LazyJobOfRanks* ranks = nullptr;
  // Holds what earlier exporters of the run noted. This exporter adds its own.
  // May be null.
  ExportNotes* notes = nullptr;
  // Called now and then with the finished part, 0 to 1, by one thread at a
  // time. It may be empty.
  std::function<void(double)> progress;
  // Further settings by their full names (settings.h). The caller has checked
  // them.
  SettingMap settings;
};

// The single allocations and frees of the heap that files show.
struct HeapRecordNeed {
  static constexpr uint64_t kAll = ~uint64_t{0};

  // A heap of at most so many is shown one by one. Of more, sums are enough
  // (profiler/model/folded_memory.h).
  uint64_t most = kAll;
  // For kAll: the option that needs them, as a user writes it.
  std::string option = {};
};

class TraceExporter {
 public:
  TraceExporter() = default;
  TraceExporter(const TraceExporter&) = delete;
  TraceExporter& operator=(const TraceExporter&) = delete;
  virtual ~TraceExporter() = default;

  // Never changes. `info().name` is also the word for --export.
  virtual const PluginInfo& info() const noexcept = 0;

  // Writes the files of this format into `out` and returns their names in it.
  virtual absl::StatusOr<std::vector<std::string>> Export(
      const model::Trace& trace, const ExportOptions& options,
      OutputDirectory& out) const = 0;

  // A collector that asks all exporters of a run keeps sums instead of records
  // that no file would show. So a trace may hold either: an exporter that says
  // less than kAll reads both.
  virtual HeapRecordNeed HeapRecordsNeeded(
      const ExportOptions& /*options*/) const {
    return {.option = "--export=" + info().name};
  }

  // The option that only a whole trace can satisfy, as a user writes it on the
  // command line ("--stacks_metric"). Empty: ExportSums gives everything.
  virtual std::string BeyondSums(const ExportOptions& /*options*/) const {
    return info().exports_sums ? "" : "--export=" + info().name;
  }

  // As Export, but from the sums of a recording that is larger than memory.
  // Leaves out the files of the option that BeyondSums names.
  virtual absl::StatusOr<std::vector<std::string>> ExportSums(
      const analysis::WindowSums& /*sums*/, const ExportOptions& /*options*/,
      OutputDirectory& /*out*/) const {
    return absl::UnimplementedError(info().name + ": needs the whole trace");
  }
};

}  // namespace kymo

#endif  // KYMO_PROFILER_PLUGIN_TRACE_EXPORTER_H_
