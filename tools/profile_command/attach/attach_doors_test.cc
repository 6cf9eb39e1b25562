#include "tools/profile_command/attach/attach_doors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "profiler/door/doors.h"
#include "profiler/record/host/open_door.h"

namespace kymo::tools {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// A copy of this program, which has Kymo in it; or /bin/sleep.
class Process {
 public:
  Process(bool opens, bool is_sleep) : pid_(fork()) {
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (opens) (void)record::OpenDoor();
    if (is_sleep) execl("/bin/sleep", "sleep", "60", nullptr);
    prctl(PR_SET_NAME, "is_ready");
    for (;;) pause();
  }
  ~Process() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  AttachTarget WaitFor(const std::string& name) const {
    for (;;) {
      auto target = FindAttachTarget({.pids = {pid_}});
      if (target.ok() && target->name == name) return *std::move(target);
      usleep(1000);
    }
  }
  pid_t pid() const { return pid_; }

 private:
  const pid_t pid_;
};

std::string TextFor(const AttachTarget& target, bool wants_memory = false) {
  door::Doors doors([&] { return ProcessesWithDoors(target.running); });
  doors.Open();
  return DoorText(doors, target, wants_memory);
}

TEST(AttachDoorsTest, SaysWhatWouldOpenAProgramWithKymo) {
  const Process closed(false, false);
  const AttachTarget target = closed.WaitFor("is_ready");
  EXPECT_TRUE(CarriesKymo(closed.pid()));
  EXPECT_THAT(TextFor(target), HasSubstr("is_ready ("));
  EXPECT_THAT(TextFor(target), HasSubstr("KYMO_ATTACH=1"));
  EXPECT_EQ(DoorText(door::Doors(), target, true), "");  // nobody has knocked
}

TEST(AttachDoorsTest, SaysNothingOfOthers) {
  const Process sleeping(false, true);
  const AttachTarget target = sleeping.WaitFor("sleep");
  EXPECT_FALSE(CarriesKymo(sleeping.pid()));
  EXPECT_EQ(TextFor(target, true), "");
}

TEST(AttachDoorsTest, AnOpenDoorMayLackTheHeap) {
  const Process open(true, false);
  const AttachTarget target = open.WaitFor("is_ready");
  EXPECT_EQ(TextFor(target), "");
  EXPECT_THAT(TextFor(target, true), HasSubstr("the heap of is_ready"));
  door::Doors first([&] { return std::vector<pid_t>{open.pid()}; });
  ASSERT_EQ(first.Open().size(), 1U);
  EXPECT_THAT(TextFor(target), HasSubstr("being recorded already"));
  EXPECT_THAT(TextFor(target), Not(HasSubstr("KYMO_ATTACH")));
}

TEST(AttachDoorsTest, KnocksAtChildren) {
  const Process child(false, false);
  (void)child.WaitFor("is_ready");
  EXPECT_THAT(ProcessesWithDoors({.all = false, .pids = {getppid()}}),
              Contains(getppid()));
  EXPECT_THAT(ProcessesWithDoors({.all = true, .pids = {}}),
              Contains(child.pid()));
}

}  // namespace
}  // namespace kymo::tools
