#include "backends/stream/door_sessions.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/stream/door_target.h"
#include "profiler/base/status_macros.h"
#include "profiler/door/knock.h"
#include "profiler/door/test_program.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/trace_shard.h"
#include "profiler/plugin/activity_backend.h"

namespace kymo::stream {
namespace {

using door::TestProgram;
using door::WorkForEver;

std::vector<std::shared_ptr<door::OpenDoor>> Doors(
    const std::vector<const TestProgram*>& programs) {
  std::vector<std::shared_ptr<door::OpenDoor>> doors;
  for (const TestProgram* const program : programs) {
    const auto found = door::Knock(program->pid());
    EXPECT_TRUE(found.ok()) << found.status();
    doors.push_back(found->front());
  }
  return doors;
}

std::unique_ptr<ActivitySession> NewSession(
    const std::vector<const TestProgram*>& programs) {
  return NewDoorSession(
      {.arena_bytes = uint64_t{64} << 20, .scratch_dir = testing::TempDir()},
      Doors(programs));
}

// How many whole ranges "work" each process has.
std::map<int64_t, int> CountWork(const model::TraceShard& shard) {
  std::map<int64_t, int> counts;
  const auto count = [&](model::TrackIndex track,
                         const model::EventColumns& events, size_t begin,
                         size_t end) {
    for (size_t row = begin; row < end; ++row) {
      EXPECT_EQ(shard.strings.Get(events.name[row]), "work");
      counts[shard.tracks[track].pid] += events.end_ns[row] != 0;
    }
  };
  for (const model::TrackEvents& events : shard.events) {
    count(events.track, events, 0, events.size());
  }
  size_t begin = 0;
  for (const model::EventBlock::Part& part : shard.block.parts) {
    count(part.track, shard.block, begin, part.end);
    begin = part.end;
  }
  return counts;
}

uint64_t Losses(const model::TraceShard& shard) {
  uint64_t losses = 0;
  for (size_t i = 0; i < static_cast<size_t>(model::Loss::kCount); ++i) {
    losses += shard.ledger.Get(static_cast<model::Loss>(i));
  }
  return losses;
}

// The records of the time between Start and Stop, each time, although the
// program goes on in its memory of before.
TEST(DoorSessionsTest, EachRecordingHasItsOwnTime) {
  const TestProgram program(WorkForEver);
  program.WaitForDoor();
  for (int round = 0; round < 3; ++round) {
    const auto session = NewSession({&program});
    ASSERT_TRUE(session->Prepare(nullptr).ok());
    const int before = program.shared().rounds;
    ASSERT_TRUE(session->Start(program.pid()).ok());
    const int begun = program.shared().rounds;
    for (int i = 0; i < 10; ++i) {
      program.WaitForRounds(1000);
      session->Poll();
    }
    const int ending = program.shared().rounds;
    ASSERT_TRUE(session->Stop().ok());
    const int ended = program.shared().rounds;
    model::TraceShard shard;
    ASSERT_TRUE(session->Collect(shard).ok());
    const std::map<int64_t, int> work = CountWork(shard);
    ASSERT_EQ(work.size(), 1U);
    EXPECT_GE(work.at(program.pid()), ending - begun - 1);
    EXPECT_LE(work.at(program.pid()), ended - before + 2);
    EXPECT_EQ(Losses(shard), 0U);
    EXPECT_TRUE(session->Remarks().empty());
  }
}

TEST(DoorSessionsTest, SeveralProgramsAreOneShard) {
  const TestProgram first(WorkForEver);
  const TestProgram second(WorkForEver);
  TestProgram gone(WorkForEver);
  first.WaitForDoor();
  second.WaitForDoor();
  gone.WaitForDoor();
  const auto session = NewSession({&first, &gone, &second});
  ASSERT_TRUE(session->Prepare(nullptr).ok());
  gone.End();
  ASSERT_TRUE(session->Start(first.pid()).ok());
  first.WaitForRounds(3000);
  second.WaitForRounds(3000);
  session->Poll();
  ASSERT_TRUE(session->Stop().ok());
  model::TraceShard shard;
  ASSERT_TRUE(session->Collect(shard).ok());
  const std::map<int64_t, int> work = CountWork(shard);
  ASSERT_EQ(work.size(), 2U);
  EXPECT_GE(work.at(first.pid()), 2998);
  EXPECT_GE(work.at(second.pid()), 2998);
  EXPECT_EQ(session->Remarks().size(), 1U);
}

class FakeSession : public ActivitySession {
 public:
  explicit FakeSession(absl::Status collects) : collects_(collects) {}
  absl::Status Prepare(TargetSetup*) override { return absl::OkStatus(); }
  absl::Status Start(pid_t) override { return absl::OkStatus(); }
  absl::Status Stop() override { return absl::OkStatus(); }
  absl::StatusOr<Collected> Collect(model::TraceShard& shard) override {
    KYMO_RETURN_IF_ERROR(collects_);
    shard.processes.push_back({.pid = 7});
    shard.memory.push_back({});
    return Collected{};
  }

 private:
  const absl::Status collects_;
};

std::vector<NamedSession> Sessions(const std::vector<absl::Status>& statuses) {
  std::vector<NamedSession> sessions;
  for (const absl::Status& status : statuses) {
    sessions.push_back({absl::StrCat("program ", sessions.size()),
                        std::make_unique<FakeSession>(status)});
  }
  return sessions;
}

TEST(DoorSessionsTest, OneWithoutRecordsLeavesThoseOfTheOthers) {
  const absl::Status no_memory = absl::ResourceExhaustedError("no memory");
  const auto session =
      JoinSessions(Sessions({absl::OkStatus(), no_memory, absl::OkStatus()}));
  model::TraceShard shard;
  const auto collected = session->Collect(shard);
  ASSERT_TRUE(collected.ok()) << collected.status();
  EXPECT_EQ(shard.processes.size(), 2U);
  EXPECT_EQ(shard.memory.size(), 2U);
  EXPECT_EQ(shard.ledger.Get(model::Loss::kProcessesNotRecorded), 1U);
  EXPECT_EQ(session->Remarks(),
            std::vector<std::string>{"program 1: no memory"});
}

TEST(DoorSessionsTest, NobodysRecordsAreAnError) {
  const absl::Status no_memory = absl::ResourceExhaustedError("no memory");
  model::TraceShard shard;
  EXPECT_TRUE(absl::IsResourceExhausted(
      JoinSessions(Sessions({no_memory, no_memory}))->Collect(shard).status()));
}

// In a container a program sees other numbers than this process.
TEST(DoorTargetTest, NumbersBecomeThoseFromOutside) {
  model::TraceShard shard;
  shard.processes = {{.pid = 1, .parent_pid = 3}};
  shard.tracks = {{.pid = 1, .id = 1}};
  const ShardSize before = ShardSize::Of(shard);
  shard.processes.push_back({.pid = 1, .parent_pid = 7});
  shard.tracks.push_back({.pid = 1, .id = 1});
  shard.tracks.push_back({.pid = 1, .id = 7});
  Renumber(before, {{1, 501}, {7, 507}}, shard);
  EXPECT_EQ(shard.processes[0].pid, 1);
  EXPECT_EQ(shard.tracks[0].id, 1);
  EXPECT_EQ(shard.processes[1].pid, 501);
  // Its parent may be any process.
  EXPECT_EQ(shard.processes[0].parent_pid, 3);
  EXPECT_EQ(shard.processes[1].parent_pid, 0);
  EXPECT_EQ(shard.tracks[1].pid, 501);
  EXPECT_EQ(shard.tracks[1].id, 501);
  EXPECT_EQ(shard.tracks[2].id, 507);
}

TEST(DoorTargetTest, NumbersStayWithoutAContainer) {
  model::TraceShard shard;
  shard.processes = {{.pid = 1, .parent_pid = 7}};
  Renumber({}, {}, shard);
  EXPECT_EQ(shard.processes[0].pid, 1);
  EXPECT_EQ(shard.processes[0].parent_pid, 7);
}

}  // namespace
}  // namespace kymo::stream
