#include "tools/profile_command/start/injection.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tools/profile_command/start/runtime_files.h"

namespace kymo::tools {
namespace {

constexpr char kRuntime[] = "/k/libkymo_runtime.so";

std::string FreshFolder() {
  std::string name = testing::TempDir() + "/kymo_XXXXXX";
  EXPECT_NE(mkdtemp(name.data()), nullptr);
  return name;
}

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

TEST_F(InjectionTest, SoDoLibrariesOfBackends) {
  const std::vector<std::string> places = {FreshFolder()};
  setup_.preloads = {"/my files/liba.so", "/a$LIB/libb.so"};
  const absl::StatusOr<Environment> made = EnvironmentFor(
      setup_, [](const std::string& file) { return "/k/" + file; }, places);
  ASSERT_TRUE(made.ok()) << made.status();
  const std::string& preloads = made->at("LD_PRELOAD");
  EXPECT_EQ(preloads.find_first_of(" $"), std::string::npos) << preloads;
  std::istringstream paths(preloads);
  std::string text;
  ASSERT_TRUE(std::getline(paths, text, ':'));
  EXPECT_EQ(text, kRuntime);
  for (const std::string& library : setup_.preloads) {
    ASSERT_TRUE(std::getline(paths, text, ':'));
    const std::filesystem::path path = text;
    EXPECT_EQ(
        std::filesystem::read_symlink(path.parent_path()) / path.filename(),
        library);
  }
  EXPECT_FALSE(std::getline(paths, text, ':'));
  setup_.preloads = {"/a/my lib.so"};
  EXPECT_FALSE(
      EnvironmentFor(
          setup_, [](const std::string& file) { return "/k/" + file; }, places)
          .ok());
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
                  " is missing: it is neither in ../lib/kymo nor beside this "
                  "command; install Kymo again, or run it through Bazel");
  }
}

TEST_F(InjectionTest, APathThatTheLoaderWouldSplitGetsALink) {
  const std::vector<std::string> places = {FreshFolder()};
  setup_.libraries = {{.variable = "TOOL"}};
  for (const std::string folder : {"/my files", "/a:b", "/a$LIB"}) {
    const absl::StatusOr<Environment> made = EnvironmentFor(
        setup_, [&](const std::string& file) { return folder + "/" + file; },
        places);
    ASSERT_TRUE(made.ok()) << made.status();
    const std::filesystem::path path = made->at("LD_PRELOAD");
    EXPECT_EQ(path.string().find_first_of(" :$"), std::string::npos) << path;
    EXPECT_EQ(path.filename(), "libkymo_runtime.so");
    EXPECT_EQ(std::filesystem::read_symlink(path.parent_path()), folder);
    EXPECT_EQ(made->at("TOOL"), path);
  }
}

TEST(RuntimeFilesTest, OneFolderHasOneLink) {
  const std::vector<std::string> places = {FreshFolder()};
  const std::string first = *PreloadPath("/a b/libx.so", places);
  EXPECT_EQ(*PreloadPath("/a b/libx.so", places), first);
  EXPECT_NE(*PreloadPath("/a c/libx.so", places), first);
  // A link that leads elsewhere is mended.
  const std::filesystem::path link = std::filesystem::path(first).parent_path();
  std::filesystem::remove(link);
  std::filesystem::create_symlink("/elsewhere", link);
  EXPECT_EQ(*PreloadPath("/a b/libx.so", places), first);
  EXPECT_EQ(std::filesystem::read_symlink(link), "/a b");
}

TEST(RuntimeFilesTest, OtherPathsStayAsTheyAre) {
  EXPECT_EQ(*PreloadPath("/a/libx.so", {}), "/a/libx.so");
}

TEST(RuntimeFilesTest, ALinkStandsWhereOnlyThisUserWrites) {
  const std::string open_to_all = FreshFolder();
  const std::string good = FreshFolder();
  const std::string own = "/kymo-" + std::to_string(geteuid());
  std::filesystem::create_directory(open_to_all + own);
  ASSERT_EQ(chmod((open_to_all + own).c_str(), 0777), 0);
  const std::string linked = FreshFolder();
  std::filesystem::create_symlink(good, linked + own);
  const std::vector<std::string> places = {open_to_all, linked, "/none", good};
  EXPECT_TRUE(PreloadPath("/a b/libx.so", places)->starts_with(good + own));
  EXPECT_TRUE(std::filesystem::is_empty(open_to_all + own));
  // Who records as another user must be able to follow it.
  struct stat info;
  ASSERT_EQ(stat((good + own).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0755u);

  const absl::Status status =
      PreloadPath("/a b/libx.so", std::vector<std::string>{"/none", linked})
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(),
            "/a b/libx.so cannot be preloaded, because the loader splits paths "
            "at spaces and colons and expands dollar signs, and no link to it "
            "could be made in /none, " +
                linked +
                "; move it to a path without spaces, colons and dollar signs");
}

TEST(RuntimeFilesTest, AFileNameThatTheLoaderWouldSplitIsRefused) {
  const std::vector<std::string> places = {FreshFolder()};
  for (const std::string name : {"a b.so", "a:b.so", "a$b.so"}) {
    const absl::Status status = PreloadPath("/a/" + name, places).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(
        status.message(),
        "/a/" + name +
            " cannot be preloaded, because the loader splits paths at "
            "spaces and colons, and expands dollar signs; give the file a "
            "name without spaces, colons and dollar signs");
  }
}

TEST(RuntimeFilesTest, FindsFilesOfEveryInstallation) {
  for (const std::string place :
       {"lib/kymo", "libexec/kymo", "bin/runtime", "bin",
        "bin/kymo.runfiles/kymo/tools/runtime"}) {
    const std::string root = FreshFolder();
    const std::string self = root + "/bin/kymo";
    EXPECT_EQ(FindRuntimeFile(self, "x.so"), "");
    std::filesystem::create_directories(root + "/" + place);
    std::ofstream(root + "/" + place + "/x.so").put('x');
    EXPECT_EQ(FindRuntimeFile(self, "x.so"), root + "/" + place + "/x.so");
    EXPECT_EQ(FindRuntimeFile(self, "y.so"), "");
  }
}

// Of such folders, other users may own the one above.
TEST(RuntimeFilesTest, LooksAboveItsFolderOnlyWhereThatIsInstalled) {
  const std::string root = FreshFolder();
  std::filesystem::create_directories(root + "/lib/kymo");
  std::ofstream(root + "/lib/kymo/x.so").put('x');
  EXPECT_EQ(FindRuntimeFile(root + "/mine/kymo", "x.so"), "");
}

TEST(RuntimeFilesTest, WithoutProcItSaysToMountIt) {
  EXPECT_EQ(*OwnPath(), std::filesystem::canonical("/proc/self/exe").string());
  const std::string missing = FreshFolder() + "/self/exe";
  EXPECT_EQ(OwnPath(missing).status(),
            absl::FailedPreconditionError(
                "cannot read " + missing +
                ", which says where Kymo's libraries are: No such file or "
                "directory; mount /proc"));
}

TEST(RuntimeFilesTest, LooksNowhereBelowTheCurrentFolder) {
  const std::string root = FreshFolder();
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(root);
  std::ofstream("x.so").put('x');
  EXPECT_EQ(FindRuntimeFile("", "x.so"), "");
  EXPECT_EQ(FindRuntimeFile("kymo", "x.so"), "");
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace kymo::tools
