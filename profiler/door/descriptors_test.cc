#include <gtest/gtest.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
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

// The inode of each open descriptor of this process; 0: it is not open.
using Files = std::array<ino_t, 64>;

Files OpenFiles() {
  Files files = {};
  for (int fd = 0; fd < static_cast<int>(files.size()); ++fd) {
    struct stat about;
    if (fstat(fd, &about) == 0) files[fd] = about.st_ino;
  }
  return files;
}

// As daemons do. Then files of its own take the numbers.
Files CloseAllAndOpenOthers() {
  const Files before = OpenFiles();
  close_range(3, ~0U, 0);
  int count = 0;
  for (size_t fd = 3; fd < before.size(); ++fd) count += before[fd] != 0;
  for (int pair[2]; count > 0; count -= 2) {
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    // Each has something to read.
    EXPECT_EQ(write(pair[0], "x", 1), 1);
    EXPECT_EQ(write(pair[1], "x", 1), 1);
  }
  return OpenFiles();
}

// Whether these files are open, and nobody has read from their sockets.
bool AreUntouched(const Files& files) {
  if (OpenFiles() != files) return false;
  for (int fd = 3; fd < static_cast<int>(files.size()); ++fd) {
    char text;
    if (files[fd] != 0 && recv(fd, &text, 1, MSG_PEEK | MSG_DONTWAIT) != 1) {
      return false;
    }
  }
  return true;
}

// Sends an answer with these descriptors, as a hostile program may.
void AnswerWith(int socket, const std::array<int, 2>& fds) {
  record::DoorMessage answer;
  iovec text = {.iov_base = &answer, .iov_len = sizeof(answer)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(fds))] = {};
  msghdr message = {};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(fds));
  memcpy(CMSG_DATA(header), fds.data(), sizeof(fds));
  ASSERT_EQ(sendmsg(socket, &message, 0), static_cast<ssize_t>(sizeof(answer)));
}

TEST(DescriptorsTest, SecondOnesInAnAnswerAreClosed) {
  const Files before = OpenFiles();
  {
    int pair[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    const OwnedDescriptor program(pair[1]);
    AnswerWith(program.get(), {pair[0], pair[1]});
    EXPECT_FALSE(
        OpenDoor::Claim(getpid(), "hostile", OwnedDescriptor(pair[0])).ok());
  }
  EXPECT_EQ(OpenFiles(), before);
}

TEST(DescriptorsTest, AForkedChildKeepsTheProgramsFiles) {
  const TestProgram program([](Shared& shared) {
    OpenTheDoor(shared);
    while (shared.wish == 0) Work(shared);
    const Files files = CloseAllAndOpenOthers();
    const pid_t child = fork();
    if (child == 0) _exit(AreUntouched(files) ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    shared.done = status == 0 ? 1 : -1;
    for (;;) pause();
  });
  program.WaitForDoor();
  const auto doors = Knock(program.pid());
  ASSERT_TRUE(doors.ok()) << doors.status();
  ASSERT_TRUE(doors->front()->Begin({.chunk_bytes = record::kChunkBytes}).ok());
  program.shared().wish = 1;
  while (program.shared().done == 0) usleep(100);
  EXPECT_EQ(program.shared().done, 1);
}

TEST(DescriptorsTest, TheDoorsThreadLeavesTheProgramsFilesAlone) {
  const TestProgram program([](Shared& shared) {
    OpenTheDoor(shared);
    while (shared.wish == 0) Work(shared);
    const Files files = CloseAllAndOpenOthers();
    shared.done = 1;
    while (shared.wish == 1) Work(shared);
    shared.done = AreUntouched(files) ? 2 : -1;
    for (;;) pause();
  });
  program.WaitForDoor();
  {
    const auto doors = Knock(program.pid());
    ASSERT_TRUE(doors.ok()) << doors.status();
    ASSERT_TRUE(
        doors->front()->Begin({.chunk_bytes = record::kChunkBytes}).ok());
    program.WaitForRounds(10);
    EXPECT_TRUE(program.shared().is_recording);
    program.Wish(1);
  }
  // The thread sees that the command has left, and goes itself.
  while (!DoorThread(program.pid(), "State:").empty()) usleep(1000);
  while (program.shared().is_recording) usleep(100);
  program.shared().wish = 2;
  while (program.shared().done == 1) usleep(100);
  EXPECT_EQ(program.shared().done, 2);
}

}  // namespace
}  // namespace kymo::door
