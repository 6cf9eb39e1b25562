// late_ctrl_c.h - what a Ctrl-C does after the recording, while files are
// written.
//
// Who presses Ctrl-C twice, or as the recording ends by itself, would lose it.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_START_LATE_CTRL_C_H_
#define KYMO_TOOLS_PROFILE_COMMAND_START_LATE_CTRL_C_H_

namespace kymo::tools {

// Whether this process writes all files, or another one writes the answer of
// the job that this process is a rank of (job/answer_process.h).
enum class FilesOf { kThisProcess, kRankOfJob };

// From here on the first SIGINT only says, on standard error, that files are
// being written. The next one ends this process. Nothing changes if SIGINT is
// ignored, as in the background of a shell without job control.
void KeepWritingAfterFirstCtrlC(FilesOf files = FilesOf::kThisProcess);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_START_LATE_CTRL_C_H_
