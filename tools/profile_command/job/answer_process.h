// answer_process.h - a process that does the last work of a job, also if the
// launcher kills the command before.
//
//   KYMO_ASSIGN_OR_RETURN(AnswerProcess answer,
//                         AnswerProcess::Fork(
//                             log_path, [&] { Serve(); },
//                             [&](bool is_orphan) {
//                               return WriteAnswer() ? 0 : 1;
//                             }));
//   ...                                    // the command records
//   int exit_status = answer.Finish();     // now the work is done
//
// If a rank dies, launchers kill the processes of all ranks, and these are the
// commands. The process is in a session of its own, where their signals do not
// come. It begins its work when the command asks for it, or is gone. In the
// second case it writes what it says to a file, because the launcher waits
// until nobody has the pipes of the job's output open. A launcher that kills
// everything of a job (Slurm, by its control group) ends it as well.
//
// Threads: call Fork while the process has one thread.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_JOB_ANSWER_PROCESS_H_
#define KYMO_TOOLS_PROFILE_COMMAND_JOB_ANSWER_PROCESS_H_

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/base/owned_descriptor.h"

namespace kymo::tools {

class AnswerProcess {
 public:
  struct Options {
    // Of the command's descriptors, those that `work` needs.
    std::vector<int> descriptors;
    // Said on the command's standard error if that is gone.
    std::string last_words;
  };

  // `begin` is called at once, and may start threads. `work` returns an exit
  // status. `is_orphan`: the command is gone.
  static absl::StatusOr<AnswerProcess> Fork(
      const std::string& log_path, const std::function<void()>& begin,
      const std::function<int(bool is_orphan)>& work,
      const Options& options = {});
  AnswerProcess(AnswerProcess&&) noexcept;
  AnswerProcess& operator=(AnswerProcess&&) = delete;
  // If Finish was not called, the process ends without its work.
  ~AnswerProcess();

  // Waits for the work. Returns its exit status.
  int Finish();
  // The work is done as if the command was gone, but nothing is said of that:
  // the command may end now.
  void FinishAlone();

 private:
  AnswerProcess(pid_t pid, OwnedDescriptor orders)
      : pid_(pid), orders_(std::move(orders)) {}
  void Send(char order);
  int Order(char order);

  pid_t pid_;
  OwnedDescriptor orders_;
};

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_JOB_ANSWER_PROCESS_H_
