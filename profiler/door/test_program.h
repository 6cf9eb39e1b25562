// test_program.h - a program with a door that runs beside a test.
//
//   const TestProgram program(WorkForEver);
//   program.WaitForDoor();
//   auto doors = Knock(program.pid());
//   program.WaitForRounds(100);   // of the range "work"
//
// REQUIRES: the test itself has recorded nothing before.
#ifndef KYMO_PROFILER_DOOR_TEST_PROGRAM_H_
#define KYMO_PROFILER_DOOR_TEST_PROGRAM_H_

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <functional>

#include "profiler/record/host/host.h"
#include "profiler/record/host/open_door.h"
#include "profiler/record/range.h"

namespace kymo::door {

inline void Range(record::Literal name) {
  if (!record::IsOn()) return;
  record::OpenRange range;
  record::BeginRange(range, name, RecordScope::kFunction);
  record::EndRange(range);
}

// What a program and the test share.
struct Shared {
  std::atomic<int> error = -1;  // of OpenDoor
  std::atomic<int> rounds = 0;
  std::atomic<bool> is_recording = false;
  std::atomic<int> wish = 0;  // of the test, to the program
  std::atomic<int> done = 0;  // the last wish that was fulfilled
};

// A program that runs beside the test, and works until it is killed.
class TestProgram {
 public:
  explicit TestProgram(const std::function<void(Shared&)>& run)
      : shared_(*new (mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Shared),
        pid_(fork()) {
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    run(shared_);
    _exit(0);
  }
  ~TestProgram() {
    End();
    munmap(&shared_, sizeof(Shared));
  }
  TestProgram(const TestProgram&) = delete;
  TestProgram& operator=(const TestProgram&) = delete;

  pid_t pid() const { return pid_; }
  Shared& shared() const { return shared_; }
  void End() {
    if (has_ended_) return;
    has_ended_ = true;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  void WaitForDoor() const {
    while (shared_.error < 0) usleep(100);
    EXPECT_EQ(shared_.error, 0);
  }
  void WaitForRounds(int more) const {
    const int until = shared_.rounds + more;
    while (shared_.rounds < until) usleep(100);
  }
  void Wish(int wish) const {
    shared_.wish = wish;
    while (shared_.done != wish) usleep(100);
  }

 private:
  Shared& shared_;
  const pid_t pid_;
  bool has_ended_ = false;
};

inline void OpenTheDoor(Shared& shared) { shared.error = record::OpenDoor(); }

inline void Work(Shared& shared) {
  shared.is_recording = record::IsRecording();
  Range("work");
  ++shared.rounds;
}

[[noreturn]] inline void WorkForEver(Shared& shared) {
  OpenTheDoor(shared);
  for (;;) Work(shared);
}

}  // namespace kymo::door

#endif  // KYMO_PROFILER_DOOR_TEST_PROGRAM_H_
