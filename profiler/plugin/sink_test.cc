#include "profiler/plugin/sink.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/test_gzip.h"

namespace kymo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::vector<std::string> ListFolder(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

// Answers like a disk that is full after `capacity` bytes.
class FullDiskSink : public ByteSink {
 public:
  explicit FullDiskSink(size_t capacity) : capacity_(capacity) {}
  absl::Status Append(std::string_view bytes) override {
    if (bytes.size() > capacity_) return absl::ResourceExhaustedError("full");
    capacity_ -= bytes.size();
    return absl::OkStatus();
  }
  absl::Status Commit() override { return absl::OkStatus(); }

 private:
  size_t capacity_;
};

// While this lives, files of this process cannot grow beyond `bytes`.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes)
      : old_handler_(signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_limit_);
    const rlimit limit = {bytes, old_limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_limit_);
    signal(SIGXFSZ, old_handler_);
  }

 private:
  sighandler_t old_handler_;
  rlimit old_limit_;
};

class SinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/sink_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
};

TEST_F(SinkTest, FileAppearsCompleteOnCommit) {
  OutputDirectory out(folder_ + "/profile");
  auto sink = out.Open("a.json");
  ASSERT_TRUE(sink.ok()) << sink.status();
  EXPECT_TRUE((*sink)->Append("{}").ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/profile/a.json"));
  EXPECT_TRUE((*sink)->Commit().ok());
  EXPECT_EQ(ReadFile(folder_ + "/profile/a.json"), "{}");
  EXPECT_THAT(ListFolder(folder_ + "/profile"), ElementsAre("a.json"));
}

TEST_F(SinkTest, NothingStaysWithoutCommit) {
  {
    auto sink = NewFileSink(folder_ + "/a");
    ASSERT_TRUE(sink.ok());
    EXPECT_TRUE((*sink)->Append("half").ok());
  }
  EXPECT_THAT(ListFolder(folder_), IsEmpty());
}

TEST_F(SinkTest, NothingStaysOfAProcessThatIsKilled) {
  const int unnamed = open(folder_.c_str(), O_TMPFILE | O_WRONLY, 0600);
  if (unnamed < 0) GTEST_SKIP() << "this file system names all files";
  close(unnamed);
  const pid_t child = fork();
  if (child == 0) {
    auto sink = NewFileSink(folder_ + "/a");
    if (sink.ok() && (*sink)->Append(std::string(1 << 20, 'x')).ok()) {
      raise(SIGKILL);
    }
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_THAT(ListFolder(folder_), IsEmpty());
}

TEST_F(SinkTest, ReplacesAnExistingFileOnlyOnCommit) {
  std::ofstream(folder_ + "/a") << "old";
  auto sink = NewFileSink(folder_ + "/a");
  ASSERT_TRUE(sink.ok());
  EXPECT_TRUE((*sink)->Append("new").ok());
  EXPECT_EQ(ReadFile(folder_ + "/a"), "old");
  EXPECT_TRUE((*sink)->Commit().ok());
  EXPECT_EQ(ReadFile(folder_ + "/a"), "new");
}

TEST_F(SinkTest, KeepsOrderOfSmallAndLargeAppends) {
  std::string expected;
  auto sink = NewFileSink(folder_ + "/a");
  ASSERT_TRUE(sink.ok());
  for (const size_t size : {1, 300'000, 5, 262'144, 262'143, 2, 1'000'000}) {
    const std::string part(size, static_cast<char>('a' + expected.size() % 7));
    EXPECT_TRUE((*sink)->Append(part).ok());
    expected += part;
  }
  EXPECT_TRUE((*sink)->Commit().ok());
  EXPECT_TRUE(ReadFile(folder_ + "/a") == expected);
}

TEST_F(SinkTest, ModeFollowsTheUmask) {
  const mode_t old = umask(027);
  auto sink = NewFileSink(folder_ + "/a");
  ASSERT_TRUE(sink.ok());
  EXPECT_TRUE((*sink)->Commit().ok());
  umask(old);
  struct stat info;
  ASSERT_EQ(stat((folder_ + "/a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST_F(SinkTest, TooLargeFileLeavesNothingAndTheErrorStays) {
  const FileSizeLimit limit(100'000);
  auto sink = NewFileSink(folder_ + "/a");
  ASSERT_TRUE(sink.ok());
  const absl::Status status = (*sink)->Append(std::string(1'000'000, 'x'));
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(folder_ + "/a"));
  EXPECT_EQ((*sink)->Append("y"), status);
  EXPECT_EQ((*sink)->Commit(), status);
  EXPECT_THAT(ListFolder(folder_), IsEmpty());
}

TEST_F(SinkTest, BufferedBytesThatDoNotFitFailTheCommit) {
  const FileSizeLimit limit(1'000);
  auto sink = NewFileSink(folder_ + "/a");
  ASSERT_TRUE(sink.ok());
  EXPECT_TRUE((*sink)->Append(std::string(2'000, 'x')).ok());
  EXPECT_FALSE((*sink)->Commit().ok());
  EXPECT_THAT(ListFolder(folder_), IsEmpty());
}

TEST_F(SinkTest, AFolderThatIsGoneMeanwhileFailsTheCommit) {
  std::filesystem::create_directories(folder_ + "/gone");
  auto sink = NewFileSink(folder_ + "/gone/a");
  ASSERT_TRUE(sink.ok());
  EXPECT_TRUE((*sink)->Append("x").ok());
  std::filesystem::remove_all(folder_ + "/gone");
  const absl::Status status = (*sink)->Commit();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("'" + folder_ + "/gone/a'"));
  EXPECT_EQ((*sink)->Append("y"), status);
  EXPECT_EQ((*sink)->Commit(), status);
}

TEST_F(SinkTest, AFolderInItsPlaceFailsTheCommitAndNothingStays) {
  auto sink = NewFileSink(folder_ + "/a");
  ASSERT_TRUE(sink.ok());
  EXPECT_TRUE((*sink)->Append("x").ok());
  std::filesystem::create_directories(folder_ + "/a/b");
  const absl::Status status = (*sink)->Commit();
  EXPECT_EQ(status.message(),
            "could not rename '" + folder_ + "/a': Is a directory");
  EXPECT_EQ((*sink)->Commit(), status);
  EXPECT_THAT(ListFolder(folder_), ElementsAre("a"));
}

TEST_F(SinkTest, ACompleteFileTakesNothingMore) {
  auto sink = NewFileSink(folder_ + "/a");
  ASSERT_TRUE(sink.ok());
  EXPECT_TRUE((*sink)->Commit().ok());
  for (const absl::Status& status : {(*sink)->Append("x"), (*sink)->Commit()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(status.message(), "'" + folder_ + "/a' is already complete");
  }
  EXPECT_EQ(ReadFile(folder_ + "/a"), "");
}

// As one that a killed process of the same number had left.
TEST_F(SinkTest, TemporaryFilesOfOthersAreLeftAlone) {
  // The names that the next files could have.
  const std::string prefix = folder_ + "/.a." + std::to_string(getpid()) + ".";
  for (int i = 0; i < 200; ++i) {
    std::ofstream(prefix + std::to_string(i) + ".tmp") << "other";
  }
  auto sink = NewFileSink(folder_ + "/a");
  ASSERT_TRUE(sink.ok()) << sink.status();
  EXPECT_TRUE((*sink)->Append("mine").ok());
  EXPECT_TRUE((*sink)->Commit().ok());
  EXPECT_EQ(ReadFile(folder_ + "/a"), "mine");
  EXPECT_EQ(ListFolder(folder_).size(), 201u);
  EXPECT_EQ(ReadFile(prefix + "100.tmp"), "other");
}

TEST_F(SinkTest, MissingFolderIsNotFound) {
  const auto sink = NewFileSink(folder_ + "/missing/a");
  EXPECT_EQ(sink.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(sink.status().message()),
              HasSubstr(folder_ + "/missing/a"));
}

TEST_F(SinkTest, DevicesAndFoldersAreNotReplaced) {
  for (const std::string& path : {std::string("/dev/full"), folder_}) {
    EXPECT_EQ(NewFileSink(path).status().code(),
              absl::StatusCode::kFailedPrecondition)
        << path;
  }
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST_F(SinkTest, FolderBelowAFileCannotBeMade) {
  std::ofstream(folder_ + "/file") << "x";
  OutputDirectory out(folder_ + "/file/below");
  EXPECT_FALSE(out.CheckWritable().ok());
  EXPECT_FALSE(out.Open("a").ok());
}

TEST_F(SinkTest, FolderWithoutWriteAccessIsReported) {
  // /proc accepts no files from anybody, root included.
  OutputDirectory out("/proc/self");
  EXPECT_FALSE(out.CheckWritable().ok());
}

TEST_F(SinkTest, CheckWritableMakesTheFolderAndLeavesItEmpty) {
  OutputDirectory out(folder_ + "/a/b");
  EXPECT_TRUE(out.CheckWritable().ok());
  EXPECT_THAT(ListFolder(folder_ + "/a/b"), IsEmpty());
}

TEST_F(SinkTest, NamesMayHaveFoldersButNotLeaveThem) {
  OutputDirectory out(folder_);
  auto sink = out.Open("x/y/z.txt");
  ASSERT_TRUE(sink.ok()) << sink.status();
  EXPECT_TRUE((*sink)->Commit().ok());
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/x/y/z.txt"));
  for (const char* name : {"", "/etc/x", "../x", "a/../../x", "a/"}) {
    EXPECT_EQ(out.Open(name).status().code(),
              absl::StatusCode::kInvalidArgument)
        << name;
  }
}

TEST_F(SinkTest, FilesOfAFolderCanBeRemovedAndNothingElse) {
  OutputDirectory out(folder_);
  for (const char* const name : {"a.txt", "b.txt", "x/c.txt"}) {
    auto sink = out.Open(name);
    ASSERT_TRUE(sink.ok()) << sink.status();
    ASSERT_TRUE((*sink)->Commit().ok());
  }
  std::filesystem::create_directories(folder_ + "/y");
  out.Remove("a.txt");
  out.Remove("x/c.txt");
  out.Remove("y");
  out.Remove("none");
  OutputDirectory below(folder_ + "/y");
  below.Remove("../b.txt");
  below.Remove(folder_ + "/b.txt");
  EXPECT_THAT(ListFolder(folder_),
              testing::UnorderedElementsAre("b.txt", "x", "y"));
  EXPECT_THAT(ListFolder(folder_ + "/x"), IsEmpty());
}

TEST_F(SinkTest, StringSinkAppends) {
  std::string text = "a";
  const auto sink = NewStringSink(&text);
  EXPECT_TRUE(sink->Append("b").ok());
  EXPECT_TRUE(sink->Commit().ok());
  EXPECT_EQ(text, "ab");
}

TEST_F(SinkTest, GzipRoundTrips) {
  std::string expected;
  for (int i = 0; i < 200'000; ++i) expected += std::to_string(i * 7919) + ",";
  std::string packed;
  const auto sink = NewGzipSink(NewStringSink(&packed));
  EXPECT_TRUE(sink->Append(expected.substr(0, 10)).ok());
  EXPECT_TRUE(sink->Append("").ok());
  EXPECT_TRUE(sink->Append(expected.substr(10)).ok());
  EXPECT_TRUE(sink->Commit().ok());
  EXPECT_LT(packed.size(), expected.size());
  EXPECT_TRUE(Unzip(packed) == expected);
}

TEST_F(SinkTest, EmptyGzipIsValid) {
  std::string packed;
  const auto sink = NewGzipSink(NewStringSink(&packed));
  EXPECT_TRUE(sink->Commit().ok());
  EXPECT_EQ(Unzip(packed), "");
}

TEST_F(SinkTest, GzipHandsOnAndKeepsTheErrorBelow) {
  const auto sink = NewGzipSink(std::make_unique<FullDiskSink>(10));
  EXPECT_TRUE(sink->Append("not yet out of the compressor").ok());
  const absl::Status status = sink->Commit();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(sink->Append("x"), status);
}

}  // namespace
}  // namespace kymo
