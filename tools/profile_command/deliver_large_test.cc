#include "tools/profile_command/deliver_large.h"

#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/analysis/averages/window_sums.h"
#include "tests/support/test_golden.h"
#include "tests/support/test_importer.h"
#include "tests/support/test_trace.h"

namespace kymo::tools {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr uint64_t kMib = uint64_t{1} << 20;

KeptRecording Unreadable(const std::string& path) {
  return {.path = path,
          .open = [](uint64_t) { return absl::DataLossError("it is broken"); }};
}

// Two ranges: 100 ns with 30 ns inside.
KeptRecording Readable(const std::string& path) {
  const std::string file = WriteFake("kept",
                                     "large 1 1 1\n"
                                     "range outer 7 1 100 200\n"
                                     "range inner 7 1 150 180\n");
  return {
      .path = path,
      .open =
          [file](uint64_t) -> absl::StatusOr<std::unique_ptr<TraceWindows>> {
        auto large = FakeImporter().OpenLarge(file, {});
        return std::move((*large)->windows);
      },
      .window_bytes = kMib,
      .read_flag = "--raw_windows=always"};
}

// Writes the number of groups. The one called folding tells of a loss.
class FakeExporter : public TraceExporter {
 public:
  FakeExporter(const std::string& name, bool exports_sums) {
    info_.name = name;
    info_.exports_sums = exports_sums;
  }
  const PluginInfo& info() const noexcept override { return info_; }
  absl::StatusOr<std::vector<std::string>> Export(
      const model::Trace&, const ExportOptions&,
      OutputDirectory&) const override {
    return absl::InternalError("there is no whole trace");
  }
  absl::StatusOr<std::vector<std::string>> ExportSums(
      const analysis::WindowSums& sums, const ExportOptions& options,
      OutputDirectory& out) const override {
    if (info_.name == "folding") {
      options.notes->ledger.Add(model::Loss::kStacksFolded, 5);
      options.notes->notices.push_back("some are folded");
    }
    auto sink = out.Open(info_.name);
    EXPECT_TRUE((*sink)->Append(std::to_string(sums.Averages().size())).ok());
    EXPECT_TRUE((*sink)->Commit().ok());
    return std::vector<std::string>{info_.name};
  }

 private:
  PluginInfo info_;
};

class DeliverLargeTest : public testing::Test {
 protected:
  DeliverLargeTest() {
    Register("folding", true);
    Register("summary", true);
    Register("whole", false);
  }
  void Register(const std::string& name, bool exports_sums) {
    EXPECT_TRUE(
        exporters_.Register(std::make_unique<FakeExporter>(name, exports_sums))
            .ok());
  }
  LargeDelivery Deliver(const std::vector<KeptRecording>& kept,
                        const model::Trace* rest = nullptr) {
    return DeliverLarge(kept, rest, command_, exporters_, out_);
  }

  ProfileCommand command_;
  ExporterRegistry exporters_;
  MemoryDirectory out_;
};

TEST_F(DeliverLargeTest, EachRecordingIsSaidAlsoIfNoneCanBeRead) {
  const std::vector<KeptRecording> kept = {Unreadable("out/kymo.raw"),
                                           Unreadable("out/device.raw")};
  const LargeDelivery delivery = Deliver(kept);
  EXPECT_EQ(delivery.status.message(), "it is broken");
  for (const KeptRecording& recording : kept) {
    EXPECT_THAT(
        delivery.notices,
        Contains("everything that was recorded is in " + recording.path +
                 ": `kymo report` reads it part by part; for the "
                 "whole trace, try a machine with more memory"));
  }
  EXPECT_THAT(delivery.notices,
              Contains("the table is that of out/kymo.raw alone; "
                       "`kymo report` makes the others"));
  EXPECT_EQ(delivery.table, "");
  EXPECT_THAT(out_.files(), IsEmpty());
}

TEST_F(DeliverLargeTest, TheTableAndTheFilesOfSumsAreWritten) {
  command_.exporters = {"whole", "folding"};
  const LargeDelivery delivery = Deliver({Readable("out/kymo.raw")});
  EXPECT_TRUE(delivery.status.ok()) << delivery.status;
  EXPECT_THAT(
      delivery.notices,
      ElementsAre("not written, because it needs the whole trace: whole",
                  "everything that was recorded is in out/kymo.raw: "
                  "`kymo report` reads it part by part with "
                  "--raw_windows=always; for the whole trace, try a machine "
                  "with more memory",
                  "read in 1 windows: 2 events", "a fake", "some are folded"));
  EXPECT_THAT(delivery.table, HasSubstr("Self CPU time total: 0.100us\n"));
  EXPECT_THAT(delivery.table,
              ::testing::ContainsRegex("\nNote: 5 stacks_folded \\(.*\\)\n$"));
  EXPECT_EQ(out_.files()["key_averages.txt"], delivery.table);
  EXPECT_EQ(out_.files()["summary"], "2");
  EXPECT_EQ(out_.files()["folding"], "2");
  EXPECT_EQ(out_.files().size(), 3u);
}

TEST_F(DeliverLargeTest, TheCommandSortsAndLimitsTheTable) {
  LargeDelivery delivery = Deliver({Readable("k")});
  EXPECT_LT(delivery.table.find("outer"), delivery.table.find("inner"));
  command_.sort_by = "cpu_time_total";
  command_.row_limit = 1;
  delivery = Deliver({Readable("k")});
  EXPECT_THAT(delivery.table, HasSubstr("outer"));
  EXPECT_THAT(delivery.table, Not(HasSubstr("inner")));
  command_.sort_by = "beauty";
  delivery = Deliver({Readable("k")});
  EXPECT_EQ(delivery.status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(delivery.table, "");
  EXPECT_EQ(out_.files()["summary"], "2");
}

TEST_F(DeliverLargeTest, GroupsAreByName) {
  const std::string by_name =
      "the rows are by name, because other groups need the whole trace";
  EXPECT_THAT(Deliver({Readable("k")}).notices, Not(Contains(by_name)));
  command_.group_by_input_shape = true;
  EXPECT_THAT(Deliver({Readable("k")}).notices, Contains(by_name));
  command_.group_by_input_shape = false;
  command_.group_by_stack_n = 1;
  EXPECT_THAT(Deliver({Readable("k")}).notices, Contains(by_name));
}

TEST_F(DeliverLargeTest, SamplesAndLossesOfTheRestAreInTheTable) {
  TestTrace t;
  const auto main = t.AddThread(7, 1, "app");
  t.AddSample(main, 100, 5'000, {"main"});
  t.data().ledger.Add(model::Loss::kSamplesLost, 3);
  t.SetWindow(0, 1'000);
  const model::Trace rest = std::move(t).Build();
  LargeDelivery delivery = Deliver({Readable("k")}, &rest);
  EXPECT_TRUE(delivery.status.ok()) << delivery.status;
  EXPECT_THAT(delivery.table,
              HasSubstr("Self CPU time total: 0.100us\n\n--------"));
  EXPECT_THAT(delivery.table,
              HasSubstr("Number of samples: 1\nLost: 3 samples_lost ("));
  EXPECT_EQ(delivery.ledger.Get(model::Loss::kSamplesLost), 3u);
  // Also if the recording cannot be read.
  delivery = Deliver({Unreadable("k")}, &rest);
  EXPECT_EQ(delivery.status.message(), "it is broken");
  EXPECT_THAT(delivery.table, StartsWith("--------"));
  EXPECT_THAT(delivery.table, HasSubstr("Sampled CPU time total: 5.000us\n"));
  EXPECT_EQ(out_.files()["key_averages.txt"], delivery.table);
}

TEST_F(DeliverLargeTest, WindowsShrinkWhileMemoryIsShort) {
  std::vector<uint64_t> sizes;
  KeptRecording kept = Readable("k");
  kept.window_bytes = 16 * kMib;
  const auto open = kept.open;
  kept.open = [&](uint64_t window_bytes)
      -> absl::StatusOr<std::unique_ptr<TraceWindows>> {
    sizes.push_back(window_bytes);
    if (window_bytes > 4 * kMib) throw std::bad_alloc();
    return open(window_bytes);
  };
  EXPECT_TRUE(Deliver({kept}).status.ok());
  EXPECT_THAT(sizes, ElementsAre(16 * kMib, 4 * kMib));
  sizes.clear();
  kept.open = [&](uint64_t window_bytes)
      -> absl::StatusOr<std::unique_ptr<TraceWindows>> {
    sizes.push_back(window_bytes);
    throw std::bad_alloc();
  };
  EXPECT_EQ(Deliver({kept}).status,
            absl::ResourceExhaustedError("could not read the recording part by "
                                         "part: not enough memory"));
  EXPECT_THAT(sizes, ElementsAre(16 * kMib, 4 * kMib, kMib, kMib / 4));
}

}  // namespace
}  // namespace kymo::tools
