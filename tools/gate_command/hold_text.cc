// How a budget that was held looks: as text, and as JUnit's XML.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "profiler/text/visible_text.h"
#include "tools/gate_command/hold.h"
#include "tools/run_diff/run_key.h"

namespace kymo::tools {
namespace {

const char* HeldName(Held held) {
  static constexpr const char* kNames[] = {"ok",     "better",   "OVER",
                                           "advice", "not held", "shown"};
  return kNames[static_cast<size_t>(held)];
}

}  // namespace

std::string HeldText(std::span<const HeldLine> lines, const Budget& budget) {
  std::string text;
  size_t counts[6] = {};
  for (const HeldLine& held : lines) {
    ++counts[static_cast<size_t>(held.held)];
    const BudgetLine& line = budget.lines[held.line];
    absl::StrAppendFormat(&text, "%-8s  %s:%d  %s: %s\n", HeldName(held.held),
                          budget.path, line.row,
                          VisibleText(MeasureText(line.measure)),
                          VisibleText(held.why));
  }
  absl::StrAppendFormat(
      &text,
      "%d over the budget, %d advice, %d within, %d better, %d not held, %d "
      "shown\n",
      counts[2], counts[3], counts[0], counts[1], counts[4], counts[5]);
  return text;
}

std::string HeldXml(std::span<const HeldLine> lines, const Budget& budget,
                    const std::string& suite) {
  size_t failures = 0;
  size_t skipped = 0;
  std::string cases;
  for (const HeldLine& held : lines) {
    const BudgetLine& line = budget.lines[held.line];
    absl::StrAppend(&cases, "    <testcase name=\"",
                    MarkupText(MeasureText(line.measure)), "\" classname=\"",
                    MarkupText(suite), "\" file=\"", MarkupText(budget.path),
                    "\" line=\"", line.row, "\" time=\"0\">");
    const std::string why = MarkupText(held.why);
    if (held.held == Held::kOver) {
      ++failures;
      absl::StrAppend(&cases, "<failure message=\"", why, "\"/>");
    } else if (held.held == Held::kNotHeld) {
      ++skipped;
      absl::StrAppend(&cases, "<skipped message=\"", why, "\"/>");
    } else {
      absl::StrAppend(&cases, "<system-out>", HeldName(held.held), ": ", why,
                      "</system-out>");
    }
    absl::StrAppend(&cases, "</testcase>\n");
  }
  const std::string counts =
      absl::StrCat(" tests=\"", lines.size(), "\" failures=\"", failures,
                   "\" errors=\"0\" skipped=\"", skipped, "\"");
  return absl::StrCat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n",
                      "<testsuites", counts, ">\n  <testsuite name=\"",
                      MarkupText(suite), "\"", counts, ">\n", cases,
                      "  </testsuite>\n</testsuites>\n");
}

std::string ErrorXml(const std::string& message, const std::string& suite) {
  return absl::StrCat(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"1\" "
      "errors=\"1\">\n  <testsuite name=\"",
      MarkupText(suite),
      "\" tests=\"1\" errors=\"1\">\n    <testcase name=\"budget\"",
      " classname=\"", MarkupText(suite), "\" time=\"0\"><error message=\"",
      MarkupText(message), "\"/></testcase>\n  </testsuite>\n</testsuites>\n");
}

}  // namespace kymo::tools
