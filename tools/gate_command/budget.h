// budget.h - a budget: what a program may take, line by line, in a file that
// people read in a merge request.
//
//   # Each step makes one copy of the input.
//   line { what: ALLOCATIONS                expect: 1024 }
//   line { what: CALLS       of: "matmul"   expect: 128 }
//   line { what: PEAK_BYTES                 expect: 1048576 tolerance: 0.01 }
//   line { what: CPU_TIME_US of: "matmul"   expect: 900
//          min_effect: 0.1 confidence: 0.95 }
//   runs: 10
//
//   KYMO_ASSIGN_OR_RETURN(const Budget budget, ReadBudget(text, path));
//   budget.lines[0].expect                          // 1024
//   UpdatedBudget(text, {{.line = 0, .expect = 1025}}, budget)
//
// The form is protobuf's text format, with these fields:
//
//   runs         how often the program is recorded; 1 if it is not said. Lines
//                of times need more than one.
//   what         one of the names in measures.h
//   of           an operation, range or function; without it: the whole program
//   expect       more than this is over the budget; less is not
//   tolerance    a share of `expect` that may come on top: 0.01 is 1 %
//   advisory     true: the line is shown, and never fails the test
//   repeats      true: an amount that depends on the machine was seen to
//                repeat there, so the line fails the test
//   min_effect   of times: how much more, as a share, counts
//   confidence   of times: how sure it must be, such as 0.95
//   shard        the line is of this shard of a test in several shards
//
// Errors: kInvalidArgument, "FILE:LINE:COLUMN: what is wrong".
#ifndef KYMO_TOOLS_GATE_COMMAND_BUDGET_H_
#define KYMO_TOOLS_GATE_COMMAND_BUDGET_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/gate_command/measures.h"

namespace kymo::tools {

// Where something stands in the file's text.
struct TextSpan {
  size_t begin = 0;
  size_t end = 0;  // exclusive
};

struct BudgetLine {
  Measure measure;
  double expect = 0;
  double tolerance = 0;
  bool advisory = false;
  bool repeats = false;
  std::optional<double> min_effect;
  std::optional<double> confidence;
  std::optional<int> shard;

  int row = 0;  // of the file, from 1
  TextSpan expect_text;
  std::optional<TextSpan> repeats_text;   // "repeats: true"
  std::optional<TextSpan> advisory_text;  // "advisory: true"
};

struct Budget {
  std::string path;
  int runs = 1;
  std::vector<BudgetLine> lines;
};

absl::StatusOr<Budget> ReadBudget(std::string_view text,
                                  const std::string& path);

// With as many runs or more, chance alone puts all of them above the budget
// less often than `confidence` permits.
int FewestRunsFor(double confidence);

// New values for a line of a budget.
struct LineUpdate {
  size_t line = 0;
  double expect = 0;
  bool advisory = false;  // the amount does not repeat
  bool repeats = false;
};

// The text with other values. Everything else stays as it is: comments,
// tolerances, the order.
std::string UpdatedBudget(std::string_view text,
                          std::span<const LineUpdate> updates,
                          const Budget& budget);

// A line of a new budget, with its line break.
std::string LineText(const Measure& measure, const LineUpdate& values,
                     std::optional<int> shard);

// 1024, 0.25: a number as a budget has it.
std::string NumberText(double number);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_GATE_COMMAND_BUDGET_H_
