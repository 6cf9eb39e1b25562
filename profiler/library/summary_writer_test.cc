#include "kymo/summary_writer.h"

#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exporters/tensorboard/event.pb.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "tests/support/test_event_file.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using tensorboard::ReadEventFile;

std::vector<tensorboard::schema::Event> Read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return ReadEventFile(std::string(std::istreambuf_iterator<char>(in), {}));
}

class SummaryWriterTest : public ::testing::Test {
 protected:
  SummaryWriterTest()
      : folder_(
            ::testing::TempDir() + "/" +
            ::testing::UnitTest::GetInstance()->current_test_info()->name()) {}
  ~SummaryWriterTest() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<SummaryWriter> Create() const {
    auto writer = SummaryWriter::Create(folder_ + "/run");
    EXPECT_TRUE(writer.ok()) << writer.status();
    return *std::move(writer);
  }

  const std::string folder_;
};

TEST_F(SummaryWriterTest, ReplaysTheExample) {
  TestTrace t;
  t.AddRange(t.AddThread(1, 1, "main"), "matmul", 0, 1'000'000);
  const model::Trace trace = std::move(t).Build();
  const auto writer = Create();
  for (int64_t step = 0; step < 3; ++step) {
    ASSERT_TRUE(writer->AddScalar("train/loss", 0.5, step).ok());
  }
  ASSERT_TRUE(writer->AddGraph(&trace).ok());
  ASSERT_TRUE(writer->Close().ok());

  EXPECT_THAT(std::filesystem::path(writer->path()).filename().string(),
              testing::MatchesRegex(
                  R"(events\.out\.tfevents\.[0-9]{10}\..+\.[0-9]+\.[0-9]+)"));
  const auto events = Read(writer->path());
  ASSERT_EQ(events.size(), 6);
  EXPECT_EQ(events[0].file_version(), "brain.Event:2");
  EXPECT_EQ(events[3].step(), 2);
  EXPECT_EQ(events[3].summary().value(0).tag(), "train/loss");
  EXPECT_EQ(events[3].summary().value(0).simple_value(), 0.5);
  EXPECT_GT(events[3].wall_time(), 1.6e9);
  tensorboard::schema::GraphDef graph;
  ASSERT_TRUE(graph.ParseFromString(events[4].graph_def()));
  EXPECT_EQ(graph.node(0).name(), "matmul");
  EXPECT_EQ(events[5].tagged_run_metadata().tag(), "profile");
}

TEST_F(SummaryWriterTest, WhatIsFlushedCanBeReadAtOnce) {
  const auto writer = Create();
  EXPECT_EQ(Read(writer->path()).size(), 1);
  ASSERT_TRUE(writer->AddScalar("x", std::nan(""), 1, 12.5).ok());
  ASSERT_TRUE(writer->Flush().ok());
  const auto events = Read(writer->path());
  ASSERT_EQ(events.size(), 2);
  EXPECT_EQ(events[1].wall_time(), 12.5);
  EXPECT_TRUE(std::isnan(events[1].summary().value(0).simple_value()));
}

TEST_F(SummaryWriterTest, AFullBufferIsWrittenAtOnce) {
  const auto writer = Create();
  ASSERT_TRUE(writer->AddScalar(std::string(65'536, 'x'), 1, 1).ok());
  EXPECT_EQ(Read(writer->path()).size(), 2);
  ASSERT_TRUE(writer->AddScalar("x", 1, 1).ok());
  ASSERT_TRUE(writer->Close().ok());
  EXPECT_EQ(Read(writer->path()).size(), 3);
}

TEST_F(SummaryWriterTest, WritersOfOneFolderHaveFilesOfTheirOwn) {
  const auto a = Create();
  const auto b = Create();
  EXPECT_NE(a->path(), b->path());
}

TEST_F(SummaryWriterTest, ThreadsMayShareOne) {
  const auto writer = Create();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int step = 0; step < 2'000; ++step) {
        EXPECT_TRUE(writer->AddScalar("x", step, step).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_TRUE(writer->Close().ok());
  EXPECT_EQ(Read(writer->path()).size(), 8'001);
}

TEST_F(SummaryWriterTest, AfterCloseNothingIsTaken) {
  const auto writer = Create();
  ASSERT_TRUE(writer->Close().ok());
  for (const absl::Status& status :
       {writer->AddScalar("x", 1, 1), writer->Flush(), writer->Close()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  }
}

TEST_F(SummaryWriterTest, NoTraceIsNoGraph) {
  EXPECT_EQ(Create()->AddGraph(nullptr).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST_F(SummaryWriterTest, DefaultFolderIsPyTorchs) {
  const auto name_of = [](time_t time, const std::string& comment) {
    tm local;
    char text[64];
    char host[256] = {};
    gethostname(host, sizeof(host) - 1);
    strftime(text, sizeof(text), "runs/%b%d_%H-%M-%S_",
             localtime_r(&time, &local));
    return text + std::string(host) + comment;
  };
  std::filesystem::create_directories(folder_);
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  for (const std::string comment : {"", "LR_0.1_BATCH_16"}) {
    const time_t start = time(nullptr);
    const auto writer = SummaryWriter::Create("", comment);
    const time_t end = time(nullptr);
    EXPECT_TRUE(writer.ok()) << writer.status();
    if (!writer.ok()) break;
    const std::string folder = (*writer)->log_dir();
    EXPECT_THAT(folder,
                testing::AnyOf(name_of(start, comment), name_of(end, comment),
                               // time() lags behind other clocks.
                               name_of(end + 1, comment)));
    EXPECT_EQ(std::filesystem::path((*writer)->path()).parent_path(), folder);
    EXPECT_TRUE(std::filesystem::exists((*writer)->path()));
  }
  std::filesystem::current_path(before);
}

TEST_F(SummaryWriterTest, CommentsAreForTheDefaultFolder) {
  const auto writer = SummaryWriter::Create(folder_ + "/run", "comment");
  ASSERT_TRUE(writer.ok()) << writer.status();
  EXPECT_EQ((*writer)->log_dir(), folder_ + "/run");
}

TEST_F(SummaryWriterTest, GraphsCanBeOfACall) {
  const auto writer = Create();
  int calls = 0;
  const auto forward = [&] {
    ++calls;
    RecordFunction linear("linear");
    KYMO_RECORD_OP("matmul", 64, 0.5);
  };
  { RecordFunction outside("outside"); }
  ASSERT_TRUE(writer->AddGraph(forward).ok());
  EXPECT_EQ(calls, 1);
  ASSERT_TRUE(writer->Close().ok());
  const auto events = Read(writer->path());
  ASSERT_EQ(events.size(), 3);
  tensorboard::schema::GraphDef graph;
  ASSERT_TRUE(graph.ParseFromString(events[1].graph_def()));
  std::vector<std::string> names;
  for (const auto& node : graph.node()) names.push_back(node.name());
  EXPECT_THAT(names, testing::Contains("linear/matmul"));
  EXPECT_THAT(names, testing::Not(testing::Contains("outside")));
  EXPECT_EQ(events[2].tagged_run_metadata().tag(), "profile");
}

TEST_F(SummaryWriterTest, CallsWithinASessionHaveNoGraph) {
  const auto writer = Create();
  Profile profile;
  ASSERT_TRUE(profile.Start().ok());
  bool is_called = false;
  EXPECT_THAT(
      std::string(writer->AddGraph([&] { is_called = true; }).message()),
      testing::HasSubstr("Profiler is already enabled on this thread."));
  EXPECT_FALSE(is_called);
  EXPECT_TRUE(profile.Stop().ok());
}

TEST_F(SummaryWriterTest, FoldersThatCannotBeMadeAreErrors) {
  const auto writer = SummaryWriter::Create("/proc/self/nowhere");
  EXPECT_FALSE(writer.ok());
  EXPECT_THAT(std::string(writer.status().message()),
              testing::HasSubstr("/proc/self/nowhere"));
}

TEST_F(SummaryWriterTest, AfterAnErrorTheFileEndsWithAWholeRecord) {
  signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small = {.rlim_cur = 1'000, .rlim_max = before.rlim_max};
  const auto writer = Create();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  absl::Status status;
  int64_t added = 0;
  for (; status.ok() && added < 1'000; ++added) {
    status = writer->AddScalar("a tag of some length", 1, added);
    status.Update(writer->Flush());
  }
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(writer->Close(), status);
  EXPECT_EQ(writer->AddScalar("x", 1, 1), status);
  // Reads whole records only; the one that failed is not there.
  EXPECT_EQ(Read(writer->path()).size(), static_cast<size_t>(added));
}

}  // namespace
}  // namespace kymo
