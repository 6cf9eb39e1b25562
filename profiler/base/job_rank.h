// job_rank.h - which rank of a job this process is.
//
//   if (const std::optional<JobRank> rank = FindJobRank(getenv)) {
//     Print(rank->rank, rank->size);
//   }
//
// Launchers tell it their processes by environment variables:
//
//   mpirun of Open MPI   OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_SIZE
//   mpirun of MPICH      PMI_RANK, PMI_SIZE, MPI_LOCALNRANKS
//   torchrun             RANK, WORLD_SIZE, LOCAL_WORLD_SIZE
//   srun of Slurm        SLURM_PROCID, SLURM_NTASKS
//
// Threads: any. Errors: none; what is no number counts as unset, and so does a
//   size above 2^20.
#ifndef KYMO_PROFILER_BASE_JOB_RANK_H_
#define KYMO_PROFILER_BASE_JOB_RANK_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace kymo {

struct JobRank {
  int64_t rank = 0;
  int64_t size = 1;
  // How many ranks are on this machine; 0: not known.
  int64_t local_size = 0;
  bool is_mpi = false;  // started by an mpirun
  // Started by an mpirun, or by srun, which starts programs of any kind.
  bool may_use_mpi = false;
  // The same text for all ranks of a job. Most launchers give another one to
  // another job; those that do not make it from a port of the machine. Empty:
  // the launcher gives none.
  std::string job;
};

// getenv, or a test's.
using GetVariable = std::function<const char*(const char* name)>;

// Nothing: no launcher started this process as one of several.
std::optional<JobRank> FindJobRank(const GetVariable& get);

}  // namespace kymo

#endif  // KYMO_PROFILER_BASE_JOB_RANK_H_
