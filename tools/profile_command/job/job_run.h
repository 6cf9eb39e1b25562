// job_run.h - one rank's part in a job (--ranks), from its folder to its end.
//
//   KYMO_ASSIGN_OR_RETURN(std::unique_ptr<JobRun> job,
//                         JobRun::Join(command, is_quiet, name, exporters));
//   environment[...] = job->MeetingPath();
//   job->Guard(records);                // all sessions are prepared
//   job->Start(child.pid());            // the program exists, and waits
//   ...                                 // it runs and ends
//   job->AddClocks(recording);
//   WriteFiles(job->RankPath());
//   const int status = job->Finish(succeeded);  // rank 0: the job's answer
//
// If Finish is not called, the job learns that this rank has no trace.
//
// Threads: one call at a time. Call Join while the process has one thread: rank
//   0 forks the process that writes the answer (answer_process.h).
// Errors: those of job_folder.h and rank_meeting_place.h.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_JOB_JOB_RUN_H_
#define KYMO_TOOLS_PROFILE_COMMAND_JOB_JOB_RUN_H_

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/analysis/ranks/mpi_calls.h"
#include "profiler/analysis/ranks/rank_sums.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/last_records.h"
#include "profiler/plugin/registry.h"
#include "profiler/session/recording.h"
#include "tools/profile_command/job/answer_process.h"
#include "tools/profile_command/job/job_folder.h"
#include "tools/profile_command/job/job_socket.h"
#include "tools/profile_command/job/rank_link.h"
#include "tools/profile_command/job/rank_meeting_place.h"
#include "tools/profile_command/job/rank_presence.h"
#include "tools/profile_command/job/rank_server.h"
#include "tools/profile_command/job/rank_tree.h"
#include "tools/profile_command/options.h"

namespace kymo::tools {

class JobRun {
 public:
  // `command` and `exporters` outlive it. `is_quiet` is about the whole job.
  static absl::StatusOr<std::unique_ptr<JobRun>> Join(
      const ProfileCommand& command, bool is_quiet,
      const std::string& target_name, const ExporterRegistry& exporters);
  ~JobRun();
  JobRun(const JobRun&) = delete;
  JobRun& operator=(const JobRun&) = delete;

  std::string RankPath() const { return folder_.RankPath(); }
  // Where the ranks' MPI layers meet; empty: they share no folder.
  std::string MeetingPath() const;

  // All is prepared, and this process still has one thread. Another one waits
  // from now on, and saves the records if the command is killed.
  absl::Status Guard(const LastRecords& records);
  void Start(pid_t pid);
  // The recording has stopped. The program had ended before, at `end_ns`, as
  // `wait_status` of wait() says.
  void AddRank(Recording& recording, TimeNs end_ns, int wait_status);
  // This rank's trace is whole: takes from it what the job needs.
  void OnTrace(const model::Trace& trace);
  // `succeeded`: the program has ended with exit status 0. If it has left the
  // job too early, others may wait for it until the launcher ends them, which
  // learns of it by the end of this command. So rank 0 waits for them no longer
  // than some seconds then, and its answer is written after this command.
  int Finish(bool succeeded);

 private:
  JobRun(const ProfileCommand& command, bool is_quiet,
         const ExporterRegistry& exporters, JobFolder folder,
         std::optional<NetworkPlace> network);
  absl::Status StartAnswer();
  void StartServer();
  int WriteAnswer(bool is_orphan);
  std::vector<int64_t> KeepTraces(const std::vector<int64_t>& ranks);
  // Those that come over the network.
  std::vector<int64_t> AwaitTraces(const std::vector<int64_t>& ranks);
  void SayIfBrokeOff();
  // Adds those of other ranks, and sends them on to rank 0.
  void SendSums();
  absl::Status SendResults(bool has_trace);
  bool keeps_some() const { return command_.keep_ranks > 0; }
  bool MeasuresClocks() const;
  bool SendsTrace() const;
  // Says what went wrong on the way to rank 0.
  void SayDone(bool has_trace);
  // Whether some are not done some seconds later.
  bool SomeStillRun() const;

  const ProfileCommand& command_;
  const bool is_quiet_;
  const ExporterRegistry& exporters_;
  const JobFolder folder_;
  const std::optional<NetworkPlace> network_;  // they share no folder
  std::unique_ptr<RankServer> server_;         // in the answer's process
  SumsBox sums_box_;                           // likewise, and these
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int64_t, Deadline>
      signs_;                  // guarded by mutex_: until when they live
  std::set<int64_t> arrived_;  // guarded by mutex_: traces
  std::optional<AnswerProcess> answer_;  // of rank 0
  std::optional<AnswerProcess> guard_;
  std::optional<RankPresence> presence_;
  std::optional<RankTree> tree_;  // with --keep_ranks, of the others
  std::optional<RankLink> link_;  // of the others
  std::optional<analysis::RankSums> sums_;
  pid_t pid_ = 0;
  std::optional<analysis::RankEnd> end_;  // of the program
  bool has_mpi_ = false;                  // the program called MPI_Init
  bool is_finalized_ = false;             // and MPI_Finalize
  bool is_told_ = false;
};

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_JOB_JOB_RUN_H_
