// Runs the conformance suite on a small backend that has everything the suite
// looks at: a thread, a descriptor, a file, a bounded buffer and a setting.
//
// KYMO_TEST_FAULT names a fault that the backend then has.
// backend_conformance_faults_test.sh sees that a test fails for each.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/base/clock.h"
#include "profiler/plugin/test_backend_conformance.h"
#include "tests/support/test_shard.h"

namespace kymo {
namespace {

bool HasFault(const char* fault) {
  const char* const wanted = getenv("KYMO_TEST_FAULT");
  return wanted != nullptr && std::string(wanted) == fault;
}

struct TickSettings {
  int64_t capacity = 1'000'000;
};

SettingTable<TickSettings> TickTable() {
  return SettingTable<TickSettings>(
      "ticks", {{.name = "capacity",
                 .value = setting::Integer(&TickSettings::capacity, 1,
                                           HasFault("setting") ? 10 : 1 << 20),
                 .purpose = "The most ticks of a session."}});
}

class TickSession;

// The hook of the source: who records, if anybody does.
struct Source {
  std::mutex lock;
  TickSession* session = nullptr;
} source;

// A thread that waits until it is destroyed.
class Worker {
 public:
  Worker() : thread_(&Worker::Run, this) {}
  ~Worker() {
    {
      const std::lock_guard<std::mutex> locked(lock_);
      is_over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  void Run() {
    std::unique_lock<std::mutex> locked(lock_);
    changed_.wait(locked, [this] { return is_over_; });
  }

  std::mutex lock_;
  std::condition_variable changed_;
  bool is_over_ = false;  // needs lock_
  std::thread thread_;    // uses the others
};

class TickSession : public ActivitySession {
 public:
  TickSession(const TickSettings& settings, const std::string& folder)
      : settings_(settings) {
    static std::atomic<int> sessions = 0;
    path_ = absl::StrCat(folder, "/ticks-", ++sessions);
  }
  ~TickSession() override {
    const bool was_live = is_live_;
    (void)End();
    if (was_live && HasFault("stays live")) {
      static auto& ghost = *new TickSession({}, "");
      source.session = &ghost;
    }
  }

  absl::Status Prepare(TargetSetup*) override {
    first_ = eventfd(0, EFD_CLOEXEC);
    second_ = eventfd(0, EFD_CLOEXEC);
    if (first_ >= 0 && second_ >= 0) return absl::OkStatus();
    if (HasFault("unprepared")) first_ = -1;  // forgets to close it
    return absl::ResourceExhaustedError(
        "no more descriptors; raise the limit (ulimit -n)");
  }

  absl::Status Start(pid_t) override {
    {
      const std::lock_guard<std::mutex> locked(source.lock);
      if (source.session != nullptr) {
        return HasFault("no reason") ? absl::InternalError("")
                                     : absl::FailedPreconditionError(
                                           "another session counts ticks");
      }
      source.session = this;
    }
    is_live_ = true;
    pid_ = getpid();
    if (FILE* const file = fopen(path_.c_str(), "w")) fclose(file);
    worker_ = std::make_unique<Worker>();
    if (HasFault("thread")) std::thread(pause).detach();
    return absl::OkStatus();
  }

  absl::Status Stop() override { return End(); }

  absl::StatusOr<Collected> Collect(model::TraceShard& shard) override {
    TestShard t;
    const model::TrackIndex track = t.AddThread(getpid(), gettid(), "ticks");
    for (const TimeNs time : times_) t.AddInstant(track, "tick", time);
    shard = std::move(t).Build();
    if (!HasFault("uncounted")) {
      shard.ledger.Add(model::Loss::kEventsDroppedArenaFull, lost_);
    }
    return Collected{};
  }

  // REQUIRES: source.lock is held.
  void Tick() {
    if (static_cast<int64_t>(times_.size()) >= settings_.capacity) {
      ++lost_;
      return;
    }
    times_.push_back(MonotonicNs() + EpochOffsetNs() +
                     (HasFault("future") ? kNsPerSecond : 0));
  }

 private:
  absl::Status End() {
    if (is_live_) {
      {
        const std::lock_guard<std::mutex> locked(source.lock);
        source.session = nullptr;
      }
      is_live_ = false;
      if (pid_ == getpid()) {
        worker_ = nullptr;
        if (!HasFault("file")) unlink(path_.c_str());
      } else {
        // It is the parent's. Its destructor would wait for ever.
        (void)worker_.release();
      }
    }
    if (first_ >= 0 && !HasFault("descriptor")) close(first_);
    if (second_ >= 0) close(second_);
    first_ = second_ = -1;
    return absl::OkStatus();
  }

  const TickSettings settings_;
  std::string path_;
  int first_ = -1, second_ = -1;
  bool is_live_ = false;
  pid_t pid_ = 0;
  std::unique_ptr<Worker> worker_;
  std::vector<TimeNs> times_;
  uint64_t lost_ = 0;
};

void Tick() {
  const std::lock_guard<std::mutex> locked(source.lock);
  if (source.session != nullptr) source.session->Tick();
}

class TickBackend : public ActivityBackend {
 public:
  const PluginInfo& info() const noexcept override { return info_; }
  std::vector<model::ActivityType> activity_types() const override {
    static int calls = 0;
    if (HasFault("unstable") && ++calls % 2 == 0) return {};
    return {model::ActivityType::kCpuInstantEvent};
  }
  absl::Status Availability(const SessionOptions&) const override {
    return absl::OkStatus();
  }
  absl::StatusOr<std::unique_ptr<ActivitySession>> NewSession(
      const SessionOptions& options) override {
    const auto settings = TickTable().Read(options.settings);
    if (!settings.ok()) return settings.status();
    return std::make_unique<TickSession>(*settings, options.scratch_dir);
  }

 private:
  const PluginInfo info_ = {.name = "ticks",
                            .purpose = "ticks of the test",
                            .settings = TickTable().infos()};
};

KYMO_TEST_BACKEND(Ticks, {.make = std::make_unique<TickBackend>,
                          .record =
                              [] {
                                static const pid_t parent = getpid();
                                if (HasFault("fork") && getpid() != parent) {
                                  abort();
                                }
                                Tick();
                              },
                          .small_buffers = {{"ticks_capacity", "10"}},
                          .overflow_calls = 100,
                          .time_per_test = std::chrono::milliseconds(500)});

}  // namespace
}  // namespace kymo
