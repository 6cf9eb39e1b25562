#include "profiler/session/distributed_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

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
  EXPECT_THAT(
      info.warnings,
      testing::UnorderedElementsAre(
          "the environment variable RANK is 'first', which is no rank or size",
          "the environment variable OMPI_COMM_WORLD_RANK is '-1', which is no "
          "rank or size",
          "PMI_RANK is 7 and PMI_SIZE is 2: no such rank"));
}

TEST(DistributedInfoTest, LocalRanksOfEachLauncher) {
  EXPECT_EQ(Find({{"OMPI_COMM_WORLD_RANK", "1"},
                  {"OMPI_COMM_WORLD_SIZE", "2"},
                  {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}})
                .local_rank,
            1);
  EXPECT_EQ(Find({{"MV2_COMM_WORLD_RANK", "3"},
                  {"MV2_COMM_WORLD_SIZE", "4"},
                  {"MV2_COMM_WORLD_LOCAL_RANK", "2"}})
                .local_rank,
            2);
  EXPECT_EQ(
      Find({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "0"}})
          .local_rank,
      0);
  EXPECT_EQ(Find({{"SLURM_STEP_ID", "0"},
                  {"SLURM_PROCID", "4"},
                  {"SLURM_NTASKS", "5"},
                  {"SLURM_LOCALID", "3"}})
                .local_rank,
            3);
  EXPECT_EQ(Find({{"PMI_RANK", "0"}, {"PMI_SIZE", "1"}}).local_rank, -1);
}

TEST(DistributedInfoTest, BrokenLauncherGivesWayToTheNext) {
  const DistributedInfo info = Find({{"RANK", "2"},
                                     {"WORLD_SIZE", "2"},
                                     {"PMI_RANK", "1"},
                                     {"PMI_SIZE", "2"}});
  EXPECT_EQ(info.backend, "mpi");
  EXPECT_EQ(info.rank, 1);
  EXPECT_EQ(info.warnings,
            (std::vector<std::string>{"RANK is 2 and WORLD_SIZE is 2: no such "
                                      "rank"}));
}

TEST(DistributedInfoTest, BrokenLocalRankCostsOnlyItself) {
  const DistributedInfo info =
      Find({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "1x"}});
  EXPECT_TRUE(info.is_distributed());
  EXPECT_EQ(info.local_rank, -1);
  EXPECT_THAT(info.warnings,
              testing::ElementsAre("the environment variable LOCAL_RANK is "
                                   "'1x', which is no rank or size"));
}

TEST(DistributedInfoTest, EmptyVariablesAreUnset) {
  const DistributedInfo info = Find({{"RANK", ""}, {"WORLD_SIZE", ""}});
  EXPECT_FALSE(info.is_distributed());
  EXPECT_TRUE(info.warnings.empty());
}

TEST(DistributedInfoTest, VastWorldsDoNotListTheirRanks) {
  const DistributedInfo info =
      Find({{"RANK", "0"}, {"WORLD_SIZE", "9223372036854775807"}});
  EXPECT_EQ(info.ToJson().find("ranks"), std::string::npos);
  EXPECT_NE(info.ToJson().find("\"pg_size\": 9223372036854775807}]}"),
            std::string::npos);
  const auto lists_ranks = [](const char* world_size) {
    return Find({{"RANK", "0"}, {"WORLD_SIZE", world_size}})
               .ToJson()
               .find("\"ranks\"") != std::string::npos;
  };
  EXPECT_TRUE(lists_ranks("65536"));
  EXPECT_FALSE(lists_ranks("65537"));
}

TEST(DistributedInfoTest, JsonHasLocalRankWhereKnown) {
  DistributedInfo info;
  info.backend = "torchrun";
  info.local_rank = 0;
  EXPECT_EQ(info.ToJson(),
            "{\"backend\": \"torchrun\", \"rank\": 0, \"world_size\": 1, "
            "\"local_rank\": 0, \"pg_count\": 1, \"pg_config\": [{"
            "\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", "
            "\"backend_config\": \"torchrun\", \"pg_size\": 1, "
            "\"ranks\": [0]}]}");
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
