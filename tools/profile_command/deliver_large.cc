#include "tools/profile_command/deliver_large.h"

#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "profiler/base/status_macros.h"
#include "profiler/plugin/trace_windows.h"
#include "profiler/report/ledger_text.h"
#include "profiler/report/table.h"
#include "tools/deliver/sum_windows.h"
#include "tools/profile_command/deliver.h"

namespace kymo::tools {
namespace {

constexpr uint64_t kSmallestWindow = uint64_t{1} << 20;

absl::StatusOr<SummedWindows> SumIn(uint64_t window_bytes,
                                    const KeptRecording& kept) {
  try {
    KYMO_ASSIGN_OR_RETURN(const std::unique_ptr<TraceWindows> windows,
                          kept.open(window_bytes));
    return SumWindows(*windows);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        "could not read the recording part by part: not enough memory");
  }
}

// Repeats with ever smaller windows, because the kernel counts more memory for
// this process than a window asks for.
absl::StatusOr<SummedWindows> Sum(const KeptRecording& kept) {
  for (uint64_t window_bytes = kept.window_bytes;; window_bytes /= 4) {
    absl::StatusOr<SummedWindows> summed = SumIn(window_bytes, kept);
    if (!absl::IsResourceExhausted(summed.status()) ||
        window_bytes < kSmallestWindow) {
      return summed;
    }
  }
}

absl::StatusOr<std::string> TableOf(const analysis::WindowSums& sums,
                                    const model::Trace* rest,
                                    const ProfileCommand& command) {
  report::TableOptions options;
  options.sort_by =
      command.sort_by.empty() ? "self_cpu_time_total" : command.sort_by;
  options.row_limit = command.row_limit;
  KYMO_ASSIGN_OR_RETURN(
      std::string text,
      report::FormatTable(report::TableRows(sums.Averages()), options));
  if (rest != nullptr) {
    KYMO_ASSIGN_OR_RETURN(const std::string samples,
                          SamplesTable(*rest, command));
    if (!text.empty() && !samples.empty()) text += '\n';
    text += samples;
  }
  return text + report::LedgerText(sums.ledger());
}

std::vector<std::string> NoticesOn(std::span<const KeptRecording> all,
                                   const ProfileCommand& command,
                                   const ExporterRegistry& exporters) {
  std::vector<std::string> missing;
  for (const std::string& name : command.exporters) {
    if (!exporters.Find(name)->info().exports_sums) missing.push_back(name);
  }
  std::vector<std::string> notices;
  if (!missing.empty()) {
    notices.push_back(
        absl::StrCat("not written, because it needs the whole trace: ",
                     absl::StrJoin(missing, ", ")));
  }
  if (command.group_by_input_shape || command.group_by_stack_n > 0) {
    notices.emplace_back(
        "the rows are by name, because other groups need the whole trace");
  }
  for (const KeptRecording& kept : all) {
    notices.push_back(
        absl::StrCat("everything that was recorded is in ", kept.path,
                     ": `kymo report` reads it part by part",
                     kept.read_flag.empty() ? "" : " with ", kept.read_flag,
                     "; for the whole trace, try a machine with more memory"));
  }
  if (all.size() > 1) {
    notices.push_back(absl::StrCat("the table is that of ", all.front().path,
                                   " alone; `kymo report` makes the others"));
  }
  return notices;
}

}  // namespace

LargeDelivery DeliverLarge(std::span<const KeptRecording> kept,
                           const model::Trace* rest,
                           const ProfileCommand& command,
                           const ExporterRegistry& exporters,
                           OutputDirectory& out) {
  LargeDelivery delivery = {.notices = NoticesOn(kept, command, exporters)};
  absl::StatusOr<SummedWindows> summed = Sum(kept.front());
  analysis::WindowSums sums;
  if (summed.ok()) {
    delivery.notices.insert(delivery.notices.end(), summed->notes.begin(),
                            summed->notes.end());
    sums = std::move(summed->sums);
  } else {
    delivery.status = summed.status();
    delivery.is_read = false;
    if (rest == nullptr) return delivery;
  }
  if (rest != nullptr) sums.SetRest(*rest);
  delivery.ledger = sums.ledger();
  absl::StatusOr<std::string> table = TableOf(sums, rest, command);
  if (table.ok()) {
    delivery.table = *std::move(table);
    delivery.status.Update(WriteTables(delivery.table, out));
  } else {
    delivery.status.Update(table.status());
  }
  ExportNotes notes;
  delivery.status.Update(ExportSums(sums, command, exporters, out, notes));
  delivery.notices.insert(delivery.notices.end(), notes.notices.begin(),
                          notes.notices.end());
  const std::string of_files = report::LedgerText(notes.ledger);
  if (table.ok() && !of_files.empty()) {
    delivery.table += of_files;
    delivery.status.Update(WriteTables(delivery.table, out));
  }
  return delivery;
}

}  // namespace kymo::tools
