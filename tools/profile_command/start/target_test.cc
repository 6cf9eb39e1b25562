#include "tools/profile_command/start/target.h"

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kymo::tools {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;

class TargetTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/target_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = fs::canonical(pattern);
    before_ = fs::current_path();
    path_ = getenv("PATH");
    unsetenv("BUILD_WORKING_DIRECTORY");
    unsetenv("BUILD_WORKSPACE_DIRECTORY");
    fs::current_path(folder_);
  }
  void TearDown() override {
    setenv("PATH", path_.c_str(), 1);
    unsetenv("BUILD_WORKING_DIRECTORY");
    unsetenv("BUILD_WORKSPACE_DIRECTORY");
    fs::current_path(before_);
    fs::remove_all(folder_);
  }

  // Makes a file of the folder, and returns its path.
  std::string File(const std::string& name, bool can_run = true,
                   const std::string& text = "#!/bin/sh\n") {
    const fs::path path = folder_ + "/" + name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    fs::permissions(path,
                    can_run ? fs::perms::owner_all : fs::perms::owner_read);
    return path;
  }

  void SetPath(const std::string& path) { setenv("PATH", path.c_str(), 1); }

  void Expect(const std::string& word, const std::string& path,
              const std::string& passed_word) {
    const auto target = FindTarget(word);
    ASSERT_TRUE(target.ok()) << target.status();
    EXPECT_EQ(target->path, path);
    EXPECT_EQ(target->word, passed_word);
    EXPECT_EQ(target->name, fs::path(path).filename());
  }
  static absl::Status Error(const std::string& word) {
    return FindTarget(word).status();
  }

  std::string folder_;
  fs::path before_;
  std::string path_;
};

TEST_F(TargetTest, PathsAreTakenAsTheyAre) {
  const std::string program = File("a/program");
  Expect(program, program, program);
  Expect("a/program", program, "a/program");
  Expect("./a/program", folder_ + "/./a/program", "./a/program");
}

TEST_F(TargetTest, WordsAreFoundOnThePath) {
  const std::string program = File("b/program");
  File("a/program", /*can_run=*/false);
  fs::create_directories(folder_ + "/folder/program");
  SetPath(folder_ + "/none:" + folder_ + "/folder:" + folder_ +
          "/a:" + folder_ + "/b:" + folder_ + "/c");
  File("c/program");
  Expect("program", program, "program");
  // An empty entry is the folder where we stand.
  File("here");
  SetPath(folder_ + "/none:");
  Expect("here", "./here", "here");
  unsetenv("PATH");
  Expect("sh", "/bin/sh", "sh");
}

TEST_F(TargetTest, WhatCannotRunIsSaid) {
  EXPECT_EQ(Error("/no/such/file"),
            absl::NotFoundError("/no/such/file: No such file or directory"));
  EXPECT_EQ(Error("./none"),
            absl::NotFoundError("./none: No such file or directory"));
  SetPath(folder_ + "/a:" + folder_ + "/b");
  EXPECT_EQ(Error("program"),
            absl::NotFoundError("program: command not found"));
  File("a/program", /*can_run=*/false);
  EXPECT_EQ(Error("program"),
            absl::PermissionDeniedError("program: Permission denied"));
  EXPECT_EQ(Error(folder_),
            absl::PermissionDeniedError(folder_ + ": is not a regular file"));
  // No labels.
  EXPECT_EQ(Error(":"), absl::NotFoundError(":: command not found"));
  EXPECT_EQ(Error("a:b"), absl::NotFoundError("a:b: command not found"));
}

TEST_F(TargetTest, WhatAFileLacksIsNamed) {
  const std::string script = folder_ + "/script";
  std::ofstream(script) << "#! /no/such/interpreter -x\nexit\n";
  EXPECT_EQ(MissingPart(script),
            "there is no '/no/such/interpreter', which its first line names as "
            "its interpreter");
  // As editors of Windows leave it.
  std::ofstream(script) << "#!/bin/sh\r\n";
  EXPECT_THAT(MissingPart(script), HasSubstr("ends with a carriage return"));
  std::ofstream(script) << "#! \n";
  EXPECT_EQ(MissingPart(script), "its first line names no interpreter");
  std::ofstream(script) << "\x7f"
                           "ELF";
  EXPECT_THAT(MissingPart(script), HasSubstr("not the loader"));
}

// In place of Bazel: a program that notes its words.
class LabelTest : public TargetTest {
 protected:
  void SetUp() override {
    TargetTest::SetUp();
    program_ = File("root/program");
    File("root/WORKSPACE", /*can_run=*/false);
    fs::create_directories(folder_ + "/root/a/b");
    fs::current_path(folder_ + "/root/a/b");
  }

  void MakeBazel(const std::string& build, const std::string& cquery,
                 const std::string& info,
                 const std::string& name = "root/bazelw") {
    File(name, /*can_run=*/true,
         "#!/bin/sh\necho \"$PWD $@\" >> " + folder_ +
             "/calls\ncase $1 in\nbuild) " + build + ";;\ncquery) " + cquery +
             ";;\ninfo) " + info + ";;\nesac\n");
  }
  // One that builds the program.
  void MakeGoodBazel(const std::string& name = "root/bazelw") {
    MakeBazel("true", "printf 'program\\n\\n'", "echo " + folder_ + "/root",
              name);
  }

  std::string Calls() const {
    std::ifstream file(folder_ + "/calls");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  std::string program_;
};

TEST_F(LabelTest, LabelsAreBuiltWhereTheUserStands) {
  MakeGoodBazel();
  Expect("//some:label", program_, program_);
  const std::string here = folder_ + "/root/a/b ";
  const std::string calls = Calls();
  EXPECT_EQ(calls.find(here + "build --noshow_progress --show_result=0 "
                              "--ui_event_filters=-info,-stdout "
                              "//some:label\n"),
            0u)
      << calls;
  EXPECT_NE(calls.find("\n" + here +
                       "cquery --noshow_progress "
                       "--ui_event_filters=-info,-stderr --output=starlark "
                       "--starlark:expr=target.files_to_run.executable.path "
                       "if target.files_to_run.executable else '' "
                       "//some:label\n"),
            calls.npos)
      << calls;
  EXPECT_TRUE(calls.ends_with("\n" + here +
                              "info --noshow_progress --ui_event_filters="
                              "-info,-stderr execution_root\n"))
      << calls;
  Expect(":label", program_, program_);
  Expect("@other//some:label", program_, program_);
}

TEST_F(LabelTest, ThePathsBazelDoesWhereTheWorkspaceHasNone) {
  SetPath(folder_ + "/bin:" + path_);
  MakeGoodBazel("bin/bazel");
  Expect("//some:label", program_, program_);
}

TEST_F(LabelTest, BazelSaysWhereTheUserStoodAndTheWorkspaceIs) {
  MakeGoodBazel("root/a/bazelw");
  fs::current_path("/");
  setenv("BUILD_WORKING_DIRECTORY", (folder_ + "/root/a/b").c_str(), 1);
  setenv("BUILD_WORKSPACE_DIRECTORY", (folder_ + "/root/a").c_str(), 1);
  Expect("//some:label", program_, program_);
}

TEST_F(LabelTest, EachFileOfAWorkspaceShowsIt) {
  for (const char* const name : {"WORKSPACE.bazel", "MODULE.bazel"}) {
    fs::remove(folder_ + "/root/WORKSPACE");
    File(std::string("root/") + name, /*can_run=*/false);
    MakeGoodBazel();
    Expect("//some:label", program_, program_);
    fs::remove(folder_ + "/root/" + name);
  }
}

TEST_F(LabelTest, WhatBazelCannotDoIsSaid) {
  MakeBazel("exit 1", "true", "true");
  EXPECT_EQ(Error("//some:label"),
            absl::FailedPreconditionError("could not build //some:label"));
  MakeBazel("kill -KILL $$", "true", "true");
  EXPECT_EQ(Error("//some:label"),
            absl::FailedPreconditionError("could not build //some:label"));
  for (const char* const answer : {"true", "printf 'a\\nb\\n'"}) {
    MakeBazel("true", answer, "true");
    EXPECT_EQ(Error("//some:label"),
              absl::FailedPreconditionError(
                  "could not run //some:label: it is not exactly one "
                  "executable; try the label of a binary"));
  }
  MakeBazel("true", "echo program", "exit 3");
  EXPECT_EQ(Error("//some:label"),
            absl::FailedPreconditionError("'" + folder_ +
                                          "/root/bazelw info' ended with an "
                                          "error"));
  if (fs::exists("/WORKSPACE")) GTEST_SKIP() << "the machine is a workspace";
  setenv("BUILD_WORKING_DIRECTORY", "/proc/self", 1);
  EXPECT_EQ(Error("//some:label"),
            absl::NotFoundError("could not find a Bazel workspace in or above "
                                "/proc/self/, which a label needs; try it "
                                "inside your workspace"));
}

}  // namespace
}  // namespace kymo::tools
