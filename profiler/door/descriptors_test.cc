#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "profiler/base/owned_descriptor.h"
#include "profiler/door/knock.h"
#include "profiler/door/test_program.h"
#include "profiler/processes/process_list.h"
#include "profiler/record/arena/layout.h"
#include "profiler/record/host/door_protocol.h"
#include "profiler/record/own_threads.h"

namespace kymo::door {
namespace {

// A line of the status of the program's thread at the door.
std::string DoorThread(pid_t pid, const std::string& line) {
  for (const pid_t tid : processes::ThreadsOf(pid)) {
    std::ifstream status(absl::StrCat("/proc/", pid, "/task/", tid, "/status"));
    std::string word, value;
    if (!(status >> word >> value) || value != record::kDoorThread) continue;
    while (status >> word) {
      if (word == line && status >> value) return value;
    }
  }
  return "";
}

// Somebody knocks at a program that is being recorded and has no descriptor
// left: its thread sleeps.
TEST(DescriptorsTest, AProgramWithoutDescriptorsIsNotKeptBusy) {
  const TestProgram program([](Shared& shared) {
    OpenTheDoor(shared);
    for (; shared.wish == 0; ++shared.rounds) usleep(100);
    const rlimit none = {.rlim_cur = 3, .rlim_max = 3};
    shared.done = setrlimit(RLIMIT_NOFILE, &none) == 0 ? 1 : -1;
    for (;;) pause();
  });
  program.WaitForDoor();
  const auto doors = Knock(program.pid());
  ASSERT_TRUE(doors.ok()) << doors.status();
  const std::shared_ptr<OpenDoor>& door = doors->front();
  ASSERT_TRUE(door->Begin({.chunk_bytes = record::kChunkBytes}).ok());
  program.Wish(1);
  const pid_t pid = program.pid();
  while (DoorThread(pid, "State:") != "S") usleep(100);
  const std::string sleeps = DoorThread(pid, "voluntary_ctxt_switches:");
  const OwnedDescriptor other(::socket(AF_UNIX, SOCK_SEQPACKET, 0));
  const record::DoorAddress address = record::AddressOfDoor(pid, 0);
  ASSERT_EQ(connect(other.get(), address.pointer(), address.size), 0);
  constexpr int kMostLooks = 10'000;
  int looks = 0;
  while (looks < kMostLooks &&
         DoorThread(pid, "voluntary_ctxt_switches:") == sleeps) {
    ++looks;
    usleep(100);
  }
  EXPECT_LT(looks, kMostLooks);
  EXPECT_TRUE(door->End().ok());
}

}  // namespace
}  // namespace kymo::door
