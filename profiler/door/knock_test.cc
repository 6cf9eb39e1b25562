#include "profiler/door/knock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "profiler/base/owned_descriptor.h"
#include "profiler/door/doors.h"
#include "profiler/door/test_program.h"
#include "profiler/record/arena/arena.h"
#include "profiler/record/arena/chunk_reader.h"
#include "profiler/record/captured.h"
#include "profiler/record/foreign_names.h"
#include "profiler/record/host/door_protocol.h"
#include "profiler/record/host/host.h"

namespace kymo::door {
namespace {

using record::Arena;
using record::ChunkReader;
using record::ChunkView;
using record::Slot;
using ::testing::HasSubstr;

constexpr uint64_t kChunkBytesWanted = uint64_t{64} << 20;

// How often the memory has each name, less what was read before.
std::map<std::string, int> Read(const Arena& arena) {
  std::map<std::string, int> counts;
  ChunkReader(arena).ReadAll([&](const ChunkView& view) {
    ForEachRecord(view, [&](const Slot& head, std::span<const Slot>, uint32_t) {
      if (record::UnpackKind(head.kind_scope_depth) ==
          record::SlotKind::kRange) {
        ++counts[std::string(arena.NameText(head.name))];
      }
    });
  });
  return counts;
}

std::shared_ptr<OpenDoor> Claim(const TestProgram& program) {
  const auto doors = Knock(program.pid());
  EXPECT_TRUE(doors.ok()) << doors.status();
  if (!doors.ok()) return nullptr;
  EXPECT_EQ(doors->size(), 1U);
  return doors->front();
}

std::string ErrorOf(const TestProgram& program) {
  return std::string(Knock(program.pid()).status().message());
}

absl::Status Begin(OpenDoor& door) {
  return door.Begin({.chunk_bytes = kChunkBytesWanted});
}

TEST(KnockTest, RecordsWhileItIsAskedTo) {
  const TestProgram program(WorkForEver);
  program.WaitForDoor();
  program.WaitForRounds(100);
  EXPECT_FALSE(program.shared().is_recording);
  for (int round = 0; round < 3; ++round) {
    const std::shared_ptr<OpenDoor> door = Claim(program);
    ASSERT_NE(door, nullptr);
    Arena arena = Arena::Attach(door->arena());
    ASSERT_TRUE(arena.valid());
    const int before = program.shared().rounds;
    ASSERT_TRUE(Begin(*door).ok());
    const int begun = program.shared().rounds;
    program.WaitForRounds(1000);
    const int ending = program.shared().rounds;
    ASSERT_TRUE(door->End().ok());
    const int ended = program.shared().rounds;
    const int found = Read(arena)["work"];
    // It may have been within the first one already.
    EXPECT_GE(found, ending - begun - 1);
    EXPECT_LE(found, ended - before + 2);
    program.WaitForRounds(100);
    EXPECT_FALSE(program.shared().is_recording);
    // At the end it may have been within one.
    EXPECT_LE(Read(arena)["work"], 1);
    arena.Unmap();
  }
}

// The next command finds all memory free, and the program as it was.
TEST(KnockTest, ACommandThatIsKilledLeavesNothing) {
  const TestProgram program(WorkForEver);
  program.WaitForDoor();
  const TestProgram command([&](Shared& shared) {
    const auto doors = Knock(program.pid());
    if (doors.ok() && Begin(*doors->front()).ok()) shared.error = 0;
    for (;;) pause();
  });
  command.WaitForDoor();
  program.WaitForRounds(20'000);  // ten chunks
  EXPECT_TRUE(program.shared().is_recording);
  EXPECT_THAT(ErrorOf(program), HasSubstr("already, by another command"));
  kill(command.pid(), SIGKILL);
  while (program.shared().is_recording) usleep(100);

  const std::shared_ptr<OpenDoor> door = Claim(program);
  ASSERT_NE(door, nullptr);
  Arena arena = Arena::Attach(door->arena());
  ASSERT_TRUE(arena.valid());
  int in_use = 0;
  for (uint32_t chunk = 0; chunk < arena.high_water(); ++chunk) {
    in_use += record::OwnerState(arena.word(chunk).owner) !=
              record::ChunkState::kFree;
  }
  EXPECT_EQ(in_use, 1);  // the one in which its thread writes
  EXPECT_GE(arena.high_water(), 10U);
  struct stat about;
  ASSERT_EQ(fstat(door->arena(), &about), 0);
  EXPECT_LT(about.st_blocks * 512, 4 << 20);
  const int before = program.shared().rounds;
  ASSERT_TRUE(Begin(*door).ok());
  program.WaitForRounds(100);
  ASSERT_TRUE(door->End().ok());
  // Without those that nobody read.
  const int found = Read(arena)["work"];
  EXPECT_GE(found, 98);
  EXPECT_LE(found, program.shared().rounds - before + 2);
  arena.Unmap();
}

TEST(KnockTest, AProgramThatRecordsItselfSaysSo) {
  const TestProgram program([](Shared& shared) {
    OpenTheDoor(shared);
    record::SessionId id = record::kNoSession;
    for (;;) {
      Work(shared);
      if (shared.wish == 1 && shared.done == 0) {
        shared.done = record::StartSession({}, &id) == 0 ? 1 : -1;
      }
      if (shared.wish == 2 && shared.done == 1) {
        record::StopSession(id);
        ChunkReader(*record::ProcessArena()).Release({id, getpid()}, false);
        record::ReleaseSession(id);
        shared.done = 2;
      }
    }
  });
  program.WaitForDoor();
  program.Wish(1);
  EXPECT_THAT(ErrorOf(program), HasSubstr("already, by itself"));
  program.Wish(2);
  const std::shared_ptr<OpenDoor> door = Claim(program);
  ASSERT_NE(door, nullptr);
  ASSERT_TRUE(Begin(*door).ok());
  program.WaitForRounds(10);
  EXPECT_TRUE(program.shared().is_recording);
}

TEST(KnockTest, MemoryOfItsOwnCannotBeHandedOver) {
  const TestProgram program([](Shared& shared) {
    record::SessionId id = record::kNoSession;
    record::StartSession({}, &id);
    record::StopSession(id);
    record::ReleaseSession(id);
    OpenTheDoor(shared);
    for (;;) pause();
  });
  while (program.shared().error < 0) usleep(100);
  EXPECT_EQ(program.shared().error, EBUSY);
}

// A forked child is in no recording of its parent. It may record itself, in
// memory of its own, and has a door from its first range on.
TEST(KnockTest, AForkedChildIsOnItsOwn) {
  const TestProgram program([](Shared& shared) {
    OpenTheDoor(shared);
    while (shared.wish == 0) Work(shared);
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      shared.done = getpid();
      while (shared.wish != 2) usleep(100);
      Range("of the child");
      record::SessionId id = record::kNoSession;
      const bool has_session = record::StartSession({}, &id) == 0;
      Range("of the child's session");
      record::StopSession(id);
      record::ReleaseSession(id);
      shared.done = has_session ? 2 : -1;
      for (;;) Range("of the child");
    }
    for (;;) Work(shared);
  });
  program.WaitForDoor();
  const std::shared_ptr<OpenDoor> door = Claim(program);
  ASSERT_NE(door, nullptr);
  Arena arena = Arena::Attach(door->arena());
  ASSERT_TRUE(Begin(*door).ok());
  program.shared().wish = 1;
  while (program.shared().done == 0) usleep(100);
  const pid_t child = program.shared().done;
  EXPECT_TRUE(absl::IsNotFound(Knock(child).status()));
  program.Wish(2);
  program.WaitForRounds(100);

  const auto of_child = Knock(child);
  ASSERT_TRUE(of_child.ok()) << of_child.status();
  ASSERT_TRUE(Begin(*of_child->front()).ok());
  Arena childs = Arena::Attach(of_child->front()->arena());
  std::map<std::string, int> found;
  while (found["of the child"] < 3000) found = Read(childs);
  EXPECT_EQ(found.size(), 1U);
  childs.Unmap();

  ASSERT_TRUE(door->End().ok());
  found = Read(arena);
  EXPECT_GT(found["work"], 50);
  EXPECT_EQ(found.size(), 1U);
  arena.Unmap();
}

// A range that begins as those of NVTX and of the C interface do, whose names
// have ids that the program keeps.
void CapturedRange(const char* name) {
  if (!record::IsRecording()) return;
  record::OpenRange range;
  record::BeginCaptured(range, {.name = record::NameOf(name)});
  record::EndRange(range);
}

// The child keeps what the parent knew about the parent's memory.
TEST(KnockTest, AForkedChildKeepsTheNamesOfItsParent) {
  const TestProgram program([](Shared& shared) {
    OpenTheDoor(shared);
    for (; shared.wish == 0; ++shared.rounds) {
      CapturedRange("of the parent");
      CapturedRange("of both");
    }
    const pid_t child = fork();
    if (child != 0) {
      shared.done = child;
      for (;;) pause();
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;; ++shared.rounds) {
      CapturedRange("of the child");
      CapturedRange("of both");
    }
  });
  program.WaitForDoor();
  const std::shared_ptr<OpenDoor> door = Claim(program);
  ASSERT_NE(door, nullptr);
  ASSERT_TRUE(Begin(*door).ok());
  Arena parents = Arena::Attach(door->arena());
  // The parent has given its names their ids.
  while (parents.header().next_ticket < 2) usleep(100);
  program.WaitForRounds(10);
  program.shared().wish = 1;
  while (program.shared().done == 0) usleep(100);
  program.WaitForRounds(10);

  const auto of_child = Knock(program.shared().done);
  ASSERT_TRUE(of_child.ok()) << of_child.status();
  Arena childs = Arena::Attach(of_child->front()->arena());
  // A range that was open in the fork is in none of the child's chunks.
  EXPECT_GE(childs.header().next_ticket, parents.header().next_ticket);
  ASSERT_TRUE(Begin(*of_child->front()).ok());
  std::map<std::string, int> found;
  for (int ranges = 0; ranges < 1000;) {
    for (const auto& [name, count] : Read(childs)) {
      found[name] += count;
      ranges += count;
    }
  }
  EXPECT_EQ(found.size(), 2U);
  EXPECT_GE(found["of the child"], 400);
  EXPECT_GE(found["of both"], 400);
  childs.Unmap();
  parents.Unmap();
}

TEST(KnockTest, AnotherVersionIsRefused) {
  const TestProgram program(WorkForEver);
  program.WaitForDoor();
  for (const bool is_layout : {false, true}) {
    const OwnedDescriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET, 0));
    const record::DoorAddress address = record::AddressOfDoor(program.pid(), 0);
    ASSERT_EQ(connect(socket.get(), address.pointer(), address.size), 0);
    record::DoorMessage message;
    ++(is_layout ? message.layout : message.protocol);
    ASSERT_GT(send(socket.get(), &message, sizeof(message), 0), 0);
    ASSERT_GT(recv(socket.get(), &message, sizeof(message), 0), 0);
    EXPECT_EQ(message.answer, record::DoorAnswer::kOtherVersion);
  }
  EXPECT_NE(Claim(program), nullptr);
}

// Answers each command that it carries another version.
void RefuseForEver(const OwnedDescriptor& door) {
  for (;;) {
    const OwnedDescriptor peer(accept(door.get(), nullptr, nullptr));
    record::DoorMessage message;
    recv(peer.get(), &message, sizeof(message), 0);
    message.answer = record::DoorAnswer::kOtherVersion;
    send(peer.get(), &message, sizeof(message), MSG_NOSIGNAL);
  }
}

// A program that has this version, and a library of it another one.
TEST(KnockTest, OneHostThatRefusesLeavesTheOther) {
  for (const int refusing : {0, 1}) {
    const TestProgram program([=](Shared& shared) {
      const OwnedDescriptor door(::socket(AF_UNIX, SOCK_SEQPACKET, 0));
      const auto address = record::AddressOfDoor(getpid(), refusing);
      bind(door.get(), address.pointer(), address.size);
      listen(door.get(), 1);
      OpenTheDoor(shared);
      RefuseForEver(door);
    });
    program.WaitForDoor();
    std::vector<std::string> refusals;
    const auto doors = Knock(program.pid(), &refusals);
    ASSERT_TRUE(doors.ok()) << doors.status();
    ASSERT_EQ(doors->size(), 1U);
    EXPECT_TRUE(Begin(*doors->front()).ok());
    EXPECT_THAT(refusals, testing::ElementsAre(testing::ContainsRegex(
                              "^a part of .* carries another version")));
  }
}

// Its name alone makes nobody the door of a process.
TEST(KnockTest, AStrangerIsNotTheProgram) {
  const TestProgram victim([](Shared&) {
    for (;;) pause();
  });
  EXPECT_TRUE(absl::IsNotFound(Knock(victim.pid()).status()));
  const OwnedDescriptor stranger(::socket(AF_UNIX, SOCK_SEQPACKET, 0));
  const record::DoorAddress address = record::AddressOfDoor(victim.pid(), 0);
  ASSERT_EQ(bind(stranger.get(), address.pointer(), address.size), 0);
  ASSERT_EQ(listen(stranger.get(), 1), 0);
  EXPECT_TRUE(absl::IsNotFound(Knock(victim.pid()).status()));
}

TEST(KnockTest, OtherUsersAreRefused) {
  const TestProgram program(WorkForEver);
  program.WaitForDoor();
  const TestProgram command([&](Shared& shared) {
    shared.done = static_cast<int>(setuid(65534) != 0
                                       ? absl::StatusCode::kUnknown
                                       : Knock(program.pid()).status().code());
    shared.error = 0;
    for (;;) pause();
  });
  command.WaitForDoor();
  const auto code = static_cast<absl::StatusCode>(command.shared().done.load());
  if (code == absl::StatusCode::kUnknown) {
    GTEST_SKIP() << "this user cannot become another one";
  }
  EXPECT_EQ(code, absl::StatusCode::kPermissionDenied);
  EXPECT_NE(Claim(program), nullptr);
}

TEST(KnockTest, AProgramThatEndsEndsTheRecordingWell) {
  std::shared_ptr<OpenDoor> door;
  {
    const TestProgram program(WorkForEver);
    program.WaitForDoor();
    door = Claim(program);
    ASSERT_NE(door, nullptr);
    ASSERT_TRUE(Begin(*door).ok());
    program.WaitForRounds(100);
  }
  EXPECT_TRUE(door->End().ok());
  Arena arena = Arena::Attach(door->arena());
  EXPECT_GE(Read(arena)["work"], 98);
  arena.Unmap();
}

TEST(KnockTest, DoorsAreKnockedAtOnce) {
  const TestProgram program(WorkForEver);
  program.WaitForDoor();
  Doors doors([&] { return std::vector<pid_t>{program.pid()}; });
  EXPECT_FALSE(doors.was_asked());
  EXPECT_EQ(doors.Open().size(), 1U);
  EXPECT_EQ(doors.Open().size(), 1U);
  Doors others([&] { return std::vector<pid_t>{program.pid()}; });
  EXPECT_TRUE(others.Open().empty());
  EXPECT_THAT(std::string(others.WhyNone().message()),
              HasSubstr("by another command"));
  EXPECT_THAT(std::string(Doors().WhyNone().message()),
              HasSubstr("KYMO_ATTACH=1"));
}

}  // namespace
}  // namespace kymo::door
