#include "profiler/base/job_rank.h"

#include <map>

#include <gtest/gtest.h>

namespace kymo {
namespace {

std::optional<JobRank> Find(const std::map<std::string, std::string>& set) {
  return FindJobRank([&set](const char* name) -> const char* {
    const auto at = set.find(name);
    return at == set.end() ? nullptr : at->second.c_str();
  });
}

TEST(JobRankTest, KnowsTheVariablesOfEachLauncher) {
  const auto open = Find({{"OMPI_COMM_WORLD_RANK", "3"},
                          {"OMPI_COMM_WORLD_SIZE", "8"},
                          {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                          {"PMIX_NAMESPACE", "77"}});
  ASSERT_TRUE(open.has_value());
  EXPECT_EQ(open->rank, 3);
  EXPECT_EQ(open->size, 8);
  EXPECT_EQ(open->local_size, 4);
  EXPECT_TRUE(open->is_mpi);
  EXPECT_TRUE(open->may_use_mpi);
  EXPECT_EQ(open->job, "77");

  const auto mpich =
      Find({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}, {"SLURM_JOB_ID", "12"}});
  ASSERT_TRUE(mpich.has_value());
  EXPECT_TRUE(mpich->is_mpi);
  EXPECT_EQ(mpich->local_size, 0);
  EXPECT_EQ(mpich->job, "12");

  const auto torch = Find({{"RANK", "1"}, {"WORLD_SIZE", "2"}});
  ASSERT_TRUE(torch.has_value());
  EXPECT_FALSE(torch->is_mpi);
  EXPECT_FALSE(torch->may_use_mpi);
  EXPECT_EQ(torch->rank, 1);

  const auto slurm = Find({{"SLURM_PROCID", "5"},
                           {"SLURM_NTASKS", "6"},
                           {"SLURM_JOB_ID", "77"},
                           {"SLURM_STEP_ID", "2"}});
  ASSERT_TRUE(slurm.has_value());
  EXPECT_EQ(slurm->rank, 5);
  EXPECT_EQ(slurm->job, "77-2");
  EXPECT_FALSE(slurm->is_mpi);
  EXPECT_TRUE(slurm->may_use_mpi);
}

TEST(JobRankTest, ATorchrunWithoutANameIsNamedByItsAddress) {
  std::map<std::string, std::string> set = {{"RANK", "0"},
                                            {"WORLD_SIZE", "2"},
                                            {"TORCHELASTIC_RUN_ID", "none"},
                                            {"MASTER_ADDR", "10.0.0.1"},
                                            {"MASTER_PORT", "29500"},
                                            {"SLURM_JOB_ID", "7"}};
  EXPECT_EQ(Find(set)->job, "10.0.0.1-29500");
  set["TORCHELASTIC_RUN_ID"] = "mine";
  EXPECT_EQ(Find(set)->job, "mine-10.0.0.1-29500");
}

TEST(JobRankTest, AnMpirunInsideOfSlurmCounts) {
  const auto rank = Find({{"SLURM_PROCID", "0"},
                          {"SLURM_NTASKS", "1"},
                          {"PMI_RANK", "7"},
                          {"PMI_SIZE", "8"}});
  EXPECT_EQ(rank->rank, 7);
}

TEST(JobRankTest, WhatIsNoRankIsNone) {
  EXPECT_FALSE(Find({}).has_value());
  EXPECT_FALSE(Find({{"RANK", "1"}}).has_value());
  EXPECT_FALSE(Find({{"RANK", "x"}, {"WORLD_SIZE", "2"}}).has_value());
  EXPECT_FALSE(Find({{"RANK", "1x"}, {"WORLD_SIZE", "2"}}).has_value());
  EXPECT_FALSE(Find({{"RANK", "-1"}, {"WORLD_SIZE", "2"}}).has_value());
  EXPECT_FALSE(Find({{"RANK", "2"}, {"WORLD_SIZE", "2"}}).has_value());
  EXPECT_FALSE(
      Find({{"RANK", "0"}, {"WORLD_SIZE", "9000000000000000000"}}).has_value());
}

}  // namespace
}  // namespace kymo
