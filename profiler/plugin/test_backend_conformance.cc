// The fixtures, and the tests of what a backend says about itself and of its
// sessions, one after the other. test_recording_conformance.cc has the others.
#include "profiler/plugin/test_backend_conformance.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "profiler/base/names.h"
#include "profiler/plugin/registry.h"
#include "profiler/plugin/settings.h"
#include "profiler/plugin/test_conformance_steps.h"
#include "profiler/plugin/test_process_state.h"

namespace kymo {
namespace {

using model::TraceShard;

// A child that uses CPU time until it is killed. It does nothing but `record`
// and arithmetic, since it was forked.
pid_t ForkTarget(const std::function<void()>& record) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (volatile unsigned sum = 0;;) {
    if (record) record();
    for (unsigned i = 0; i < 200'000; ++i) sum = sum + i;
    usleep(1000);
  }
}

// While it lives, at most `more` descriptors can be opened.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(int more) {
    getrlimit(RLIMIT_NOFILE, &before_);
    // A new descriptor gets the lowest number that is free.
    rlim_t first_above = 0;
    for (int left = more; first_above < before_.rlim_cur; ++first_above) {
      if (fcntl(static_cast<int>(first_above), F_GETFD) != -1) continue;
      if (left-- == 0) break;
    }
    const rlimit limit = {.rlim_cur = first_above,
                          .rlim_max = before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  ~DescriptorLimit() { setrlimit(RLIMIT_NOFILE, &before_); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

 private:
  rlimit before_ = {};
};

}  // namespace

BackendConformance::BackendConformance()
    : options_(GetParam().options), backend_(GetParam().make()) {
  const std::string folder =
      ::testing::TempDir() + "conformance-" + std::to_string(getpid());
  std::filesystem::create_directories(folder);
  if (options_.scratch_dir.empty()) options_.scratch_dir = folder;
  if (is_local()) {
    target_ = getpid();
    return;
  }
  if (options_.target_path.empty()) options_.target_path = "/proc/self/exe";
  target_ = ForkTarget(GetParam().record);
}

BackendConformance::~BackendConformance() {
  if (!is_local()) {
    kill(target_, SIGKILL);
    waitpid(target_, nullptr, 0);
  }
  std::error_code ignored;
  std::filesystem::remove_all(
      ::testing::TempDir() + "conformance-" + std::to_string(getpid()),
      ignored);
}

void SessionConformance::SetUp() {
  const absl::Status status = backend_->Availability(options_);
  if (!status.ok()) GTEST_SKIP() << "not available here: " << status;
}

std::unique_ptr<BackendController> BackendConformance::NewSession(
    const SettingMap& settings) {
  SessionOptions options = options_;
  for (const auto& [name, value] : settings) options.settings[name] = value;
  auto session = backend_->NewSession(options);
  if (!session.ok() || *session == nullptr) {
    ADD_FAILURE() << "no session: " << session.status();
    return nullptr;
  }
  return std::make_unique<BackendController>(backend_->info().name,
                                             *std::move(session));
}

std::unique_ptr<BackendController> BackendConformance::NewLiveSession(
    const SettingMap& settings) {
  auto session = NewSession(settings);
  for (int state = kMade; session != nullptr && state < kLive;) {
    if (!Advance(*session, &state)) return nullptr;
  }
  return session;
}

bool BackendConformance::Advance(BackendController& session, int* state) {
  absl::Status status;
  switch (*state) {
    case kMade: {
      TargetSetup setup;
      status = session.Prepare(is_local() ? nullptr : &setup);
      break;
    }
    case kReady:
      status = session.Start(target_);
      break;
    case kLive:
      status = session.Stop();
      break;
    case kStopped: {
      TraceShard shard;
      status = session.Collect(shard).status();
      break;
    }
    default:
      return false;
  }
  EXPECT_TRUE(status.ok()) << status;
  ++*state;
  return status.ok();
}

void BackendConformance::Record() const {
  if (is_local() && GetParam().record) GetParam().record();
}

void BackendConformance::ExpectThatItWorks() {
  const auto session = NewLiveSession();
  ASSERT_NE(session, nullptr);
  Record();
  ASSERT_TRUE(session->Poll().ok());
  const absl::Status stopped = session->Stop();
  ASSERT_TRUE(stopped.ok()) << stopped;
  TraceShard shard;
  const absl::Status collected = session->Collect(shard).status();
  ASSERT_TRUE(collected.ok()) << collected;
  if (is_recorded()) {
    EXPECT_GE(RecordCount(shard), 1u) << "it records no more";
  }
}

// --- What it says about itself ---

TEST_P(BackendConformance, DescribesItselfTheSameWayEachTime) {
  const auto another = GetParam().make();
  for (const ActivityBackend* backend : {backend_.get(), another.get()}) {
    const PluginInfo& info = backend->info();
    EXPECT_TRUE(IsLowerSnake(info.name)) << info.name;
    EXPECT_FALSE(info.purpose.empty());
    EXPECT_EQ(info.purpose.find('\n'), std::string::npos) << info.purpose;
    EXPECT_EQ(info.name, backend_->info().name);
    EXPECT_EQ(info.purpose, backend_->info().purpose);
    EXPECT_EQ(&info, &backend->info());
    EXPECT_EQ(backend->activity_types(), backend_->activity_types());
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(backend->Availability(options_),
                backend_->Availability(options_));
      EXPECT_EQ(backend->Limitation(options_), backend_->Limitation(options_));
    }
  }
  BackendRegistry registry;
  EXPECT_TRUE(registry.Register(GetParam().make()).ok());
}

TEST_P(BackendConformance, DeclaresItsSettings) {
  const std::vector<SettingInfo>& settings = backend_->info().settings;
  std::set<std::string> names;
  for (const SettingInfo& setting : settings) {
    EXPECT_TRUE(IsLowerSnake(setting.name)) << setting.name;
    EXPECT_TRUE(names.insert(setting.name).second) << setting.name;
    EXPECT_FALSE(setting.purpose.empty()) << setting.name;
    ASSERT_TRUE(setting.accepts) << setting.name;
    if (setting.default_value.empty()) continue;
    EXPECT_TRUE(setting.accepts(setting.default_value)) << setting.name;
    const auto resolved =
        ResolveSettings({{setting.name, setting.default_value}}, settings);
    EXPECT_TRUE(resolved.ok()) << resolved.status();
  }
  const std::string unknown = backend_->info().name + "_is_no_such_setting";
  const absl::Status refused =
      ResolveSettings({{unknown, "1"}}, settings).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument) << refused;
  for (const auto& [name, value] : options_.settings) {
    EXPECT_TRUE(ResolveSettings({{name, value}}, settings).ok()) << name;
  }
  for (const auto& [name, value] : GetParam().small_buffers) {
    EXPECT_TRUE(ResolveSettings({{name, value}}, settings).ok()) << name;
  }
}

// --- Its sessions, one after the other ---

TEST_P(SessionConformance, SettingsOfOtherPluginsAreNotLookedAt) {
  EXPECT_NE(NewSession({{"of_another_plugin_entirely", "?"}}), nullptr);
}

TEST_P(SessionConformance, AnyOrderOfCallsIsSafe) {
  std::mt19937 random(20'240'601);
  const std::string dump = options_.scratch_dir + "/dump";
  Repeat(3'000, GetParam().time_per_test, "sequences", [&] {
    auto session = NewSession();
    ASSERT_NE(session, nullptr);
    std::string calls;
    int state = kMade;
    for (int length = static_cast<int>(random() % 16); length > 0; --length) {
      // Half of the calls are the next in order, to get to every state.
      const int call = static_cast<int>(random() % 20);
      if (call >= 10 || (call <= kStopped && call == state)) {
        calls += "next ";
        const bool was_last = state == kEmpty;
        ASSERT_EQ(Advance(*session, &state), !was_last) << calls;
        continue;
      }
      absl::Status status;
      TargetSetup setup;
      TraceShard shard;
      switch (call) {
        case 0:
          calls += "Prepare ";
          status = session->Prepare(&setup);
          break;
        case 1:
          calls += "Start ";
          status = session->Start(target_);
          break;
        case 2:
          calls += "Stop ";
          status = session->Stop();
          break;
        case 3:
          calls += "Collect ";
          status = session->Collect(shard).status();
          break;
        case 4:
          calls += "Poll ";
          EXPECT_TRUE(session->Poll().ok()) << calls;
          continue;
        case 5:
        case 6:
          calls += "SetCollecting ";
          status = session->SetCollecting(call == 6);
          if (state == kLive && status.ok()) continue;
          break;
        case 7:
          calls += "Dump ";
          status = session->Dump(dump);
          std::filesystem::remove(dump);
          if (state == kLive && status.ok()) continue;
          break;
        case 8:
          calls += "Remarks ";
          (void)session->Remarks();
          continue;
        default:
          calls += "Record ";
          Record();
          continue;
      }
      EXPECT_FALSE(status.ok()) << calls;
      EXPECT_FALSE(session->has_failed()) << calls << status;
      ExpectWords(status);
      if (state != kLive) {
        EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition)
            << calls << status;
      }
    }
  });
  ExpectThatItWorks();
}

TEST_P(SessionConformance, AThousandSessionsCanFollowEachOther) {
  Repeat(1'000, GetParam().time_per_test, "starts and stops",
         [&] { ExpectThatItWorks(); });
}

TEST_P(SessionConformance, LeavesNothingBehind) {
  ExpectThatItWorks();  // what is made once for the process, is made
  const ProcessState before = ProcessState::Now(options_.scratch_dir);
  for (int last = kMade; last <= kEmpty; ++last) {
    for (int i = 0; i < 3; ++i) {
      auto session = NewSession();
      ASSERT_NE(session, nullptr);
      for (int state = kMade; state < last;) {
        Record();
        ASSERT_TRUE(Advance(*session, &state));
        ASSERT_TRUE(session->Poll().ok());
      }
      session.reset();
      ASSERT_EQ(ProcessState::NewSince(before, options_.scratch_dir), "")
          << "after a session was destroyed in state " << last;
    }
  }
  ExpectThatItWorks();
}

TEST_P(SessionConformance, ASessionWithoutDescriptorsLeavesNothingEnabled) {
  ExpectThatItWorks();
  const ProcessState before = ProcessState::Now(options_.scratch_dir);
  constexpr int kMost = 64;
  int refused = 0;
  bool has_worked = false;
  for (int more = 0; more < kMost && !has_worked; ++more) {
    {
      auto session = NewSession();
      ASSERT_NE(session, nullptr);
      absl::Status status;
      {
        const DescriptorLimit limit(more);
        TargetSetup setup;
        status = session->Prepare(is_local() ? nullptr : &setup);
        if (status.ok()) status = session->Start(target_);
      }
      Record();
      has_worked = status.ok();
      if (!has_worked) {
        ++refused;
        ExpectWords(status);
      }
    }
    ASSERT_EQ(ProcessState::NewSince(before, options_.scratch_dir), "")
        << "with " << more << " descriptors more";
    ExpectThatItWorks();
  }
  RecordProperty("refused", refused);
  EXPECT_TRUE(has_worked) << "more than " << kMost << " descriptors";
}

}  // namespace kymo
