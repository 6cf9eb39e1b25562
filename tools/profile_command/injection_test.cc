#include "tools/profile_command/injection.h"

#include <stdlib.h>

#include "gtest/gtest.h"

namespace kymo::tools {
namespace {

class InjectionTest : public testing::Test {
 protected:
  InjectionTest() {
    unsetenv("NVTX_INJECTION64_PATH");
    unsetenv("INTEL_LIBITTNOTIFY64");
  }

  Environment environment_ = {{"KYMO_CAPTURE", "itt,nvtx"}};
};

TEST_F(InjectionTest, TheRuntimeIsWhatAnnotatedLibrariesLoad) {
  InjectInto("/k/runtime.so", &environment_);
  EXPECT_EQ(environment_["NVTX_INJECTION64_PATH"], "/k/runtime.so");
  EXPECT_FALSE(environment_.contains("KYMO_NVTX_NEXT"));
}

TEST_F(InjectionTest, AToolOfTheUsersStandsBehindIt) {
  setenv("NVTX_INJECTION64_PATH", "/their/tool.so", 1);
  InjectInto("/k/runtime.so", &environment_);
  EXPECT_EQ(environment_["NVTX_INJECTION64_PATH"], "/k/runtime.so");
  EXPECT_EQ(environment_["KYMO_NVTX_NEXT"], "/their/tool.so");
}

TEST_F(InjectionTest, WithinAProfiledProfilerItIsNotBehindItself) {
  setenv("NVTX_INJECTION64_PATH", "/k/runtime.so", 1);
  InjectInto("/k/runtime.so", &environment_);
  EXPECT_FALSE(environment_.contains("KYMO_NVTX_NEXT"));
}

TEST_F(InjectionTest, WhatIsSwitchedOffIsLeftAlone) {
  environment_ = {{"KYMO_CAPTURE", "itt"}};
  InjectInto("/k/runtime.so", &environment_);
  EXPECT_EQ(environment_,
            (Environment{{"INTEL_LIBITTNOTIFY64", "/k/runtime.so"}}));
}

TEST_F(InjectionTest, WithoutARecordingNobodyListens) {
  environment_.clear();
  InjectInto("/k/runtime.so", &environment_);
  EXPECT_TRUE(environment_.empty());
}

}  // namespace
}  // namespace kymo::tools
