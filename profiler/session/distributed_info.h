// distributed_info.h - this process's place in a distributed program.
//
//   const DistributedInfo info = FindDistributedInfo(
//       [](const char* name) { return std::getenv(name); });
//   if (info.is_distributed()) AddMetadata("distributedInfo", info.ToJson());
//
// Launchers say it in the environment. The first launcher of this list that
// names a rank and a world size counts. If torchrun started the program within
// a step of Slurm, torchrun's ranks are the program's.
//
//   torchrun         RANK, WORLD_SIZE, LOCAL_RANK
//   Open MPI         OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE,
//                    OMPI_COMM_WORLD_LOCAL_RANK
//   MVAPICH2         MV2_COMM_WORLD_RANK, MV2_COMM_WORLD_SIZE,
//                    MV2_COMM_WORLD_LOCAL_RANK
//   MPICH, Intel MPI PMI_RANK, PMI_SIZE, MPI_LOCALRANKID
//   Slurm            SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID
//
// Slurm's variables count only in a step that srun started (SLURM_STEP_ID is
// set). A batch script has a rank and a number of tasks too, but runs alone.
//
// Errors: values that are no numbers, and ranks outside of the world, are
//   ignored; `warnings` names them.
#ifndef KYMO_PROFILER_SESSION_DISTRIBUTED_INFO_H_
#define KYMO_PROFILER_SESSION_DISTRIBUTED_INFO_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kymo {

struct DistributedInfo {
  // The launcher: "torchrun", "mpi", "slurm"; empty: not distributed. The
  // environment does not name the library of the ranks' messages ("nccl").
  std::string backend;
  int64_t rank = 0;
  int64_t world_size = 1;
  int64_t local_rank = -1;  // on its host; -1 = not told
  std::vector<std::string> warnings;

  bool is_distributed() const noexcept { return !backend.empty(); }

  // Kineto's "distributedInfo" with one group, that of all ranks:
  //   {"backend": "mpi", "rank": 1, "world_size": 2, "pg_count": 1,
  //    "pg_config": [{"pg_name": "0", "pg_desc": "default_pg",
  //      "backend_config": "mpi", "pg_size": 2, "ranks": [0, 1]}]}
  // and "local_rank" where it is known. Groups of more than 65536 ranks come
  // without the list of them.
  std::string ToJson() const;
};

// `lookup` gives a variable's value or null.
DistributedInfo FindDistributedInfo(
    const std::function<const char*(const char*)>& lookup);

}  // namespace kymo

#endif  // KYMO_PROFILER_SESSION_DISTRIBUTED_INFO_H_
