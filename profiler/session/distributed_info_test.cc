#include "profiler/session/distributed_info.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace kymo {
namespace {

DistributedInfo Find(const std::map<std::string, std::string>& environment) {
  return FindDistributedInfo([&](const char* name) -> const char* {
    const auto it = environment.find(name);
    return it == environment.end() ? nullptr : it->second.c_str();
  });
}

TEST(DistributedInfoTest, EachLauncherIsUnderstood) {
  const DistributedInfo torchrun =
      Find({{"RANK", "3"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}});
  EXPECT_EQ(torchrun.backend, "torchrun");
  EXPECT_EQ(torchrun.rank, 3);
  EXPECT_EQ(torchrun.world_size, 8);
  EXPECT_EQ(torchrun.local_rank, 1);
  EXPECT_EQ(
      Find({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}}).rank,
      1);
  EXPECT_EQ(Find({{"MV2_COMM_WORLD_RANK", "1"}, {"MV2_COMM_WORLD_SIZE", "2"}})
                .backend,
            "mpi");
  EXPECT_EQ(Find({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}).world_size, 2);
  EXPECT_EQ(Find({{"SLURM_PROCID", "4"},
                  {"SLURM_NTASKS", "5"},
                  {"SLURM_STEP_ID", "0"}})
                .backend,
            "slurm");
}

TEST(DistributedInfoTest, ABatchScriptAloneIsNotDistributed) {
  EXPECT_FALSE(
      Find({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "5"}}).is_distributed());
  EXPECT_FALSE(Find({}).is_distributed());
  EXPECT_FALSE(Find({{"RANK", "0"}}).is_distributed());
}

TEST(DistributedInfoTest, TorchrunWithinMpiCounts) {
  const DistributedInfo info = Find({{"RANK", "1"},
                                     {"WORLD_SIZE", "2"},
                                     {"OMPI_COMM_WORLD_RANK", "0"},
                                     {"OMPI_COMM_WORLD_SIZE", "9"}});
  EXPECT_EQ(info.backend, "torchrun");
  EXPECT_EQ(info.world_size, 2);
}

TEST(DistributedInfoTest, BrokenValuesArePassedOverAndTold) {
  const DistributedInfo info = Find({{"RANK", "first"},
                                     {"WORLD_SIZE", "2"},
                                     {"PMI_RANK", "7"},
                                     {"PMI_SIZE", "2"},
                                     {"OMPI_COMM_WORLD_RANK", "-1"},
                                     {"OMPI_COMM_WORLD_SIZE", "2"}});
  EXPECT_FALSE(info.is_distributed());
  EXPECT_EQ(info.warnings.size(), 3);
}

TEST(DistributedInfoTest, JsonHasKinetosKeys) {
  DistributedInfo info;
  info.backend = "mpi";
  info.rank = 1;
  info.world_size = 2;
  EXPECT_EQ(info.ToJson(),
            "{\"backend\": \"mpi\", \"rank\": 1, \"world_size\": 2, "
            "\"pg_count\": 1, \"pg_config\": [{\"pg_name\": \"0\", "
            "\"pg_desc\": \"default_pg\", \"backend_config\": \"mpi\", "
            "\"pg_size\": 2, \"ranks\": [0, 1]}]}");
}

}  // namespace
}  // namespace kymo
