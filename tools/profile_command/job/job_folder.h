// job_folder.h - the folder that the ranks of a job share (--ranks).
//
//   KYMO_ASSIGN_OR_RETURN(JobFolder job, JobFolder::Join(path, "solver"));
//   Record(job.RankPath(), job.MeetingPath());
//   job.SayDone();
//   if (job.rank().rank == 0) const JobFiles files = job.WaitForRanks();
//
//   FOLDER/                  rank 0 writes the answer of the whole job here
//   FOLDER/rank-3/           what rank 3 recorded
//   FOLDER/.kymo-job-ID/     rank-3: its program begins; done-3: it has ended
//
// ID is the job's, so a folder that is used again does not mislead the next
// job. All ranks have to see the folder; those that do not are missing in the
// answer.
//
// Threads: one call at a time. Errors: kInvalidArgument if no launcher started
//   this process as a rank, or the job has no name and no folder was given;
//   those of the file system, with the path.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_JOB_JOB_FOLDER_H_
#define KYMO_TOOLS_PROFILE_COMMAND_JOB_JOB_FOLDER_H_

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/base/job_rank.h"

namespace kymo::tools {

struct JobFiles {
  std::vector<std::string> traces;  // by rank
  std::vector<int64_t> missing;     // ranks without one
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

  // This rank has written its files. Errors are not told: the answer lacks the
  // rank then, and says so.
  void SayDone() const;

  // Waits until all ranks are done, but no longer than `patience` after the
  // last one that became so.
  JobFiles WaitForRanks(
      std::chrono::milliseconds patience = std::chrono::seconds(60)) const;

 private:
  JobFolder(std::string path, std::string meeting, const JobRank& rank);
  std::string RankPath(int64_t rank) const;
  std::string TraceOf(int64_t rank) const;  // empty: there is none

  std::string path_;
  std::string meeting_;
  JobRank rank_;
};

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_JOB_JOB_FOLDER_H_
