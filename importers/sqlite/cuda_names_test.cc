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
  // The last of each list.
  EXPECT_EQ(CopyName(10, 7, 0), "Memcpy PtoP (Managed Static -> Unknown)");
  EXPECT_EQ(SyncName(4), "Context Sync");
  EXPECT_EQ(SyncName(5), "Unknown Sync");
  EXPECT_EQ(CopyName(11, 8, 1), "Memcpy Unknown (Unknown -> Pageable)");
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
  // From three digits on a version is one of the toolkit.
  EXPECT_EQ(StripApiVersion("f_v99"), "f_v99");
  EXPECT_EQ(StripApiVersion("f_v999"), "f");
  EXPECT_EQ(StripApiVersion("f_v"), "f_v");
  EXPECT_EQ(StripApiVersion("f_v12x45"), "f_v12x45");
  EXPECT_EQ(StripApiVersion("f_ptds"), "f");
  EXPECT_EQ(StripApiVersion("ptsz"), "ptsz");
  EXPECT_EQ(StripApiVersion("_ptsz"), "");
  EXPECT_EQ(StripApiVersion("_v7000"), "");
  EXPECT_EQ(StripApiVersion(""), "");
}

TEST(CudaNamesTest, TellsTheDriverFromTheRuntime) {
  EXPECT_TRUE(IsDriverCall("cuLaunchKernel"));
  EXPECT_FALSE(IsDriverCall("cudaLaunchKernel"));
  EXPECT_FALSE(IsDriverCall("cu"));
  EXPECT_TRUE(IsDriverCall("cuA"));
  EXPECT_TRUE(IsDriverCall("cuZ"));
  EXPECT_FALSE(IsDriverCall("cu@"));
  EXPECT_FALSE(IsDriverCall("cu["));
  EXPECT_FALSE(IsDriverCall("xuLaunch"));
}

}  // namespace
}  // namespace kymo::sqlite
