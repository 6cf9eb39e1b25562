#include "importers/load/load.h"

#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "importers/load/id_space.h"
#include "profiler/model/recorded_by.h"
#include "tests/support/test_importer.h"

namespace kymo {
namespace {

class LoadTest : public ::testing::Test {
 protected:
  LoadTest() {
    EXPECT_TRUE(importers_.Register(std::make_unique<FakeImporter>()).ok());
  }
  ImporterRegistry importers_;
};

TEST_F(LoadTest, ProcessesOfTwoFilesStayApart) {
  const std::string one = WriteFake("one", "range a 7 1 100 200\n");
  const std::string two =
      WriteFake("two", "range b 7 1 150 250\nrange c 9 2 150 160\n");
  const auto loaded = Load({one, two}, {}, importers_);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  const model::Trace& trace = loaded->trace;
  ASSERT_EQ(trace.processes().size(), 3);
  EXPECT_EQ(trace.processes()[0].pid, 7);
  EXPECT_EQ(trace.Name(trace.processes()[0].name), "one");
  EXPECT_EQ(trace.processes()[1].pid, 9);
  EXPECT_EQ(trace.processes()[2].pid, 10);
  EXPECT_EQ(trace.Name(trace.processes()[2].name), "two");
  EXPECT_TRUE(loaded->files[0].pids.empty());
  EXPECT_EQ(loaded->files[1].pids, (std::map<int64_t, int64_t>{{7, 10}}));
  // No range became a child of the other file's, and logical thread ids are
  // counted on.
  for (const model::EventIndex parent : trace.parent()) {
    EXPECT_EQ(parent, model::kNoEvent);
  }
  EXPECT_EQ(trace.tracks()[0].logical_id, 1);
  EXPECT_EQ(trace.tracks()[2].logical_id, 2);
  EXPECT_EQ(trace.start_ns(), 100);
  EXPECT_EQ(trace.end_ns(), 250);
}

TEST_F(LoadTest, OneFileKeepsItsIds) {
  const auto loaded =
      Load({WriteFake("one", "range a 7 1 100 200\n")}, {}, importers_);
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->files[0].importer, "fake");
  EXPECT_EQ(loaded->trace.processes()[0].pid, 7);
  EXPECT_EQ(loaded->trace.Name(loaded->trace.processes()[0].name), "");
}

TEST_F(LoadTest, ATraceIsPyTorchsIfAllFilesAre) {
  const std::string range = "range a 7 1 100 200\n";
  const std::string one = WriteFake("one", "pytorch\n" + range);
  const std::string two = WriteFake("two", "pytorch\n" + range);
  const std::string other = WriteFake("other", range);
  EXPECT_TRUE(model::IsOfPyTorch(Load({one}, {}, importers_)->trace));
  EXPECT_TRUE(model::IsOfPyTorch(Load({one, two}, {}, importers_)->trace));
  EXPECT_FALSE(model::IsOfPyTorch(Load({other}, {}, importers_)->trace));
  EXPECT_FALSE(model::IsOfPyTorch(Load({one, other}, {}, importers_)->trace));
  EXPECT_FALSE(model::IsOfPyTorch(Load({other, one}, {}, importers_)->trace));
}

uint64_t ForwardThread(const model::TraceShard& shard, size_t detail) {
  return shard.rare_details.Get(shard.details[detail]).forward_thread;
}

TEST(IdSpaceTest, EachFileHasIdsOfItsOwn) {
  const auto shard = [](std::vector<int64_t> pids, uint64_t logical_id) {
    std::vector<model::TraceShard> shards(1);
    for (const int64_t pid : pids) {
      shards[0].processes.push_back({.pid = pid, .parent_pid = 3});
    }
    // A track of a process that is not listed.
    shards[0].tracks = {{.pid = 7, .logical_id = logical_id}, {.pid = 7}};
    shards[0].details = {{}, {}, {}};
    for (const size_t backward : {0, 2}) {
      shards[0].rare_details.Set(shards[0].details[backward],
                                 {.forward_thread = 1});
    }
    return shards;
  };
  IdSpace ids;
  auto first = shard({3, 5}, 2);
  EXPECT_TRUE(ids.Separate(first).empty());
  EXPECT_EQ(first[0].tracks[0].logical_id, 2u);
  EXPECT_EQ(ForwardThread(first[0], 0), 1u);
  auto second = shard({3, 9}, 1);
  // 9 is the file's own, and remains.
  EXPECT_EQ(ids.Separate(second),
            (std::map<int64_t, int64_t>{{3, 10}, {7, 11}}));
  EXPECT_EQ(second[0].processes[0].pid, 10);
  EXPECT_EQ(second[0].processes[0].parent_pid, 10);
  EXPECT_EQ(second[0].processes[1].pid, 9);
  EXPECT_EQ(second[0].tracks[0].pid, 11);
  EXPECT_EQ(second[0].tracks[0].logical_id, 3u);
  EXPECT_EQ(second[0].tracks[1].logical_id, 0u);
  EXPECT_EQ(ForwardThread(second[0], 0), 3u);
  EXPECT_EQ(ForwardThread(second[0], 2), 3u);  // moved once, though shared
  EXPECT_EQ(ForwardThread(second[0], 1), 0u);
  auto third = shard({9, 11}, 1);
  EXPECT_EQ(ids.Separate(third),
            (std::map<int64_t, int64_t>{{7, 12}, {9, 13}, {11, 14}}));
  EXPECT_EQ(third[0].processes[0].parent_pid, 3);
  EXPECT_EQ(third[0].tracks[0].logical_id, 4u);
}

TEST(IdSpaceTest, BehindTheLargestPidThereAreOthers) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  IdSpace ids;
  std::vector<model::TraceShard> shards(1), again(1);
  shards[0].processes = {{.pid = 2}, {.pid = kMost - 1}, {.pid = kMost}};
  again[0].processes = shards[0].processes;
  EXPECT_TRUE(ids.Separate(shards).empty());
  EXPECT_EQ(ids.Separate(again),
            (std::map<int64_t, int64_t>{{2, 1}, {kMost - 1, 3}, {kMost, 4}}));
}

// Like the fake importer's, with a process's name and a window.
class WindowImporter : public FakeImporter {
 public:
  absl::StatusOr<ImportedTrace> Import(
      const std::string& path, const ImportOptions& options) const override {
    auto imported = FakeImporter::Import(path, options);
    model::TraceShard& shard = imported->shards[0];
    shard.processes[0].name = shard.strings.Intern("python3");
    if (path.ends_with("early")) {
      imported->start_ns = 50;
      imported->end_ns = 300;
    } else if (path.ends_with("late")) {
      imported->start_ns = 90;
      imported->end_ns = 400;
    } else if (path.ends_with("zero")) {
      imported->end_ns = 500;
    }
    return imported;
  }
};

TEST(LoadWindowTest, TheTraceHasTheWindowsOfAllFilesIfAllHaveOne) {
  ImporterRegistry importers;
  ASSERT_TRUE(importers.Register(std::make_unique<WindowImporter>()).ok());
  const std::string range = "range a 7 1 100 200\n";
  const std::string early = WriteFake("early", range);
  const std::string late = WriteFake("late", range);
  const std::string none = WriteFake("none", range);
  const auto window_of = [&](const std::vector<std::string>& paths) {
    const auto loaded = Load(paths, {}, importers);
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    return std::pair(loaded->trace.start_ns(), loaded->trace.end_ns());
  };
  EXPECT_EQ(window_of({late}), std::pair(TimeNs{90}, TimeNs{400}));
  EXPECT_EQ(window_of({early, late}), std::pair(TimeNs{50}, TimeNs{400}));
  EXPECT_EQ(window_of({late, early}), std::pair(TimeNs{50}, TimeNs{400}));
  EXPECT_EQ(window_of({early, none}), std::pair(TimeNs{100}, TimeNs{200}));
  EXPECT_EQ(window_of({none, late}), std::pair(TimeNs{100}, TimeNs{200}));
  EXPECT_EQ(window_of({late, WriteFake("zero", range)}).second, 500);
  const auto both = Load({early, late}, {}, importers);
  const model::Trace& trace = both->trace;
  EXPECT_EQ(trace.Name(trace.processes()[0].name), "python3 (early)");
  EXPECT_EQ(trace.Name(trace.processes()[1].name), "python3 (late)");
}

TEST_F(LoadTest, RunsAfterEachOtherAreToldApart) {
  const auto separate = [&](const std::vector<std::string>& lines) {
    std::vector<std::string> paths;
    for (const std::string& line : lines) {
      paths.push_back(WriteFake("file" + std::to_string(paths.size()), line));
    }
    return Load(paths, {}, importers_)->separate;
  };
  const auto at = [](int start, int end) {
    return absl::StrCat("window ", start, " ", end, "\nrange a 7 1 ", start,
                        " ", start + 10, "\n");
  };
  const std::string first = at(100, 200);
  const std::string later = at(201, 300);
  EXPECT_EQ(separate({first}), std::nullopt);
  EXPECT_EQ(separate({first, at(200, 300)}), std::nullopt);
  EXPECT_EQ(separate({first, later}), std::pair(size_t{0}, size_t{1}));
  EXPECT_EQ(separate({later, at(150, 250), first}),
            std::pair(size_t{0}, size_t{2}));
  EXPECT_EQ(separate({first, "range a 7 1 300 400\n"}), std::nullopt);
  // Clocks of machines may differ by more than the whole recording.
  EXPECT_EQ(separate({"rank 0\n" + first, "rank 1\n" + later}), std::nullopt);
  EXPECT_EQ(separate({"rank 1\n" + first, "rank 1\n" + later}),
            std::pair(size_t{0}, size_t{1}));
}

TEST_F(LoadTest, LargeFilesAreOpenedByTheirImporter) {
  const auto open = [&](const std::string& lines, const LoadOptions& options) {
    return OpenLarge(WriteFake("large", lines), options, importers_);
  };
  const std::string large = "large 10 20 15\nrange a 7 1 100 200\n";
  EXPECT_EQ(open(large, {})->value().trace_bytes, 20u);
  EXPECT_EQ(open(large, {.importer = "fake"})->value().memory_limit, 15u);
  EXPECT_FALSE(open("range a 7 1 100 200\n", {})->has_value());
  EXPECT_EQ(open(large, {.importer = "none"}).status().message(),
            "there is no importer 'none'; it is one of: fake");
}

TEST_F(LoadTest, ErrorsNameTheFile) {
  const std::string odd = ::testing::TempDir() + "/odd";
  std::ofstream(odd) << "odd";
  EXPECT_NE(Load({odd}, {}, importers_).status().message().find(odd),
            absl::string_view::npos);
  const auto forced = Load({odd}, {.importer = "fake"}, importers_).status();
  EXPECT_EQ(forced.message(), odd + ": byte 0: not fake");
  EXPECT_FALSE(Load({odd}, {.importer = "none"}, importers_).ok());
}

}  // namespace
}  // namespace kymo
