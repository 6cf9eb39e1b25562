#include "profiler/base/job_rank.h"

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
  // The job, of which the first that is set counts.
  const char* job;
  const char* other_job;
};

// An mpirun inside of a Slurm job comes before Slurm.
constexpr Launcher kLaunchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_SIZE", true, "PMIX_NAMESPACE",
     "OMPI_MCA_ess_base_jobid"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", true, "PMI_JOBID",
     "SLURM_JOB_ID"},
    {"RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", false, "TORCHELASTIC_RUN_ID",
     "SLURM_JOB_ID"},
    {"SLURM_PROCID", "SLURM_NTASKS", "", false, "SLURM_JOB_ID", ""}};

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

std::string Text(const GetVariable& get, const char* name) {
  const char* const text = *name == '\0' ? nullptr : get(name);
  return text == nullptr ? std::string() : text;
}

}  // namespace

std::optional<JobRank> FindJobRank(const GetVariable& get) {
  for (const Launcher& launcher : kLaunchers) {
    const std::optional<int64_t> rank = Number(get, launcher.rank);
    const std::optional<int64_t> size = Number(get, launcher.size);
    if (!rank || !size || *rank >= *size) continue;
    JobRank found = {.rank = *rank,
                     .size = *size,
                     .local_size = Number(get, launcher.local_size).value_or(0),
                     .is_mpi = launcher.is_mpi,
                     .job = Text(get, launcher.job)};
    if (found.job.empty()) found.job = Text(get, launcher.other_job);
    return found;
  }
  return std::nullopt;
}

}  // namespace kymo
