// The runs at which rows changed: as text, for a merge request, and for other
// programs.
#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "profiler/text/json_writer.h"
#include "profiler/text/markdown_cell.h"
#include "profiler/text/visible_text.h"
#include "tools/history/history.h"

namespace kymo::tools {
namespace {

std::string ChangeText(const analysis::ChangePoint& point) {
  if (point.before == 0) return "new";
  if (point.after == 0) return "gone";
  return absl::StrFormat("%+.1f %%", 100 * (point.after / point.before - 1));
}

std::string Tables(const RunHistory& history, const HistoryChanges& changes,
                   bool is_markdown) {
  std::string text = absl::StrCat(
      history.runs.size(), history.runs.size() == 1 ? " run, " : " runs, ",
      changes.tested, " rows, ", changes.changes.size(), " changes\n");
  if (changes.changes.empty()) return text;
  const auto row = [&](const std::string(&cells)[7]) {
    if (!is_markdown) {
      return TableLine(cells, std::array{-20, -9, -44, 12, 12, 9, 0});
    }
    std::string line = "|";
    for (const std::string& cell : cells) {
      absl::StrAppend(&line, " ", MarkdownCell(cell), " |");
    }
    return line + "\n";
  };
  text += "\n" + row({"Since run", "Table", "Name", "Before", "After", "Change",
                      "Confidence"});
  if (is_markdown) text += "|---|---|---|--:|--:|--:|--:|\n";
  for (const HistoryChange& change : changes.changes) {
    text += row({VisibleText(history.runs[change.run].name),
                 RunTableName(change.key.table), RunKeyText(change.key),
                 RunAmountText(change.key.table, change.point.before),
                 RunAmountText(change.key.table, change.point.after),
                 ChangeText(change.point), ConfidenceText(change.confidence)});
  }
  return text;
}

std::string Json(const RunHistory& history, const HistoryChanges& changes) {
  std::string text;
  json::JsonWriter json(text);
  json.BeginObject();
  json.Member("runs", static_cast<int64_t>(history.runs.size()));
  json.Member("rows", static_cast<int64_t>(changes.tested));
  json.Key("changes");
  json.BeginArray();
  for (const HistoryChange& change : changes.changes) {
    const HistoryRun& run = history.runs[change.run];
    json.BeginObject();
    json.Member("run", run.name);
    json.Member("time_ns", run.time_ns);
    json.Member("index", static_cast<int64_t>(change.run));
    json.Member("table", RunTableName(change.key.table));
    json.Member("name", change.key.name);
    json.Member("detail", change.key.detail);
    json.Key("before");
    json.Double(change.point.before);
    json.Key("after");
    json.Double(change.point.after);
    json.Key("confidence");
    json.Double(change.confidence);
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return text + "\n";
}

}  // namespace

std::string ConfidenceText(double confidence) {
  if (confidence >= 1) return "sure";
  if (confidence > 0.9999) return "> 99.99 %";
  return absl::StrFormat("%.2f %%", 100 * confidence);
}

std::string HistoryText(const RunHistory& history,
                        const HistoryChanges& changes, RunFormat format) {
  if (format == RunFormat::kJson) return Json(history, changes);
  return Tables(history, changes, format == RunFormat::kMarkdown);
}

}  // namespace kymo::tools
