// How RunDiff looks: as text, for a merge request, and for other programs.
#include <algorithm>
#include <array>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "profiler/base/strings.h"
#include "profiler/text/json_writer.h"
#include "profiler/text/markdown_cell.h"
#include "profiler/text/text_cells.h"
#include "tools/run_diff/run_diff.h"

namespace kymo::tools {
namespace {

using analysis::RunVerdict;

constexpr const char* kTitles[] = {"Ranges", "Ranges without disturbances",
                                   "Sampled functions", "Calls", "Heap"};
std::string Percent(double share) {
  if (std::isinf(share)) return "--";
  return absl::StrFormat("%+.1f %%", 100 * share);
}

// Of counts, more and fewer are neither slower nor faster.
std::string VerdictText(const RunDiffRow& row) {
  if (row.is_not_recorded) return "not recorded";
  if (row.is_new) return "new";
  if (row.is_gone) return "gone";
  const RunVerdict verdict = row.compared.verdict;
  if (!IsTimeTable(row.key.table)) {
    if (verdict == RunVerdict::kSlower) return "more";
    if (verdict == RunVerdict::kFaster) return "less";
  }
  return analysis::VerdictName(verdict);
}

bool IsEqualInTooFewRuns(const RunDiffRow& row) {
  return row.compared.verdict == RunVerdict::kTooFewRuns &&
         row.base == row.head;
}

std::string NameText(const RunKey& key, const RunDiffLook& look) {
  constexpr std::string_view kDots = "...";
  std::string name = RunKeyText(key);
  if (!look.name_width) return name;
  const auto width = static_cast<size_t>(std::max(0, *look.name_width));
  if (report::TextWidth(name) <= width || width < kDots.size()) return name;
  return absl::StrCat(ToAbsl(report::TakeFirst(name, width - kDots.size())),
                      ToAbsl(kDots));
}

std::vector<std::string> Cells(const RunDiffRow& row, const RunDiffLook& look) {
  const analysis::ComparedRow& compared = row.compared;
  const std::string seen =
      std::isinf(compared.smallest_seen)
          ? "--"
          : absl::StrFormat("%.1f %%", 100 * compared.smallest_seen);
  const bool is_tested =
      IsTimeTable(row.key.table) || compared.verdict == RunVerdict::kTooNoisy;
  const auto amount = [&](size_t has, double median) {
    return row.is_not_recorded && has == 0
               ? "--"
               : RunAmountText(row.key.table, median, look.time_unit);
  };
  std::vector<std::string> cells = {NameText(row.key, look), VerdictText(row),
                                    amount(row.base_has, row.base),
                                    amount(row.head_has, row.head)};
  if (row.is_not_recorded) {
    cells.insert(cells.end(), {"--", "", ""});
    return cells;
  }
  cells.insert(cells.end(),
               {Percent(compared.change),
                absl::StrCat(Percent(compared.interval.low), " .. ",
                             Percent(compared.interval.high)),
                is_tested ? seen : ""});
  return cells;
}

std::string Row(const std::vector<std::string>& cells, bool is_markdown) {
  if (!is_markdown) {
    return TableLine(cells, std::array{-44, -14, 12, 12, 9, -20, 0});
  }
  std::string text = "|";
  for (const std::string& cell : cells) {
    absl::StrAppend(&text, " ", MarkdownCell(cell), " |");
  }
  return text + "\n";
}

std::string TableText(const RunDiff& diff, RunTable table, bool is_markdown,
                      const RunDiffLook& look) {
  std::string rows;
  int shown = 0;
  size_t same = 0;    // counts that did not change
  size_t hidden = 0;  // beyond the limit
  bool has_unrecorded = false;
  const auto whole = diff.wholes.find(table);
  if (whole != diff.wholes.end())
    rows += Row(Cells(whole->second, look), is_markdown);
  for (const RunDiffRow& row : diff.rows) {
    if (row.key.table != table) continue;
    if (!IsTimeTable(table) && (row.compared.verdict == RunVerdict::kNoChange ||
                                IsEqualInTooFewRuns(row))) {
      ++same;
      continue;
    }
    if (look.row_limit >= 0 && shown >= look.row_limit) {
      ++hidden;
      continue;
    }
    ++shown;
    has_unrecorded |= row.is_not_recorded;
    rows += Row(Cells(row, look), is_markdown);
  }
  if (rows.empty() && same == 0) return "";
  const auto index = static_cast<size_t>(table);
  std::string text = is_markdown
                         ? absl::StrCat("\n### ", kTitles[index], "\n\n")
                         : absl::StrCat("\n", kTitles[index], "\n");
  const auto relative = diff.is_relative.find(table);
  if (IsTimeTable(table) && relative != diff.is_relative.end() &&
      relative->second) {
    text += "Rows are compared with the rest of their run.\n";
    if (is_markdown) text += "\n";
  }
  if (!rows.empty()) {
    text += Row({"Name", "Verdict", "Base", "Head", "Change", "95 % interval",
                 "Would have seen"},
                is_markdown);
    if (is_markdown) text += "|---|---|--:|--:|--:|---|--:|\n";
    text += rows;
  }
  if (has_unrecorded) {
    absl::StrAppend(&text, is_markdown ? "\n" : "",
                    "not recorded: the side's programs allocated nothing, or "
                    "their heap was not watched (no --profile_memory, or "
                    "linked statically), or only counted\n");
  }
  const auto note = [&](size_t count, const char* what) {
    if (count == 0) return;
    absl::StrAppend(&text, is_markdown ? "\n" : "", count, what, "\n");
  };
  note(same, " did not change");
  note(hidden, " more; --row_limit=-1 shows all");
  const auto left_out = diff.left_out.find(table);
  if (left_out != diff.left_out.end()) {
    note(left_out->second,
         " with less than 0.1 % of the time are not compared");
  }
  return text;
}

std::string Tables(const RunDiff& diff, bool is_markdown,
                   const RunDiffLook& look) {
  std::string text =
      absl::StrCat(diff.base_runs, diff.base_runs == 1 ? " run" : " runs",
                   " of base, ", diff.head_runs, " of head\n");
  if (std::min(diff.base_runs, diff.head_runs) <
      static_cast<size_t>(diff.fewest_runs)) {
    absl::StrAppend(&text, "A change of a time is found only with ",
                    diff.fewest_runs, " runs on each side, or more.\n");
  }
  for (size_t t = 0; t < static_cast<size_t>(RunTable::kCount); ++t) {
    text += TableText(diff, static_cast<RunTable>(t), is_markdown, look);
  }
  return text;
}

std::string Json(const RunDiff& diff) {
  std::string text;
  json::JsonWriter json(text);
  json.BeginObject();
  json.Member("base_runs", static_cast<int64_t>(diff.base_runs));
  json.Member("head_runs", static_cast<int64_t>(diff.head_runs));
  json.Key("rows");
  json.BeginArray();
  const auto number = [&](const char* name, double value) {
    json.Key(name);
    json.Double(value);
  };
  // What is not known of a row is not there.
  const auto write = [&](const RunDiffRow& row) {
    json.BeginObject();
    json.Member("table", RunTableName(row.key.table));
    json.Member("name", row.key.name);
    json.Member("detail", row.key.detail);
    json.Member("verdict", VerdictText(row));
    const bool is_known = !row.is_not_recorded;
    if (is_known || row.base_has > 0) number("base", row.base);
    if (is_known || row.head_has > 0) number("head", row.head);
    if (is_known) {
      number("change", row.compared.change);
      number("change_low", row.compared.interval.low);
      number("change_high", row.compared.interval.high);
      number("p", row.compared.p);
      number("smallest_seen", row.compared.smallest_seen);
    }
    json.EndObject();
  };
  for (const auto& [table, row] : diff.wholes) write(row);
  for (const RunDiffRow& row : diff.rows) write(row);
  json.EndArray();
  json.EndObject();
  return text + "\n";
}

}  // namespace

std::string RunDiffText(const RunDiff& diff, RunFormat format,
                        const RunDiffLook& look) {
  if (format == RunFormat::kJson) return Json(diff);
  return Tables(diff, format == RunFormat::kMarkdown, look);
}

}  // namespace kymo::tools
