#include "profiler/base/job_rank.h"

#include <array>
#include <charconv>
#include <string_view>
#include <system_error>

namespace kymo {
namespace {

struct Launcher {
  const char* rank;
  const char* size;
  const char* local_size;
  bool is_mpi;
  bool may_use_mpi;
  // What names the job, all together. Where none of them is set, the batch
  // system's names count.
  std::array<const char*, 4> job;
};

constexpr std::array<const char*, 4> kBatchJob = {
    "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT", ""};
// More ranks than any machine has: no number of ranks, then.
constexpr int64_t kMostRanks = 1 << 20;

// An mpirun inside of a Slurm job comes before Slurm.
constexpr Launcher kLaunchers[] = {
    {"OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_SIZE",
     true,
     true,
     {"PMIX_NAMESPACE", "", "", ""}},
    {"PMI_RANK",
     "PMI_SIZE",
     "MPI_LOCALNRANKS",
     true,
     true,
     {"PMI_JOBID", "", "", ""}},
    {"RANK",
     "WORLD_SIZE",
     "LOCAL_WORLD_SIZE",
     false,
     false,
     {"TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT",
      "TORCHELASTIC_RESTART_COUNT"}},
    {"SLURM_PROCID", "SLURM_NTASKS", "", false, true, kBatchJob}};

std::optional<int64_t> Number(const GetVariable& get, const char* name) {
  const char* const text = *name == '\0' ? nullptr : get(name);
  if (text == nullptr) return std::nullopt;
  const std::string_view view(text);
  int64_t value = 0;
  const auto [end, error] =
      std::from_chars(view.data(), view.data() + view.size(), value);
  if (error != std::errc() || end != view.data() + view.size() || value < 0) {
    return std::nullopt;
  }
  return value;
}

// The values of the variables that are set. torchrun says "none" for a name
// that the user did not give.
std::string JobName(const GetVariable& get,
                    const std::array<const char*, 4>& names) {
  std::string job;
  for (const char* const name : names) {
    const char* const text = *name == '\0' ? nullptr : get(name);
    if (text == nullptr || *text == '\0' || std::string_view(text) == "none") {
      continue;
    }
    if (!job.empty()) job += '-';
    job += text;
  }
  return job;
}

}  // namespace

std::optional<JobRank> FindJobRank(const GetVariable& get) {
  for (const Launcher& launcher : kLaunchers) {
    const std::optional<int64_t> rank = Number(get, launcher.rank);
    const std::optional<int64_t> size = Number(get, launcher.size);
    if (!rank || !size || *rank >= *size || *size > kMostRanks) continue;
    JobRank found = {.rank = *rank,
                     .size = *size,
                     .local_size = Number(get, launcher.local_size).value_or(0),
                     .is_mpi = launcher.is_mpi,
                     .may_use_mpi = launcher.may_use_mpi,
                     .job = JobName(get, launcher.job)};
    if (found.job.empty()) found.job = JobName(get, kBatchJob);
    return found;
  }
  return std::nullopt;
}

}  // namespace kymo
