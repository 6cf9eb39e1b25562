// distributed_info.h - this process's place in a distributed program.
//
//   const DistributedInfo info = FindDistributedInfo(
//       [](const char* name) { return std::getenv(name); });
//   if (info.is_distributed()) AddMetadata("distributedInfo", info.ToJson());
//
// Launchers tell it in the environment. The first of these that names a rank
// and a world size counts:
//
//   launcher            rank                   world size            local rank
//   torchrun            RANK                   WORLD_SIZE            LOCAL_RANK
//   Open MPI            OMPI_COMM_WORLD_RANK   ..._SIZE ..._LOCAL_RANK MVAPICH2
//   MV2_COMM_WORLD_RANK    ..._SIZE              ..._LOCAL_RANK MPICH, Intel
//   MPI    PMI_RANK               PMI_SIZE              MPI_LOCALRANKID Slurm
//   (srun)        SLURM_PROCID           SLURM_NTASKS          SLURM_LOCALID
//
// Slurm's count only in a step that srun started (SLURM_STEP_ID is set): a
// batch script alone is not distributed.
//
// Errors: values that are no numbers, and ranks outside of the world, are
//   passed over and told in `warnings`.
#ifndef KYMO_PROFILER_SESSION_DISTRIBUTED_INFO_H_
#define KYMO_PROFILER_SESSION_DISTRIBUTED_INFO_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kymo {

struct DistributedInfo {
  std::string backend;  // "torchrun", "mpi", "slurm"; empty: not distributed
  int64_t rank = 0;
  int64_t world_size = 1;
  int64_t local_rank = -1;  // -1 = not told
  std::vector<std::string> warnings;

  bool is_distributed() const noexcept { return !backend.empty(); }

  // Kineto's object, with one group of all ranks.
  std::string ToJson() const;
};

// `lookup` gives a variable's value or null.
DistributedInfo FindDistributedInfo(
    const std::function<const char*(const char*)>& lookup);

}  // namespace kymo

#endif  // KYMO_PROFILER_SESSION_DISTRIBUTED_INFO_H_
