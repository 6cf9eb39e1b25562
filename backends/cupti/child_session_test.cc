#include "backends/cupti/child_session.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "backends/cupti/decode/saved_log.h"
#include "backends/cupti/target/injection.h"

namespace kymo::cupti {
namespace {

std::string Path(const char* variable) {
  return std::filesystem::absolute(getenv(variable)).string();
}

class ChildSessionTest : public ::testing::Test {
 protected:
  ChildSessionTest()
      : folder_(
            std::filesystem::path(::testing::TempDir()) /
            ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }

  // Runs the program as the command would, and collects its logs.
  absl::Status Record(const std::vector<std::string>& words,
                      const std::string& library,
                      const CuptiSettings& settings = {.flush_ms = 20}) {
    const auto session = NewChildSession(settings, folder_, library);
    TargetSetup setup;
    EXPECT_TRUE(session->Prepare(&setup).ok());
    Environment& environment = setup.environment;
    EXPECT_EQ(setup.libraries.size(), 1);
    EXPECT_EQ(setup.libraries.at(0).file, "libkymo_cuda.so");
    EXPECT_EQ(setup.libraries.at(0).next_variable, "");
    environment[setup.libraries.at(0).variable] = Path("KYMO_CUDA_LIBRARY");
    const pid_t pid = fork();
    if (pid == 0) {
      for (const auto& [name, value] : environment) {
        setenv(name.c_str(), value.c_str(), 1);
      }
      std::vector<char*> argv;
      const std::string program = Path("KYMO_TEST_PROGRAM");
      argv.push_back(const_cast<char*>(program.c_str()));
      for (const std::string& word : words) {
        argv.push_back(const_cast<char*>(word.c_str()));
      }
      argv.push_back(nullptr);
      execv(argv[0], argv.data());
      _exit(127);
    }
    EXPECT_TRUE(session->Start(pid).ok());
    waitpid(pid, &wait_status_, 0);
    EXPECT_TRUE(session->Stop().ok());
    const absl::Status status = session->Collect(shard_).status();
    remarks_ = session->Remarks();
    return status;
  }

  size_t CountEvents(model::ActivityType type) const {
    size_t count = 0;
    for (const auto& events : shard_.events) {
      for (const model::ActivityType t : events.type) count += t == type;
    }
    return count;
  }

  const std::string folder_;
  int wait_status_ = 0;
  std::vector<std::string> remarks_;
  model::TraceShard shard_;
};

constexpr auto kKernel = model::ActivityType::kConcurrentKernel;
constexpr auto kCall = model::ActivityType::kCudaRuntime;

TEST_F(ChildSessionTest, RecordsAProgramThatInitialisesCuda) {
  const std::string cupti = Path("KYMO_TEST_CUPTI");
  const absl::Status status = Record({cupti, "30000"}, cupti);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(wait_status_, 0);
  EXPECT_EQ(CountEvents(kKernel), 30'000u);
  EXPECT_EQ(CountEvents(kCall), 30'000u);
  EXPECT_FALSE(shard_.ledger.AnythingLost());
  EXPECT_TRUE(shard_.strings.Find("axpy(float, float*)").has_value());
  EXPECT_TRUE(FindLogs(folder_).empty()) << "the session removes its files";
}

TEST_F(ChildSessionTest, IsOneClientAmongSeveralWhereTheLibraryHasSuch) {
  const std::string cupti = Path("KYMO_TEST_CUPTI_V2");
  const absl::Status status = Record({cupti, "3000"}, cupti);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(CountEvents(kKernel), 3000u);
  EXPECT_EQ(CountEvents(kCall), 3000u);
  EXPECT_FALSE(shard_.ledger.AnythingLost());
}

TEST_F(ChildSessionTest, WhatIsAtWorkForAnInstantAtTheEndIsWaitedFor) {
  const std::string cupti = Path("KYMO_TEST_CUPTI");
  ASSERT_TRUE(Record({cupti, "10", "exit_busy"}, cupti).ok());
  EXPECT_EQ(wait_status_, 0);
  EXPECT_EQ(CountEvents(kKernel), 11u);
  EXPECT_FALSE(shard_.ledger.AnythingLost());
}

TEST_F(ChildSessionTest, AForkedChildLeavesItsParentsLogAlone) {
  const std::string cupti = Path("KYMO_TEST_CUPTI");
  ASSERT_TRUE(Record({cupti, "100", "fork"}, cupti).ok());
  EXPECT_EQ(wait_status_, 0);
  EXPECT_EQ(CountEvents(kKernel), 101u);
  EXPECT_FALSE(shard_.ledger.AnythingLost());
}

TEST_F(ChildSessionTest, UnifiedMemoryIsAskedForWhenCudaIsUp) {
  const std::string cupti = Path("KYMO_TEST_CUPTI");
  CuptiSettings settings;
  settings.capture.flags |= kCaptureUnified;
  ASSERT_TRUE(Record({cupti, "1", "copy"}, cupti, settings).ok());
  EXPECT_EQ(CountEvents(model::ActivityType::kGpuMemcpy), 2u)
      << "the copy, and the pages that moved";
  EXPECT_TRUE(remarks_.empty());
}

TEST_F(ChildSessionTest, ABufferOfAClientBeforeIsNotTouched) {
  const std::string cupti = Path("KYMO_TEST_CUPTI");
  const absl::Status status = Record({cupti, "0", "after_other"}, cupti);
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_EQ(wait_status_, 0);
  EXPECT_EQ(CountEvents(kKernel), 1000u);
  EXPECT_EQ(shard_.ledger.Get(model::Loss::kDeviceBuffersLost), 1u);
}

TEST_F(ChildSessionTest, ALogThatCannotBeReadDoesNotCostTheOthers) {
  const std::string broken = folder_ + "/cuda-1-1.log";
  std::ofstream(broken) << std::string(8192, '\0');
  const std::string cupti = Path("KYMO_TEST_CUPTI");
  ASSERT_TRUE(Record({cupti, "5"}, cupti).ok());
  EXPECT_EQ(CountEvents(kKernel), 5u);
  EXPECT_EQ(shard_.ledger.Get(model::Loss::kProcessesNotRecorded), 1u);
  ASSERT_EQ(remarks_.size(), 1u);
  EXPECT_NE(remarks_[0].find("cuda-1-1.log"), std::string::npos);
}

TEST_F(ChildSessionTest, AKilledProgramLosesOnlyWhatWasNotFlushed) {
  const std::string cupti = Path("KYMO_TEST_CUPTI");
  ASSERT_TRUE(Record({cupti, "100", "kill"}, cupti).ok());
  EXPECT_TRUE(WIFSIGNALED(wait_status_));
  EXPECT_EQ(CountEvents(kKernel), 100u);
  EXPECT_EQ(shard_.ledger.Get(model::Loss::kDeviceBuffersLost), 1u);
}

TEST_F(ChildSessionTest, AKilledProgramThatIsAlwaysAtWorkLosesABuffer) {
  const std::string cupti = Path("KYMO_TEST_CUPTI");
  ASSERT_TRUE(Record({cupti, "100", "kill_busy"}, cupti).ok());
  EXPECT_TRUE(WIFSIGNALED(wait_status_));
  EXPECT_LT(CountEvents(kKernel), 120u) << "CUPTI holds what has not ended";
  EXPECT_EQ(shard_.ledger.Get(model::Loss::kDeviceBuffersLost), 1u);
}

TEST_F(ChildSessionTest, WithoutALibraryTheProgramGoesOnAndTheUserIsTold) {
  const std::string cupti = Path("KYMO_TEST_CUPTI");
  const absl::Status status = Record({cupti, "1"}, "/none/libcupti.so.13");
  EXPECT_EQ(wait_status_, 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("no libcupti"), std::string::npos) << status;
  EXPECT_EQ(shard_.ledger.Get(model::Loss::kProcessesNotRecorded), 1u);
}

TEST_F(ChildSessionTest, KeepsLogsWhereItIsToldTo) {
  const std::string cupti = Path("KYMO_TEST_CUPTI");
  const std::string kept = folder_ + "/kept";
  CuptiSettings settings;
  settings.save_folder = kept;
  ASSERT_TRUE(Record({cupti, "3"}, cupti, settings).ok());
  ASSERT_EQ(FindLogs(kept).size(), 1u);
  const auto log = SavedLog::Map(FindLogs(kept)[0]);
  ASSERT_TRUE(log.ok()) << log.status();
  model::TraceShard again;
  DecodeLog(log->facts(), log->records(), {}, again);
  EXPECT_EQ(again.details.size(), shard_.details.size());
}

TEST_F(ChildSessionTest, AProgramWithoutCudaLeavesNothing) {
  const auto session = NewChildSession({}, folder_, "");
  TargetSetup setup;
  ASSERT_TRUE(session->Prepare(&setup).ok());
  ASSERT_TRUE(session->Start(1).ok());
  ASSERT_TRUE(session->Stop().ok());
  ASSERT_TRUE(session->Collect(shard_).ok());
  EXPECT_TRUE(shard_.events.empty());
  EXPECT_TRUE(shard_.metadata.empty());
}

TEST_F(ChildSessionTest, LeavesTheUsersOwnInjectionAlone) {
  setenv(kInjectionVariable, "/opt/other/libother.so", 1);
  const auto session = NewChildSession({}, folder_, "");
  TargetSetup setup;
  const absl::Status status = session->Prepare(&setup);
  unsetenv(kInjectionVariable);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("/opt/other"), std::string::npos) << status;
}

}  // namespace
}  // namespace kymo::cupti
