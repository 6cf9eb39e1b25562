#include "tools/sql_shell/shell.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/query/functions.h"
#include "profiler/query/ready_queries.h"
#include "profiler/query/statements.h"
#include "profiler/query/views.h"
#include "profiler/tables/table.h"
#include "tools/command_line/say.h"

namespace kymo::tools {
namespace {

constexpr char kHelp[] =
    "Statements end with a semicolon. Commands:\n"
    "  .tables          tables and views\n"
    "  .schema TABLE    columns of a table, with types, units and meanings\n"
    "  .functions       functions besides SQLite's\n"
    "  .queries         queries that are ready to use\n"
    "  .query NAME      runs one of them\n"
    "  .format FORMAT   text, csv, json or markdown\n"
    "  .quit            ends the shell, as Ctrl-D does\n"
    "Ctrl-C ends the query that runs. docs/query.md says more.\n";

// For the handler: which queries Ctrl-C ends, and whether it came.
std::atomic<TraceQueries*> g_running{nullptr};
std::atomic<bool> g_interrupted{false};

void OnInterrupt(int) {
  // The query did not end at the first Ctrl-C: it is in one long function.
  if (g_interrupted.exchange(true)) EndAtOnce("interrupted again\n", 130);
  TraceQueries* const running = g_running.load();
  if (running != nullptr) running->Cancel();
}

// Catches Ctrl-C for as long as it lives.
class InterruptHandler {
 public:
  explicit InterruptHandler(TraceQueries& queries) {
    g_running.store(&queries);
    struct sigaction action = {};
    action.sa_handler = OnInterrupt;  // without SA_RESTART: it ends a read
    sigaction(SIGINT, &action, &before_);
  }
  InterruptHandler(const InterruptHandler&) = delete;
  InterruptHandler& operator=(const InterruptHandler&) = delete;
  ~InterruptHandler() {
    sigaction(SIGINT, &before_, nullptr);
    g_running.store(nullptr);
  }

 private:
  struct sigaction before_ = {};
};

// Makes the folder as well. Empty: there is no home.
std::string HistoryPath() {
  const char* const state = getenv("XDG_STATE_HOME");
  const char* const home = getenv("HOME");
  std::string folder;
  if (state != nullptr && *state == '/') {
    folder = state;
  } else if (home != nullptr && *home == '/') {
    folder = home;
    for (const char* const part : {"/.local", "/.local/state"}) {
      folder = std::string(home) + part;
      mkdir(folder.c_str(), 0700);
    }
  } else {
    return "";
  }
  folder += "/kymo";
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return "";
  return folder + "/sql_history";
}

std::vector<std::string> WordsToComplete() {
  std::vector<std::string> words = {
      "and",   "as",      "avg",        "between", "by",        "case",
      "count", "desc",    "distinct",   "else",    "end",       "from",
      "group", "having",  "in",         "is",      "join",      "left",
      "like",  "limit",   "max",        "min",     "not",       "null",
      "on",    "or",      "order",      "over",    "partition", "select",
      "sum",   "then",    "union",      "using",   "when",      "where",
      "with",  ".format", ".functions", ".help",   ".queries",  ".query",
      ".quit", ".schema", ".tables"};
  for (const tables::Table& table : tables::AllTables()) {
    words.emplace_back(table.name);
    for (const tables::Column& column : table.columns) {
      words.emplace_back(column.name);
    }
  }
  for (const query::View& view : query::Views()) words.emplace_back(view.name);
  for (const query::FunctionInfo& function : query::Functions()) {
    words.emplace_back(function.call.substr(0, function.call.find('(') + 1));
  }
  for (const query::ReadyQuery& ready : query::ReadyQueries()) {
    words.emplace_back(ready.name);
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

// Lines of two columns.
std::string List(const std::vector<std::pair<std::string, std::string>>& rows) {
  size_t width = 0;
  for (const auto& [name, meaning] : rows) width = std::max(width, name.size());
  std::string text;
  for (const auto& [name, meaning] : rows) {
    absl::StrAppend(&text, "  ", name,
                    std::string(width + 2 - name.size(), ' '), meaning, "\n");
  }
  return text;
}

std::string TablesText() {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const tables::Table& table : tables::AllTables()) {
    rows.emplace_back(table.name, table.meaning);
  }
  for (const query::View& view : query::Views()) {
    rows.emplace_back(view.name, absl::StrCat("view: ", ToAbsl(view.columns)));
  }
  return List(rows);
}

std::string SchemaText(const tables::Table& table) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const tables::Column& column : table.columns) {
    std::string type(tables::ColumnTypeName(column.type));
    if (!column.unit.empty()) {
      absl::StrAppend(&type, ", ", ToAbsl(column.unit));
    }
    if (!column.references.empty()) {
      absl::StrAppend(&type, ", ", ToAbsl(column.references));
    }
    rows.emplace_back(column.name,
                      absl::StrCat("(", type, ") ", ToAbsl(column.meaning)));
  }
  return absl::StrCat(ToAbsl(table.meaning), ". Order: ", ToAbsl(table.order),
                      ".\n", List(rows));
}

std::string FunctionsText() {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const query::FunctionInfo& function : query::Functions()) {
    rows.emplace_back(function.call, function.meaning);
  }
  return List(rows);
}

std::optional<query::ResultFormat> ParseResultFormat(std::string_view name) {
  if (name == "text") return query::ResultFormat::kText;
  if (name == "csv") return query::ResultFormat::kCsv;
  if (name == "json") return query::ResultFormat::kJson;
  if (name == "markdown") return query::ResultFormat::kMarkdown;
  return std::nullopt;
}

}  // namespace

std::string ReadyQueryList() {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const query::ReadyQuery& ready : query::ReadyQueries()) {
    rows.emplace_back(ready.name, ready.purpose);
  }
  return List(rows);
}

SqlShell::SqlShell(TraceQueries& queries, query::ResultFormat format)
    : queries_(queries), run_(queries, format, PrintToStandardOutput) {}

int SqlShell::Run() {
  const bool is_terminal = isatty(STDIN_FILENO) != 0;
  const std::unique_ptr<LineReader> reader =
      MakeLineReader({.history_path = is_terminal ? HistoryPath() : "",
                      .words = WordsToComplete()});
  absl::Status status;
  if (is_terminal) {
    const InterruptHandler handler(queries_);
    Say("SQL over the trace; .help says what else there is");
    status = Loop(*reader, is_terminal);
  } else {
    status = Loop(*reader, is_terminal);
  }
  return status.ok() ? 0 : Fail(status, kExitFailed);
}

absl::Status SqlShell::Loop(LineReader& reader, bool is_terminal) {
  while (!is_over_) {
    g_interrupted.store(false);
    const std::optional<std::string> line =
        reader.Read(pending_.empty() ? "kymo> " : "  ... ");
    if (!line && g_interrupted.load()) {  // Ctrl-C: begin again
      clearerr(stdin);
      fputc('\n', stderr);
      pending_.clear();
      continue;
    }
    if (!line) break;
    absl::Status status;
    if (pending_.empty() && line->starts_with('.')) {
      status = Command(*line);
      reader.Remember(*line);
    } else {
      // Only a semicolon ends a statement. Looking at all of a long one at each
      // line would take time that grows with the square of its lines.
      const bool may_end = pending_.empty() || line->find(';') != line->npos;
      absl::StrAppend(&pending_, *line, "\n");
      if (may_end) status = RunPending(reader, is_terminal);
    }
    if (status.ok()) continue;
    if (!is_terminal) return status;
    Fail(status, kExitFailed);
  }
  if (query::SplitStatements(pending_).rest.empty()) return absl::OkStatus();
  return run_.Run(pending_);
}

absl::Status SqlShell::RunPending(LineReader& reader, bool is_terminal) {
  const query::StatementList list = query::SplitStatements(pending_);
  if (list.statements.empty() && !list.rest.empty()) return absl::OkStatus();
  absl::Status status;
  for (const std::string_view statement : list.statements) {
    if (is_terminal) reader.Remember(std::string(statement) + ";");
    status = run_.RunOne(statement);
    if (!status.ok()) break;
  }
  // After an error, what follows on the line is not run.
  pending_ = status.ok() ? std::string(list.rest) : "";
  return status;
}

absl::Status SqlShell::Command(std::string_view line) {
  const size_t space = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, space);
  std::string_view rest = line.substr(space);
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  while (rest.ends_with(' ') || rest.ends_with('\r')) rest.remove_suffix(1);
  if (word == ".help") return PrintToStandardOutput(kHelp);
  if (word == ".tables") return PrintToStandardOutput(TablesText());
  if (word == ".functions") return PrintToStandardOutput(FunctionsText());
  if (word == ".queries") return PrintToStandardOutput(ReadyQueryList());
  if (word == ".format") return SetFormat(rest);
  if (word == ".quit" || word == ".exit") {
    is_over_ = true;
    return absl::OkStatus();
  }
  if (word == ".schema") {
    const tables::Table* const table = tables::FindTable(rest);
    if (table != nullptr) return PrintToStandardOutput(SchemaText(*table));
    return absl::InvalidArgumentError(absl::StrCat(
        ".schema: there is no table '", ToAbsl(rest), "'; try .tables"));
  }
  if (word == ".query") {
    const query::ReadyQuery* const ready = query::FindReadyQuery(rest);
    if (ready != nullptr) return run_.RunOne(ready->sql);
    return absl::InvalidArgumentError(absl::StrCat(
        ".query: there is no query '", ToAbsl(rest), "'; try .queries"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("there is no command '", ToAbsl(word), "'; try .help"));
}

absl::Status SqlShell::SetFormat(std::string_view name) {
  const auto format = ParseResultFormat(name);
  if (!format) {
    return absl::InvalidArgumentError(
        absl::StrCat(".format: '", ToAbsl(name),
                     "' is no format; it is one of text, csv, json, markdown"));
  }
  run_.set_format(*format);
  return absl::OkStatus();
}

}  // namespace kymo::tools
