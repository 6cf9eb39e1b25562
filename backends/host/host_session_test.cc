#include "backends/host/host_session.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "backends/host/process_counters.h"
#include "profiler/base/clock.h"
#include "profiler/base/periodic_thread.h"
#include "tests/support/test_threads.h"

namespace kymo::host {
namespace {

using model::CounterSample;

TimeNs Now() { return MonotonicNs() + EpochOffsetNs(); }

void SleepMs(int ms) {
  const timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * kNsPerMs};
  nanosleep(&time, nullptr);
}

std::vector<CounterSample> ValuesOf(const model::TraceShard& shard, int64_t pid,
                                    std::string_view name) {
  std::vector<CounterSample> values;
  for (const CounterSample& sample : shard.counters) {
    if (shard.tracks[sample.track].pid == pid &&
        shard.strings.Get(sample.name) == name) {
      values.push_back(sample);
    }
  }
  return values;
}

model::TraceShard CollectFrom(ActivitySession& session) {
  model::TraceShard shard;
  EXPECT_TRUE(session.Collect(shard).ok());
  return shard;
}

size_t CountEntries(const char* folder) {
  const std::filesystem::directory_iterator entries(folder);
  return static_cast<size_t>(std::distance(begin(entries), end(entries)));
}

std::string FirstWordOf(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

// Until the thread of a session has begun and ended a reading.
void AwaitReading() {
  const std::string reader = "/proc/" + std::to_string(FindThread("kymo-host"));
  const auto waits = [&] {
    return FirstWordOf(reader + "/syscall") == std::to_string(SYS_futex);
  };
  const auto runs = [&] {
    int64_t on_cpu_ns = 0, waited_ns = 0, count = 0;
    std::ifstream(reader + "/schedstat") >> on_cpu_ns >> waited_ns >> count;
    return count;
  };
  ASSERT_TRUE(Await(waits));
  const int64_t before = runs();
  ASSERT_TRUE(Await([&] { return runs() > before && waits(); }));
}

std::unique_ptr<ActivitySession> NewStarted(const HostSettings& settings) {
  auto session = NewHostSession(settings, TargetKind::kThisProcess, {});
  EXPECT_TRUE(session->Prepare(nullptr).ok());
  EXPECT_TRUE(session->Start(getpid()).ok());
  return session;
}

TEST(HostSessionTest, ReadsThisProcessWhileItRuns) {
  const TimeNs start_ns = Now();
  const auto session = NewStarted({.period_ms = 20});
  SleepMs(100);
  const size_t threads = CountThreads();
  EXPECT_GE(threads, 2);  // the session's own, too
  // Those of earlier tests are gone.
  EXPECT_TRUE(
      Await([&] { return CountEntries("/proc/self/task") == threads; }));
  std::vector<int> files;
  for (int i = 0; i < 50; ++i) files.push_back(open("/dev/null", O_RDONLY));
  // 64 MiB that are touched: 16,384 faults of 4 KiB.
  std::vector<char> memory(64 << 20, 1);
  // By its own clock: its core may be away for as long.
  const int64_t busy_until = ThreadCpuNs() + 300 * kNsPerMs;
  while (ThreadCpuNs() < busy_until) {
  }
  ASSERT_TRUE(session->Stop().ok());
  const TimeNs end_ns = Now();
  for (const int file : files) close(file);
  EXPECT_EQ(memory[12345], 1);
  const model::TraceShard shard = CollectFrom(*session);

  for (const CounterSample& sample : shard.counters) {
    EXPECT_GE(sample.time_ns, start_ns);
    EXPECT_LE(sample.time_ns, end_ns);
  }
  const auto of = [&](const char* name) {
    auto values = ValuesOf(shard, getpid(), name);
    EXPECT_FALSE(values.empty()) << name;
    if (values.empty()) values.emplace_back();
    return values;
  };
  const auto last = [&](const char* name) { return of(name).back().value; };
  const auto first = [&](const char* name) { return of(name).front().value; };
  const auto greatest = [&](const char* name) {
    double most = 0;
    for (const auto& value : of(name)) most = std::max(most, value.value);
    return most;
  };
  EXPECT_EQ(last("process.descriptors") - first("process.descriptors"), 50);
  EXPECT_GE(last("process.memory.rss_bytes"),
            first("process.memory.rss_bytes") + (60 << 20));
  // The last reading is made when the session's own thread has ended.
  const auto thread_counts = of("process.threads");
  ASSERT_GE(thread_counts.size(), 2);
  EXPECT_EQ(thread_counts[thread_counts.size() - 2].value, threads);
  EXPECT_GT(greatest("process.cpu.user_percent"), 20);
  EXPECT_GT(greatest("process.page_faults.minor_per_s"), 0);
  EXPECT_GT(greatest("process.context_switches.voluntary_per_s"), 0);
  EXPECT_GT(last("machine.memory.used_bytes"), 64 << 20);
  EXPECT_GT(greatest("machine.cpu.user_percent"), 0);
  EXPECT_GE(greatest("machine.run_queue"), 1);
  EXPECT_GT(last("machine.threads"), 1);
  EXPECT_GT(greatest("machine.context_switches_per_s"), 0);
  EXPECT_GT(greatest("machine.page_faults.minor_per_s"), 0);
  EXPECT_FALSE(ValuesOf(shard, getpid(), "machine.cpu0.busy_percent").empty() &&
               ValuesOf(shard, getpid(), "machine.cpu1.busy_percent").empty());
  // 400 ms are 20 periods or more. A machine that is busy leaves some out.
  const auto readings = static_cast<int64_t>(thread_counts.size());
  EXPECT_GE(readings, 5);
  EXPECT_LE(readings, 2 + (end_ns - start_ns) / (20 * kNsPerMs));
}

TEST(HostSessionTest, AShortSessionHasAReadingOfItsEnd) {
  const auto session = NewStarted({.period_ms = 60'000});
  ASSERT_TRUE(session->Stop().ok());
  const auto shard = CollectFrom(*session);
  EXPECT_EQ(ValuesOf(shard, getpid(), "process.threads").size(), 2u);
  EXPECT_EQ(ValuesOf(shard, getpid(), "process.page_faults.minor_per_s").size(),
            1u);
}

TEST(HostSessionTest, CoresCanBeLeftOut) {
  const auto session = NewStarted({.period_ms = 10, .cores = false});
  SleepMs(100);
  ASSERT_TRUE(session->Stop().ok());
  const auto shard = CollectFrom(*session);
  EXPECT_FALSE(ValuesOf(shard, getpid(), "machine.cpu.idle_percent").empty());
  for (const CounterSample& sample : shard.counters) {
    EXPECT_EQ(shard.strings.Get(sample.name).find("busy_percent"),
              std::string_view::npos);
  }
}

TEST(HostSessionTest, NothingIsReadWhileCollectionIsOff) {
  const auto session = NewStarted({.period_ms = 10});
  SleepMs(50);
  ASSERT_TRUE(session->SetCollecting(false).ok());
  const TimeNs off_ns = Now();
  SleepMs(100);
  const TimeNs on_ns = Now();
  ASSERT_TRUE(session->SetCollecting(true).ok());
  SleepMs(50);
  ASSERT_TRUE(session->Stop().ok());
  const auto shard = CollectFrom(*session);
  int before = 0, after = 0;
  for (const CounterSample& sample : shard.counters) {
    before += sample.time_ns <= off_ns;
    after += sample.time_ns >= on_ns;
  }
  EXPECT_GT(before, 0);
  EXPECT_GT(after, 0);
  EXPECT_EQ(before + after, static_cast<int>(shard.counters.size()));
  // A rate that held meanwhile would count.
  auto rates = ValuesOf(shard, getpid(), "machine.context_switches_per_s");
  std::erase_if(rates, [&](const auto& r) { return r.time_ns > off_ns; });
  ASSERT_FALSE(rates.empty());
  EXPECT_EQ(rates.back().value, 0);
}

TEST(HostSessionTest, AThousandSessionsLeaveNothing) {
  const size_t files = CountEntries("/proc/self/fd");
  const size_t threads = CountThreads();
  for (int i = 0; i < 1'000; ++i) {
    const auto session = NewStarted({.period_ms = 10});
    if (i % 2 == 0) {
      EXPECT_TRUE(session->Stop().ok());
    }
  }
  EXPECT_EQ(CountEntries("/proc/self/fd"), files);
  EXPECT_EQ(CountThreads(), threads);
}

TEST(HostSessionTest, AForkedChildCanStopAndDestroyIt) {
  auto session = NewStarted({.period_ms = 10});
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // the child would wait for ever for a thread that it lacks
    const bool ok =
        session->Stop().ok() && CollectFrom(*session).counters.empty();
    session.reset();
    _exit(ok ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(session->Stop().ok());
  EXPECT_FALSE(CollectFrom(*session).counters.empty());
}

// The thread is in the middle of a reading, and has the lock, when the program
// forks.
TEST(HostSessionTest, AForkInAReadingHangsNoCallOfTheChild) {
  const std::string proc = testing::TempDir() + "/slow_proc";
  std::filesystem::remove_all(proc);
  std::filesystem::create_directories(proc);
  auto session = NewHostSession({.period_ms = 10}, TargetKind::kThisProcess,
                                {.proc = proc, .sys = proc});
  ASSERT_TRUE(session->Start(getpid()).ok());
  // Who opens a FIFO to read it waits for somebody who writes.
  const std::string fifo = proc + "/stat";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const pid_t reader = FindThread("kymo-host");
  ASSERT_NE(reader, 0);
  const std::string call = "/proc/" + std::to_string(reader) + "/syscall";
  ASSERT_TRUE(
      Await([&] { return FirstWordOf(call) == std::to_string(SYS_openat); }));
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const bool ok = session->SetCollecting(false).ok() &&
                    session->SetCollecting(true).ok() &&
                    session->Remarks().empty() && session->Stop().ok();
    session.reset();
    _exit(ok ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const int writer = open(fifo.c_str(), O_WRONLY | O_NONBLOCK);
  EXPECT_NE(writer, -1) << "nobody was reading";
  std::filesystem::remove(fifo);
  close(writer);
  EXPECT_TRUE(session->Stop().ok());
  std::filesystem::remove_all(proc);
}

// A child that waits, becomes `sleep` and is killed.
TEST(HostSessionTest, FollowsAChildThroughItsExec) {
  int gate[2];
  ASSERT_EQ(pipe2(gate, O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte;
    if (read(gate[0], &byte, 1) == 1) {
      execl("/bin/sh", "sh", "-c", "sleep 20 & wait", nullptr);
    }
    _exit(127);
  }
  const auto session =
      NewHostSession({.period_ms = 20}, TargetKind::kChildProcess, {});
  ASSERT_TRUE(session->Prepare(nullptr).ok());
  ASSERT_TRUE(session->Start(child).ok());
  ASSERT_EQ(write(gate[1], "x", 1), 1);
  const std::string folder = "/proc/" + std::to_string(child);
  ASSERT_TRUE(Await([&] {
    const std::string children =
        folder + "/task/" + std::to_string(child) + "/children";
    return FirstWordOf("/proc/" + FirstWordOf(children) + "/comm") == "sleep";
  }));
  // What a new process did before its first reading is not known.
  for (int readings = 0; readings < 2; ++readings) AwaitReading();
  ASSERT_TRUE(session->Stop().ok());
  const model::TraceShard shard = CollectFrom(*session);
  close(gate[0]);
  close(gate[1]);

  std::vector<std::pair<std::string, int64_t>> processes;
  int64_t sleep_pid = 0;
  for (const model::Process& process : shard.processes) {
    const std::string name(shard.strings.Get(process.name));
    processes.emplace_back(name, process.parent_pid);
    if (name == "sleep") sleep_pid = process.pid;
  }
  std::sort(processes.begin(), processes.end());
  EXPECT_EQ(processes, (std::vector<std::pair<std::string, int64_t>>{
                           {"sh", getpid()}, {"sleep", child}}));
  ASSERT_FALSE(ValuesOf(shard, child, "process.threads").empty());
  EXPECT_EQ(ValuesOf(shard, child, "process.threads").back().value, 1);
  EXPECT_FALSE(ValuesOf(shard, sleep_pid, "process.memory.rss_bytes").empty());
  EXPECT_FALSE(ValuesOf(shard, child, "machine.run_queue").empty());
  EXPECT_TRUE(session->Remarks().empty());
  if (sleep_pid > 0) kill(static_cast<pid_t>(sleep_pid), SIGKILL);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(HostSessionTest, ATargetThatEndsLeavesTheMachine) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  const auto session =
      NewHostSession({.period_ms = 10}, TargetKind::kChildProcess, {});
  ASSERT_TRUE(session->Start(child).ok());
  SleepMs(50);
  ASSERT_TRUE(session->Stop().ok());
  const auto shard = CollectFrom(*session);
  EXPECT_FALSE(ValuesOf(shard, child, "machine.run_queue").empty());
  EXPECT_TRUE(ValuesOf(shard, child, "process.threads").empty());
  EXPECT_TRUE(session->Remarks().empty());
}

TEST(HostSessionTest, WhatIsBeyondItsLimitsIsSaidOrCounted) {
  const pid_t child = fork();
  if (child == 0) _exit(pause());
  // Two values take 48 bytes.
  const auto session = NewStarted(
      {.period_ms = 60'000, .processes = 1, .buffer_bytes = 48 + 23});
  ASSERT_TRUE(session->Stop().ok());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(session->Remarks(),
            std::vector<std::string>{
                "host: the target had more than 1 processes at a time, and the "
                "others have no counters; raise host_processes"});
  const auto shard = CollectFrom(*session);
  EXPECT_EQ(shard.counters.size(), 2u);
  EXPECT_GT(shard.ledger.Get(model::Loss::kCounterValuesDropped), 2u);
}

TEST(HostSessionTest, WithoutFilesItSaysSo) {
  const auto session = NewHostSession({}, TargetKind::kThisProcess,
                                      {.proc = "/nowhere", .sys = "/nowhere"});
  ASSERT_TRUE(session->Start(getpid()).ok());
  ASSERT_TRUE(session->Stop().ok());
  EXPECT_TRUE(CollectFrom(*session).counters.empty());
  ASSERT_EQ(session->Remarks().size(), 6u);
  EXPECT_EQ(session->Remarks()[0],
            "host: /proc/diskstats could not be read (No such file or "
            "directory): its counters are missing");
}

TEST(HostSessionTest, WithoutAThreadItDoesNotStart) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers end a program that has no memory left";
#endif
  // In a child: limits cannot be raised again.
  const pid_t child = fork();
  if (child == 0) {
    const rlimit none = {.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
    setrlimit(RLIMIT_AS, &none);  // no room for a stack
    // The C library keeps stacks of threads that ended for the next ones.
    PeriodicThread threads[20];
    for (PeriodicThread& thread : threads) {
      if (thread.Start("test", kNsPerMs, [] {}) != 0) break;
    }
    const auto session = NewHostSession({}, TargetKind::kThisProcess, {});
    const absl::Status status = session->Start(getpid());
    _exit(status.code() == absl::StatusCode::kResourceExhausted ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(ProcessCountersTest, FoldersWithoutASizeAreCounted) {
  // As /proc/PID/fd before 6.2: its size is 0.
  EXPECT_TRUE(Await(
      [] { return CountDescriptors("/proc/self/task") == CountThreads(); }));
  EXPECT_EQ(CountDescriptors("/nowhere"), std::nullopt);
}

}  // namespace
}  // namespace kymo::host
