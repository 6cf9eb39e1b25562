#include "profiler/plugin/run_exporter.h"

#include <memory>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/base/status_macros.h"
#include "tests/support/test_trace.h"

namespace kymo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Knows the names of its complete files, and has no others.
class NameDirectory : public OutputDirectory {
 public:
  NameDirectory() : OutputDirectory("names") {}
  absl::StatusOr<std::unique_ptr<ByteSink>> Open(
      std::string_view name) override {
    return std::make_unique<Sink>(names_, std::string(name));
  }
  void Remove(std::string_view name) noexcept override {
    names_.erase(std::string(name));
  }
  const std::set<std::string>& names() const { return names_; }

 private:
  class Sink : public ByteSink {
   public:
    Sink(std::set<std::string>& names, std::string name)
        : names_(names), name_(std::move(name)) {}
    absl::Status Append(std::string_view) override { return absl::OkStatus(); }
    absl::Status Commit() override {
      names_.insert(name_);
      return absl::OkStatus();
    }

   private:
    std::set<std::string>& names_;
    const std::string name_;
  };

  std::set<std::string> names_;
};

// Writes first.txt and second.txt, unless memory ends before.
class TwoFiles : public TraceExporter {
 public:
  explicit TwoFiles(int files_until_memory_ends)
      : files_left_(files_until_memory_ends) {
    info_.name = "two";
  }
  const PluginInfo& info() const noexcept override { return info_; }
  absl::StatusOr<std::vector<std::string>> Export(
      const model::Trace&, const ExportOptions&,
      OutputDirectory& out) const override {
    if (files_left_ < 0) throw std::bad_alloc();
    std::vector<std::string> names = {"first.txt", "second.txt"};
    int left = files_left_;
    for (const std::string& name : names) {
      KYMO_ASSIGN_OR_RETURN(const auto sink, out.Open(name));
      if (left-- == 0) throw std::bad_alloc();
      KYMO_RETURN_IF_ERROR(sink->Append(name));
      KYMO_RETURN_IF_ERROR(sink->Commit());
    }
    return names;
  }

 private:
  const int files_left_;
  PluginInfo info_;
};

TEST(RunExporterTest, ReturnsTheFiles) {
  const model::Trace trace = TestTrace().Build();
  for (const int64_t max_file_bytes : {0, 1'000}) {
    NameDirectory out;
    const auto files = RunExporter(TwoFiles(2), trace, {}, max_file_bytes, out);
    ASSERT_TRUE(files.ok()) << files.status();
    EXPECT_THAT(files->names, ElementsAre("first.txt", "second.txt"));
    EXPECT_EQ(files->notice, "");
    EXPECT_THAT(out.names(), ElementsAre("first.txt", "second.txt"));
  }
}

TEST(RunExporterTest, SaysWhichFilesAreTooLarge) {
  NameDirectory out;
  const auto files = RunExporter(TwoFiles(2), TestTrace().Build(), {}, 1, out);
  ASSERT_TRUE(files.ok()) << files.status();
  EXPECT_NE(files->notice.find("'second.txt' has 10 bytes"), std::string::npos)
      << files->notice;
}

TEST(RunExporterTest, MemoryThatEndsNamesTheFileAndLeavesNone) {
  const model::Trace trace = TestTrace().Build();
  for (const int64_t max_file_bytes : {0, 1'000}) {
    NameDirectory out;
    const absl::Status status =
        RunExporter(TwoFiles(1), trace, {}, max_file_bytes, out).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_EQ(status.message(), "not enough memory to write 'second.txt'");
    EXPECT_THAT(out.names(), IsEmpty());
  }
}

TEST(RunExporterTest, MemoryMayEndBeforeAnyFile) {
  NameDirectory out;
  const absl::Status status =
      RunExporter(TwoFiles(-1), TestTrace().Build(), {}, 0, out).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "not enough memory for the files of 'two'");
}

// Removes its first file again, before memory ends.
class RemovesOne : public TwoFiles {
 public:
  RemovesOne() : TwoFiles(2) {}
  absl::StatusOr<std::vector<std::string>> Export(
      const model::Trace& trace, const ExportOptions& options,
      OutputDirectory& out) const override {
    EXPECT_TRUE(TwoFiles::Export(trace, options, out).ok());
    out.Remove("first.txt");
    // It is not this exporter's any more.
    KYMO_RETURN_IF_ERROR(outside_->Open("first.txt").value()->Commit());
    throw std::bad_alloc();
  }
  OutputDirectory* outside_ = nullptr;
};

TEST(RunExporterTest, OnlyFilesOfTheExporterAreTakenAway) {
  NameDirectory out;
  RemovesOne exporter;
  exporter.outside_ = &out;
  EXPECT_EQ(
      RunExporter(exporter, TestTrace().Build(), {}, 0, out).status().message(),
      "not enough memory to write 'second.txt'");
  EXPECT_THAT(out.names(), ElementsAre("first.txt"));
}

TEST(RunExporterTest, AFileOfItsOwnIsGuardedToo) {
  EXPECT_TRUE(
      WriteWithinMemory("a.html", [] { return absl::OkStatus(); }).ok());
  EXPECT_EQ(
      WriteWithinMemory("a.html", [] { return absl::DataLossError("gone"); })
          .message(),
      "gone");
  const absl::Status status = WriteWithinMemory(
      "a.html", []() -> absl::Status { throw std::bad_alloc(); });
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(), "not enough memory to write 'a.html'");
}

TEST(TraceExporterTest, ByDefaultItNeedsTheWholeTrace) {
  const TwoFiles exporter(9);
  EXPECT_EQ(exporter.BeyondSums({}), "--export=two");
}

}  // namespace
}  // namespace kymo
