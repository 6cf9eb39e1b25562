// hold.h - holds a program's amounts against its budget.
//
//   KYMO_ASSIGN_OR_RETURN(const std::vector<HeldLine> lines,
//                         HoldBudget(budget, {amounts}, {}));
//   Print(HeldText(lines, budget));
//   return IsOverBudget(lines) ? kExitOver : 0;
//
// Errors: kNotFound for a line about something that the program does not have;
//         it lists what there is. An advisory one gives advice instead.
#ifndef KYMO_TOOLS_GATE_COMMAND_HOLD_H_
#define KYMO_TOOLS_GATE_COMMAND_HOLD_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/gate_command/budget.h"
#include "tools/gate_command/measures.h"

namespace kymo::tools {

enum class Held : uint8_t {
  kWithin,
  kBetter,        // less than the budget; an update would tighten it
  kOver,          // the gate fails
  kAdvisoryOver,  // shown only
  kNotHeld,       // of another shard, or the run was filtered, for example
  kShown,         // a time without `confidence`: no verdict
};

struct HeldLine {
  size_t line = 0;  // of the budget
  Held held = Held::kWithin;
  double amount = 0;
  std::string why;  // "1025 is more than 1024 (+0.1 %)"
};

struct HoldOptions {
  std::optional<int> shard;   // of a test in several shards
  bool is_filtered = false;   // only a part of the program ran
  bool is_recording = false;  // nobody counted calls
};

// `runs` has the amounts of each run. Counts are held by the largest one, times
// by their median.
absl::StatusOr<std::vector<HeldLine>> HoldBudget(const Budget& budget,
                                                 std::span<const Amounts> runs,
                                                 const HoldOptions& options);

bool IsOverBudget(std::span<const HeldLine> lines);

// A line of text for each line.
std::string HeldText(std::span<const HeldLine> lines, const Budget& budget);

// JUnit's XML, with a test case for each line, named by its measure.
std::string HeldXml(std::span<const HeldLine> lines, const Budget& budget,
                    const std::string& suite);

// JUnit's XML of a gate that could hold nothing.
std::string ErrorXml(const std::string& message, const std::string& suite);

// What a budget should say, by several runs of the program. `notes` gets a
// sentence for each line whose amount does not repeat, or is advisory and does.
absl::StatusOr<std::vector<LineUpdate>> UpdatesFor(
    const Budget& budget, std::span<const Amounts> runs,
    const HoldOptions& options, std::vector<std::string>& notes);

// The text of a budget for a program that has none yet.
std::string NewBudget(std::span<const Amounts> runs, const HoldOptions& options,
                      std::vector<std::string>& notes);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_GATE_COMMAND_HOLD_H_
