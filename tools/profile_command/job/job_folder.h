// job_folder.h - the folder that the ranks of a job share (--ranks).
//
//   KYMO_ASSIGN_OR_RETURN(JobFolder job, JobFolder::Join(path, "solver"));
//   Record(job.RankPath(), job.MeetingPath());
//   job.SayDone(job.rank().rank, true);
//   if (job.rank().rank == 0) const JobFiles files = job.WaitForRanks();
//
//   FOLDER/                  rank 0 writes the answer of the whole job here
//   FOLDER/rank-3/           what rank 3 recorded
//   FOLDER/.kymo-job-ID/     where the ranks meet:
//     token                  of this run, made by rank 0
//     rank-3                 rank 3 lives: its command writes another number
//                            into the file every two seconds (rank_presence.h)
//     done-3.TOKEN           rank 3 has ended, with a trace or without, or its
//                            command was killed and left rank-3/kymo.raw
//     left-3.TOKEN           rank 3 has left the job before its end, and when
//     address                where rank 0 answers (rank_meeting_place.h)
//
// ID is the launcher's name of the job. Not every launcher gives each job a
// name of its own, so a folder may have files of an earlier run. The token
// tells them apart: rank 0 makes a new one, and believes no file without it.
// All ranks have to see the folder; those that do not are missing in the
// answer, unless they send their traces to rank 0 (rank_link.h).
//
// Threads: any, since rank 0's server calls for other ranks.
// Errors: kInvalidArgument if no launcher started this process as a rank, or
//   the job has no name and no folder was given; those of the file system, with
//   the path.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_JOB_JOB_FOLDER_H_
#define KYMO_TOOLS_PROFILE_COMMAND_JOB_JOB_FOLDER_H_

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "profiler/base/job_rank.h"

namespace kymo::tools {

enum class MissingReason {
  kNeverSeen,  // nothing in the folder is of it
  kLost,       // its command was there, and then no longer
  kNoTrace,    // its command has ended without a trace
};

struct MissingRank {
  int64_t rank = 0;
  MissingReason reason = MissingReason::kNeverSeen;
  bool operator==(const MissingRank&) const = default;
};

struct JobFiles {
  std::vector<std::string> traces;   // by rank; kymo.raw of those killed
  std::vector<int64_t> killed;       // that have such a file
  std::vector<MissingRank> missing;  // ranks without one
};

// How long rank 0 waits for what is not there.
struct WaitLimits {
  // For a rank that nothing is seen of.
  std::chrono::milliseconds unseen = std::chrono::seconds(5);
  // For a rank whose command lives no more.
  std::chrono::milliseconds silent = std::chrono::seconds(15);
  // Traces come later, or not at all: whoever says that there is one is not
  // missing.
  bool traces_follow = false;
};

class JobFolder {
 public:
  // `folder` is empty if the user named none.
  static absl::StatusOr<JobFolder> Join(const std::string& folder,
                                        const std::string& target_name);
  // The same for a rank that is known: for tests.
  static absl::StatusOr<JobFolder> Join(const std::string& folder,
                                        const std::string& target_name,
                                        const JobRank& rank);

  const JobRank& rank() const { return rank_; }
  const std::string& path() const { return path_; }
  std::string RankPath() const { return RankPath(rank_.rank); }
  const std::string& MeetingPath() const { return meeting_; }

  std::string RankPath(int64_t rank) const;
  std::string TraceOf(int64_t rank) const;  // empty: there is none

  // Where this rank's command says that it lives.
  std::string PresencePath() const { return PresencePath(rank_.rank); }
  // Rank 0, for a rank that has said so over the network.
  void SayAlive(int64_t rank, int64_t number) const;

  // The rank has written its files, or has failed. It is this one, or rank 0
  // says so for one that sent its trace. Waits for rank 0's token, if that is
  // not there yet; all such waits of a rank together take 10 s at most. Errors
  // are not told: the answer lacks the rank then, and says so.
  void SayDone(int64_t rank, bool has_trace) const;
  // The rank left the job before its end, and nobody had told it to: at this
  // time in ns, by the clock of the day of its machine.
  void SayBrokeOff(int64_t rank, int64_t time_ns) const;
  // Whether this rank has written its trace. An earlier run's is not it.
  bool HasTrace() const;
  // This rank's command was killed. What there is of it is its trace or, if it
  // had not come so far, kymo.raw.
  void SayKilled() const;

  // A rank that shares no folder with rank 0 has ended: removes what it made
  // to meet in its own one.
  void Leave() const;

  // Rank 0: waits for all ranks that live, however long they take. Calls
  // `on_wait` with them fifty times a second.
  JobFiles WaitForRanks(const WaitLimits& limits = {},
                        const std::function<void(const std::vector<int64_t>&)>&
                            on_wait = nullptr) const;

  // Rank 0: the ranks that have not said that they are done.
  std::vector<int64_t> NotDone() const;

  // Rank 0: the first that said that it broke off. Nothing: none did, or all
  // did, so their program always ends like that.
  std::optional<int64_t> FirstToBreakOff() const;

  // Rank 0: removes what this rank's run has left in its folder.
  void RemoveTrace(int64_t rank) const;

  // Rank 0: the answer is written. Removes what the ranks met by.
  void Close() const;

 private:
  JobFolder(std::string path, std::string meeting, const JobRank& rank);
  absl::Status Open();
  std::string TokenPath() const;
  std::string PresencePath(int64_t rank) const;
  std::string DonePath(int64_t rank, const std::string& token) const;
  // Rank 0's, once it is there. Empty: it has not come.
  std::string AwaitToken() const;
  std::string LeftPath(int64_t rank, const std::string& token) const;
  void SayEnd(int64_t rank, const char* end) const;

  std::string path_;
  std::string meeting_;
  JobRank rank_;
  std::string token_;  // rank 0's
  // How long the others wait for it, from the first time on that they need it.
  // Only one thread of a rank asks.
  mutable std::optional<std::chrono::steady_clock::time_point> token_until_;
  // When the trace that was there before this run was written.
  std::optional<std::filesystem::file_time_type> old_trace_;
};

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_JOB_JOB_FOLDER_H_
