// averages_section.h - the averages by name, in summary.json.
//
//   "key_averages": [{"name": "mlp::relu", "count": 4120, ...}],
//   "key_average_count": 1
//
// A program that puts numbers into its names may have millions of them. So only
// the kMaxAverages with the longest self time, on the CPU and on devices, are
// there, by self CPU time descending. The count is of all. With --row_limit=-1,
// the table has a row for each. The ledger counts those that are left out.
#ifndef KYMO_EXPORTERS_SUMMARY_AVERAGES_SECTION_H_
#define KYMO_EXPORTERS_SUMMARY_AVERAGES_SECTION_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "profiler/analysis/averages/key_averages.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/plugin/trace_exporter.h"
#include "profiler/text/json_writer.h"

namespace kymo {

inline constexpr size_t kMaxAverages = 20'000;  // about 13 MB

// Sums of windows do not have the memory of ranges.
enum class RangeMemory { kMeasured, kUnknown };

// Where all rows are. No file has the single ranges of a recording that was
// added up while it was made, so no later table has all of its names.
inline constexpr char kInAnyTable[] =
    "with --row_limit=-1, the table has a row for each";
inline constexpr char kInTheRunsTable[] =
    "key_averages.txt has a row for each if the run has --row_limit=-1";

// Writes both members. What is not there, it adds to `ledger`, and says in
// `notes` (may be null), with `all_rows`.
void WriteAverages(std::vector<analysis::KeyAverage> averages,
                   RangeMemory memory, std::string_view all_rows,
                   model::LossLedger& ledger, ExportNotes* notes,
                   json::JsonWriter& json);

}  // namespace kymo

#endif  // KYMO_EXPORTERS_SUMMARY_AVERAGES_SECTION_H_
