#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "profiler/base/clock.h"
#include "profiler/plugin/backend_controller.h"
#include "profiler/plugin/kept_recording.h"
#include "profiler/plugin/registry.h"
#include "profiler/record/own_threads.h"

namespace kymo {
namespace {

class FakeSession : public ActivitySession {
 public:
  explicit FakeSession(std::string* calls, absl::Status start)
      : calls_(calls), start_(std::move(start)) {}
  absl::Status Prepare(TargetSetup*) override { return Note("prepare "); }
  absl::Status Start(pid_t) override {
    (void)Note("start ");
    return start_;
  }
  void Poll() override { (void)Note("poll "); }
  absl::Status Stop() override { return Note("stop "); }
  absl::StatusOr<Collected> Collect(model::TraceShard&) override {
    (void)Note("collect ");
    return Collected{};
  }

 private:
  absl::Status Note(const char* call) {
    *calls_ += call;
    return absl::OkStatus();
  }
  std::string* calls_;
  absl::Status start_;
};

// Its records do not fit into memory.
class LargeSession : public FakeSession {
 public:
  explicit LargeSession(std::string* calls)
      : FakeSession(calls, absl::OkStatus()) {}
  absl::StatusOr<Collected> Collect(model::TraceShard&) override {
    return Collected{KeptRecording{
        .path = "out/kymo.raw", .why = "too large", .window_bytes = 4'096}};
  }
  std::vector<std::string> Remarks() const override { return {"a remark"}; }
};

class FakeBackend : public ActivityBackend {
 public:
  explicit FakeBackend(std::string name, std::string device = "") {
    info_.name = std::move(name);
    info_.device = std::move(device);
  }
  const PluginInfo& info() const noexcept override { return info_; }
  std::vector<model::ActivityType> activity_types() const override {
    return {};
  }
  absl::Status Availability(const SessionOptions&) const override {
    return absl::OkStatus();
  }
  absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions&) override {
    return absl::UnimplementedError("fake");
  }

 private:
  PluginInfo info_;
};

TEST(BackendControllerTest, PassesOrderedCallsAndRejectsOthers) {
  std::string calls;
  BackendController controller(
      "fake", std::make_unique<FakeSession>(&calls, absl::OkStatus()));
  model::TraceShard shard;
  EXPECT_FALSE(controller.Start(1).ok());
  EXPECT_FALSE(controller.Stop().ok());
  EXPECT_FALSE(controller.Collect(shard).ok());
  EXPECT_TRUE(controller.Poll().ok());
  EXPECT_TRUE(controller.Prepare(nullptr).ok());
  EXPECT_FALSE(controller.Prepare(nullptr).ok());
  EXPECT_TRUE(controller.Start(1).ok());
  EXPECT_TRUE(controller.Poll().ok());
  EXPECT_TRUE(controller.Stop().ok());
  EXPECT_FALSE(controller.Stop().ok());
  const absl::StatusOr<Collected> collected = controller.Collect(shard);
  ASSERT_TRUE(collected.ok()) << collected.status();
  EXPECT_FALSE(collected->kept);
  EXPECT_FALSE(controller.Collect(shard).ok());
  EXPECT_EQ(calls, "prepare start poll stop collect ");
}

TEST(BackendControllerTest, FailureEndsTheSessionAndNamesTheBackend) {
  std::string calls;
  BackendController controller(
      "fake", std::make_unique<FakeSession>(
                  &calls, absl::PermissionDeniedError("no right")));
  EXPECT_TRUE(controller.Prepare(nullptr).ok());
  const absl::Status status = controller.Start(1);
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(status.message(), "backend fake: no right");
  EXPECT_FALSE(controller.Stop().ok());
  EXPECT_EQ(calls, "prepare start ");
}

TEST(BackendControllerTest, MemoryThatEndsInCollectIsAFailure) {
  class OutOfMemory : public FakeSession {
   public:
    explicit OutOfMemory(std::string* calls)
        : FakeSession(calls, absl::OkStatus()) {}
    absl::StatusOr<Collected> Collect(model::TraceShard&) override {
      throw std::bad_alloc();
    }
  };
  std::string calls;
  BackendController controller("fake", std::make_unique<OutOfMemory>(&calls));
  ASSERT_TRUE(controller.Prepare(nullptr).ok());
  ASSERT_TRUE(controller.Start(1).ok());
  ASSERT_TRUE(controller.Stop().ok());
  model::TraceShard shard;
  EXPECT_EQ(controller.Collect(shard).status().message(),
            "backend fake: not enough memory for what was recorded; record for "
            "a shorter time");
  EXPECT_TRUE(controller.Remarks().empty());
}

TEST(BackendControllerTest, WhatIsLeftInAFileIsCollected) {
  std::string calls;
  BackendController controller("fake", std::make_unique<LargeSession>(&calls));
  ASSERT_TRUE(controller.Prepare(nullptr).ok());
  ASSERT_TRUE(controller.Start(1).ok());
  ASSERT_TRUE(controller.Stop().ok());
  model::TraceShard shard;
  const absl::StatusOr<Collected> collected = controller.Collect(shard);
  ASSERT_TRUE(collected.ok()) << collected.status();
  ASSERT_TRUE(collected->kept);
  EXPECT_EQ(collected->kept->why, "backend fake: too large");
  EXPECT_EQ(collected->kept->path, "out/kymo.raw");
  EXPECT_EQ(collected->kept->window_bytes, 4'096);
  EXPECT_FALSE(controller.Collect(shard).ok());
  EXPECT_EQ(controller.Remarks(), (std::vector<std::string>{"a remark"}));
}

// Does what a test wants in each call.
class ScriptedSession : public ActivitySession {
 public:
  using Script = std::function<void(const std::string& call)>;

  ScriptedSession(Script script, DurationNs limit_ns,
                  std::atomic<bool>* is_gone = nullptr)
      : script_(std::move(script)), limit_ns_(limit_ns), is_gone_(is_gone) {}
  ~ScriptedSession() override {
    if (is_gone_ != nullptr) *is_gone_ = true;
  }
  absl::Status Prepare(TargetSetup*) override { return Run("Prepare"); }
  absl::Status Start(pid_t) override { return Run("Start"); }
  void Poll() override { (void)Run("Poll"); }
  absl::Status SetCollecting(bool) override { return Run("SetCollecting"); }
  absl::Status Dump(const std::string&) override { return Run("Dump"); }
  absl::Status Stop() override { return Run("Stop"); }
  DurationNs StopLimitNs() const noexcept override { return limit_ns_; }
  absl::StatusOr<Collected> Collect(model::TraceShard&) override {
    (void)Run("Collect");
    return Collected{};
  }
  std::vector<std::string> Remarks() const override {
    (void)Run("Remarks");
    return {};
  }

 private:
  absl::Status Run(const char* call) const {
    script_(call);
    return absl::OkStatus();
  }
  const Script script_;
  const DurationNs limit_ns_;
  std::atomic<bool>* const is_gone_;
};

// Makes every call in order and returns the errors.
std::vector<std::string> ErrorsOf(BackendController& controller) {
  std::vector<std::string> errors;
  const auto add = [&](const absl::Status& status) {
    if (!status.ok() && !absl::IsFailedPrecondition(status)) {
      errors.emplace_back(status.message());
    }
  };
  model::TraceShard shard;
  add(controller.Prepare(nullptr));
  add(controller.Start(1));
  add(controller.Poll());
  add(controller.SetCollecting(true));
  add(controller.Dump("file"));
  add(controller.Stop());
  add(controller.Collect(shard).status());
  for (std::string& remark : controller.Remarks()) {
    errors.push_back(std::move(remark));
  }
  return errors;
}

TEST(BackendControllerTest, AnExceptionOfAnyCallIsItsError) {
  for (const std::string throwing :
       {"Prepare", "Start", "Poll", "SetCollecting", "Dump", "Stop", "Collect",
        "Remarks"}) {
    std::vector<std::string> calls;
    BackendController controller("odd",
                                 std::make_unique<ScriptedSession>(
                                     [&](const std::string& call) {
                                       calls.push_back(call);
                                       if (call == throwing)
                                         throw std::runtime_error("no luck");
                                     },
                                     kStopLimitNs));
    EXPECT_EQ(ErrorsOf(controller),
              (std::vector<std::string>{"backend odd: " + throwing +
                                        " threw an exception: no luck"}));
    EXPECT_EQ(calls.back(), throwing) << "gets no more calls";
    EXPECT_EQ(controller.has_failed(), throwing != "Remarks") << throwing;
  }
}

TEST(BackendControllerTest, WhateverIsThrownIsAnError) {
  const auto error_of = [](std::function<void()> thrower) {
    BackendController controller(
        "odd", std::make_unique<ScriptedSession>(
                   [&](const std::string&) { thrower(); }, kStopLimitNs));
    return controller.Prepare(nullptr);
  };
  EXPECT_EQ(error_of([] { throw 5; }).message(),
            "backend odd: Prepare threw an exception that says no reason");
  EXPECT_EQ(error_of([] { throw 5; }).code(), absl::StatusCode::kUnknown);
  EXPECT_EQ(error_of([] { throw std::bad_alloc(); }).message(),
            "backend odd: Prepare ran out of memory");
}

TEST(BackendControllerTest, AStopWithALimitHasAThreadOfItsOwn) {
  for (const DurationNs limit_ns : {kNoStopLimit, kStopLimitNs}) {
    std::thread::id stopped_by, started_by;
    BackendController controller(
        "odd", std::make_unique<ScriptedSession>(
                   [&](const std::string& call) {
                     if (call == "Start")
                       started_by = std::this_thread::get_id();
                     if (call == "Stop")
                       stopped_by = std::this_thread::get_id();
                   },
                   limit_ns));
    EXPECT_EQ(ErrorsOf(controller), std::vector<std::string>());
    EXPECT_EQ(stopped_by == started_by, limit_ns == kNoStopLimit);
  }
}

// While it lives, four threads share the CPU with this one.
class BusyCpu {
 public:
  BusyCpu() {
    cpu_set_t cpu;
    CPU_ZERO(&cpu);
    CPU_SET(sched_getcpu(), &cpu);
    sched_setaffinity(0, sizeof(cpu), &cpu);  // threads inherit it
    for (int i = 0; i < 4; ++i) {
      threads_.emplace_back([this] {
        while (!may_end_) {
        }
      });
    }
  }
  ~BusyCpu() {
    may_end_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> may_end_ = false;
  std::vector<std::thread> threads_;
};

TEST(BackendControllerTest, TimeWithoutACpuDoesNotCountAgainstStop) {
  char thread[16] = "";
  const auto stop = [&thread](const std::string& call) {
    if (call != "Stop") return;
    pthread_getname_np(pthread_self(), thread, sizeof(thread));
    const BusyCpu busy;
    while (ThreadCpuNs() < 150 * kNsPerMs) {
    }
  };
  BackendController controller(
      "busy", std::make_unique<ScriptedSession>(stop, 400 * kNsPerMs), nullptr);
  ASSERT_TRUE(controller.Prepare(nullptr).ok());
  ASSERT_TRUE(controller.Start(1).ok());
  const absl::Status status = controller.Stop();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(record::IsThreadOfKymo(thread)) << thread;
}

TEST(BackendControllerTest, AStopThatHangsIsGivenUpAndItsSessionKept) {
  EXPECT_LT(kStopLimitNs, 10 * kNsPerSecond);
  // Outlives the test, as the thread in Stop may.
  struct Shared {
    std::atomic<bool> may_return = false, has_returned = false;
    std::atomic<bool> is_gone = false;
  };
  auto& shared = *new Shared;
  auto backend = std::make_shared<int>(7);
  const std::weak_ptr<int> kept = backend;
  {
    BackendController controller("slow",
                                 std::make_unique<ScriptedSession>(
                                     [&shared](const std::string& call) {
                                       if (call != "Stop") return;
                                       shared.may_return.wait(false);
                                       shared.has_returned = true;
                                       shared.has_returned.notify_all();
                                     },
                                     20 * kNsPerMs, &shared.is_gone),
                                 std::move(backend));
    ASSERT_TRUE(controller.Prepare(nullptr).ok());
    ASSERT_TRUE(controller.Start(1).ok());
    const absl::Status status = controller.Stop();
    EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_EQ(status.message().find(
                  "backend slow: Stop did not return within 20 ms. "),
              0u)
        << status;
    EXPECT_TRUE(controller.has_failed());
    model::TraceShard shard;
    EXPECT_FALSE(controller.Collect(shard).ok());
    EXPECT_FALSE(controller.Stop().ok());
    EXPECT_TRUE(controller.Remarks().empty());
  }
  EXPECT_FALSE(shared.is_gone) << "its thread is in Stop";
  shared.may_return = true;
  shared.may_return.notify_all();
  shared.has_returned.wait(false);
  EXPECT_FALSE(shared.is_gone);
  EXPECT_FALSE(kept.expired()) << "the session may use its backend";
}

TEST(PluginRegistryTest, ASharedPluginOutlivesTheRegistry) {
  std::shared_ptr<ActivityBackend> backend;
  {
    BackendRegistry registry;
    ASSERT_TRUE(registry.Register(std::make_unique<FakeBackend>("ant")).ok());
    backend = registry.Share("ant");
    EXPECT_EQ(registry.Share("bee"), nullptr);
  }
  EXPECT_EQ(backend->info().name, "ant");
}

TEST(PluginRegistryTest, ListsSortedAndRejectsDuplicatesAndOddNames) {
  BackendRegistry registry;
  EXPECT_TRUE(registry.Register(std::make_unique<FakeBackend>("zebra")).ok());
  EXPECT_TRUE(registry.Register(std::make_unique<FakeBackend>("ant")).ok());
  EXPECT_EQ(registry.Register(std::make_unique<FakeBackend>("ant")).code(),
            absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(registry.Register(std::make_unique<FakeBackend>("Ant")).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(registry.Register(std::make_unique<FakeBackend>("")).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(registry.Names(), "ant, zebra");
  EXPECT_EQ(registry.List().front()->info().name, "ant");
  EXPECT_EQ(registry.Find("none"), nullptr);
}

TEST(PluginRegistryTest, RejectsOddNamesOfDevices) {
  BackendRegistry registry;
  EXPECT_TRUE(
      registry.Register(std::make_unique<FakeBackend>("good", "npu")).ok());
  const absl::Status odd =
      registry.Register(std::make_unique<FakeBackend>("odd", "NPU"));
  EXPECT_EQ(odd.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(odd.message(),
            "plugin odd: the name of its device, 'NPU', is not lower_snake");
  EXPECT_EQ(registry.Names(), "good");
}

}  // namespace
}  // namespace kymo
