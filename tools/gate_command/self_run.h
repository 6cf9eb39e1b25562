// self_run.h - runs another command of this program, such as `kymo profile`.
//
//   KYMO_ASSIGN_OR_RETURN(const int status, RunSelf({"profile", "--", "xz"}));
#ifndef KYMO_TOOLS_GATE_COMMAND_SELF_RUN_H_
#define KYMO_TOOLS_GATE_COMMAND_SELF_RUN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/gate_command/program_streams.h"

namespace kymo::tools {

// A program that runs several times must read the same each time: sets standard
// input to where it stood first. Of a pipe, only the first run can read.
void RewindInput();

// Returns the wait status. `words` are the command and its arguments. It reads
// standard input from its beginning. If the calling thread ends first, it gets
// SIGTERM, which `kymo profile` hands on to its program.
absl::StatusOr<int> RunSelf(const std::vector<std::string>& words,
                            const StreamDescriptors& streams = kOwnStreams);

// Runs `kymo profile`, which writes `result` if it could record the program.
// kAborted if the program or the recorder did not end with status 0: the text
// says which.
absl::Status RunRecorder(const std::vector<std::string>& words,
                         const std::string& program, const std::string& result,
                         const StreamDescriptors& streams);

// kAborted, with how `program` ended, unless it ended with status 0.
absl::Status CheckEnd(int wait_status, const std::string& program);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_GATE_COMMAND_SELF_RUN_H_
