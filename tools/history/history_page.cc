// A page of curves, one for each row that changed. No script: a picture of
// lines needs none, and the file opens everywhere.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/history/history.h"

namespace kymo::tools {
namespace {

constexpr double kWidth = 900;
constexpr double kHeight = 160;

constexpr char kHead[] = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>History</title>
<meta http-equiv="Content-Security-Policy"
      content="default-src 'none'; style-src 'unsafe-inline'">
<style>
body { font: 14px sans-serif; margin: 2em; color: #222; background: #fff; }
svg { border: 1px solid #ccc; max-width: 100%; }
h2 { font-size: 15px; margin: 1.5em 0 .3em; overflow-wrap: anywhere; }
.line { fill: none; stroke: #888; }
.run { fill: #345; }
.change { stroke: #c22; stroke-dasharray: 4 3; }
.level { stroke: #06c; stroke-width: 2; }
table { border-collapse: collapse; }
td, th { padding: .2em .8em; text-align: right; border-bottom: 1px solid #ddd; }
td:first-child, th:first-child { text-align: left; }
</style></head><body>
<h1>History</h1>
)";

class Picture {
 public:
  Picture(const RunHistory& history, const HistoryCurve& curve)
      : history_(history),
        curve_(curve),
        most_(std::max(1e-300, *std::ranges::max_element(curve.amounts))) {}

  std::string Draw() {
    absl::StrAppendFormat(
        &svg_, "<svg viewBox=\"0 0 %g %g\" width=\"%g\" height=\"%g\">\n",
        kWidth, kHeight, kWidth, kHeight);
    Changes();
    Levels();
    svg_ += "<polyline class=\"line\" points=\"";
    for (size_t i = 0; i < curve_.amounts.size(); ++i) {
      absl::StrAppendFormat(&svg_, "%.1f,%.1f ", X(i), Y(curve_.amounts[i]));
    }
    svg_ += "\"/>\n";
    for (size_t i = 0; i < curve_.amounts.size(); ++i) {
      absl::StrAppendFormat(
          &svg_,
          "<circle class=\"run\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>%s: %s"
          "</title></circle>\n",
          X(i), Y(curve_.amounts[i]),
          MarkupText(history_.runs[curve_.runs[i]].name),
          MarkupText(RunAmountText(curve_.key.table, curve_.amounts[i])));
    }
    return svg_ + "</svg>\n";
  }

 private:
  double X(double run) const {
    const auto last = static_cast<double>(curve_.amounts.size() - 1);
    return 10 + (kWidth - 20) * (last == 0 ? 0.5 : run / last);
  }
  double Y(double amount) const {
    return kHeight - 10 - (kHeight - 20) * std::max(0.0, amount) / most_;
  }

  void Changes() {
    for (const HistoryChange& change : curve_.changes) {
      const double x = X(static_cast<double>(change.point.first) - 0.5);
      absl::StrAppendFormat(&svg_,
                            "<line class=\"change\" x1=\"%.1f\" y1=\"0\" "
                            "x2=\"%.1f\" y2=\"%g\"/>\n",
                            x, x, kHeight);
    }
  }

  // The medians between changes.
  void Levels() {
    for (size_t i = 0; i <= curve_.changes.size(); ++i) {
      const size_t begin = i == 0 ? 0 : curve_.changes[i - 1].point.first;
      const size_t end = i < curve_.changes.size()
                             ? curve_.changes[i].point.first
                             : curve_.amounts.size();
      const double y = Y(i == 0 ? curve_.changes[0].point.before
                                : curve_.changes[i - 1].point.after);
      absl::StrAppendFormat(
          &svg_,
          "<line class=\"level\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" "
          "y2=\"%.1f\"/>\n",
          X(static_cast<double>(begin)), y, X(static_cast<double>(end - 1)), y);
    }
  }

  const RunHistory& history_;
  const HistoryCurve& curve_;
  const double most_;
  std::string svg_;
};

std::string ChangeTable(const RunHistory& history, const HistoryCurve& curve) {
  std::string html =
      "<table><tr><th>since run</th><th>before</th><th>after</th>"
      "<th>confidence</th></tr>\n";
  for (const HistoryChange& change : curve.changes) {
    absl::StrAppend(
        &html, "<tr><td>", MarkupText(history.runs[change.run].name),
        "</td><td>",
        MarkupText(RunAmountText(curve.key.table, change.point.before)),
        "</td><td>",
        MarkupText(RunAmountText(curve.key.table, change.point.after)),
        "</td><td>", MarkupText(ConfidenceText(change.confidence)),
        "</td></tr>\n");
  }
  return html + "</table>\n";
}

}  // namespace

std::string HistoryPage(const RunHistory& history,
                        const HistoryChanges& changes) {
  std::string html =
      absl::StrCat(kHead, "<p>", history.runs.size(), " runs, ", changes.tested,
                   " rows, ", changes.changes.size(), " changes. ",
                   "Each dot is a run; a dashed line stands before the run "
                   "since which a row is different.</p>\n");
  for (const HistoryCurve& curve : changes.curves) {
    absl::StrAppend(&html, "<h2>", MarkupText(RunTableName(curve.key.table)),
                    ": ", MarkupText(RunKeyText(curve.key)), "</h2>\n",
                    Picture(history, curve).Draw(),
                    ChangeTable(history, curve));
  }
  return html + "</body></html>\n";
}

}  // namespace kymo::tools
