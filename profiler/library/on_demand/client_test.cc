#include "profiler/library/on_demand/client.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kymo/record_function.h"
#include "kymo/warning.h"
#include "profiler/library/on_demand/test_daemon.h"
#include "profiler/on_demand/messages.h"

namespace kymo {
namespace {

using on_demand::Message;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class OnDemandClientTest : public testing::Test {
 protected:
  OnDemandClientTest() {
    before_ = SetWarningHandler([this](std::string_view text) {
      const std::lock_guard lock(mutex_);
      warnings_.emplace_back(text);
    });
    options_.socket_folder = daemon_.folder();
    options_.trace_folder = daemon_.folder();
    options_.poll_ns = 10 * kNsPerMs;
    options_.job = 42;
    options_.distributed = {.backend = "mpi", .rank = 1, .world_size = 2};
    options_.current_step = [] { return step_.load(); };
    client_ = *OnDemandClient::Start(options_);
    step_ = 0;
    worker_ = std::thread([this] {
      while (!is_over_) {
        {
          RecordFunction range("work");
          usleep(100);
        }
        ++ranges_;
      }
    });
  }
  ~OnDemandClientTest() override {
    client_.reset();
    is_over_ = true;
    worker_.join();
    SetWarningHandler(before_);
  }

  std::string Order(const std::string& lines) const {
    return "ACTIVITIES_LOG_FILE=" + daemon_.folder() + "/t.json\n" +
           "KYMO_ANSWER=1\n" + lines;
  }
  std::string Path() const {
    return daemon_.folder() + "/t_" + std::to_string(getpid()) + ".json";
  }
  std::vector<std::string> warnings() {
    const std::lock_guard lock(mutex_);
    return warnings_;
  }
  // Until the worker has had a whole range.
  void AwaitRange() const {
    const int64_t before = ranges_;
    while (ranges_ < before + 2) usleep(100);
  }
  void Step() {
    client_->OnStep(++step_);
    RecordFunction range("step " + std::to_string(step_));
  }

  static inline std::atomic<int64_t> step_ = 0;
  TestDaemon daemon_;
  OnDemandClient::Options options_;
  std::unique_ptr<OnDemandClient> client_;
  std::mutex mutex_;
  std::vector<std::string> warnings_;
  WarningHandler before_;
  std::atomic<bool> is_over_ = false;
  std::atomic<int64_t> ranges_ = 0;
  std::thread worker_;
};

TEST_F(OnDemandClientTest, RegistersAsksAndWrites) {
  EXPECT_EQ(on_demand::DecodeContext(daemon_.Await("ctxt").body),
            (on_demand::Context{.gpu = 0, .pid = getpid(), .job = 42}));
  const auto request = on_demand::DecodeRequest(daemon_.Await("req").body);
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->type, on_demand::kActivities);
  EXPECT_EQ(request->job, 42);
  ASSERT_GE(request->pids.size(), 2);
  EXPECT_EQ(request->pids[0], getpid());
  EXPECT_EQ(request->pids[1], getppid());
  daemon_.Say({"req", ""});  // nothing to do
  // The worker may be without a CPU for as long as one recording.
  std::string trace;
  for (int tries = 0; tries < 50 && trace.find("\"work\"") == trace.npos;
       ++tries) {
    daemon_.Await("req");
    daemon_.Say({"req", Order("ACTIVITIES_DURATION_MSECS=20\n")});
    EXPECT_EQ(daemon_.Await("kymo").body, "records");
    EXPECT_EQ(daemon_.Await("kymo").body, "wrote " + Path());
    trace = TextOf(Path());
  }
  EXPECT_THAT(trace, HasSubstr("\"work\""));
  EXPECT_THAT(trace, HasSubstr("\"distributedInfo\""));
  EXPECT_THAT(trace, HasSubstr("\"world_size\": 2"));
}

TEST_F(OnDemandClientTest, OneRecordingAtATime) {
  daemon_.Await("req");
  daemon_.Say({"req", Order("ACTIVITIES_DURATION_MSECS=3600000\n")});
  EXPECT_EQ(daemon_.Await("kymo").body, "records");
  daemon_.Say({"req", Order("")});
  EXPECT_THAT(daemon_.Await("kymo").body, StartsWith("busy "));
  AwaitRange();
  daemon_.Say({"req", "KYMO_STOP=1\n"});
  EXPECT_EQ(daemon_.Await("kymo").body, "wrote " + Path());
  EXPECT_THAT(TextOf(Path()), HasSubstr("\"work\""));
  daemon_.Say({"req", Order("ACTIVITIES_DURATION_MSECS=1\n")});
  EXPECT_EQ(daemon_.Await("kymo").body, "records");
}

TEST_F(OnDemandClientTest, EndsWithACommandThatIsKilled) {
  daemon_.Await("req");
  const std::string order =
      on_demand::Encode({"req", Order("ACTIVITIES_DURATION_MSECS=3600000\n")});
  const pid_t command = fork();
  if (command == 0) {
    daemon_.SayBytes(order);
    _exit(0);
  }
  ASSERT_EQ(waitpid(command, nullptr, 0), command);
  EXPECT_EQ(daemon_.Await("kymo").body, "records");
  EXPECT_EQ(daemon_.Await("kymo").body, "wrote " + Path());
  EXPECT_THAT(warnings(), Contains(HasSubstr("has ended: so does")));
}

TEST_F(OnDemandClientTest, RecordsSteps) {
  daemon_.Await("req");
  const std::string order = Order(
      "PROFILE_START_ITERATION=0\nPROFILE_START_ITERATION_ROUNDUP=3\n"
      "ACTIVITIES_ITERATIONS=2\n");
  daemon_.Say({"req", order});
  EXPECT_THAT(daemon_.Await("kymo").body, StartsWith("refused the program"));
  for (int i = 0; i < 4; ++i) Step();
  daemon_.Say({"req", order});
  EXPECT_EQ(daemon_.Await("kymo").body, "waits for step 6");
  for (int i = 0; i < 6; ++i) Step();
  EXPECT_EQ(daemon_.Await("kymo").body, "wrote " + Path());
  const std::string trace = TextOf(Path());
  for (int step = 1; step <= 10; ++step) {
    const std::string name = "\"step " + std::to_string(step) + "\"";
    if (step == 6 || step == 7) {
      EXPECT_THAT(trace, HasSubstr(name));
    } else {
      EXPECT_THAT(trace, Not(HasSubstr(name)));
    }
  }
}

TEST_F(OnDemandClientTest, RefusesWhatItMustNotDo) {
  daemon_.Await("req");
  for (const char* lines :
       {"ACTIVITIES_LOG_FILE=/etc/x.json\n", "ACTIVITIES_DURATION_MSECS=x\n",
        "PROFILE_START_TIME=1\n"}) {
    daemon_.Say({"req", std::string(lines) + "KYMO_ANSWER=1\n"});
    if (std::string_view(lines).starts_with("ACTIVITIES_D")) continue;
    EXPECT_THAT(daemon_.Await("kymo").body, StartsWith("refused "));
  }
  EXPECT_THAT(warnings(),
              Contains(HasSubstr("ACTIVITIES_DURATION_MSECS=x: it takes")));
}

std::set<int> OpenDescriptors() {
  std::set<int> open;
  for (int fd = 3; fd < 256; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) open.insert(fd);
  }
  return open;
}

// Daemons close all descriptors that they do not know, and open files of their
// own under the same numbers.
TEST_F(OnDemandClientTest, LeavesTheProgramsFilesAlone) {
  client_.reset();
  std::set<int> others = OpenDescriptors();
  client_ = *OnDemandClient::Start(options_);
  for (int i = 0; i < 3; ++i) daemon_.Await("req");
  std::set<int> replaced;
  for (const int fd : OpenDescriptors()) {
    if (others.contains(fd)) continue;
    int pair[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair), 0);
    ASSERT_EQ(send(pair[0], "x", 1, 0), 1);
    ASSERT_EQ(dup2(pair[1], fd), fd);
    close(pair[1]);
    others.insert(pair[0]);
    replaced.insert(fd);
  }
  EXPECT_FALSE(replaced.empty());
  while (warnings().empty()) usleep(100);
  EXPECT_THAT(warnings(), Contains(HasSubstr("has closed the socket")));
  client_.reset();
  for (const int fd : replaced) {
    char byte = 0;
    EXPECT_EQ(recv(fd, &byte, 1, MSG_DONTWAIT), 1) << fd;
    // Nobody has written either.
    EXPECT_EQ(recv(fd, &byte, 1, MSG_DONTWAIT), -1) << fd;
  }
}

TEST_F(OnDemandClientTest, IgnoresGarbageAndStrangers) {
  daemon_.Await("req");
  for (int i = 0; i < 3; ++i) daemon_.SayBytes("garbage");
  const auto stranger = on_demand::Endpoint::Bind("stranger", daemon_.folder());
  ASSERT_TRUE(
      stranger
          ->Send(daemon_.last().sender, on_demand::Encode({"req", Order("")}))
          .ok());
  daemon_.Say({"req", Order("ACTIVITIES_DURATION_MSECS=1\n")});
  EXPECT_EQ(daemon_.Await("kymo").body, "records");
  EXPECT_EQ(daemon_.Await("kymo").body, "wrote " + Path());
  EXPECT_THAT(warnings(),
              testing::UnorderedElementsAre(HasSubstr("not understood"),
                                            HasSubstr("not from a daemon")));
}

}  // namespace
}  // namespace kymo
