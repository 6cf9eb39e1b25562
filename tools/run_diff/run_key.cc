#include "tools/run_diff/run_key.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "profiler/text/text_cells.h"
#include "profiler/text/visible_text.h"

namespace kymo::tools {

const char* RunTableName(RunTable table) {
  static constexpr const char* kNames[] = {"ranges", "functions", "calls",
                                           "heap"};
  return kNames[static_cast<size_t>(table)];
}

bool IsTimeTable(RunTable table) {
  return table == RunTable::kRanges || table == RunTable::kFunctions;
}

std::string RunKeyText(const RunKey& key) {
  std::string text = VisibleText(key.name);
  if (!key.detail.empty()) {
    absl::StrAppend(&text, " (", VisibleText(key.detail), ")");
  }
  return text;
}

std::string RunAmountText(RunTable table, double amount) {
  if (IsTimeTable(table)) return report::FormatTime(amount, "");
  return absl::StrFormat("%.10g", amount);
}

std::string MarkdownCell(const std::string& text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|' || c == '`' || c == '*' || c == '_' || c == '<') cell += '\\';
    cell += c;
  }
  return cell;
}

}  // namespace kymo::tools
