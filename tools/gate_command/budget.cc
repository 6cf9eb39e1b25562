#include "tools/gate_command/budget.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"

namespace kymo::tools {
namespace {

constexpr int kMostRuns = 100;

struct Token {
  TextSpan span;
  std::string_view text;  // empty: the end of the file
};

class Reader {
 public:
  Reader(std::string_view text, const std::string& path)
      : text_(text),
        path_(path),
        // Editors of Windows begin a file with a byte order mark.
        at_(text.starts_with("\xEF\xBB\xBF") ? 3 : 0) {}

  absl::StatusOr<Budget> Read() {
    Budget budget;
    budget.path = path_;
    for (Token name = Next(); !name.text.empty(); name = Next()) {
      if (name.text == "line") {
        KYMO_ASSIGN_OR_RETURN(BudgetLine line, ReadLine(name));
        budget.lines.push_back(std::move(line));
      } else if (name.text == "runs") {
        if (has_runs_) return Twice(name);
        has_runs_ = true;
        KYMO_ASSIGN_OR_RETURN(budget.runs, Whole(name, 1, kMostRuns));
      } else {
        return Wrong(name,
                     absl::StrCat("there is no field '", ToAbsl(name.text),
                                  "'; it is line or runs"));
      }
      SkipSeparator();
    }
    return budget;
  }

 private:
  absl::Status Wrong(const Token& token, const std::string& problem) const {
    const std::string_view before = text_.substr(0, token.span.begin);
    const auto row = RowOf(token);
    const size_t last = before.rfind('\n');
    const size_t column =
        token.span.begin - (last == before.npos ? 0 : last + 1) + 1;
    return absl::InvalidArgumentError(
        absl::StrCat(path_, ":", row, ":", column, ": ", problem));
  }

  // Counts on from where it stopped: tokens come one after the other.
  int RowOf(const Token& token) const {
    if (token.span.begin < counted_) return 1 + LinesIn(0, token.span.begin);
    row_ += LinesIn(counted_, token.span.begin);
    counted_ = token.span.begin;
    return row_;
  }

  int LinesIn(size_t begin, size_t end) const {
    return static_cast<int>(
        std::ranges::count(text_.substr(begin, end - begin), '\n'));
  }

  void SkipSpace() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (isspace(static_cast<unsigned char>(text_[at_]))) {
        ++at_;
      } else {
        return;
      }
    }
  }

  static bool IsOfWord(char c) {
    return isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' ||
           c == '-' || c == '+';
  }

  // A word or number, a text in its quotes, or one other character.
  Token Next() {
    SkipSpace();
    const size_t begin = at_;
    if (at_ == text_.size()) return {{at_, at_}, {}};
    const char first = text_[at_++];
    if (first == '"' || first == '\'') {
      while (at_ < text_.size() && text_[at_] != first && text_[at_] != '\n') {
        at_ += text_[at_] == '\\' ? 2 : 1;
      }
      at_ = std::min(at_ + 1, text_.size());
    } else if (IsOfWord(first)) {
      while (at_ < text_.size() && IsOfWord(text_[at_])) ++at_;
    }
    return {{begin, at_}, text_.substr(begin, at_ - begin)};
  }

  Token Peek() {
    const size_t before = at_;
    const Token token = Next();
    at_ = before;
    return token;
  }

  void SkipSeparator() {
    const std::string_view next = Peek().text;
    if (next == "," || next == ";") Next();
  }

  absl::StatusOr<Token> Value(const Token& name) {
    const Token colon = Next();
    if (colon.text != ":") {
      return Wrong(
          colon, absl::StrCat("expected ':' after '", ToAbsl(name.text), "'"));
    }
    const Token value = Next();
    if (value.text.empty() || value.text == "}") {
      return Wrong(value,
                   absl::StrCat("'", ToAbsl(name.text), "' has no value"));
    }
    return value;
  }

  // A merge of two branches may leave two.
  absl::Status Twice(const Token& field) const {
    return Wrong(field, absl::StrCat("'", ToAbsl(field.text),
                                     "' is there twice: remove one"));
  }

  absl::StatusOr<double> Number(const Token& name, double least, double most) {
    KYMO_ASSIGN_OR_RETURN(const Token value, Value(name));
    last_ = value;
    double number = 0;
    if (!absl::SimpleAtod(ToAbsl(value.text), &number) ||
        !std::isfinite(number) || number < least || number > most) {
      return Wrong(
          value,
          absl::StrCat("'", ToAbsl(name.text), "' is '", ToAbsl(value.text),
                       "'; it takes a number from ", least, " to ", most));
    }
    return number;
  }

  absl::StatusOr<int> Whole(const Token& name, double least, double most) {
    KYMO_ASSIGN_OR_RETURN(const double number, Number(name, least, most));
    if (number == std::floor(number)) return static_cast<int>(number);
    return Wrong(
        last_, absl::StrCat("'", ToAbsl(name.text), "' takes a whole number"));
  }

  absl::StatusOr<bool> Bool(const Token& name) {
    KYMO_ASSIGN_OR_RETURN(const Token value, Value(name));
    last_ = value;
    if (value.text == "true") return true;
    if (value.text == "false") return false;
    return Wrong(value, absl::StrCat("'", ToAbsl(name.text),
                                     "' takes true or false, not '",
                                     ToAbsl(value.text), "'"));
  }

  absl::StatusOr<std::string> Text(const Token& name) {
    KYMO_ASSIGN_OR_RETURN(const Token value, Value(name));
    const std::string_view text = value.text;
    std::string plain, error;
    if (text.front() != '"' && text.front() != '\'') {
      return Wrong(value, absl::StrCat("'", ToAbsl(name.text),
                                       "' takes a text in quotes"));
    }
    if (text.size() < 2 || text.front() != text.back()) {
      return Wrong(value, absl::StrCat("the text of '", ToAbsl(name.text),
                                       "' has no closing quote in its row"));
    }
    if (!absl::CUnescape(ToAbsl(text.substr(1, text.size() - 2)), &plain,
                         &error)) {
      return Wrong(value, absl::StrCat("the text of '", ToAbsl(name.text),
                                       "' has a wrong escape: ", error,
                                       "; a backslash is written \\\\"));
    }
    return plain;
  }

  absl::StatusOr<BudgetLine> ReadLine(const Token& name) {
    BudgetLine line;
    line.row = RowOf(name);
    if (Peek().text == ":") Next();
    const Token open = Next();
    if (open.text != "{") return Wrong(open, "expected '{' after 'line'");
    fields_.clear();
    for (;;) {
      const Token field = Next();
      if (field.text == "}") break;
      if (field.text.empty()) return Wrong(name, "this line has no '}'");
      if (!fields_.insert(field.text).second) return Twice(field);
      KYMO_RETURN_IF_ERROR(ReadField(field, line));
      SkipSeparator();
    }
    if (!fields_.contains("what"))
      return Wrong(name, "this line has no 'what'");
    if (!fields_.contains("expect"))
      return Wrong(name, "this line has no 'expect'");
    return Checked(name, std::move(line));
  }

  absl::Status ReadField(const Token& field, BudgetLine& line) {
    constexpr double kMost = 1e30;
    const std::string_view name = field.text;
    const auto whole_field = [&] {
      return TextSpan{field.span.begin, last_.span.end};
    };
    if (name == "what") {
      KYMO_ASSIGN_OR_RETURN(const Token value, Value(field));
      const std::optional<What> what = ParseWhat(value.text);
      if (!what) {
        return Wrong(value, absl::StrCat("there is no '", ToAbsl(value.text),
                                         "'; it is one of ", AllWhatNames()));
      }
      line.measure.what = *what;
    } else if (name == "of") {
      KYMO_ASSIGN_OR_RETURN(line.measure.of, Text(field));
    } else if (name == "expect") {
      KYMO_ASSIGN_OR_RETURN(line.expect, Number(field, 0, kMost));
      line.expect_text = last_.span;
    } else if (name == "tolerance") {
      KYMO_ASSIGN_OR_RETURN(line.tolerance, Number(field, 0, 1000));
    } else if (name == "min_effect") {
      KYMO_ASSIGN_OR_RETURN(line.min_effect, Number(field, 0, 1000));
    } else if (name == "confidence") {
      KYMO_ASSIGN_OR_RETURN(line.confidence, Number(field, 0.5, 0.9999));
    } else if (name == "advisory") {
      KYMO_ASSIGN_OR_RETURN(line.advisory, Bool(field));
      line.advisory_text = whole_field();
    } else if (name == "repeats") {
      KYMO_ASSIGN_OR_RETURN(line.repeats, Bool(field));
      line.repeats_text = whole_field();
    } else if (name == "shard") {
      KYMO_ASSIGN_OR_RETURN(line.shard, Whole(field, 0, 10000));
    } else {
      return Wrong(field,
                   absl::StrCat("there is no field '", ToAbsl(name),
                                "'; it is one of what, of, expect, tolerance, "
                                "advisory, repeats, min_effect, confidence, "
                                "shard"));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<BudgetLine> Checked(const Token& name, BudgetLine line) const {
    const What what = line.measure.what;
    const std::string_view what_name = WhatName(what);
    if (line.measure.of.empty() && !IsOfWhole(what)) {
      return Wrong(name,
                   absl::StrCat(ToAbsl(what_name), " needs `of: \"NAME\"`"));
    }
    if (!line.measure.of.empty() && !IsOfParts(what)) {
      return Wrong(name, absl::StrCat(ToAbsl(what_name),
                                      " is of the whole program: remove `of`"));
    }
    if (line.min_effect.has_value() != line.confidence.has_value()) {
      return Wrong(name, "min_effect and confidence go together");
    }
    if (line.min_effect && !IsTime(what)) {
      return Wrong(name, absl::StrCat(ToAbsl(what_name),
                                      " is no time: use tolerance instead of "
                                      "min_effect"));
    }
    return line;
  }

  std::string_view text_;
  const std::string& path_;
  size_t at_;
  mutable size_t counted_ = 0;  // up to here, line breaks are counted
  mutable int row_ = 1;
  Token last_;  // the last value
  bool has_runs_ = false;
  std::set<std::string_view> fields_;  // those of the line so far
};

struct Edit {
  TextSpan span;
  std::string text;
};

// Sets, adds or removes a field that is true or not there.
void EditFlag(const std::optional<TextSpan>& there, bool value,
              std::string_view name, size_t end, std::vector<Edit>& edits) {
  if (there) {
    edits.push_back(
        {*there, absl::StrCat(ToAbsl(name), ": ", value ? "true" : "false")});
  } else if (value) {
    edits.push_back({{end, end}, absl::StrCat(" ", ToAbsl(name), ": true")});
  }
}

}  // namespace

int FewestRunsFor(double confidence) {
  int runs = 1;
  while (std::ldexp(1.0, -runs) > 1 - confidence) ++runs;
  return runs;
}

absl::StatusOr<Budget> ReadBudget(std::string_view text,
                                  const std::string& path) {
  KYMO_ASSIGN_OR_RETURN(Budget budget, Reader(text, path).Read());
  std::map<std::pair<Measure, std::optional<int>>, int> rows;
  for (const BudgetLine& line : budget.lines) {
    const auto [first, is_new] =
        rows.try_emplace({line.measure, line.shard}, line.row);
    if (!is_new) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ":", line.row, ":1: ", MeasureText(line.measure),
          " has a line already, in row ", first->second, ": remove one"));
    }
    // If the program takes what it may, all runs are above by chance once in
    // 2^runs times. More often than `confidence` permits, that would fail.
    const int fewest = line.confidence ? FewestRunsFor(*line.confidence) : 1;
    if (budget.runs < fewest) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ":", line.row, ":1: with confidence ", *line.confidence,
          ", a line needs ", fewest,
          " runs or more; add `runs: ", std::max(10, fewest), "`"));
    }
  }
  return budget;
}

std::string NumberText(double number) {
  if (number == std::floor(number) && std::abs(number) < 1e18) {
    return absl::StrCat(static_cast<int64_t>(number));
  }
  if (number == std::floor(number)) return absl::StrFormat("%.17g", number);
  // Of a share four digits are enough. A limit of a count, such as 12468.45,
  // needs them all: it is shown beside the count that is over it.
  return absl::StrFormat("%.*g", std::abs(number) < 1 ? 4 : 15, number);
}

std::string UpdatedBudget(std::string_view text,
                          std::span<const LineUpdate> updates,
                          const Budget& budget) {
  std::vector<Edit> edits;
  for (const LineUpdate& update : updates) {
    const BudgetLine& line = budget.lines[update.line];
    const size_t end = line.expect_text.end;
    edits.push_back({line.expect_text, NumberText(update.expect)});
    if (DependsOnMachine(line.measure.what)) {
      EditFlag(line.repeats_text, update.repeats, "repeats", end, edits);
    } else if (update.advisory) {
      // A line that someone made advisory stays so.
      EditFlag(line.advisory_text, true, "advisory", end, edits);
    }
  }
  std::ranges::stable_sort(edits, {},
                           [](const Edit& edit) { return edit.span.begin; });
  std::string updated;
  size_t done = 0;
  for (const Edit& edit : edits) {
    absl::StrAppend(&updated, ToAbsl(text.substr(done, edit.span.begin - done)),
                    edit.text);
    done = edit.span.end;
  }
  absl::StrAppend(&updated, ToAbsl(text.substr(done)));
  return updated;
}

std::string LineText(const Measure& measure, const LineUpdate& values,
                     std::optional<int> shard) {
  std::string text =
      absl::StrCat("line { what: ", ToAbsl(WhatName(measure.what)));
  if (!measure.of.empty()) {
    absl::StrAppend(&text, " of: \"", absl::Utf8SafeCEscape(measure.of), "\"");
  }
  absl::StrAppend(&text, " expect: ", NumberText(values.expect));
  if (shard) absl::StrAppend(&text, " shard: ", *shard);
  if (values.repeats) absl::StrAppend(&text, " repeats: true");
  if (values.advisory) absl::StrAppend(&text, " advisory: true");
  return text + " }\n";
}

}  // namespace kymo::tools
