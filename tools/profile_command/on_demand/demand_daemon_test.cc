#include "tools/profile_command/on_demand/demand_daemon.h"

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "profiler/on_demand/config.h"
#include "profiler/on_demand/endpoint.h"
#include "profiler/on_demand/messages.h"

namespace kymo::tools {
namespace {

using on_demand::Endpoint;
using State = DemandedProgram::State;
using testing::HasSubstr;

// A program that a test plays: PyTorch's and Kymo's differ by their names.
class FakeProgram {
 public:
  FakeProgram(const std::string& name, const std::string& folder)
      : socket_(*Endpoint::Bind(name, folder)),
        daemon_(*on_demand::AddressOf("dynolog", folder)) {}

  void Say(const on_demand::Message& message) const {
    EXPECT_TRUE(socket_.Send(daemon_, on_demand::Encode(message)).ok());
  }
  // As a client of PyTorch does, with or without a GPU.
  void Ask(int32_t type = on_demand::kActivities) const {
    Say({"req",
         on_demand::EncodeRequest({.type = type, .pids = {getpid(), 1}})});
  }
  // The last message; nothing has come: "".
  std::string Body() const {
    std::string body;
    while (const auto datagram = socket_.Receive()) {
      body = on_demand::Decode(datagram->bytes)->body;
    }
    return body;
  }

 private:
  const Endpoint socket_;
  const on_demand::Address daemon_;
};

class DemandDaemonTest : public testing::Test {
 protected:
  DemandDaemonTest() {
    char path[] = "/tmp/kymo-daemon-XXXXXX";
    EXPECT_NE(mkdtemp(path), nullptr);
    folder_ = path;
    options_.socket_folder = folder_;
    options_.trace_folder = folder_;
    options_.config.duration_ms = 20;
  }
  ~DemandDaemonTest() override { std::filesystem::remove_all(folder_); }

  void Bind() {
    auto daemon = DemandDaemon::Bind(options_);
    ASSERT_TRUE(daemon.ok()) << daemon.status();
    daemon_ = std::make_unique<DemandDaemon>(*std::move(daemon));
    daemon_->Begin();
  }
  // What a program writes that was told this; returns the file.
  std::string Write(const std::string& config, const std::string& text) const {
    const std::string path = *on_demand::TracePath(
        on_demand::ParseConfig(config)->log_file, folder_, getpid());
    std::ofstream(path) << text;
    return path;
  }
  const DemandedProgram& only() const {
    EXPECT_EQ(daemon_->programs().size(), 1);
    return daemon_->programs().at(0);
  }

  std::string folder_;
  DemandDaemon::Options options_;
  std::unique_ptr<DemandDaemon> daemon_;
};

TEST_F(DemandDaemonTest, PyTorchIsToldWhenItAsks) {
  const FakeProgram torch("dynoconfigclient-1", folder_);
  Bind();
  EXPECT_EQ(only().state, State::kAwaited);
  EXPECT_EQ(torch.Body(), "");  // it would take it for another answer
  // Processes with a GPU register it, others do not.
  torch.Say({"ctxt", on_demand::EncodeContext({.pid = getpid()})});
  daemon_->Advance();
  EXPECT_EQ(torch.Body(), on_demand::EncodeCount(1));
  torch.Ask(/*type=*/1);  // of events, not of activities
  daemon_->Advance();
  EXPECT_EQ(only().state, State::kAwaited);
  torch.Ask();
  daemon_->Advance();
  EXPECT_EQ(only().state, State::kTold);
  EXPECT_EQ(only().pid, getpid());
  const std::string config = torch.Body();
  EXPECT_EQ(config, "ACTIVITIES_WARMUP_PERIOD_SECS=0\nACTIVITIES_LOG_FILE=" +
                        folder_ + "/1.json\nACTIVITIES_DURATION_MSECS=20\n");
  torch.Ask();  // again: once is enough
  daemon_->Advance();
  EXPECT_EQ(torch.Body(), "");
  // It writes the file bit by bit.
  const std::string path = Write(config, "");
  std::ofstream file(path);
  file << "{\"traceEvents\": [{}" << std::flush;
  for (int i = 0; i < 3; ++i) daemon_->Advance();
  EXPECT_FALSE(daemon_->IsDone());
  file << "]}\n" << std::flush;
  file.close();
  daemon_->Advance();
  daemon_->Advance();
  EXPECT_TRUE(daemon_->IsDone());
  EXPECT_EQ(only().state, State::kWrote);
  EXPECT_EQ(only().file, path);
}

TEST_F(DemandDaemonTest, KymoIsToldAtOnceAndAnswers) {
  const FakeProgram kymo("kymo-on-demand-7-ab", folder_);
  Bind();
  const std::string config = kymo.Body();
  EXPECT_THAT(config, HasSubstr("ACTIVITIES_DURATION_MSECS=20\n"));
  EXPECT_THAT(config, HasSubstr("KYMO_ANSWER=true\n"));
  kymo.Say({"kymo", "records"});
  daemon_->Advance();
  EXPECT_EQ(only().state, State::kRecords);
  kymo.Say({"kymo", "wrote " + Write(config, "{}")});
  daemon_->Advance();
  EXPECT_EQ(only().state, State::kWrote);
  EXPECT_TRUE(daemon_->IsDone());
}

TEST_F(DemandDaemonTest, KymoRecordsUntilPyTorchIsThrough) {
  const FakeProgram torch("dynoconfigclient-1", folder_);
  const FakeProgram kymo("kymo-on-demand-7-ab", folder_);
  Bind();
  EXPECT_THAT(kymo.Body(), HasSubstr("ACTIVITIES_DURATION_MSECS=9020\n"));
}

TEST_F(DemandDaemonTest, SaysWhoDidNot) {
  options_.ask_ns = 0;
  options_.answer_ns = 0;
  const FakeProgram torch("dynoconfigclient-1", folder_);
  const FakeProgram silent("kymo-on-demand-7-ab", folder_);
  const FakeProgram busy("kymo-on-demand-8-ab", folder_);
  Bind();
  busy.Say({"kymo", "busy it is recorded on demand already"});
  daemon_->Advance();
  EXPECT_TRUE(daemon_->IsDone());
  ASSERT_EQ(daemon_->programs().size(), 3);
  EXPECT_THAT(StateText(daemon_->programs()[0]), HasSubstr("has not asked"));
  EXPECT_THAT(StateText(daemon_->programs()[1]), HasSubstr("nothing in time"));
  EXPECT_EQ(StateText(daemon_->programs()[2]),
            "does not record: it is recorded on demand already");
}

// The user has read "records".
TEST_F(DemandDaemonTest, WhoHasRecordedIsNotSaidToHaveRefused) {
  const FakeProgram failed("kymo-on-demand-7-ab", folder_);
  const FakeProgram elsewhere("kymo-on-demand-8-ab", folder_);
  const FakeProgram waited("kymo-on-demand-9-ab", folder_);
  Bind();
  failed.Say({"kymo", "records"});
  failed.Say({"kymo", "refused the disk is full"});
  elsewhere.Say({"kymo", "records"});
  elsewhere.Say({"kymo", "wrote /tmp/2_8.json"});
  waited.Say({"kymo", "waits for step 5"});
  waited.Say({"kymo", "refused step 5 did not come within an hour"});
  daemon_->Advance();
  EXPECT_TRUE(daemon_->IsDone());
  ASSERT_EQ(daemon_->programs().size(), 3);
  EXPECT_EQ(StateText(daemon_->programs()[0]),
            "recorded, and wrote no trace: the disk is full");
  EXPECT_EQ(StateText(daemon_->programs()[1]),
            "recorded, and wrote /tmp/2_8.json, which is not there for this "
            "command: it has a /tmp of its own");
  EXPECT_EQ(StateText(daemon_->programs()[2]),
            "does not record: step 5 did not come within an hour");
}

TEST_F(DemandDaemonTest, CallsOff) {
  const FakeProgram torch("dynoconfigclient-1", folder_);
  const FakeProgram kymo("kymo-on-demand-7-ab", folder_);
  Bind();
  const std::string config = kymo.Body();
  kymo.Say({"kymo", "records"});
  daemon_->Advance();
  daemon_->CallOff();
  EXPECT_EQ(kymo.Body(), "KYMO_STOP=1\n");
  kymo.Say({"kymo", "wrote " + Write(config, "{}")});
  daemon_->Advance();
  EXPECT_TRUE(daemon_->IsDone());
  EXPECT_EQ(daemon_->programs()[0].state, State::kSilent);
  EXPECT_EQ(daemon_->programs()[1].state, State::kWrote);
}

TEST_F(DemandDaemonTest, LeavesOutWhoIsNotMeant) {
  options_.only = {getpid() + 1};
  const FakeProgram torch("dynoconfigclient-1", folder_);
  const FakeProgram kymo("kymo-on-demand-7-ab", folder_);
  Bind();
  torch.Ask();
  daemon_->Advance();
  EXPECT_EQ(torch.Body(), "");
  EXPECT_EQ(kymo.Body(), "");
  EXPECT_TRUE(daemon_->programs().empty());
}

TEST_F(DemandDaemonTest, SurvivesGarbage) {
  const FakeProgram torch("dynoconfigclient-1", folder_);
  Bind();
  torch.Say({"req", "short"});
  torch.Say({"kymo", "wrote /etc/passwd"});
  torch.Say({"what", ""});
  const Endpoint stranger = *Endpoint::Bind("stranger", folder_);
  ASSERT_TRUE(
      stranger.Send(*on_demand::AddressOf("dynolog", folder_), "???").ok());
  daemon_->Advance();
  EXPECT_EQ(only().state, State::kAwaited);
}

TEST_F(DemandDaemonTest, OneDaemonAtATime) {
  Bind();
  EXPECT_TRUE(absl::IsAlreadyExists(DemandDaemon::Bind(options_).status()));
}

}  // namespace
}  // namespace kymo::tools
