// line_reader.h - lines that a person types, with history and completion.
//
//   const auto reader = MakeLineReader({.history_path = path,
//                                       .words = {"select", "events"}});
//   while (std::optional<std::string> line = reader->Read("kymo> ")) ...
//
// On a terminal, libedit edits the line if it is installed (libedit2 of Debian;
// it is loaded when it is needed, so that nothing else depends on it). Tab
// completes words. Else, and if standard input is no terminal, lines are read
// as they are.
#ifndef KYMO_TOOLS_SQL_SHELL_LINE_READER_H_
#define KYMO_TOOLS_SQL_SHELL_LINE_READER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace kymo::tools {

struct LineReaderOptions {
  std::string history_path;        // empty: no history
  std::vector<std::string> words;  // to complete, sorted
};

class LineReader {
 public:
  LineReader() = default;
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;
  virtual ~LineReader() = default;

  // A line without its end. Nothing: the input ended, or a signal came.
  virtual std::optional<std::string> Read(const std::string& prompt) = 0;
  // A statement for the history.
  virtual void Remember(const std::string& statement) = 0;
};

std::unique_ptr<LineReader> MakeLineReader(const LineReaderOptions& options);

// The words that begin with the last word of `text`, whatever the case.
std::vector<std::string> Completions(const std::vector<std::string>& words,
                                     const std::string& text);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_SQL_SHELL_LINE_READER_H_
