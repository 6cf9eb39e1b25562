// progress_line.h - what a command is doing, on a line of the terminal that it
// takes back.
//
//   ProgressLine progress(!command.quiet);
//   progress.Show("summing up");
//   progress.Show("writing trace.json", 0.43);
//
//   kymo: writing trace.json  [########            ]  43 %
//
// Where standard error is no terminal, or one that cannot take a line back, it
// shows nothing.
// Threads: one.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_PROGRESS_LINE_H_
#define KYMO_TOOLS_PROFILE_COMMAND_PROGRESS_LINE_H_

#include <cstdint>
#include <string>

namespace kymo::tools {

class ProgressLine {
 public:
  explicit ProgressLine(bool wanted);
  ~ProgressLine() { Clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // From now on it does this; no one knows for how long.
  void Show(const std::string& what);
  // So much of it is done, 0..1. Ten times a second at most.
  void Show(const std::string& what, double done);
  // Takes the line back, for other text.
  void Clear();

 private:
  bool wanted_;
  int64_t last_ns_ = 0;
  bool shown_ = false;
};

// "[##        ]   20 %".
std::string ProgressBar(double done);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_PROGRESS_LINE_H_
