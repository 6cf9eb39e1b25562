#include "backends/cupti/decode/saved_log.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "backends/cupti/log/gpu_log.h"
#include "backends/cupti/log/log_file.h"
#include "backends/cupti/target/capture.h"
#include "backends/cupti/target/test_cupti_api.h"

namespace kymo::cupti {
namespace {

class SavedLogTest : public ::testing::Test {
 protected:
  SavedLogTest()
      : folder_(
            std::filesystem::path(::testing::TempDir()) /
            ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }

  // Runs `program` in a child process, with a log in the folder.
  template <typename Program>
  int RunChild(const Program& program) {
    const pid_t pid = fork();
    if (pid == 0) {
      static constinit LogFile file;
      FakeCupti fake;
      if (!file.Open(folder_.c_str()) ||
          !StartCapture(fake.api(), {}, file.sink(), file.header())) {
        _exit(9);
      }
      program(fake);
      _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return status;
  }

  static void EmitKernel(FakeCupti& fake) {
    KernelRecord kernel = {};
    kernel.start = 1000;
    kernel.end = 2000;
    kernel.stream = 7;
    fake.Emit(RecordKind::kKernel, kernel, "axpy");
  }

  size_t DecodeOnly(model::TraceShard& shard) {
    const auto paths = FindLogs(folder_);
    EXPECT_EQ(paths.size(), 1u);
    if (paths.size() != 1) return 0;
    const auto log = SavedLog::Map(paths[0]);
    EXPECT_TRUE(log.ok()) << log.status();
    if (!log.ok()) return 0;
    DecodeLog(log->facts(), log->records(), {}, shard);
    size_t events = 0;
    for (const auto& track : shard.events) events += track.size();
    return events;
  }

  const std::string folder_;
};

TEST_F(SavedLogTest, HoldsWhatAProcessRecorded) {
  EXPECT_EQ(RunChild([](FakeCupti& fake) {
              EmitKernel(fake);
              StopCapture();
            }),
            0);
  model::TraceShard shard;
  EXPECT_EQ(DecodeOnly(shard), 1u);
  EXPECT_FALSE(shard.ledger.AnythingLost());
}

TEST_F(SavedLogTest, AKilledProcessLosesOnlyItsLastBuffer) {
  const int status = RunChild([](FakeCupti& fake) {
    EmitKernel(fake);
    EmitKernel(fake);
    FlushCapture(FlushMode::kFinished);
    EmitKernel(fake);
    kill(getpid(), SIGKILL);
  });
  EXPECT_TRUE(WIFSIGNALED(status));
  model::TraceShard shard;
  EXPECT_EQ(DecodeOnly(shard), 2u);
  EXPECT_EQ(shard.ledger.Get(model::Loss::kDeviceBuffersLost), 1u);
}

TEST_F(SavedLogTest, AProcessThatClosesEveryDescriptorGoesOnRecording) {
  EXPECT_EQ(RunChild([](FakeCupti& fake) {
              for (int fd = 3; fd < 64; ++fd) close(fd);
              EmitKernel(fake);
              StopCapture();
            }),
            0);
  model::TraceShard shard;
  EXPECT_EQ(DecodeOnly(shard), 1u);
}

TEST_F(SavedLogTest, BytesThatCannotBeWrittenAreCounted) {
  static constinit LogFile file;
  ASSERT_TRUE(file.Open(folder_.c_str()));
  const char block[64] = {};
  file.sink().append(&file, block, sizeof(block));
  EXPECT_EQ(file.header()->bytes_lost, 0u);
  std::filesystem::remove(FindLogs(folder_)[0]);
  file.sink().append(&file, block, sizeof(block));
  EXPECT_EQ(file.header()->bytes_lost, sizeof(block));
}

TEST(SaveLogTest, WhatIsSavedIsRead) {
  LogHeader header;
  header.magic = kLogMagic;
  header.version = kLogVersion;
  header.pid = 77;
  header.cupti_version = 28;
  header.state = LogState::kClosed;
  header.buffers_out = 3;
  header.buffers_refused = 4;
  header.bytes_lost = 5;
  memset(header.problem, 'p', sizeof(header.problem));  // without a NUL
  const std::string text = "records!";
  const auto records = std::as_bytes(std::span(text));
  const std::string path = ::testing::TempDir() + "/saved.log";
  const absl::Status saved = SaveLog(header, records, path);
  ASSERT_TRUE(saved.ok()) << saved;
  struct stat about = {};
  ASSERT_EQ(stat(path.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  const auto log = SavedLog::Map(path);
  ASSERT_TRUE(log.ok()) << log.status();
  EXPECT_EQ(log->facts().pid, 77);
  EXPECT_EQ(log->facts().cupti_version, 28u);
  EXPECT_EQ(log->facts().state, LogState::kClosed);
  EXPECT_EQ(log->facts().buffers_out, 3u);
  EXPECT_EQ(log->facts().buffers_refused, 4u);
  EXPECT_EQ(log->facts().bytes_lost, 5u);
  EXPECT_EQ(log->facts().problem, std::string(256, 'p'));
  ASSERT_EQ(log->records().size(), 8u);
  EXPECT_EQ(memcmp(log->records().data(), text.data(), 8), 0);
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  EXPECT_EQ(log->records()[0], std::byte{0});
  const absl::Status no_folder = SaveLog(header, records, "/no/folder/log");
  EXPECT_EQ(no_folder.message(),
            "cannot write /no/folder/log: No such file or directory");
}

TEST_F(SavedLogTest, RefusesWhatIsNoLog) {
  const std::string path = folder_ + "/cuda-1-1.log";
  FILE* const file = fopen(path.c_str(), "wb");
  fputs("short", file);
  fclose(file);
  EXPECT_EQ(SavedLog::Map(path).status().code(), absl::StatusCode::kDataLoss);
  std::filesystem::resize_file(path, 3 * kLogHeaderBytes);
  EXPECT_EQ(SavedLog::Map(path).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(SavedLog::Map(folder_ + "/none.log").ok());
}

// The program may make anything in its folder. A pipe would keep its reader
// waiting for somebody who writes.
TEST_F(SavedLogTest, APipeIsNoLog) {
  const std::string path = folder_ + "/cuda-1-2.log";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  ASSERT_EQ(FindLogs(folder_), std::vector<std::string>{path});
  const absl::Status status = SavedLog::Map(path).status();
  EXPECT_EQ(std::string(status.message()),
            "cannot open " + path + ": Invalid argument");
}

}  // namespace
}  // namespace kymo::cupti
