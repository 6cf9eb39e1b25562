#include "profiler/plugin/stop_within.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/clock.h"
#include "profiler/base/signals_blocked.h"
#include "profiler/plugin/guarded_call.h"
#include "profiler/processes/schedstat.h"
#include "profiler/record/own_threads.h"

namespace kymo {
namespace {

absl::Status StopNow(ActivitySession& session) {
  return GuardedCall("Stop", [&] { return session.Stop(); });
}

// How long a thread of this process has been ready to run, but without a CPU;
// 0 if the kernel does not say.
DurationNs WaitedForCpuNs(pid_t tid) {
  const auto stat = processes::ReadSchedStat(getpid(), tid);
  return stat ? stat->waited_ns : 0;
}

// A call of Stop, and everything that its thread uses.
struct Stopping {
  std::unique_ptr<ActivitySession> session;
  std::shared_ptr<const void> keeps;
  std::atomic<pid_t> tid = 0;
  Stopping* kept_before = nullptr;  // see KeepForEver

  std::mutex lock;
  std::condition_variable changed;
  std::optional<absl::Status> result;  // needs the lock

  void Run() {
    tid = gettid();
    pthread_setname_np(pthread_self(), record::kStopThread);
    absl::Status status = StopNow(*session);
    const std::lock_guard<std::mutex> locked(lock);
    result = std::move(status);
    changed.notify_all();
  }

  bool Await(DurationNs limit_ns) {
    constexpr int kMostTimesLimit = 20;
    const int64_t begin_ns = MonotonicNs();
    DurationNs left_ns = limit_ns;
    std::unique_lock<std::mutex> locked(lock);
    while (!changed.wait_for(locked, std::chrono::nanoseconds(left_ns),
                             [this] { return result.has_value(); })) {
      const DurationNs without_cpu_ns =
          std::min(WaitedForCpuNs(tid), limit_ns * (kMostTimesLimit - 1));
      left_ns = limit_ns + without_cpu_ns - (MonotonicNs() - begin_ns);
      if (left_ns <= 0) return false;
    }
    return true;
  }
};

// Keeps it for ever. The list is there for leak checkers: they report only
// memory that nobody can reach.
void KeepForEver(std::unique_ptr<Stopping> stopping) {
  static constinit std::atomic<Stopping*> last{nullptr};
  stopping->kept_before = last;
  while (!last.compare_exchange_weak(stopping->kept_before, stopping.get())) {
  }
  stopping.release();
}

std::thread RunOnThread(Stopping& stopping) {
  const SignalsBlocked blocked;
  try {
    return std::thread(&Stopping::Run, &stopping);
  } catch (const std::system_error&) {
    return {};
  }
}

}  // namespace

absl::Status StopWithin(DurationNs limit_ns,
                        std::unique_ptr<ActivitySession>& session,
                        const std::shared_ptr<const void>& keeps) {
  if (limit_ns == kNoStopLimit) return StopNow(*session);
  auto stopping = std::make_unique<Stopping>();
  stopping->session = std::move(session);
  stopping->keeps = keeps;
  std::thread thread = RunOnThread(*stopping);
  if (!thread.joinable()) {
    session = std::move(stopping->session);
    return StopNow(*session);
  }
  if (!stopping->Await(limit_ns)) {
    thread.detach();
    KeepForEver(std::move(stopping));
    return absl::DeadlineExceededError(absl::StrCat(
        "Stop did not return within ", limit_ns / kNsPerMs,
        " ms. The recording goes on without this backend. Its session may go "
        "on recording, and its memory and the thread in Stop stay until this "
        "process ends; report this to the backend's author"));
  }
  thread.join();
  session = std::move(stopping->session);
  return *std::move(stopping->result);
}

}  // namespace kymo
