// self_run.h - runs another command of this program, such as `kymo profile`.
//
//   KYMO_ASSIGN_OR_RETURN(const int status, RunSelf({"profile", "--", "xz"}));
#ifndef KYMO_TOOLS_GATE_COMMAND_SELF_RUN_H_
#define KYMO_TOOLS_GATE_COMMAND_SELF_RUN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace kymo::tools {

// The path of this program.
absl::StatusOr<std::string> SelfPath();

// A program that runs several times must read the same each time: sets standard
// input to where it stood first. Of a pipe, only the first run can read.
void RewindInput();

// Returns the wait status. `words` are the command and its arguments. It reads
// standard input from its beginning.
absl::StatusOr<int> RunSelf(const std::vector<std::string>& words);

// kAborted, with how `program` ended, unless it ended with status 0.
absl::Status CheckEnd(int wait_status, const std::string& program);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_GATE_COMMAND_SELF_RUN_H_
