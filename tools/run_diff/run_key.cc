#include "tools/run_diff/run_key.h"

#include <cstddef>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "profiler/base/strings.h"
#include "profiler/text/text_cells.h"
#include "profiler/text/utf8.h"
#include "profiler/text/visible_text.h"

namespace kymo::tools {

const char* RunTableName(RunTable table) {
  static constexpr const char* kNames[] = {"ranges", "steady", "functions",
                                           "calls", "heap"};
  return kNames[static_cast<size_t>(table)];
}

bool IsTimeTable(RunTable table) {
  return table == RunTable::kRanges || table == RunTable::kSteady ||
         table == RunTable::kFunctions;
}

std::string RunKeyText(const RunKey& key) {
  std::string text = VisibleText(key.name);
  // "libx.so+0x1f3a" says the file itself.
  if (!key.detail.empty() && !key.name.starts_with(key.detail + "+0x")) {
    absl::StrAppend(&text, " (", VisibleText(key.detail), ")");
  }
  return text;
}

std::string RunAmountText(RunTable table, double amount,
                          std::string_view time_unit) {
  if (IsTimeTable(table)) return report::FormatTime(amount, time_unit);
  return absl::StrFormat("%.10g", amount);
}

std::string TableLine(std::span<const std::string> cells,
                      std::span<const int> widths) {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i != 0) line += "  ";
    report::AppendPadded(
        line, cells[i], static_cast<size_t>(std::abs(widths[i])),
        widths[i] < 0 ? report::Align::kLeft : report::Align::kRight);
  }
  return line + "\n";
}

std::string MarkupText(std::string_view text) {
  std::string scratch;
  return absl::StrReplaceAll(ToAbsl(json::ToUtf8(VisibleText(text), scratch)),
                             {{"&", "&amp;"},
                              {"<", "&lt;"},
                              {">", "&gt;"},
                              {"\"", "&quot;"},
                              // U+FFFE and U+FFFF are no characters of XML.
                              {"\xEF\xBF\xBE", "\xEF\xBF\xBD"},
                              {"\xEF\xBF\xBF", "\xEF\xBF\xBD"}});
}

}  // namespace kymo::tools
