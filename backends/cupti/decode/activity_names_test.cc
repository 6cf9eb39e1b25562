#include "backends/cupti/decode/activity_names.h"

#include <gtest/gtest.h>

namespace kymo::cupti {
namespace {

TEST(ActivityNamesTest, CopiesAreNamedAsKinetoDoes) {
  CopyRecord copy = {};
  copy.copy_kind = 1;
  copy.from_kind = 1;
  copy.to_kind = 3;
  EXPECT_EQ(CopyName(copy), "Memcpy HtoD (Pageable -> Device)");
  copy.copy_kind = 99;
  copy.from_kind = 99;
  EXPECT_EQ(CopyName(copy), "Memcpy <unknown> (Unrecognized -> Device)");
}

TEST(ActivityNamesTest, OnlyMangledNamesAreDemangled) {
  EXPECT_EQ(KernelName("_Z4axpyfPf"), "axpy(float, float*)");
  EXPECT_EQ(KernelName("f"), "f");
  EXPECT_EQ(KernelName("_Zbroken"), "_Zbroken");
  EXPECT_EQ(KernelName("kernel"), "Kernel");
  EXPECT_EQ(KernelName(""), "(no name)");
}

TEST(ActivityNamesTest, LongVersionsAreCutFromCalls) {
  EXPECT_EQ(CallName("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(CallName("cudaLaunchKernelExC_v11060"), "cudaLaunchKernelExC");
  EXPECT_EQ(CallName("cuMemcpyDtoH_v2"), "cuMemcpyDtoH_v2");
  EXPECT_EQ(CallName("cudaFoo_v70x0"), "cudaFoo_v70x0");
  EXPECT_EQ(CallName(""), "INVALID");
}

TEST(ActivityNamesTest, QueriesAreNoWork) {
  EXPECT_TRUE(IsQuery("cudaGetDevice"));
  EXPECT_TRUE(IsQuery("cuCtxPushCurrent_v2"));
  EXPECT_TRUE(IsQuery("cudaEventCreate"));
  EXPECT_FALSE(IsQuery("cudaEventRecord"));
  EXPECT_FALSE(IsQuery("cudaEventSynchronize"));
  EXPECT_FALSE(IsQuery("cudaMalloc"));
  EXPECT_FALSE(IsQuery("cuLaunchKernel"));
}

TEST(ActivityNamesTest, StreamsAreOfAKind) {
  EXPECT_EQ(StreamKind(1), "blocking");
  EXPECT_EQ(StreamKind(2), "non-blocking");
  EXPECT_EQ(StreamKind(3), "default");
  EXPECT_EQ(StreamKind(0xffff), "unknown");
}

TEST(ActivityNamesTest, OverheadsAndWaitsHaveNames) {
  EXPECT_EQ(OverheadName(1), "Driver Compiler");
  EXPECT_EQ(OverheadName(1 << 16), "Buffer Flush");
  EXPECT_EQ(OverheadName(77 << 16), "Unrecognized");
  EXPECT_EQ(OverheadName(5), "Unrecognized");
  EXPECT_EQ(SyncName(3), "Stream Sync");
  EXPECT_EQ(SyncName(9), "Unknown Sync");
}

}  // namespace
}  // namespace kymo::cupti
