// A whole program and a daemon: what the environment asks for, and forks.
#include "kymo/on_demand.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kymo/profile.h"
#include "kymo/record_function.h"
#include "kymo/step_tracker.h"
#include "profiler/library/on_demand/test_daemon.h"
#include "profiler/library/on_demand_if_asked.h"

namespace kymo {
namespace {

using testing::HasSubstr;

// A process that runs until the test ends it.
class Program {
 public:
  explicit Program(const std::function<void()>& run) : pid_(fork()) {
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    run();
    exit(0);
  }
  ~Program() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  pid_t pid() const { return pid_; }

 private:
  const pid_t pid_;
};

void CountSteps(int count) {
  for (int i = 0; i < count; ++i) {
    StepTracker::Process().increment_step("test");
    RecordFunction range("work");
    usleep(1000);
  }
}
constexpr int kForEver = 1 << 30;

TEST(OnDemandTest, AChildRegistersWithItsFirstStep) {
  TestDaemon daemon;
  setenv("KINETO_IPC_SOCKET_DIR", daemon.folder().c_str(), 1);
  setenv("KINETO_ONDEMAND_TRACE_DIR", daemon.folder().c_str(), 1);
  setenv("KINETO_USE_DAEMON", "1", 1);
  const Program program([] {
    AllowOnDemandIfAsked();
    CountSteps(1);
    const Program child([] { CountSteps(kForEver); });
    CountSteps(kForEver);
  });
  daemon.Await("ctxt", program.pid());
  const on_demand::Address parents = daemon.last().sender;
  daemon.Await("ctxt");
  const on_demand::Datagram child = daemon.last();
  EXPECT_NE(child.pid, program.pid());
  // Each is asked alone.
  for (const auto& [pid, address] : {std::pair(program.pid(), parents),
                                     std::pair(child.pid, child.sender)}) {
    daemon.SayTo(address, {"req", "ACTIVITIES_LOG_FILE=" + daemon.folder() +
                                      "/t.json\nKYMO_ANSWER=1\n"
                                      "PROFILE_START_ITERATION=0\n"
                                      "ACTIVITIES_ITERATIONS=5\n"});
    EXPECT_THAT(daemon.Await("kymo", pid).body, HasSubstr("waits for step"));
    const std::string path =
        daemon.folder() + "/t_" + std::to_string(pid) + ".json";
    EXPECT_EQ(daemon.Await("kymo", pid).body, "wrote " + path);
    EXPECT_THAT(TextOf(path), HasSubstr("\"work\""));
  }
  unsetenv("KINETO_USE_DAEMON");
}

TEST(OnDemandTest, NothingHappensUnasked) {
  TestDaemon daemon;
  setenv("KINETO_IPC_SOCKET_DIR", daemon.folder().c_str(), 1);
  unsetenv("KINETO_USE_DAEMON");
  AllowOnDemandIfAsked();
  setenv("KINETO_USE_DAEMON", "0", 1);
  AllowOnDemandIfAsked();
  unsetenv("KINETO_USE_DAEMON");
  EXPECT_THAT(on_demand::NamesWith(on_demand::kKymoPrefix, daemon.folder()),
              testing::IsEmpty());
}

TEST(OnDemandTest, AnExitKeepsWhatWasRecorded) {
  TestDaemon daemon;
  setenv("KINETO_IPC_SOCKET_DIR", daemon.folder().c_str(), 1);
  setenv("KINETO_ONDEMAND_TRACE_DIR", daemon.folder().c_str(), 1);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Program program([&] {
    EXPECT_FALSE(AllowOnDemand());
    char go;
    EXPECT_EQ(read(ends[0], &go, 1), 1);
    CountSteps(3);
  });
  daemon.Await("req");
  daemon.Say({"req", "ACTIVITIES_LOG_FILE=" + daemon.folder() +
                         "/t.json\nKYMO_ANSWER=1\n"
                         "ACTIVITIES_DURATION_MSECS=3600000\n"});
  EXPECT_EQ(daemon.Await("kymo").body, "records");
  ASSERT_EQ(write(ends[1], "x", 1), 1);
  const std::string path =
      daemon.folder() + "/t_" + std::to_string(program.pid()) + ".json";
  EXPECT_EQ(daemon.Await("kymo").body, "wrote " + path);
  EXPECT_THAT(TextOf(path), HasSubstr("\"work\""));
}

}  // namespace
}  // namespace kymo
