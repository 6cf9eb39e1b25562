#include "tools/deliver/export_files.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/plugin/trace_exporter.h"
#include "tests/support/test_trace.h"

namespace kymo::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// Reports its options, and then returns the status that the test chose.
class FakeExporter : public TraceExporter {
 public:
  FakeExporter(std::string name, absl::Status result, bool exports_sums,
               std::vector<std::string>* calls)
      : result_(std::move(result)), calls_(*calls) {
    info_.name = std::move(name);
    info_.exports_sums = exports_sums;
  }
  const PluginInfo& info() const noexcept override { return info_; }
  absl::StatusOr<std::vector<std::string>> Export(
      const model::Trace&, const ExportOptions& options,
      OutputDirectory&) const override {
    return Answer("trace", options);
  }
  absl::StatusOr<std::vector<std::string>> ExportSums(
      const analysis::WindowSums&, const ExportOptions& options,
      OutputDirectory&) const override {
    return Answer("sums", options);
  }

 private:
  absl::StatusOr<std::vector<std::string>> Answer(
      const std::string& what, const ExportOptions& options) const {
    const auto color = options.settings.find("color");
    calls_.push_back(
        info_.name + " " + what + (options.gzip ? " gzip" : "") +
        (color == options.settings.end() ? "" : " " + color->second));
    if (options.progress) options.progress(0.5);
    if (!result_.ok()) return result_;
    return std::vector<std::string>{};
  }

  const absl::Status result_;
  std::vector<std::string>& calls_;
  PluginInfo info_;
};

class ExportFilesTest : public ::testing::Test {
 protected:
  ExportFilesTest() {
    Register("bad", absl::DataLossError("bad"), /*exports_sums=*/true);
    Register("good", absl::OkStatus(), /*exports_sums=*/true);
    Register("worse", absl::DataLossError("worse"), /*exports_sums=*/false);
  }
  void Register(const std::string& name, absl::Status result,
                bool exports_sums) {
    EXPECT_TRUE(exporters_
                    .Register(std::make_unique<FakeExporter>(
                        name, std::move(result), exports_sums, &calls_))
                    .ok());
  }

  std::vector<std::string> calls_;
  ExporterRegistry exporters_;
  OutputDirectory out_{"/nowhere"};
  ExportNotes notes_;
};

TEST_F(ExportFilesTest, RunsThemInOrderWithTheOptions) {
  std::vector<std::pair<std::string, double>> progress;
  const ExportRequest request = {
      .exporters = {"good", "good"},
      .gzip = true,
      .settings = {{"color", "red"}},
      .progress = [&](const std::string& exporter, double done) {
        progress.emplace_back(exporter, done);
      }};
  EXPECT_TRUE(
      ExportFiles(request, TestTrace().Build(), exporters_, out_, notes_).ok());
  EXPECT_THAT(calls_,
              ElementsAre("good trace gzip red", "good trace gzip red"));
  EXPECT_THAT(progress, ElementsAre(Pair("good", 0.5), Pair("good", 0.5)));
}

TEST_F(ExportFilesTest, GoesOnAfterAnErrorAndSaysAll) {
  const ExportRequest request = {.exporters = {"bad", "worse", "good"}};
  const model::Trace trace = TestTrace().Build();
  EXPECT_EQ(ExportFiles(request, trace, exporters_, out_, notes_).message(),
            "bad; worse");
  EXPECT_THAT(calls_, ElementsAre("bad trace", "worse trace", "good trace"));
}

TEST_F(ExportFilesTest, SumsAreForThoseThatTakeThem) {
  const ExportRequest request = {.exporters = {"worse", "good"}};
  EXPECT_TRUE(ExportFilesOfSums(request, analysis::WindowSums(), exporters_,
                                out_, notes_)
                  .ok());
  EXPECT_THAT(calls_, ElementsAre("good sums"));
}

TEST_F(ExportFilesTest, ThoseThatObeyTheLimitShareIt) {
  class Bounded : public TraceExporter {
   public:
    Bounded(std::string name, bool obeys, bool splits,
            std::vector<std::string>* calls)
        : calls_(*calls) {
      info_.name = std::move(name);
      info_.takes_max_bytes = obeys;
      info_.splits_by_step = splits;
    }
    const PluginInfo& info() const noexcept override { return info_; }
    absl::StatusOr<std::vector<std::string>> Export(
        const model::Trace&, const ExportOptions& options,
        OutputDirectory&) const override {
      calls_.push_back(info_.name + " " + std::to_string(options.max_bytes));
      options.notes->ledger.Add(model::Loss::kStacksFolded, 1);
      return std::vector<std::string>{};
    }

   private:
    std::vector<std::string>& calls_;
    PluginInfo info_;
  };
  const auto add = [&](const std::string& name, bool obeys, bool splits) {
    EXPECT_TRUE(
        exporters_
            .Register(std::make_unique<Bounded>(name, obeys, splits, &calls_))
            .ok());
  };
  add("timeline", /*obeys=*/true, /*splits=*/true);
  add("stacks", /*obeys=*/true, /*splits=*/false);
  add("other", /*obeys=*/false, /*splits=*/false);
  const model::Trace trace = TestTrace().Build();
  ExportRequest request = {.exporters = {"timeline", "stacks", "other"},
                           .max_bytes = 100};
  EXPECT_TRUE(ExportFiles(request, trace, exporters_, out_, notes_).ok());
  EXPECT_THAT(calls_, ElementsAre("timeline 50", "stacks 50", "other 0"));
  EXPECT_EQ(notes_.ledger.Get(model::Loss::kStacksFolded), 3u);
  // A timeline that is split loses nothing.
  calls_.clear();
  request.exporters = {"timeline", "stacks"};
  request.max_file_bytes = 10;
  EXPECT_TRUE(ExportFiles(request, trace, exporters_, out_, notes_).ok());
  EXPECT_THAT(calls_, ElementsAre("timeline 0", "timeline 0", "stacks 50"));
}

TEST_F(ExportFilesTest, RangesThatTwoFilesFoldCountOnce) {
  class Folds : public TraceExporter {
   public:
    Folds(std::string name, uint64_t ranges) : ranges_(ranges) {
      info_.name = std::move(name);
      info_.takes_max_bytes = true;
    }
    const PluginInfo& info() const noexcept override { return info_; }
    absl::StatusOr<std::vector<std::string>> Export(
        const model::Trace&, const ExportOptions& options,
        OutputDirectory&) const override {
      options.notes->ledger.Add(model::Loss::kEventsFolded, ranges_);
      options.notes->ledger.Add(model::Loss::kStacksFolded, 1);
      options.notes->notices.push_back(info_.name);
      return std::vector<std::string>{};
    }

   private:
    const uint64_t ranges_;
    PluginInfo info_;
  };
  for (const auto& [name, ranges] : {std::pair("few", 5), {"many", 9}}) {
    ASSERT_TRUE(
        exporters_.Register(std::make_unique<Folds>(name, ranges)).ok());
  }
  int besides = 0;
  EXPECT_TRUE(
      ExportFiles({.exporters = {"many", "few"}, .beside = [&] { ++besides; }},
                  TestTrace().Build(), exporters_, out_, notes_)
          .ok());
  EXPECT_EQ(notes_.ledger.Get(model::Loss::kEventsFolded), 9u);
  EXPECT_EQ(notes_.ledger.Get(model::Loss::kStacksFolded), 2u);
  EXPECT_THAT(notes_.notices, ElementsAre("many", "few"));
  EXPECT_EQ(besides, 1);
}

TEST_F(ExportFilesTest, WhatHadNoRoomBesideOthersIsWrittenAfterThem) {
  class NoRoomAtFirst : public TraceExporter {
   public:
    NoRoomAtFirst() {
      info_.name = "late";
      info_.takes_max_bytes = true;
    }
    const PluginInfo& info() const noexcept override { return info_; }
    absl::StatusOr<std::vector<std::string>> Export(
        const model::Trace&, const ExportOptions& options,
        OutputDirectory&) const override {
      options.notes->notices.push_back(std::to_string(++runs_));
      if (runs_ == 1) return absl::ResourceExhaustedError("no room");
      return std::vector<std::string>{};
    }

   private:
    mutable int runs_ = 0;
    PluginInfo info_;
  };
  ASSERT_TRUE(exporters_.Register(std::make_unique<NoRoomAtFirst>()).ok());
  EXPECT_TRUE(ExportFiles({.exporters = {"late"}}, TestTrace().Build(),
                          exporters_, out_, notes_)
                  .ok());
  EXPECT_THAT(notes_.notices, ElementsAre("2"));
}

// Notes what it read of others. One of its runs may have no room.
class AnswerExporter : public TraceExporter {
 public:
  AnswerExporter(int without_room, std::vector<std::string>* calls)
      : without_room_(without_room), calls_(*calls) {
    info_.name = "answer";
  }
  const PluginInfo& info() const noexcept override { return info_; }
  absl::StatusOr<std::vector<std::string>> Export(
      const model::Trace&, const ExportOptions& options,
      OutputDirectory&) const override {
    const uint64_t folded =
        options.notes->ledger.Get(model::Loss::kStacksFolded);
    calls_.push_back("answer " + std::to_string(folded));
    options.notes->notices.push_back(calls_.back());
    if (++runs_ == without_room_) {
      return absl::ResourceExhaustedError("no room");
    }
    return std::vector<std::string>{};
  }

 private:
  mutable int runs_ = 0;
  const int without_room_;  // 0: none
  std::vector<std::string>& calls_;
  PluginInfo info_;
};

// A disk may have no room for all files.
TEST_F(ExportFilesTest, TheAnswerIsWrittenFirst) {
  ASSERT_TRUE(exporters_
                  .Register(std::make_unique<AnswerExporter>(
                      /*without_room=*/0, &calls_))
                  .ok());
  const model::Trace trace = TestTrace().Build();
  EXPECT_TRUE(ExportFiles({.exporters = {"good", "answer"}, .first = "answer"},
                          trace, exporters_, out_, notes_)
                  .ok());
  EXPECT_THAT(calls_, ElementsAre("answer 0", "good trace"));
  EXPECT_THAT(notes_.notices, ElementsAre("answer 0"));
}

class FoldsStacks : public TraceExporter {
 public:
  explicit FoldsStacks(bool obeys) {
    info_.name = obeys ? "bounded" : "folds";
    info_.takes_max_bytes = obeys;
  }
  const PluginInfo& info() const noexcept override { return info_; }
  absl::StatusOr<std::vector<std::string>> Export(
      const model::Trace&, const ExportOptions& options,
      OutputDirectory&) const override {
    options.notes->ledger.Add(model::Loss::kStacksFolded, 3);
    return std::vector<std::string>{};
  }

 private:
  PluginInfo info_;
};

TEST_F(ExportFilesTest, TheAnswerHasWhatOthersLeaveOut) {
  ASSERT_TRUE(exporters_
                  .Register(std::make_unique<AnswerExporter>(
                      /*without_room=*/0, &calls_))
                  .ok());
  const model::Trace trace = TestTrace().Build();
  for (const bool obeys : {true, false}) {
    ASSERT_TRUE(exporters_.Register(std::make_unique<FoldsStacks>(obeys)).ok());
    calls_.clear();
    notes_ = {};
    EXPECT_TRUE(
        ExportFiles({.exporters = {obeys ? "bounded" : "folds", "answer"},
                     .first = "answer"},
                    trace, exporters_, out_, notes_)
            .ok());
    EXPECT_THAT(calls_, ElementsAre("answer 0", "answer 3"));
    EXPECT_THAT(notes_.notices, ElementsAre("answer 3"));
  }
}

TEST_F(ExportFilesTest, AnAnswerThatIsThereSaysWhatItLacks) {
  ASSERT_TRUE(exporters_
                  .Register(std::make_unique<AnswerExporter>(
                      /*without_room=*/2, &calls_))
                  .ok());
  ASSERT_TRUE(
      exporters_.Register(std::make_unique<FoldsStacks>(/*obeys=*/true)).ok());
  EXPECT_EQ(ExportFiles({.exporters = {"bounded", "answer"}, .first = "answer"},
                        TestTrace().Build(), exporters_, out_, notes_),
            absl::ResourceExhaustedError(
                "the file of --export=answer is there, but lacks what other "
                "files left out: no room"));
}

TEST_F(ExportFilesTest, AnAnswerWithoutRoomIsWrittenAgainAtTheEnd) {
  ASSERT_TRUE(exporters_
                  .Register(std::make_unique<AnswerExporter>(
                      /*without_room=*/1, &calls_))
                  .ok());
  EXPECT_TRUE(ExportFiles({.exporters = {"good", "answer"}, .first = "answer"},
                          TestTrace().Build(), exporters_, out_, notes_)
                  .ok());
  EXPECT_THAT(calls_, ElementsAre("answer 0", "good trace", "answer 0"));
  EXPECT_THAT(notes_.notices, ElementsAre("answer 0"));
}

TEST_F(ExportFilesTest, FilesThatCannotBeSplitAreSaid) {
  class LargeFile : public TraceExporter {
   public:
    LargeFile() { info_.name = "large"; }
    const PluginInfo& info() const noexcept override { return info_; }
    absl::StatusOr<std::vector<std::string>> Export(
        const model::Trace&, const ExportOptions&,
        OutputDirectory& out) const override {
      const auto sink = out.Open("large.txt");
      EXPECT_TRUE(sink.ok()) << sink.status();
      EXPECT_TRUE((*sink)->Append("123").ok());
      EXPECT_TRUE((*sink)->Commit().ok());
      return std::vector<std::string>{"large.txt"};
    }

   private:
    PluginInfo info_;
  };
  ASSERT_TRUE(exporters_.Register(std::make_unique<LargeFile>()).ok());
  OutputDirectory out(::testing::TempDir() + "/large");
  EXPECT_TRUE(ExportFiles({.exporters = {"large"}, .max_file_bytes = 2},
                          TestTrace().Build(), exporters_, out, notes_)
                  .ok());
  ASSERT_EQ(notes_.notices.size(), 1);
  EXPECT_NE(notes_.notices[0].find("'large.txt' has 3 bytes"),
            std::string::npos);
}

}  // namespace
}  // namespace kymo::tools
