// bad_plugin_test.cc - recordings with plugins that throw, hang or lie.
//
// Long, because one scripted backend does each of these at every step.
#include "profiler/session/recording.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "kymo/backend_plugin.h"
#include "profiler/base/clock.h"
#include "profiler/plugin/library/backend_library.h"
#include "tests/support/test_shard.h"

namespace kymo {
namespace {

// What a backend of a user does in each call.
struct Script {
  std::function<void(const std::string& call)> on_call = [](const auto&) {};
  std::function<void(model::TraceShard& shard)> fill = [](auto&) {};
  DurationNs poll_period_ns = kPollPeriodNs;
  DurationNs stop_limit_ns = kStopLimitNs;
  std::atomic<bool>* is_gone = nullptr;          // the session
  std::atomic<bool>* is_backend_gone = nullptr;  // the backend
  bool makes_no_session = false;
};

class ScriptedSession : public ActivitySession {
 public:
  explicit ScriptedSession(const Script& script) : script_(script) {}
  ~ScriptedSession() override {
    if (script_.is_gone != nullptr) *script_.is_gone = true;
  }
  absl::Status Prepare(TargetSetup*) override { return Run("Prepare"); }
  absl::Status Start(pid_t) override { return Run("Start"); }
  void Poll() override { (void)Run("Poll"); }
  DurationNs PollPeriodNs() const noexcept override {
    return script_.poll_period_ns;
  }
  absl::Status SetCollecting(bool) override { return Run("SetCollecting"); }
  absl::Status Dump(const std::string&) override { return Run("Dump"); }
  absl::Status Stop() override { return Run("Stop"); }
  DurationNs StopLimitNs() const noexcept override {
    return script_.stop_limit_ns;
  }
  absl::StatusOr<Collected> Collect(model::TraceShard& shard) override {
    script_.fill(shard);
    (void)Run("Collect");
    return Collected{};
  }
  std::vector<std::string> Remarks() const override {
    (void)Run("Remarks");
    return {};
  }

 private:
  absl::Status Run(const char* call) const {
    script_.on_call(call);
    return absl::OkStatus();
  }
  const Script script_;
};

class ScriptedBackend : public ActivityBackend {
 public:
  ScriptedBackend(std::string name, Script script)
      : script_(std::move(script)) {
    info_.name = std::move(name);
  }
  ~ScriptedBackend() override {
    if (script_.is_backend_gone != nullptr) *script_.is_backend_gone = true;
  }
  const PluginInfo& info() const noexcept override { return info_; }
  std::vector<model::ActivityType> activity_types() const override {
    return {};
  }
  absl::Status Availability(const SessionOptions&) const override {
    script_.on_call("Availability");
    return absl::OkStatus();
  }
  std::string Limitation(const SessionOptions&) const override {
    script_.on_call("Limitation");
    return {};
  }
  absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions&) override {
    script_.on_call("NewSession");
    if (script_.makes_no_session) return nullptr;
    return std::make_unique<ScriptedSession>(script_);
  }

 private:
  const Script script_;
  PluginInfo info_;
};

// A recording with the backend `bad`, which follows a script, and `good`, which
// counts a lost sample to be recognised by.
class BadPluginTest : public ::testing::Test {
 protected:
  void Record(Script script, const std::vector<std::string>& names = {},
              std::unique_ptr<ActivityBackend> another = nullptr) {
    registry_ = std::make_unique<BackendRegistry>();
    if (another != nullptr) {
      EXPECT_TRUE(registry_->Register(std::move(another)).ok());
    }
    EXPECT_TRUE(registry_
                    ->Register(std::make_unique<ScriptedBackend>(
                        "bad", std::move(script)))
                    .ok());
    EXPECT_TRUE(registry_
                    ->Register(std::make_unique<ScriptedBackend>(
                        "good", Script{.fill =
                                           [](model::TraceShard& shard) {
                                             shard.ledger.Add(
                                                 model::Loss::kSamplesLost, 1);
                                           },
                                       .stop_limit_ns = kNoStopLimit}))
                    .ok());
    auto recording = Recording::Create(*registry_, names, {});
    ASSERT_TRUE(recording.ok()) << recording.status();
    recording_ = *std::move(recording);
    EXPECT_TRUE(recording_->Prepare(nullptr).ok());
    EXPECT_TRUE(recording_->Start(1).ok());
    recording_->Poll();
    (void)recording_->SetCollecting("bad", true);
    (void)recording_->Dump("file");
    EXPECT_TRUE(recording_->Stop().ok());
    stopped_ns_ = MonotonicNs() + EpochOffsetNs();
    trace_.emplace(recording_->Finish({}).trace);
    ASSERT_TRUE(trace_->ok()) << trace_->status();
    EXPECT_EQ((*trace_)->ledger().Get(model::Loss::kSamplesLost), 1);
    const absl::Status valid = ValidateTrace(**trace_);
    EXPECT_TRUE(valid.ok()) << valid;
  }

  // What the recording says about itself.
  std::vector<std::string> Said() const {
    std::vector<std::string> said;
    for (const absl::Status& problem : recording_->problems()) {
      said.emplace_back(problem.message());
    }
    for (std::string& remark : recording_->Remarks()) {
      said.push_back(std::move(remark));
    }
    return said;
  }

  std::unique_ptr<BackendRegistry> registry_;
  std::unique_ptr<Recording> recording_;
  TimeNs stopped_ns_ = 0;
  std::optional<absl::StatusOr<model::Trace>> trace_;
};

TEST_F(BadPluginTest, WithoutABackendThatThrowsTheRecordingGoesOn) {
  for (const std::string throwing :
       {"Availability", "NewSession", "Limitation", "Prepare", "Start", "Poll",
        "SetCollecting", "Dump", "Stop", "Collect", "Remarks"}) {
    for (const bool is_named : {false, true}) {
      SCOPED_TRACE(throwing);
      Record({.on_call =
                  [&](const std::string& call) {
                    if (call == throwing) throw std::runtime_error("no luck");
                  }},
             is_named ? std::vector<std::string>{"bad", "good"}
                      : std::vector<std::string>());
      if (HasFatalFailure()) return;
      const bool is_made = throwing != "Availability" &&
                           throwing != "NewSession" && throwing != "Limitation";
      EXPECT_EQ(
          Said(),
          (std::vector<std::string>{
              "backend bad: " + (is_made ? throwing : "making its session") +
              " threw an exception: no luck"}));
    }
  }
}

// Each function of a library (kymo/backend_plugin.h) calls it.
int calls_until_throw = 0;
uint32_t ThrowWhenItIsTime() {
  if (calls_until_throw-- == 0) throw std::runtime_error("no luck");
  return KYMO_OK;
}

TEST_F(BadPluginTest, WithoutALibraryThatThrowsTheRecordingGoesOn) {
  KymoBackendPlugin plugin = {};
  plugin.struct_size = sizeof(plugin);
  plugin.version = KYMO_PLUGIN_VERSION;
  plugin.name = "loaded";
  plugin.purpose = "a backend of a test";
  plugin.availability = [](const KymoSessionOptions*, char*, size_t) {
    return ThrowWhenItIsTime();
  };
  plugin.create = [](const KymoSessionOptions*, void**, char*, size_t) {
    return ThrowWhenItIsTime();
  };
  plugin.limitation = [](const KymoSessionOptions*, char*, size_t) {
    ThrowWhenItIsTime();
  };
  plugin.prepare = [](void*, const KymoTargetSetup*, char*, size_t) {
    return ThrowWhenItIsTime();
  };
  plugin.start = [](void*, int64_t, char*, size_t) {
    return ThrowWhenItIsTime();
  };
  plugin.poll = [](void*) { ThrowWhenItIsTime(); };
  plugin.stop = [](void*, char*, size_t) { return ThrowWhenItIsTime(); };
  plugin.collect = [](void*, const KymoRecords*, char*, size_t) {
    return ThrowWhenItIsTime();
  };
  plugin.destroy = [](void*) { throw 6; };
  // In the order of the calls.
  const std::vector<std::string> calls = {"making its session",
                                          "making its session",
                                          "making its session",
                                          "Prepare",
                                          "Start",
                                          "Poll",
                                          "Stop",
                                          "Collect"};
  for (size_t i = 0; i < calls.size(); ++i) {
    SCOPED_TRACE(i);
    auto loaded = AdaptBackend(&plugin, "./libloaded.so");
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    calls_until_throw = static_cast<int>(i);
    Record({}, {"good", "loaded"}, *std::move(loaded));
    if (HasFatalFailure()) return;
    EXPECT_EQ(Said(), std::vector<std::string>{"backend loaded: " + calls[i] +
                                               " threw an exception: no luck"});
  }
}

TEST_F(BadPluginTest, ABackendThatMakesNoSessionIsNamed) {
  BackendRegistry registry;
  ASSERT_TRUE(registry
                  .Register(std::make_unique<ScriptedBackend>(
                      "bad", Script{.makes_no_session = true}))
                  .ok());
  EXPECT_EQ(Recording::Create(registry, {"bad"}, {}).status().message(),
            "backend bad made no session and gave no reason; report this to "
            "the backend's author");
}

TEST_F(BadPluginTest, WithoutAnyBackendThatWorksTheFirstProblemIsSaid) {
  for (const std::string throwing : {"NewSession", "Poll"}) {
    BackendRegistry registry;
    ASSERT_TRUE(registry
                    .Register(std::make_unique<ScriptedBackend>(
                        "bad", Script{.on_call =
                                          [&](const std::string& call) {
                                            if (call == throwing) throw 5;
                                          }}))
                    .ok());
    auto recording = Recording::Create(registry, {"bad"}, {});
    if (throwing == "NewSession") {
      EXPECT_EQ(recording.status().message(),
                "backend bad: making its session threw an exception that says "
                "no reason");
      continue;
    }
    ASSERT_TRUE(recording.ok()) << recording.status();
    ASSERT_TRUE((*recording)->Prepare(nullptr).ok());
    ASSERT_TRUE((*recording)->Start(1).ok());
    (*recording)->Poll();
    const std::string problem =
        "backend bad: Poll threw an exception that says no reason";
    EXPECT_EQ((*recording)->Stop().message(), problem);
    EXPECT_EQ((*recording)->Finish({}).trace.status().message(), problem);
  }
}

TEST_F(BadPluginTest, TheBackendThatPollsMostOftenCountsUntilItFails) {
  BackendRegistry registry;
  const auto add = [&](const char* name, Script script) {
    ASSERT_TRUE(
        registry.Register(std::make_unique<ScriptedBackend>(name, script))
            .ok());
  };
  add("often", {.on_call =
                    [](const std::string& call) {
                      if (call == "Poll") throw 5;
                    },
                .poll_period_ns = 0});  // more often than anybody polls
  add("seldom", {.poll_period_ns = 10 * kPollPeriodNs});
  auto recording = Recording::Create(registry, {"often", "seldom"}, {});
  ASSERT_TRUE(recording.ok()) << recording.status();
  ASSERT_TRUE((*recording)->Prepare(nullptr).ok());
  ASSERT_TRUE((*recording)->Start(1).ok());
  EXPECT_EQ((*recording)->PollPeriodNs(), kNsPerMs);
  (*recording)->Poll();
  EXPECT_EQ((*recording)->PollPeriodNs(), kPollPeriodNs);
}

TEST_F(BadPluginTest, WithoutABackendWhoseStopHangsTheRecordingGoesOn) {
  // Outlives the test, as the thread in Stop may.
  struct Shared {
    std::atomic<bool> may_return = false, has_returned = false;
    std::atomic<bool> is_gone = false, is_backend_gone = false;
  };
  auto& shared = *new Shared;
  Record({.on_call =
              [&shared](const std::string& call) {
                if (call != "Stop") return;
                shared.may_return.wait(false);
                shared.has_returned = true;
                shared.has_returned.notify_all();
              },
          .stop_limit_ns = 20 * kNsPerMs,
          .is_gone = &shared.is_gone,
          .is_backend_gone = &shared.is_backend_gone});
  if (HasFatalFailure()) return;
  ASSERT_EQ(Said().size(), 1u);
  EXPECT_EQ(Said()[0].find("backend bad: Stop did not return within 20 ms. "),
            0u)
      << Said()[0];
  EXPECT_EQ(recording_->backends(), std::vector<std::string>{"good"});
  // Nothing was recorded while Stop was waited for.
  EXPECT_LE(recording_->end_ns() + 20 * kNsPerMs, stopped_ns_);
  EXPECT_EQ((*trace_)->end_ns(), recording_->end_ns());
  // The thread in Stop uses its session and backend after all this is gone.
  recording_ = nullptr;
  registry_ = nullptr;
  shared.may_return = true;
  shared.may_return.notify_all();
  shared.has_returned.wait(false);
  EXPECT_FALSE(shared.is_gone);
  EXPECT_FALSE(shared.is_backend_gone);
}

TEST_F(BadPluginTest, TimesOutsideOfTheRecordingAreDroppedCountedAndSaid) {
  const TimeNs now = MonotonicNs() + EpochOffsetNs();
  constexpr TimeNs kHour = 3'600 * kNsPerSecond;
  Record({.fill = [&](model::TraceShard& shard) {
    TestShard t;
    const model::TrackIndex track = t.AddThread(1, 1, "main");
    // While it records, `now` is over and Stop has not been called.
    for (const TimeNs time :
         {now - kHour, now + kHour, std::numeric_limits<TimeNs>::max(),
          std::numeric_limits<TimeNs>::min()}) {
      t.AddInstant(track, "elsewhere", time);
      t.AddSample(track, time, 1, {"main"});
      t.shard().counters.push_back(
          {.track = track, .name = t.Intern("counter"), .time_ns = time});
      t.shard().memory.push_back({.track = track, .time_ns = time});
    }
    // Begins within the recording, and ends long after it.
    t.AddRange(track, "inside", recording_->end_ns(), now + kHour);
    shard = std::move(t).Build();
  }});
  if (HasFatalFailure()) return;
  const model::Trace& trace = **trace_;
  ASSERT_EQ(trace.event_count(), 1u);
  EXPECT_EQ(trace.EventName(0), "inside");
  EXPECT_EQ(trace.end()[0], recording_->end_ns());
  EXPECT_TRUE(trace.samples().empty());
  EXPECT_TRUE(trace.counters().empty());
  EXPECT_TRUE(trace.memory().empty());
  EXPECT_EQ(trace.ledger().Get(model::Loss::kEventsOutOfWindow), 16);
  EXPECT_EQ(Said(),
            std::vector<std::string>{
                "backend bad: 16 of its records are left out, because their "
                "times are before the start or after the end of the recording; "
                "report this to the backend's author"});
  EXPECT_EQ(recording_->backends(), (std::vector<std::string>{"bad", "good"}));
}

TEST_F(BadPluginTest, OneRecordOutsideIsSaidToo) {
  Record({.fill = [&](model::TraceShard& shard) {
    TestShard t;
    const model::TrackIndex track = t.AddThread(1, 1, "main");
    t.AddInstant(track, "early", recording_->start_ns() - 1);
    t.AddInstant(track, "first", recording_->start_ns());
    t.AddInstant(track, "last", recording_->end_ns());
    shard = std::move(t).Build();
  }});
  if (HasFatalFailure()) return;
  EXPECT_LT((*trace_)->start_ns(), (*trace_)->end_ns());
  EXPECT_EQ((*trace_)->event_count(), 2u);
  ASSERT_EQ(Said().size(), 1u);
  EXPECT_EQ(Said()[0].find("backend bad: 1 of its records"), 0u) << Said()[0];
}

// --- Times and files ---

TEST_F(BadPluginTest, TheTraceMayBeginWithTheFirstRecordButNotEarlier) {
  for (const TimeNs offset : {TimeNs{-5}, TimeNs{0}, TimeNs{3}}) {
    BackendRegistry registry;
    std::unique_ptr<Recording> recording;
    const Script script = {.fill = [&](model::TraceShard& shard) {
      TestShard t;
      const model::TrackIndex track = t.AddThread(1, 1, "main");
      t.AddInstant(track, "first", recording->start_ns() + offset);
      shard = std::move(t).Build();
    }};
    ASSERT_TRUE(
        registry.Register(std::make_unique<ScriptedBackend>("one", script))
            .ok());
    for (const bool begins_with_it : {false, true}) {
      recording = *Recording::Create(registry, {}, {});
      if (begins_with_it) recording->BeginWithFirstEvent();
      ASSERT_TRUE(recording->Prepare(nullptr).ok());
      ASSERT_TRUE(recording->Start(1).ok());
      ASSERT_TRUE(recording->Stop().ok());
      const TimeNs start_ns = recording->start_ns();
      const absl::StatusOr<model::Trace> trace = recording->Finish({}).trace;
      ASSERT_TRUE(trace.ok()) << trace.status();
      EXPECT_EQ(trace->start_ns() - start_ns,
                begins_with_it && offset > 0 ? offset : 0)
          << offset;
    }
  }
}

TEST_F(BadPluginTest, AMillionRecordsOutOfOrderAreSorted) {
  constexpr size_t kRecords = 1'000'000;
  Record({.fill = [&](model::TraceShard& shard) {
    // Within the recording there may be fewer nanoseconds than records.
    const TimeNs first = recording_->start_ns();
    const auto within =
        static_cast<size_t>(recording_->end_ns() - first) + size_t{1};
    std::vector<TimeNs> times(kRecords);
    for (size_t i = 0; i < kRecords; ++i) {
      times[i] = first + static_cast<TimeNs>(i % within);
    }
    std::shuffle(times.begin(), times.end(), std::mt19937(7));
    TestShard t;
    const model::TrackIndex track = t.AddThread(1, 1, "main");
    for (const TimeNs time : times) t.AddInstant(track, "instant", time);
    shard = std::move(t).Build();
  }});
  if (HasFatalFailure()) return;
  const model::Trace& trace = **trace_;
  EXPECT_EQ(trace.event_count(), kRecords);
  EXPECT_TRUE(std::is_sorted(trace.start().begin(), trace.start().end()));
  EXPECT_EQ(trace.ledger().Get(model::Loss::kEventsOutOfWindow), 0);
  EXPECT_EQ(Said(), std::vector<std::string>());
}

}  // namespace
}  // namespace kymo
