// Long, because each promise of the folder has its test.
#include "tools/command_line/run_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

std::function<void()> before_next_lock;
int mkdir_error = 0;
bool counts_no_links = false;

}  // namespace

// In place of libc's.
extern "C" int flock(int fd, int operation) noexcept {
  if (before_next_lock) std::exchange(before_next_lock, nullptr)();
  return static_cast<int>(syscall(SYS_flock, fd, operation));
}

extern "C" int mkdir(const char* path, mode_t mode) noexcept {
  if (mkdir_error == 0) return mkdirat(AT_FDCWD, path, mode);
  errno = mkdir_error;
  return -1;
}

extern "C" int fstat(int fd, struct stat* status) noexcept {
  const int result = fstatat(fd, "", status, AT_EMPTY_PATH);
  if (counts_no_links) status->st_nlink = 0;
  return result;
}

namespace kymo::tools {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

class RunFolderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/run_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Does what a run does that makes files of these names.
  void Run(const std::vector<std::string>& names) {
    const auto out = RunFolder::Take(folder_);
    ASSERT_TRUE(out.ok()) << out.status();
    ASSERT_TRUE((*out)->RemoveOld().ok());
    for (const std::string& name : names) {
      const auto sink = (*out)->Open(name);
      ASSERT_TRUE(sink.ok()) << sink.status();
      ASSERT_TRUE((*sink)->Commit().ok());
    }
    (*out)->Finish();
  }

  // The files and folders, apart from hidden ones.
  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      const std::string name =
          entry.path().lexically_relative(folder_).string();
      if (!name.starts_with(".")) names.insert(name);
    }
    return names;
  }

  std::string folder_;
};

TEST_F(RunFolderTest, DatedFoldersOfOneSecondAreApart) {
  constexpr int kThreads = 4, kEach = 8;
  std::vector<std::string> paths(kThreads * kEach);
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (int i = 0; i < kEach; ++i) {
          const auto path = MakeDatedFolder(folder_ + "/a/b", "na\nme");
          if (path.ok()) paths[thread * kEach + i] = *path;
        }
      });
    }
  }
  const std::set<std::string> distinct(paths.begin(), paths.end());
  EXPECT_EQ(distinct.size(), paths.size());
  for (const std::string& path : distinct) {
    EXPECT_TRUE(fs::is_directory(path)) << path;
    EXPECT_THAT(path, ::testing::MatchesRegex(
                          ".*/a/b/na_me-[0-9]{8}-[0-9]{6}(-[0-9]+)?"));
  }
}

TEST_F(RunFolderTest, DatedFolderThatCannotBeIsTold) {
  std::ofstream(folder_ + "/file") << "text";
  const auto path = MakeDatedFolder(folder_ + "/file", "name");
  ASSERT_FALSE(path.ok());
  EXPECT_THAT(std::string(path.status().message()),
              HasSubstr(folder_ + "/file"));
}

TEST_F(RunFolderTest, ALaterRunRemovesTheFilesOfTheEarlierOne) {
  std::ofstream(folder_ + "/mine.txt") << "of the user";
  Run({"trace.json", "deep/er/file", "stacks.memory.folded"});
  EXPECT_THAT(Names(),
              ElementsAre("deep", "deep/er", "deep/er/file", "mine.txt",
                          "stacks.memory.folded", "trace.json"));
  Run({"trace.json"});
  EXPECT_THAT(Names(), ElementsAre("mine.txt", "trace.json"));
  Run({});
  EXPECT_THAT(Names(), ElementsAre("mine.txt"));
}

TEST_F(RunFolderTest, ARunThatDoesNotStartLeavesTheFilesOfTheEarlierOne) {
  Run({"trace.json", "kymo.raw"});
  {
    const auto out = RunFolder::Take(folder_);
    ASSERT_TRUE((*out)->Note("kymo.raw").ok());
  }
  EXPECT_THAT(Names(), ElementsAre("kymo.raw", "trace.json"));
  // Both are still known to be of a run.
  Run({"b"});
  EXPECT_THAT(Names(), ElementsAre("b"));
}

TEST_F(RunFolderTest, WhatTheRunHasWrittenOverStaysItsOwn) {
  Run({"kymo.raw", "trace.json"});
  {
    const auto out = RunFolder::Take(folder_);
    ASSERT_TRUE((*out)->Note("kymo.raw").ok());
    fs::remove(folder_ + "/kymo.raw");
    std::ofstream(folder_ + "/kymo.raw") << "new";
    ASSERT_TRUE((*out)->RemoveOld().ok());
    EXPECT_THAT(Names(), ElementsAre("kymo.raw"));
    (*out)->Finish();
  }
  Run({});
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(RunFolderTest, ARunThatDoesNotStartTakesBackItsNames) {
  {
    const auto out = RunFolder::Take(folder_);
    ASSERT_TRUE((*out)->Note("kymo.raw").ok());
  }
  EXPECT_FALSE(fs::exists(folder_ + "/.kymo-files"));
  std::ofstream(folder_ + "/kymo.raw") << "of the user";
  Run({});
  EXPECT_THAT(Names(), ElementsAre("kymo.raw"));
}

// The raw file is made before the target starts.
TEST_F(RunFolderTest, AFileThatIsMadeTooEarlyReplacesTheEarlierAtTheStart) {
  const auto content = [&] {
    std::string text;
    std::ifstream file(folder_ + "/kymo.raw");
    std::getline(file, text);
    return text;
  };
  const auto run = [&](bool makes, bool starts) {
    const auto out = RunFolder::Take(folder_);
    ASSERT_TRUE((*out)->Note("kymo.raw").ok());
    (*out)->SetAside("kymo.raw");
    EXPECT_FALSE(fs::exists(folder_ + "/kymo.raw"));
    if (makes) std::ofstream(folder_ + "/kymo.raw") << "of this run";
    if (!starts) return;
    ASSERT_TRUE((*out)->RemoveOld().ok());
    (*out)->Finish();
    EXPECT_EQ((*out)->HasFiles(), makes);
    EXPECT_EQ((*out)->CountTried(), makes ? 1u : 0u);
    EXPECT_TRUE((*out)->Open("not_written").ok());
    EXPECT_EQ((*out)->CountTried(), makes ? 2u : 1u);
    // The same file, compressed.
    EXPECT_TRUE((*out)->Open("not_written.gz").ok());
    EXPECT_EQ((*out)->CountTried(), makes ? 2u : 1u);
  };
  run(/*makes=*/true, /*starts=*/false);
  EXPECT_TRUE(fs::is_empty(folder_));
  std::ofstream(folder_ + "/kymo.raw") << "of the user";
  run(/*makes=*/true, /*starts=*/false);
  EXPECT_EQ(content(), "of the user");
  run(/*makes=*/false, /*starts=*/true);
  EXPECT_EQ(content(), "of the user");
  run(/*makes=*/true, /*starts=*/true);
  EXPECT_EQ(content(), "of this run");
  EXPECT_FALSE(fs::exists(folder_ + "/.kymo-earlier.kymo.raw"));
}

TEST_F(RunFolderTest, AnEarlierFileOfARunIsGoneOnceTheNextHasStarted) {
  Run({"kymo.raw"});
  {
    const auto out = RunFolder::Take(folder_);
    ASSERT_TRUE((*out)->Note("kymo.raw").ok());
    (*out)->SetAside("kymo.raw");
  }
  EXPECT_THAT(Names(), ElementsAre("kymo.raw"));
  {
    const auto out = RunFolder::Take(folder_);
    ASSERT_TRUE((*out)->Note("kymo.raw").ok());
    (*out)->SetAside("kymo.raw");
    ASSERT_TRUE((*out)->RemoveOld().ok());
  }
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(RunFolderTest, WhatAKilledRunSetAsideComesBack) {
  Run({"kymo.raw"});
  const pid_t killed = fork();
  if (killed == 0) {
    const auto out = RunFolder::Take(folder_);
    if (!out.ok() || !(*out)->Note("kymo.raw").ok()) _exit(1);
    (*out)->SetAside("kymo.raw");
    std::ofstream(folder_ + "/kymo.raw") << "torn";
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(killed, &status, 0), killed);
  ASSERT_EQ(status, 0);
  EXPECT_TRUE(fs::exists(folder_ + "/.kymo-earlier.kymo.raw"));
  {
    const auto out = RunFolder::Take(folder_);
    EXPECT_FALSE(fs::exists(folder_ + "/.kymo-earlier.kymo.raw"));
    EXPECT_THAT(Names(), ElementsAre("kymo.raw"));
    // It is still the earlier run's.
    ASSERT_TRUE((*out)->RemoveOld().ok());
  }
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(RunFolderTest, WhatIsNoFileIsNotSetAside) {
  fs::create_directory(folder_ + "/kymo.raw");
  const auto out = RunFolder::Take(folder_);
  (*out)->SetAside("kymo.raw");
  EXPECT_THAT(Names(), ElementsAre("kymo.raw"));
  ASSERT_TRUE((*out)->RemoveOld().ok());
  EXPECT_THAT(Names(), ElementsAre("kymo.raw"));
}

TEST_F(RunFolderTest, NotedFilesAreTheRunsAlsoIfItWasKilled) {
  {
    const auto out = RunFolder::Take(folder_);
    ASSERT_TRUE(out.ok()) << out.status();
    ASSERT_TRUE((*out)->RemoveOld().ok());
    ASSERT_TRUE((*out)->Note("kymo.raw").ok());
    ASSERT_TRUE((*out)->Note("kymo.raw").ok());
    EXPECT_FALSE((*out)->HasFiles());
    std::ofstream(folder_ + "/kymo.raw") << "raw";
    EXPECT_TRUE((*out)->HasFiles());
    ASSERT_TRUE((*out)->Note("never.made").ok());
  }
  Run({});
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(RunFolderTest, FilesOfTheUserStayWhateverTheirNames) {
  std::ofstream(folder_ + "/trace.json") << "of the user";
  fs::create_symlink("/dev/null", folder_ + "/link.json");
  Run({"trace.json", "a", "b", "c"});
  // Written over, moved to its place, and left alone.
  std::ofstream(folder_ + "/a") << "of the user";
  std::ofstream(folder_ + "/new") << "of the user";
  fs::rename(folder_ + "/new", folder_ + "/b");
  {
    const auto out = RunFolder::Take(folder_);
    ASSERT_TRUE((*out)->Note("link.json").ok());
  }
  Run({});
  EXPECT_THAT(Names(), ElementsAre("a", "b", "link.json", "trace.json"));
}

TEST_F(RunFolderTest, AFileThatNoRunHasListedIsNotReplaced) {
  const auto check = [&](const std::vector<std::string>& names) {
    const auto out = RunFolder::Take(folder_);
    return std::string((*out)->CheckFree(names).message());
  };
  std::ofstream(folder_ + "/trace.json") << "of the user";
  EXPECT_EQ(check({"report.html", "stacks.folded"}), "");
  EXPECT_EQ(check({"report.html", "trace.json"}),
            "'" + folder_ +
                "/trace.json' is not of an earlier run of kymo, and this run "
                "would replace it: choose another folder with --output_dir, or "
                "move the file");
  EXPECT_THAT(Names(), ElementsAre("trace.json"));
  // What is no file is not, either: writing it says why it cannot.
  fs::create_directory(folder_ + "/report.html");
  EXPECT_EQ(check({"report.html"}), "");
}

// Their names are not known before the run.
TEST_F(RunFolderTest, InAFolderAFileThatNoRunHasListedIsNotReplaced) {
  fs::create_directories(folder_ + "/parquet/job=a");
  std::ofstream(folder_ + "/parquet/job=a/0.parquet") << "of the user";
  for (int run = 0; run < 2; ++run) {
    const auto out = RunFolder::Take(folder_);
    ASSERT_TRUE((*out)->RemoveOld().ok());
    for (int tries = 0; tries < 2; ++tries) {
      EXPECT_EQ((*out)->Open("parquet/job=a/0.parquet").status().message(),
                "'" + folder_ +
                    "/parquet/job=a/0.parquet' is not of an earlier run of "
                    "kymo, and was left as it is; `kymo report --export=NAME` "
                    "writes the format into another --output_dir");
    }
    EXPECT_TRUE((*(*out)->Open("parquet/job=b/0.parquet"))->Commit().ok());
    (*out)->Finish();
    EXPECT_THAT((*out)->Names(), ElementsAre("parquet/job=b/0.parquet"));
  }
  Run({});
  EXPECT_TRUE(fs::exists(folder_ + "/parquet/job=a/0.parquet"));
  EXPECT_FALSE(fs::exists(folder_ + "/parquet/job=b"));
}

TEST_F(RunFolderTest, AListedFileIsReplacedAgainAndAgain) {
  const auto check = [&] {
    const auto out = RunFolder::Take(folder_);
    return (*out)->CheckFree({"trace.json"});
  };
  Run({"trace.json"});
  EXPECT_TRUE(check().ok());
  // It was copied, or changed.
  for (int i = 0; i < 2; ++i) {
    std::ofstream(folder_ + "/trace.json") << "changed" << i;
    EXPECT_TRUE(check().ok());
    Run({"trace.json"});
  }
  Run({});
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(RunFolderTest, OnlyAFolderThatTheRunMadeIsKeptPrivate) {
  fs::permissions(folder_, fs::perms(0755));
  const auto perms = [](const std::string& path) {
    return fs::status(path).permissions();
  };
  const auto there = RunFolder::Take(folder_);
  (*there)->KeepPrivate();
  EXPECT_EQ(perms(folder_), fs::perms(0755));
  const std::string made = folder_ + "/parent/made";
  const auto out = RunFolder::Take(made);
  (*out)->KeepPrivate();
  EXPECT_EQ(perms(made), fs::perms(0700));
  EXPECT_NE(perms(folder_ + "/parent"), fs::perms(0700));
  // Also if it is made again.
  ASSERT_TRUE((*out)->RemoveOld().ok());
  fs::remove_all(made);
  ASSERT_TRUE((*out)->Note("kymo.raw").ok());
  EXPECT_EQ(perms(made), fs::perms(0700));
}

// That of a report, say.
TEST_F(RunFolderTest, FilesOfOtherCommandsAreReplaced) {
  const auto check = [&](const std::string& name) {
    return (*RunFolder::Take(folder_))->CheckFree({name}).ok();
  };
  for (const char* const name : {"a", "b", "c"}) {
    std::ofstream(folder_ + "/" + name) << "x";
  }
  AddToList(folder_, {{"a", false}, {"b", true}, {"gone", false}});
  EXPECT_TRUE(check("a"));
  EXPECT_FALSE(check("b"));
  EXPECT_FALSE(check("c"));
  Run({"trace.json"});
  EXPECT_THAT(Names(), ElementsAre("b", "c", "trace.json"));
  // It replaces a file of the run.
  std::ofstream(folder_ + "/trace.json") << "of the report";
  AddToList(folder_, {{"trace.json", true}, {"d", false}});
  EXPECT_TRUE(check("trace.json"));
  Run({});
  EXPECT_THAT(Names(), ElementsAre("b", "c"));
}

TEST_F(RunFolderTest, AKilledRunsFilesAreReplaced) {
  {
    const auto out = RunFolder::Take(folder_);
    ASSERT_TRUE((*out)->RemoveOld().ok());
    ASSERT_TRUE((*(*out)->Open("trace.json"))->Commit().ok());
  }
  const auto next = RunFolder::Take(folder_);
  EXPECT_TRUE((*next)->CheckFree({"trace.json"}).ok());
}

TEST_F(RunFolderTest, AFolderThatTheTargetRemovesOrMovesIsMadeAgain) {
  const std::string parent = folder_ + "/a";
  const std::string path = parent + "/out";
  for (const bool moves : {false, true}) {
    const auto out = RunFolder::Take(path);
    ASSERT_TRUE((*out)->Note("kymo.raw").ok());
    ASSERT_TRUE((*out)->RemoveOld().ok());
    if (moves) {
      fs::rename(parent, folder_ + "/b");
    } else {
      fs::remove_all(parent);
    }
    testing::internal::CaptureStderr();
    ASSERT_TRUE((*(*out)->Open("trace.json"))->Commit().ok());
    ASSERT_TRUE((*(*out)->Open("summary.json"))->Commit().ok());
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "kymo: the output folder '" + path +
                  "' was removed or moved during the run; kymo has made it "
                  "again. --output_dir names a folder elsewhere\n");
    EXPECT_THAT((*out)->Names(), ElementsAre("summary.json", "trace.json"));
    // It is locked, too, and the list is complete.
    EXPECT_FALSE(RunFolder::Take(path).ok());
    (*out)->Finish();
    EXPECT_TRUE(fs::exists(path + "/.kymo-files"));
  }
  {
    const auto out = RunFolder::Take(path);
    ASSERT_TRUE((*out)->RemoveOld().ok());
  }
  EXPECT_TRUE(fs::is_empty(path));
}

TEST_F(RunFolderTest, AFolderThatCannotBeMadeAgainIsNamed) {
  const std::string path = folder_ + "/out";
  const auto out = RunFolder::Take(path);
  ASSERT_TRUE((*out)->RemoveOld().ok());
  fs::remove_all(path);
  std::ofstream(path) << "a file";
  EXPECT_THAT(std::string((*out)->Open("trace.json").status().message()),
              AllOf(StartsWith("the output folder '" + path +
                               "' was removed or moved during the run: "),
                    EndsWith("; choose a folder elsewhere with --output_dir")));
}

// An exporter removes the other form of its file, which may be a trace that the
// user keeps there.
TEST_F(RunFolderTest, OnlyWhatTheRunHasMadeIsRemoved) {
  std::ofstream(folder_ + "/trace.json.gz") << "of the user";
  std::ofstream(folder_ + "/given_up") << "of the user";
  const auto out = RunFolder::Take(folder_);
  ASSERT_TRUE((*out)->RemoveOld().ok());
  EXPECT_TRUE((*(*out)->Open("trace.json"))->Commit().ok());
  EXPECT_TRUE((*out)->Open("given_up").ok());  // and never committed
  for (const char* const name : {"trace.json.gz", "given_up", "no_file"}) {
    (*out)->Remove(name);
  }
  EXPECT_THAT(Names(), ElementsAre("given_up", "trace.json", "trace.json.gz"));
  (*out)->Remove("trace.json");
  EXPECT_THAT(Names(), ElementsAre("given_up", "trace.json.gz"));
}

TEST_F(RunFolderTest, NothingOutsideTheFolderIsRemoved) {
  std::ofstream(folder_ + "/outside") << "text";
  const std::string inside = folder_ + "/inside";
  fs::create_directory(inside);
  std::ofstream(inside + "/.kymo-files") << "../outside\n"
                                         << folder_ << "/outside\n\n";
  const auto out = RunFolder::Take(inside);
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_TRUE((*out)->RemoveOld().ok());
  EXPECT_THAT(Names(), ElementsAre("inside", "outside"));
}

TEST_F(RunFolderTest, NoLinkLeadsOutOfTheFolder) {
  fs::create_directory(folder_ + "/victim");
  std::ofstream(folder_ + "/victim/passwd") << "text";
  const std::string inside = folder_ + "/inside";
  fs::create_directory(inside);
  fs::create_symlink("../victim", inside + "/link");
  fs::create_symlink("..", inside + "/up");
  std::ofstream(inside + "/.kymo-files")
      << "link/passwd\nup/victim/passwd\nup/inside/link/passwd\n";
  {
    const auto out = RunFolder::Take(inside);
    ASSERT_TRUE(out.ok()) << out.status();
    EXPECT_TRUE((*out)->RemoveOld().ok());
  }
  EXPECT_TRUE(fs::exists(folder_ + "/victim/passwd"));
  EXPECT_TRUE(fs::is_symlink(inside + "/link"));
}

TEST_F(RunFolderTest, AListThatIsALinkIsNeitherReadNorWritten) {
  std::ofstream(folder_ + "/trace.json") << "of the user";
  std::ofstream(folder_ + "/elsewhere") << "trace.json\n";
  fs::create_symlink("elsewhere", folder_ + "/.kymo-files");
  Run({"a"});
  EXPECT_THAT(Names(), ElementsAre("a", "elsewhere", "trace.json"));
  EXPECT_EQ(fs::file_size(folder_ + "/elsewhere"), 11u);
  EXPECT_FALSE(fs::is_symlink(folder_ + "/.kymo-files"));
}

TEST_F(RunFolderTest, TheListOfAnotherUserIsIgnored) {
  std::ofstream(folder_ + "/trace.json") << "of the user";
  std::ofstream(folder_ + "/.kymo-files") << "trace.json\n";
  if (chown((folder_ + "/.kymo-files").c_str(), 65534, 65534) != 0) {
    GTEST_SKIP() << "only root can give a file away";
  }
  Run({});
  EXPECT_THAT(Names(), ElementsAre("trace.json"));
}

// An earlier run may end, and write its list, until the lock is taken.
TEST_F(RunFolderTest, FilesThatTheEarlierRunMakesLastAreRemovedToo) {
  auto earlier = RunFolder::Take(folder_);
  ASSERT_TRUE(earlier.ok()) << earlier.status();
  ASSERT_TRUE((*earlier)->RemoveOld().ok());
  before_next_lock = [&] {
    const auto sink = (*earlier)->Open("last");
    ASSERT_TRUE(sink.ok() && (*sink)->Commit().ok());
    (*earlier)->Finish();
    earlier->reset();
  };
  Run({});
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(RunFolderTest, SaysThatAFileSystemIsReadOnly) {
  mkdir_error = EROFS;
  const absl::Status status = RunFolder::Take(folder_ + "/new").status();
  const absl::Status dated = MakeDatedFolder(folder_, "run").status();
  mkdir_error = 0;
  EXPECT_EQ(status.message(), "could not make folder '" + folder_ +
                                  "/new': Read-only file system");
  EXPECT_THAT(std::string(dated.message()),
              AllOf(StartsWith("could not make '" + folder_ + "/run-"),
                    EndsWith("': Read-only file system")));
}

TEST_F(RunFolderTest, NamesWhatTheRunHasMade) {
  std::ofstream(folder_ + "/trace.json") << "of the user";
  std::ofstream(folder_ + "/kymo.raw") << "of the user";
  const auto out = RunFolder::Take(folder_);
  ASSERT_TRUE((*out)->Note("kymo.raw").ok());
  ASSERT_TRUE((*out)->RemoveOld().ok());
  {
    const auto not_committed = (*out)->Open("trace.json");
    ASSERT_TRUE(not_committed.ok());
  }
  EXPECT_FALSE((*out)->HasFiles());
  for (const char* const name : {"stacks.folded", "deep/file"}) {
    const auto sink = (*out)->Open(name);
    ASSERT_TRUE(sink.ok() && (*sink)->Commit().ok());
  }
  EXPECT_TRUE((*out)->HasFiles());
  EXPECT_THAT((*out)->Names(), ElementsAre("deep/file", "stacks.folded"));
}

TEST_F(RunFolderTest, OneFolderIsForOneRunAtATime) {
  {
    const auto first = RunFolder::Take(folder_);
    ASSERT_TRUE(first.ok()) << first.status();
    const auto second = RunFolder::Take(folder_);
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(second.status().message()), HasSubstr(folder_));
  }
  EXPECT_TRUE(RunFolder::Take(folder_).ok());
}

TEST_F(RunFolderTest, ARunThatDoesNotStartLeavesNoNewFolder) {
  const std::string path = folder_ + "/new";
  EXPECT_TRUE(RunFolder::Take(path).ok());
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(RunFolder::TakeDated(path, "run").ok());
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(RunFolder::Take(path + "/inner/innermost/").ok());
  EXPECT_FALSE(fs::exists(path));
  fs::create_directory(path);
  EXPECT_TRUE(RunFolder::Take(path + "/inner/innermost").ok());
  EXPECT_TRUE(RunFolder::TakeDated(path, "run").ok());
  EXPECT_TRUE(RunFolder::Take(path).ok());
  EXPECT_TRUE(fs::is_empty(path));
}

TEST_F(RunFolderTest, ANewFolderMayBeNextToTheTargetOfALink) {
  fs::create_directories(folder_ + "/far/inner");
  fs::create_symlink("far/inner", folder_ + "/link");
  EXPECT_TRUE(RunFolder::Take(folder_ + "/link/../new").ok());
  EXPECT_TRUE(RunFolder::Take(folder_ + "/link/../new/./inner/").ok());
  EXPECT_TRUE(RunFolder::Take(folder_ + "/a/../b/.").ok());
  EXPECT_THAT(Names(), ElementsAre("far", "far/inner", "link"));
}

TEST_F(RunFolderTest, AParentThatOthersUseStays) {
  const std::string path = folder_ + "/new";
  {
    const auto out = RunFolder::TakeDated(path, "run");
    std::ofstream(path + "/of_another_run") << "x";
  }
  EXPECT_THAT(fs::directory_iterator(path)->path().filename(),
              "of_another_run");
}

TEST_F(RunFolderTest, AFileSystemMayCountNoLinks) {
  counts_no_links = true;
  EXPECT_TRUE(RunFolder::Take(folder_).ok());
  counts_no_links = false;
}

}  // namespace
}  // namespace kymo::tools
