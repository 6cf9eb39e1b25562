#include "importers/load/load.h"

#include <memory>

#include <gtest/gtest.h>

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
