#include "tools/profile_command/injection.h"

#include <stdlib.h>

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace kymo::tools {
namespace {

constexpr char kRuntime[] = "/k/libkymo_runtime.so";

class InjectionTest : public testing::Test {
 protected:
  InjectionTest() { Unset(); }
  ~InjectionTest() override { Unset(); }
  static void Unset() {
    for (const char* variable :
         {"ASAN_OPTIONS", "LD_PRELOAD", "TOOL", "TSAN_OPTIONS"}) {
      unsetenv(variable);
    }
  }

  absl::StatusOr<Environment> Make() const {
    return EnvironmentFor(setup_,
                          [](const std::string& file) { return "/k/" + file; });
  }

  TargetSetup setup_;
};

TEST_F(InjectionTest, EveryChildGetsTheRuntime) {
  setup_.environment["KYMO_ARENA"] = "/proc/1/fd/3";
  EXPECT_EQ(*Make(),
            (Environment{{"ASAN_OPTIONS", "verify_asan_link_order=0"},
                         {"KYMO_ARENA", "/proc/1/fd/3"},
                         {"LD_PRELOAD", kRuntime},
                         {"TSAN_OPTIONS",
                          "suppressions=\"/k/tsan_suppressions.txt\""}}));
  setup_.watches_heap = true;
  EXPECT_EQ(Make()->at("LD_PRELOAD"), "/k/libkymo_runtime_memory.so");
}

TEST_F(InjectionTest, WhatTheUserPreloadsComesAfterIt) {
  setenv("LD_PRELOAD", "/their/own.so", 1);
  EXPECT_EQ(Make()->at("LD_PRELOAD"), "/k/libkymo_runtime.so:/their/own.so");
}

TEST_F(InjectionTest, TheUsersOptionsOfSanitizersComeLastAndWin) {
  setenv("ASAN_OPTIONS", "verify_asan_link_order=1:halt_on_error=0", 1);
  setenv("TSAN_OPTIONS", "suppressions=mine", 1);
  EXPECT_EQ(Make()->at("ASAN_OPTIONS"),
            "verify_asan_link_order=0:verify_asan_link_order=1:"
            "halt_on_error=0");
  EXPECT_EQ(Make()->at("TSAN_OPTIONS"),
            "suppressions=\"/k/tsan_suppressions.txt\":suppressions=mine");
}

TEST_F(InjectionTest, LibrariesOfBackendsStandBetweenBoth) {
  setenv("LD_PRELOAD", "/their/own.so", 1);
  setup_.preloads = {"/b/liba.so", "/b/libb.so"};
  EXPECT_EQ(Make()->at("LD_PRELOAD"),
            "/k/libkymo_runtime.so:/b/liba.so:/b/libb.so:/their/own.so");
}

TEST_F(InjectionTest, ALibraryIsNamedByItsVariable) {
  setup_.libraries = {{.variable = "TOOL", .file = "libtool.so"}};
  EXPECT_EQ(Make()->at("TOOL"), "/k/libtool.so");
}

TEST_F(InjectionTest, TheRuntimeIsWhatAnnotatedLibrariesLoad) {
  setup_.libraries = {{.variable = "TOOL", .next_variable = "NEXT"}};
  EXPECT_EQ(Make()->at("TOOL"), kRuntime);
  EXPECT_FALSE(Make()->contains("NEXT"));
  setup_.watches_heap = true;
  EXPECT_EQ(Make()->at("TOOL"), "/k/libkymo_runtime_memory.so");
}

TEST_F(InjectionTest, AToolOfTheUsersStandsBehindIt) {
  setenv("TOOL", "/their/tool.so", 1);
  setup_.libraries = {{.variable = "TOOL", .next_variable = "NEXT"}};
  EXPECT_EQ(Make()->at("TOOL"), kRuntime);
  EXPECT_EQ(Make()->at("NEXT"), "/their/tool.so");
  setup_.libraries[0].next_variable = "";
  EXPECT_EQ(Make()->at("TOOL"), kRuntime);
  EXPECT_FALSE(Make()->contains("NEXT"));
}

TEST_F(InjectionTest, WithinAProfiledProfilerItIsNotBehindItself) {
  setenv("TOOL", kRuntime, 1);
  setup_.libraries = {{.variable = "TOOL", .next_variable = "NEXT"}};
  EXPECT_EQ(Make()->at("TOOL"), kRuntime);
  EXPECT_FALSE(Make()->contains("NEXT"));
}

TEST_F(InjectionTest, SaysWhichLibraryIsMissing) {
  const auto make = [&](const std::string& missing) {
    return EnvironmentFor(setup_,
                          [&](const std::string& file) {
                            return file == missing ? "" : "/k/" + file;
                          })
        .status();
  };
  setup_.libraries = {{.variable = "TOOL", .file = "libtool.so"}};
  EXPECT_TRUE(make("libother.so").ok());
  for (const std::string missing : {"libkymo_runtime.so", "libtool.so"}) {
    const absl::Status status = make(missing);
    EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
    EXPECT_EQ(status.message(),
              missing +
                  " is not beside this command; run it through Bazel, or copy "
                  "tools/runtime/" +
                  missing + " next to it");
  }
}

TEST_F(InjectionTest, TheLoaderCannotPreloadEveryPath) {
  for (const std::string folder : {"/my files/", "/a:b/"}) {
    const absl::Status status =
        EnvironmentFor(setup_, [&](const std::string& file) {
          return folder + file;
        }).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_NE(status.message().find("cannot be preloaded"), std::string::npos);
  }
}

}  // namespace
}  // namespace kymo::tools
