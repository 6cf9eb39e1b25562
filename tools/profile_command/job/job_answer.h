// job_answer.h - the answer of a whole job, from the traces of its ranks.
//
//   const absl::Status status = DeliverJob(job, command, exporters);
//
// Rank 0 calls it when its own files are written. It waits for the others,
// reads their traces as one (importers/load), on one clock where that was
// measured, and writes into the job's folder what a run writes, and ranks.txt:
// the tables of ranks, imbalance, collectives and messages, and which ranks are
// missing and why.
//
// Errors: those of reading and writing. kNotFound if no rank has a trace.
#ifndef KYMO_TOOLS_PROFILE_COMMAND_JOB_JOB_ANSWER_H_
#define KYMO_TOOLS_PROFILE_COMMAND_JOB_JOB_ANSWER_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "profiler/analysis/ranks/rank_sums.h"
#include "profiler/plugin/registry.h"
#include "tools/profile_command/job/job_folder.h"
#include "tools/profile_command/options.h"

namespace kymo::tools {

// With --keep_ranks: what else rank 0 has of all ranks.
struct RankChoice {
  // Their averages, when all have ended.
  std::function<analysis::RankSums()> take_sums;
  // Leaves the traces of these ranks alone in the folder, and waits for those
  // that are still to come. Returns the ranks whose traces are there.
  std::function<std::vector<int64_t>(const std::vector<int64_t>& ranks)> keep;
};

// `choice` is null without --keep_ranks. With it, the averages of all ranks are
// in ranks.txt and job_averages.json, and all else is of the ranks that are
// kept.
absl::Status DeliverJob(const JobFolder& job, const ProfileCommand& command,
                        const ExporterRegistry& exporters,
                        const WaitLimits& limits = {},
                        const RankChoice* choice = nullptr);

}  // namespace kymo::tools

#endif  // KYMO_TOOLS_PROFILE_COMMAND_JOB_JOB_ANSWER_H_
