#include "tools/run_diff/run_diff.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "profiler/analysis/memory/memory_profile.h"
#include "profiler/analysis/statistics/samples.h"

namespace kymo::tools {
namespace {

using analysis::ComparedRow;
using analysis::RunRow;
using analysis::RunVerdict;

// Allocations outside of all ranges, in tables of averages.
constexpr std::string_view kMemoryRow = "[memory]";
constexpr double kLeastShare = 0.001;
// A gate that fails for nothing is switched off: 5 of 100 were too many.
constexpr double kAlpha = 0.02;

double MetricOf(const report::TableRow& row, std::string_view metric) {
  if (metric == "cpu_time_total") return row.cpu_time_total_us;
  if (metric == "device_time_total") return row.device_time_total_us;
  if (metric == "self_device_time_total") return row.self_device_time_total_us;
  if (metric == report::kWaitSortKey) return row.wait_time_total_us.value_or(0);
  return row.self_cpu_time_total_us;
}

std::string DetailOf(const report::TableRow& row) {
  std::string detail = row.overload_name;
  for (const std::string& part : row.stack) detail += "\n" + part;
  detail += row.input_shapes;
  if (row.device == report::RowDevice::kDevice) detail += " on the device";
  return detail;
}

std::vector<double> Side(std::span<const RunAmounts> runs, const RunKey& key) {
  std::vector<double> amounts;
  for (const RunAmounts& run : runs) {
    const auto found = run.find(key);
    amounts.push_back(found == run.end() ? 0 : found->second);
  }
  return amounts;
}

size_t RunsWith(std::span<const RunAmounts> runs, const RunKey& key) {
  return static_cast<size_t>(std::ranges::count_if(
      runs, [&](const RunAmounts& run) { return run.contains(key); }));
}

size_t RunsWith(std::span<const RunAmounts> runs, RunTable table) {
  return static_cast<size_t>(
      std::ranges::count_if(runs, [&](const RunAmounts& run) {
        const auto row = run.lower_bound({table, ""});
        return row != run.end() && row->first.table == table;
      }));
}

bool IsChange(const RunDiffRow& row) {
  return row.compared.verdict == RunVerdict::kSlower ||
         row.compared.verdict == RunVerdict::kFaster;
}

// One table of both sides.
class TableDiff {
 public:
  TableDiff(RunTable table, std::span<const RunAmounts> base,
            std::span<const RunAmounts> head)
      : table_(table), base_(base), head_(head) {
    if (table_ == RunTable::kFunctions) {
      for (const auto side : {base_, head_}) {
        for (const RunAmounts& run : side) {
          step_ = std::max(step_, run.sample_us);
        }
      }
    }
    FindRows();
  }

  bool has_noise() const {
    return std::ranges::any_of(
        rows_, [](const RunRow& row) { return !analysis::IsExact(row); });
  }

  // `alpha`: the share of comparisons of equal programs in which this table may
  // have a false alarm.
  void AddTo(RunDiff& diff, double alpha) const {
    diff.left_out[table_] = left_out_;
    diff.runs_with[table_] = {RunsWith(base_, table_), RunsWith(head_, table_)};
    if (rows_.empty()) return;
    const analysis::RunComparison compared =
        analysis::CompareRuns(rows_, {.alpha = alpha});
    diff.is_relative[table_] = compared.is_relative;
    for (size_t i = 0; i < rows_.size(); ++i) {
      diff.rows.push_back(Row(keys_[i], rows_[i], compared.rows[i]));
    }
    if (!IsTimeTable(table_)) return;
    diff.wholes[table_] =
        Row({table_, kWholeName}, analysis::SumOfTimes(rows_), compared.whole);
    diff.fewest_runs =
        std::max(diff.fewest_runs, analysis::FewestRuns(rows_.size(), alpha));
  }

 private:
  void FindRows() {
    std::set<RunKey> keys;
    for (const auto side : {base_, head_}) {
      for (const RunAmounts& run : side) {
        for (const auto& [key, amount] : run) {
          if (key.table == table_) keys.insert(key);
        }
      }
    }
    double base_sum = 0;
    double head_sum = 0;
    for (const RunKey& key : keys) {
      base_sum += analysis::Median(Side(base_, key));
      head_sum += analysis::Median(Side(head_, key));
    }
    for (const RunKey& key : keys) {
      RunRow row = {.base = Side(base_, key),
                    .head = Side(head_, key),
                    .is_count = !IsTimeTable(table_),
                    .step = step_};
      if (IsTimeTable(table_) &&
          analysis::Median(row.base) <= kLeastShare * base_sum &&
          analysis::Median(row.head) <= kLeastShare * head_sum) {
        ++left_out_;
        continue;
      }
      keys_.push_back(key);
      rows_.push_back(std::move(row));
    }
  }

  RunDiffRow Row(const RunKey& key, const RunRow& row,
                 const ComparedRow& compared) const {
    const bool is_whole = key.name == kWholeName;
    const size_t base_has =
        is_whole ? RunsWith(base_, table_) : RunsWith(base_, key);
    const size_t head_has =
        is_whole ? RunsWith(head_, table_) : RunsWith(head_, key);
    const bool is_heap = table_ == RunTable::kHeap;
    return {.key = key,
            .base = analysis::Median(row.base),
            .head = analysis::Median(row.head),
            .compared = compared,
            .is_new = !is_heap && base_has == 0 &&
                      compared.verdict == RunVerdict::kSlower,
            .is_gone = !is_heap && head_has == 0 &&
                       compared.verdict == RunVerdict::kFaster,
            .is_not_recorded = is_heap && (base_has == 0 || head_has == 0),
            .base_has = base_has,
            .head_has = head_has};
  }

  const RunTable table_;
  const std::span<const RunAmounts> base_;
  const std::span<const RunAmounts> head_;
  double step_ = 0;  // RunRow::step
  std::vector<RunKey> keys_;
  std::vector<RunRow> rows_;
  size_t left_out_ = 0;
};

}  // namespace

void AddRanges(std::span<const report::TableRow> rows, std::string_view metric,
               RunAmounts& amounts) {
  for (const report::TableRow& row : rows) {
    const std::string detail = DetailOf(row);
    amounts[{RunTable::kRanges, row.key, detail}] += MetricOf(row, metric);
    if (row.key == kMemoryRow) continue;  // it counts allocations
    amounts[{RunTable::kCalls, row.key, detail}] +=
        static_cast<double>(row.count);
  }
}

void AddFunctions(std::span<const report::TableRow> rows, RunAmounts& amounts) {
  for (const report::TableRow& row : rows) {
    amounts[{RunTable::kFunctions, row.key, row.overload_name}] +=
        row.self_cpu_time_total_us;
  }
}

void AddHeap(const model::Trace& trace, RunAmounts& amounts) {
  for (const analysis::MemoryProfile& heap : analysis::ProfileMemory(trace)) {
    if (heap.pool.source != model::MemorySource::kHeap) continue;
    const auto add = [&](const char* name, int64_t amount) {
      amounts[{RunTable::kHeap, name}] += static_cast<double>(amount);
    };
    add("allocations", heap.totals.allocations);
    add("allocated_bytes", heap.totals.allocated_bytes);
    if (heap.detail == analysis::MemoryDetail::kCounts) continue;
    add("peak_bytes", heap.peak.bytes);
  }
}

RunDiff DiffRuns(std::span<const RunAmounts> base,
                 std::span<const RunAmounts> head) {
  RunDiff diff;
  diff.base_runs = base.size();
  diff.head_runs = head.size();
  std::vector<TableDiff> tables;
  for (size_t t = 0; t < static_cast<size_t>(RunTable::kCount); ++t) {
    tables.emplace_back(static_cast<RunTable>(t), base, head);
  }
  // kAlpha is that of the whole comparison, so its tables share it.
  const auto noisy = std::ranges::count_if(tables, &TableDiff::has_noise);
  const double alpha = kAlpha / static_cast<double>(std::max<long>(1, noisy));
  for (const TableDiff& table : tables) table.AddTo(diff, alpha);
  std::ranges::stable_sort(
      diff.rows, [](const RunDiffRow& a, const RunDiffRow& b) {
        if (a.key.table != b.key.table) return a.key.table < b.key.table;
        if (IsChange(a) != IsChange(b)) return IsChange(a);
        return std::abs(a.head - a.base) > std::abs(b.head - b.base);
      });
  return diff;
}

}  // namespace kymo::tools
