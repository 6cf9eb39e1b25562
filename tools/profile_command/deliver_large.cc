#include "tools/profile_command/deliver_large.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "backends/cpu/raw/raw_windows.h"
#include "backends/cpu/trace_memory.h"
#include "exporters/stacks/folded.h"
#include "exporters/summary/summary_exporter.h"
#include "profiler/base/status_macros.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/report/ledger_text.h"
#include "profiler/report/table.h"
#include "tools/profile_command/deliver.h"
#include "tools/report_command/sum_windows.h"

namespace kymo::tools {
namespace {

constexpr char kStacks[] = "stacks";
constexpr char kSummary[] = "summary";
constexpr uint64_t kSmallestWindow = uint64_t{1} << 20;

absl::StatusOr<uint64_t> WindowBytes(const ProfileCommand& command) {
  const auto setting = command.settings.find("max_memory");
  KYMO_ASSIGN_OR_RETURN(
      const uint64_t limit,
      cpu::MemoryLimit(setting == command.settings.end() ? ""
                                                         : setting->second));
  return cpu::WindowBytesFor(limit);
}

absl::StatusOr<SummedWindows> SumIn(uint64_t window_bytes,
                                    const std::string& raw_path) {
  try {
    KYMO_ASSIGN_OR_RETURN(const std::unique_ptr<cpu::RawWindows> windows,
                          cpu::RawWindows::Open(raw_path, window_bytes));
    return SumWindows(*windows);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(
        "could not read the recording part by part: not enough memory");
  }
}

// In ever smaller windows: what the kernel counts as this process' memory is
// more than what is asked for here.
absl::StatusOr<SummedWindows> Sum(const std::string& raw_path,
                                  const ProfileCommand& command) {
  KYMO_ASSIGN_OR_RETURN(uint64_t window_bytes, WindowBytes(command));
  for (;; window_bytes /= 4) {
    absl::StatusOr<SummedWindows> summed = SumIn(window_bytes, raw_path);
    if (!absl::IsResourceExhausted(summed.status()) ||
        window_bytes < kSmallestWindow) {
      return summed;
    }
  }
}

absl::StatusOr<std::string> TableOf(const SummedWindows& summed,
                                    const model::Trace* rest,
                                    const ProfileCommand& command,
                                    const model::LossLedger& ledger) {
  report::TableOptions options;
  options.sort_by =
      command.sort_by.empty() ? "self_cpu_time_total" : command.sort_by;
  options.row_limit = command.row_limit;
  KYMO_ASSIGN_OR_RETURN(
      std::string text,
      report::FormatTable(report::TableRows(summed.sums.Averages()), options));
  if (rest != nullptr) {
    KYMO_ASSIGN_OR_RETURN(const std::string samples,
                          SamplesTable(*rest, command));
    if (!samples.empty()) absl::StrAppend(&text, "\n", samples);
  }
  return text + report::LedgerText(ledger);
}

std::vector<std::string> NoticesOn(const std::string& raw_path,
                                   const ProfileCommand& command) {
  std::vector<std::string> missing;
  for (const std::string& exporter : command.exporters) {
    if (exporter != kStacks && exporter != kSummary) {
      missing.push_back(exporter);
    }
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
  notices.push_back(
      absl::StrCat("everything that was recorded is in ", raw_path,
                   ": //tools:report reads it part by part with "
                   "--windows=always; for the whole trace, try a machine with "
                   "more memory"));
  return notices;
}

bool WantsStacks(const ProfileCommand& command) {
  return std::find(command.exporters.begin(), command.exporters.end(),
                   kStacks) != command.exporters.end();
}

}  // namespace

LargeDelivery DeliverLarge(const std::string& raw_path,
                           const model::Trace* rest,
                           const ProfileCommand& command,
                           OutputDirectory& out) {
  LargeDelivery delivery = {.notices = NoticesOn(raw_path, command)};
  absl::StatusOr<SummedWindows> summed = Sum(raw_path, command);
  if (!summed.ok()) {
    delivery.status = summed.status();
    return delivery;
  }
  delivery.notices.insert(delivery.notices.end(), summed->notes.begin(),
                          summed->notes.end());
  if (rest != nullptr) summed->sums.AddLedger(rest->ledger());
  absl::StatusOr<std::string> table =
      TableOf(*summed, rest, command, summed->sums.ledger());
  if (table.ok()) {
    delivery.table = *std::move(table);
    delivery.status = WriteText("key_averages.txt", delivery.table, out);
  } else {
    delivery.status = table.status();
  }
  delivery.status.Update(WriteSummaryOfSums(summed->sums, out));
  if (WantsStacks(command)) {
    delivery.status.Update(
        stacks::WriteFolded(FoldPaths(summed->sums), out, "stacks.folded"));
  }
  return delivery;
}

}  // namespace kymo::tools
