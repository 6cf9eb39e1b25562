// Records processes that run already: as whoever runs this test, and as an
// ordinary user, for whom each thread has events of its own.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "backends/builtin/builtin_backends.h"
#include "profiler/base/clock.h"
#include "profiler/base/time.h"
#include "profiler/model/loss_ledger.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/registry.h"
#include "profiler/session/recording.h"
#include "tests/support/test_threads.h"

namespace kymo {
namespace {

constexpr int kBefore = 4;  // threads that run already
constexpr int kParts = kBefore + 3;
constexpr const char* kNames[kParts] = {
    "before0", "before1", "before2", "before3", "born", "grandborn", "child"};

// What the target and the test share.
struct Shared {
  std::atomic<int> running = 0;
  std::atomic<bool> begin_more = false;
  std::atomic<bool> is_recorded = false;
  std::atomic<bool> is_over = false;
  // The CPU time of each part while it was recorded.
  std::atomic<int64_t> cpu_ns[kParts] = {};
  std::atomic<int> done = 0;
};

void Burn(Shared& shared, int part) {
  prctl(PR_SET_NAME, kNames[part]);
  ++shared.running;
  while (!shared.is_recorded) usleep(100);
  const int64_t begin_ns = ThreadCpuNs();
  const pid_t parent = getppid();
  while (!shared.is_over && getppid() == parent) {
    for (volatile int i = 0; i < 10'000;) i = i + 1;
  }
  shared.cpu_ns[part] = ThreadCpuNs() - begin_ns;
  ++shared.done;
}

[[noreturn]] void RunTarget(Shared& shared) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<std::thread> threads;
  for (int i = 0; i < kBefore; ++i) {
    threads.emplace_back([&, i] {
      if (i == 0) {
        // A thread that was there before begins one that begins another.
        while (!shared.begin_more) usleep(100);
        std::thread([&] {
          std::thread([&] { Burn(shared, kBefore + 1); }).detach();
          Burn(shared, kBefore);
        }).detach();
        if (fork() == 0) {
          Burn(shared, kBefore + 2);
          _exit(0);
        }
      }
      Burn(shared, i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  while (shared.done != kParts) usleep(1000);
  _exit(0);
}

struct Seen {
  std::map<std::string, double> sampled_ns;
  std::map<std::string, double> on_cpu_ns;
};

Seen Read(const model::Trace& trace) {
  Seen seen;
  const auto name = [&](model::TrackIndex track) {
    return std::string(trace.Name(trace.tracks()[track].name));
  };
  for (const model::StackSample& sample : trace.samples()) {
    seen.sampled_ns[name(sample.track)] +=
        static_cast<double>(sample.weight_ns);
  }
  if (const model::ThreadStates* const states = trace.thread_states()) {
    for (const model::ThreadTimes& times : states->threads) {
      seen.on_cpu_ns[name(times.track)] += static_cast<double>(times.on_cpu_ns);
    }
  }
  return seen;
}

// `stolen_ns`: what a busy host took from the CPUs meanwhile. Samples and
// records count it, clocks of threads do not.
void CheckParts(const Shared& shared, const Seen& seen, double stolen_ns) {
  for (int part = 0; part < kParts; ++part) {
    const std::string name = kNames[part];
    const auto used_ns = static_cast<double>(shared.cpu_ns[part].load());
    ASSERT_GT(used_ns, 20e6) << name;
    const double allowed_ns = 0.15 * used_ns + 15e6;
    for (const auto* const times : {&seen.sampled_ns, &seen.on_cpu_ns}) {
      ASSERT_TRUE(times->contains(name)) << name;
      EXPECT_GE(times->at(name), used_ns - allowed_ns) << name;
      EXPECT_LE(times->at(name), used_ns + allowed_ns + stolen_ns) << name;
    }
  }
}

void RecordRunningProcess() {
  void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Shared& shared = *new (memory) Shared;
  const int64_t stolen_before_ns = StolenNs();
  const pid_t target = fork();
  if (target == 0) RunTarget(shared);
  while (shared.running < kBefore - 1) usleep(1000);

  BackendRegistry registry;
  ASSERT_TRUE(RegisterBuiltinBackends(registry).ok());
  SessionOptions options;
  options.target = TargetKind::kRunningProcesses;
  options.running.pids = {target};
  // Rings hold many samples while this test waits for a CPU.
  options.settings["sampling_stack_bytes"] = "4096";
  auto recording = Recording::Create(registry, {}, options);
  ASSERT_TRUE(recording.ok()) << recording.status();
  for (const Recording::Skipped& skipped : (*recording)->skipped()) {
    // This target lets nobody in.
    if (absl::IsNotFound(skipped.why)) continue;
    ADD_FAILURE() << skipped.backend << ": " << skipped.why;
  }
  ASSERT_TRUE((*recording)->Prepare(nullptr).ok());
  const absl::Status started = (*recording)->Start(target);
  ASSERT_TRUE(started.ok()) << started;
  shared.begin_more = true;
  while (shared.running < kParts) usleep(100);
  shared.is_recorded = true;
  for (int i = 0; i < 300; ++i) {
    usleep(5000);
    (*recording)->Poll();
  }
  shared.is_over = true;
  while (shared.done < kParts) {
    usleep(1000);
    (*recording)->Poll();
  }
  EXPECT_TRUE((*recording)->Stop().ok());
  EXPECT_EQ(waitpid(target, nullptr, 0), target);
  const FinishedRecording finished = (*recording)->Finish({});
  ASSERT_TRUE(finished.trace.ok()) << finished.trace.status();
  const auto stolen_ns = static_cast<double>(StolenSince(stolen_before_ns));
  CheckParts(shared, Read(*finished.trace), stolen_ns);
  // An ordinary user's samples leave out time in the kernel. Of root's, what a
  // busy host takes from the CPUs is counted, within the same bound as above.
  if (geteuid() == 0) {
    double used_ns = 0;
    for (const auto& part_ns : shared.cpu_ns) {
      used_ns += static_cast<double>(part_ns.load());
    }
    const model::LossLedger& ledger = finished.trace->ledger();
    EXPECT_LE(
        static_cast<double>(ledger.Get(model::Loss::kSamplesNotDelivered) +
                            ledger.Get(model::Loss::kSamplesNotDue)) *
            1e6,  // 1000 Hz
        0.15 * used_ns + kParts * 15e6 + stolen_ns);
  }
  munmap(memory, sizeof(Shared));
}

// Many threads that compute, and each of which begins others now and then.
constexpr int kCrowd = 500;
constexpr int kBornPerSecond = 1000;
constexpr int64_t kLifeNs = 300 * kNsPerUs;

struct CrowdState {
  std::atomic<bool> may_begin = false;
  std::atomic<bool> is_over = false;
  std::atomic<int64_t> begin_ns = 0;
  std::atomic<int> born = 0;
  std::atomic<int> alive = 0;
};

int64_t NowNs() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kNsPerSecond + time.tv_nsec;
}

void* LiveShortly(void* argument) {
  while (ThreadCpuNs() < kLifeNs) {
    for (volatile int i = 0; i < 1'000;) i = i + 1;
  }
  --static_cast<CrowdState*>(argument)->alive;
  return nullptr;
}

void BeOneOfMany(CrowdState& state) {
  while (!state.may_begin) usleep(1000);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, size_t{64} << 10);
  pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
  while (!state.is_over) {
    for (volatile int i = 0; i < 3'000;) i = i + 1;
    int born = state.born;
    const int64_t due =
        (NowNs() - state.begin_ns) * kBornPerSecond / kNsPerSecond;
    if (born >= due || !state.born.compare_exchange_strong(born, born + 1)) {
      continue;
    }
    ++state.alive;
    pthread_t thread;
    if (pthread_create(&thread, &small, LiveShortly, &state) != 0) {
      --state.alive;
    }
  }
  --state.alive;
}

[[noreturn]] void RunCrowd(CrowdState& state) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Who records goes first, as the command does where it is permitted.
  setpriority(PRIO_PROCESS, 0, 19);
  for (int i = 0; i < kCrowd; ++i) {
    ++state.alive;
    std::thread([&] { BeOneOfMany(state); }).detach();
  }
  state.begin_ns = NowNs();
  state.may_begin = true;
  for (;;) pause();
}

int64_t CpuNsOf(pid_t pid) {
  clockid_t clock;
  timespec time = {};
  EXPECT_EQ(clock_getcpuclockid(pid, &clock), 0);
  EXPECT_EQ(clock_gettime(clock, &time), 0);
  return time.tv_sec * kNsPerSecond + time.tv_nsec;
}

// "sampling: 25 ms of 3000 ms of CPU time have no samples, ...": 25.
double MsSaidToHaveNoSamples(const std::vector<std::string>& remarks) {
  for (const std::string& remark : remarks) {
    int ms = 0;
    int of_ms = 0;
    if (sscanf(remark.c_str(), "sampling: %d ms of %d ms of CPU time", &ms,
               &of_ms) == 2) {
      return ms;
    }
  }
  return 0;
}

// All CPU time is sampled, or counted as not sampled.
void AccountForCrowd() {
  void* const memory = mmap(nullptr, sizeof(CrowdState), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  CrowdState& state = *new (memory) CrowdState;
  const pid_t target = fork();
  if (target == 0) RunCrowd(state);
  while (state.born < 100) usleep(1000);

  BackendRegistry registry;
  ASSERT_TRUE(RegisterBuiltinBackends(registry).ok());
  SessionOptions options;
  options.target = TargetKind::kRunningProcesses;
  options.running.pids = {target};
  auto recording = Recording::Create(registry, {"sampling"}, options);
  ASSERT_TRUE(recording.ok()) << recording.status();
  ASSERT_TRUE((*recording)->Prepare(nullptr).ok());
  const int64_t before_ns = CpuNsOf(target);
  ASSERT_TRUE((*recording)->Start(target).ok());
  const int64_t begin_ns = CpuNsOf(target);
  const int born_before = state.born;
  const int64_t until_ns = begin_ns + 2 * kNsPerSecond;
  // Many CPUs use up the time before a hundred have begun.
  while (CpuNsOf(target) < until_ns || state.born <= born_before + 100) {
    usleep(5000);
    (*recording)->Poll();
  }
  state.is_over = true;
  while (state.alive != 0) {
    usleep(5000);
    (*recording)->Poll();
  }
  EXPECT_TRUE((*recording)->Stop().ok());
  const int64_t end_ns = CpuNsOf(target);
  kill(target, SIGKILL);
  EXPECT_EQ(waitpid(target, nullptr, 0), target);
  const FinishedRecording finished = (*recording)->Finish({});
  ASSERT_TRUE(finished.trace.ok()) << finished.trace.status();
  double sampled_ms = 0;
  for (const model::StackSample& sample : finished.trace->samples()) {
    sampled_ms += static_cast<double>(sample.weight_ns) / 1e6;
  }
  const model::LossLedger& ledger = finished.trace->ledger();
  const auto counted_ms = static_cast<double>(  // 1000 Hz
      ledger.Get(model::Loss::kSamplesLost) +
      ledger.Get(model::Loss::kSamplesNotDelivered) +
      ledger.Get(model::Loss::kSamplesNotDue));
  const double said_ms = MsSaidToHaveNoSamples((*recording)->Remarks());
  const double known_ms = sampled_ms + counted_ms + said_ms;
  const std::string all =
      "sampled " + std::to_string(sampled_ms) + " ms, counted " +
      std::to_string(counted_ms) + " ms, said " + std::to_string(said_ms) +
      " ms of " + std::to_string((end_ns - begin_ns) / kNsPerMs) + " to " +
      std::to_string((end_ns - before_ns) / kNsPerMs) + " ms";
  std::cout << all << "\n";
  EXPECT_GE(known_ms, 0.999 * static_cast<double>(end_ns - begin_ns) / 1e6 - 2)
      << all;
  // What is counted is not more than there was.
  if (sampled_ms < static_cast<double>(end_ns - before_ns) / 1e6) {
    EXPECT_LE(known_ms, 1.05 * static_cast<double>(end_ns - before_ns) / 1e6)
        << all;
  }
  munmap(memory, sizeof(CrowdState));
}

// In a process of its own, which may become another user.
void RunAs(uid_t user, void (*record)()) {
  fflush(nullptr);
  const pid_t pid = fork();
  if (pid == 0) {
    if (user != geteuid() &&
        (setresuid(user, user, user) != 0 || prctl(PR_SET_DUMPABLE, 1) != 0)) {
      _exit(2);
    }
    record();
    fflush(nullptr);
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_EQ(status, 0);
}

void RunAsNobody(void (*record)()) {
  constexpr uid_t kNobody = 65534;
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  RunAs(kNobody, record);
}

TEST(AttachTest, RecordsOldAndNewThreadsAndChildren) {
  RunAs(geteuid(), RecordRunningProcess);
}

TEST(AttachTest, DoesSoForAnOrdinaryUser) { RunAsNobody(RecordRunningProcess); }

TEST(AttachTest, AccountsForTheTimeOfManyThreads) {
  RunAs(geteuid(), AccountForCrowd);
}

TEST(AttachTest, DoesThatForAnOrdinaryUser) { RunAsNobody(AccountForCrowd); }

}  // namespace
}  // namespace kymo
