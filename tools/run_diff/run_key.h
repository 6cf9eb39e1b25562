// run_key.h - what can be compared between runs, and how it is shown.
//
//   RunAmounts amounts = {{{RunTable::kRanges, "matmul"}, 1250.5}};
//   RunKeyText({RunTable::kRanges, "matmul"})         // "matmul"
//   RunAmountText(RunTable::kRanges, 1250.5)          // "1.251ms"
#ifndef KYMO_TOOLS_RUN_DIFF_RUN_KEY_H_
#define KYMO_TOOLS_RUN_DIFF_RUN_KEY_H_

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace kymo::tools {

enum class RunTable : uint8_t {
  kRanges,
  kSteady,  // the same ranges (steady_times.h)
  kFunctions,
  kCalls,
  kHeap,
  kCount
};

const char* RunTableName(RunTable table);  // "ranges"; it never changes
bool IsTimeTable(RunTable table);          // else of counts

struct RunKey {
  RunTable table = RunTable::kRanges;
  std::string name;
  std::string detail = {};  // what tells rows of one name apart

  friend auto operator<=>(const RunKey&, const RunKey&) = default;
};

// The amounts of one run; times in microseconds.
struct RunAmounts : std::map<RunKey, double> {
  using std::map<RunKey, double>::map;

  // The time that a sample of kFunctions stands for. 0: not known.
  double sample_us = 0;
};

// The row of all times of a table.
inline constexpr const char kWholeName[] = "(all together)";

// For people: nothing in it moves the cursor.
std::string RunKeyText(const RunKey& key);
std::string RunAmountText(RunTable table, double amount,
                          std::string_view time_unit = "");

// A line of a table. Each cell gets spaces, up to so many characters: before it
// or, if the number is negative, behind it.
std::string TableLine(std::span<const std::string> cells,
                      std::span<const int> widths);

enum class RunFormat { kText, kMarkdown, kJson };

// The text for HTML and XML, between tags and within double quotes. What no
// document may have is shown: control characters, broken UTF-8.
std::string MarkupText(std::string_view text);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_RUN_DIFF_RUN_KEY_H_
