// table_order.h - by what a table's rows are sorted.
//
//   DisplayOrder(rows, "self_cpu_time_total")   // pointers into `rows`
#ifndef KYMO_PROFILER_REPORT_TABLE_ORDER_H_
#define KYMO_PROFILER_REPORT_TABLE_ORDER_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/report/table.h"

namespace kymo::report {

inline double PerCall(double total, int64_t count) {
  return count == 0 ? 0.0 : total / static_cast<double>(count);
}

// The rows in the order of the table: descending; equal rows keep their order.
absl::StatusOr<std::vector<const TableRow*>> DisplayOrder(
    std::span<const TableRow> rows, const std::string& sort_by);

}  // namespace kymo::report

#endif  // KYMO_PROFILER_REPORT_TABLE_ORDER_H_
