#include "tools/profile_command/injection.h"

#include <stdlib.h>

#include "gtest/gtest.h"

namespace kymo::tools {
namespace {

class InjectionTest : public testing::Test {
 protected:
  InjectionTest() { unsetenv("NVTX_INJECTION64_PATH"); }

  Environment environment_ = {{"KYMO_ARENA", "/proc/1/fd/3"}};
};

TEST_F(InjectionTest, TheRuntimeIsWhatAnnotatedLibrariesLoad) {
  InjectInto({}, "/k/runtime.so", &environment_);
  EXPECT_EQ(environment_["NVTX_INJECTION64_PATH"], "/k/runtime.so");
  EXPECT_FALSE(environment_.contains("KYMO_NVTX_NEXT"));
}

TEST_F(InjectionTest, AToolOfTheUsersStandsBehindIt) {
  setenv("NVTX_INJECTION64_PATH", "/their/tool.so", 1);
  InjectInto({}, "/k/runtime.so", &environment_);
  EXPECT_EQ(environment_["NVTX_INJECTION64_PATH"], "/k/runtime.so");
  EXPECT_EQ(environment_["KYMO_NVTX_NEXT"], "/their/tool.so");
}

TEST_F(InjectionTest, WithinAProfiledProfilerItIsNotBehindItself) {
  setenv("NVTX_INJECTION64_PATH", "/k/runtime.so", 1);
  InjectInto({}, "/k/runtime.so", &environment_);
  EXPECT_FALSE(environment_.contains("KYMO_NVTX_NEXT"));
}

TEST_F(InjectionTest, WhatIsSwitchedOffIsLeftAlone) {
  InjectInto({{"capture_nvtx", "0"}}, "/k/runtime.so", &environment_);
  EXPECT_FALSE(environment_.contains("NVTX_INJECTION64_PATH"));
}

TEST_F(InjectionTest, WithoutAnArenaNobodyListens) {
  environment_.clear();
  InjectInto({}, "/k/runtime.so", &environment_);
  EXPECT_TRUE(environment_.empty());
}

}  // namespace
}  // namespace kymo::tools
