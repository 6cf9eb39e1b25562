#include "importers/sqlite/cuda_names.h"

#include <limits>

#include "gtest/gtest.h"

namespace kymo::sqlite {
namespace {

TEST(CudaNamesTest, SpeaksKinetosWords) {
  EXPECT_EQ(CopyName(1, 1, 3), "Memcpy HtoD (Pageable -> Device)");
  EXPECT_EQ(CopyName(8, 3, 3), "Memcpy DtoD (Device -> Device)");
  EXPECT_EQ(MemsetName(3), "Memset (Device)");
  EXPECT_EQ(SyncName(3), "Stream Sync");
}

TEST(CudaNamesTest, NumbersOfNoKindAreUnknown) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(CopyName(99, -1, kMin), "Memcpy Unknown (Unknown -> Unknown)");
  EXPECT_EQ(MemsetName(8), "Memset (Unknown)");
  EXPECT_EQ(SyncName(-1), "Unknown Sync");
}

TEST(CudaNamesTest, VersionsOfTheApiAreNoPartOfAName) {
  EXPECT_EQ(StripApiVersion("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(StripApiVersion("cudaLaunchKernelExC_ptsz_v11060"),
            "cudaLaunchKernelExC");
  EXPECT_EQ(StripApiVersion("cuMemAlloc_v2"), "cuMemAlloc_v2");
  EXPECT_EQ(StripApiVersion("cuLaunchKernel"), "cuLaunchKernel");
  EXPECT_EQ(StripApiVersion("_v7000"), "");
  EXPECT_EQ(StripApiVersion(""), "");
}

TEST(CudaNamesTest, TellsTheDriverFromTheRuntime) {
  EXPECT_TRUE(IsDriverCall("cuLaunchKernel"));
  EXPECT_FALSE(IsDriverCall("cudaLaunchKernel"));
  EXPECT_FALSE(IsDriverCall("cu"));
}

}  // namespace
}  // namespace kymo::sqlite
