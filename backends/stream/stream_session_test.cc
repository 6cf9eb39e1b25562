#include "backends/stream/stream_session.h"

#include <sys/types.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "kymo/record_function.h"
#include "profiler/model/trace_shard.h"
#include "profiler/plugin/shared_parts.h"
#include "profiler/plugin/target_setup.h"

namespace kymo::stream {
namespace {

const StreamRequest kRanges = {.ranges = true};
const StreamRequest kNvtx = {.flags = record::kGateNvtx,
                             .libraries = {{.variable = "NVTX_TOOL"}}};

class StreamSessionTest : public testing::Test {
 protected:
  StreamSessionTest() { options_.shared = std::make_shared<SharedParts>(); }

  std::unique_ptr<ActivitySession> New(const StreamRequest& request) const {
    auto session = NewStreamSession(options_, request);
    EXPECT_TRUE(session.ok()) << session.status();
    return *std::move(session);
  }

  static absl::Status Start(ActivitySession& session) {
    absl::Status status = session.Prepare(nullptr);
    return status.ok() ? session.Start(getpid()) : status;
  }

  // Stops the session; the number of its ranges.
  static size_t Collect(ActivitySession& session) {
    EXPECT_TRUE(session.Stop().ok());
    model::TraceShard shard;
    EXPECT_TRUE(session.Collect(shard).ok());
    return shard.block.size();
  }

  static void Record() { KYMO_RECORD_FUNCTION("work"); }

  SessionOptions options_;
};

TEST_F(StreamSessionTest, TheFirstThatCollectsGetsTheRecordsOfAll) {
  const auto nvtx = New(kNvtx);
  const auto cpu = New(kRanges);
  ASSERT_TRUE(Start(*nvtx).ok());
  ASSERT_TRUE(Start(*cpu).ok());
  Record();
  EXPECT_EQ(Collect(*nvtx), 1u);
  EXPECT_EQ(Collect(*cpu), 0u);
}

TEST_F(StreamSessionTest, WithoutARequestForRangesThereAreNone) {
  const auto nvtx = New(kNvtx);
  ASSERT_TRUE(Start(*nvtx).ok());
  Record();
  EXPECT_EQ(Collect(*nvtx), 0u);
}

TEST_F(StreamSessionTest, AFailureIsTheFailureOfEach) {
  SessionOptions others;
  const auto other = *NewStreamSession(others, kRanges);
  ASSERT_TRUE(Start(*other).ok());
  const auto cpu = New(kRanges);
  const auto nvtx = New(kNvtx);
  const absl::Status status = Start(*cpu);
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_EQ(Start(*nvtx), status);
}

TEST_F(StreamSessionTest, TheSessionWithTheRangesSwitchesForAll) {
  const auto cpu = New(kRanges);
  const auto nvtx = New(kNvtx);
  ASSERT_TRUE(Start(*cpu).ok());
  ASSERT_TRUE(Start(*nvtx).ok());
  EXPECT_TRUE(absl::IsUnimplemented(nvtx->SetCollecting(false)));
  EXPECT_TRUE(cpu->SetCollecting(false).ok());
  Record();
  EXPECT_TRUE(cpu->SetCollecting(true).ok());
  Record();
  EXPECT_EQ(Collect(*cpu), 1u);
}

TEST_F(StreamSessionTest, ASessionThatEndsEarlyLeavesNothingOn) {
  {
    const auto cpu = New(kRanges);
    const auto nvtx = New(kNvtx);
    ASSERT_TRUE(Start(*cpu).ok());
    ASSERT_TRUE(Start(*nvtx).ok());
  }
  const auto next = New(kRanges);
  ASSERT_TRUE(Start(*next).ok());
  Record();
  EXPECT_EQ(Collect(*next), 1u);
}

TEST_F(StreamSessionTest, AChildGetsTheLibrariesOfAll) {
  options_.target = TargetKind::kChildProcess;
  options_.target_path = "/bin/true";
  options_.scratch_dir = testing::TempDir();
  const auto cpu = New(kRanges);
  const auto memory = New({.flags = record::kGateMemory, .watches_heap = true});
  const auto nvtx = New(kNvtx);
  TargetSetup setup;
  ASSERT_TRUE(cpu->Prepare(&setup).ok());
  ASSERT_TRUE(memory->Prepare(&setup).ok());
  ASSERT_TRUE(nvtx->Prepare(&setup).ok());
  EXPECT_TRUE(setup.watches_heap);
  ASSERT_EQ(setup.libraries.size(), 1u);
  EXPECT_EQ(setup.libraries[0].variable, "NVTX_TOOL");
}

TEST_F(StreamSessionTest, AVariableThatIsTakenIsRefused) {
  options_.target = TargetKind::kChildProcess;
  const auto nvtx = New(kNvtx);
  TargetSetup setup;
  setup.environment["NVTX_TOOL"] = "libcupti.so";
  EXPECT_EQ(nvtx->Prepare(&setup).message(),
            "another activity has set NVTX_TOOL, as cuda_markers=1 does: leave "
            "one of the two out");
}

}  // namespace
}  // namespace kymo::stream
