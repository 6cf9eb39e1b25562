#include "backends/cupti/nvtx_route.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <string>

namespace kymo::cupti {
namespace {

constexpr char kVariable[] = "NVTX_INJECTION64_PATH";

class NvtxRouteTest : public ::testing::Test {
 protected:
  NvtxRouteTest() { unsetenv(kVariable); }
  ~NvtxRouteTest() override { unsetenv(kVariable); }

  TargetSetup setup_;
};

TEST_F(NvtxRouteTest, LeadsToTheFirstLibraryThatIsThere) {
  const std::string there = ::testing::TempDir() + "/libcupti.so.13";
  std::ofstream(there) << "a library";
  ASSERT_TRUE(
      RouteNvtx("/none/libcupti.so.13:libcupti.so.13:" + there, &setup_).ok());
  EXPECT_EQ(setup_.environment[kVariable], there);
}

TEST_F(NvtxRouteTest, WithoutAFileTheLoaderLooksForIt) {
  ASSERT_TRUE(
      RouteNvtx("/none/libcupti.so.13:libcupti.so.13:libcupti.so.12", &setup_)
          .ok());
  EXPECT_EQ(setup_.environment[kVariable], "libcupti.so.13");
}

TEST_F(NvtxRouteTest, IsRefusedWhereKymoCapturesNvtxItself) {
  setup_.libraries = {{.variable = "INTEL_LIBITTNOTIFY64"},
                      {.variable = kVariable}};
  const absl::Status status = RouteNvtx("libcupti.so.13", &setup_);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("--nvtx_capture=0"), std::string::npos);
  EXPECT_FALSE(setup_.environment.contains(kVariable));
  setup_.libraries.pop_back();
  EXPECT_TRUE(RouteNvtx("libcupti.so.13", &setup_).ok());
}

TEST_F(NvtxRouteTest, AnotherToolIsNotPutAside) {
  setenv(kVariable, "/opt/other/libtool.so", 1);
  const absl::Status status = RouteNvtx("libcupti.so.13", &setup_);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("/opt/other/libtool.so"), std::string::npos);
  EXPECT_TRUE(setup_.environment.empty());
}

TEST_F(NvtxRouteTest, ALibcuptiThatTheUserNamedStays) {
  setenv(kVariable, "/opt/cuda/lib64/libcupti.so", 1);
  EXPECT_TRUE(RouteNvtx("libcupti.so.13", &setup_).ok());
  EXPECT_TRUE(setup_.environment.empty());
  EXPECT_TRUE(CheckNvtxRoute().ok());
}

TEST_F(NvtxRouteTest, AProcessOfItsOwnHasToHaveItFromTheStart) {
  EXPECT_NE(CheckNvtxRoute().message().find(kVariable), std::string::npos);
  setenv(kVariable, "/opt/other/libtool.so", 1);
  EXPECT_FALSE(CheckNvtxRoute().ok());
}

}  // namespace
}  // namespace kymo::cupti
