// Long, because each kind of program has its test, for both samplers.
//
// Samples real programs with both samplers. If perf_event_open is not
// permitted, the perf half says so and does nothing. The timers' half tests
// everything else.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "backends/sampling/perf_events.h"
#include "backends/sampling/profile_child.h"
#include "profiler/base/clock.h"
#include "tests/support/test_threads.h"

namespace kymo::sampling {
namespace {

using model::Loss;

std::string DataFile(const std::string& name) {
  return std::string(std::getenv("TEST_SRCDIR")) + "/" +
         std::getenv("TEST_WORKSPACE") + "/backends/sampling/" + name;
}

class SamplingChildTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    options_.target = TargetKind::kChildProcess;
    options_.settings["sampling_sampler"] = GetParam();
    if (IsTimer()) return;
    const auto access = ProbePerf(Settings{});
    if (access.ok()) return;
    GTEST_SKIP() << "NOT TESTED HERE: " << access.status();
  }
  static bool MaySampleKernel() {
    const auto access = ProbePerf(Settings{});
    return access.ok() && access->kernel;
  }
  static bool MaySampleAllProcesses() {
    return PerfEvents::Open(Settings{}, PerfEvents::kAllProcesses).ok();
  }
  bool IsTimer() const { return std::string(GetParam()) == "timer"; }

  void Run(const std::string& program, const std::string& mode, int ms) {
    ASSERT_NO_FATAL_FAILURE(Record(program, mode, ms));
    ASSERT_FALSE(shard().samples.empty());
  }
  void Record(const std::string& program, const std::string& mode, int ms) {
    const int64_t stolen_before_ns = StolenNs();
    auto run =
        ProfileChild(options_, {DataFile(program), mode, std::to_string(ms)},
                     DataFile("libtest_preload.so"));
    stolen_ms_ = static_cast<double>(StolenSince(stolen_before_ns)) / 1e6;
    ASSERT_TRUE(run.ok()) << run.status();
    run_ = *std::move(run);
    ASSERT_TRUE(WIFEXITED(run_.wait_status));
    ASSERT_EQ(WEXITSTATUS(run_.wait_status), 0);
  }
  const model::TraceShard& shard() const { return run_.shard; }
  // Without the one about stacks that are not whole: how many there are of a
  // short thread depends on where samples met it.
  std::vector<std::string> OtherRemarks() const {
    std::vector<std::string> remarks;
    for (const std::string& remark : run_.remarks) {
      if (remark.find("[cut]") == remark.npos) remarks.push_back(remark);
    }
    return remarks;
  }
  double SampledMs() const {
    double weight_ns = 0;
    for (const auto& sample : shard().samples) {
      weight_ns += static_cast<double>(sample.weight_ns);
    }
    return weight_ns / 1e6;
  }
  double CpuMs() const { return static_cast<double>(run_.cpu_time_ns) / 1e6; }
  // `sampled_ms` is the program's CPU time, but for that part of it. Samples
  // count what a hypervisor takes away, too.
  void ExpectCpuMs(double sampled_ms, double part) const {
    EXPECT_GE(sampled_ms, CpuMs() * (1 - part));
    EXPECT_LE(sampled_ms, CpuMs() * (1 + part) + stolen_ms_);
  }
  std::string NameOf(model::NameId id) const {
    return std::string(shard().strings.Get(id));
  }

  double stolen_ms_ = 0;  // while the program ran
  SessionOptions options_;
  ChildRun run_;
};

TEST_P(SamplingChildTest, TimeIsWhereItWasSpent) {
  // Room for four times as many samples while the collector has no CPU.
  options_.settings["sampling_stack_bytes"] = "16384";
  const TimeNs before_ns = MonotonicNs() + EpochOffsetNs();
  ASSERT_NO_FATAL_FAILURE(Run("test_burner", "ratio", 1200));
  const TimeNs after_ns = MonotonicNs() + EpochOffsetNs();
  EXPECT_NEAR(ShareOf(shard(), "BurnThree"), 0.75, 0.05) << Summary(shard());
  EXPECT_NEAR(ShareOf(shard(), "BurnOne"), 0.25, 0.05) << Summary(shard());
  EXPECT_GT(ShareOf(shard(), "main"), 0.9) << Summary(shard());
  ExpectCpuMs(SampledMs(), 0.05);
  EXPECT_EQ(shard().ledger.Get(Loss::kSamplesLost), 0u);
  EXPECT_EQ(shard().ledger.Get(Loss::kSamplesNotDelivered), 0u);
  EXPECT_EQ(shard().ledger.Get(Loss::kStacksTruncated), 0u);
  EXPECT_EQ(shard().sampling_period_ns, kNsPerMs);
  for (const auto& sample : shard().samples) {
    EXPECT_GE(sample.time_ns, before_ns);
    EXPECT_LE(sample.time_ns, after_ns);
    EXPECT_EQ(sample.weight_ns % kNsPerMs, 0);
  }
}

TEST_P(SamplingChildTest, ALongRecordingIsAddedUp) {
  options_.settings["sampling_hz"] = "5000";
  options_.settings["sampling_max_samples"] = "10";
  // On a busy machine there would be a remark about others' samples.
  options_.settings["sampling_all_processes"] = "never";
  ASSERT_NO_FATAL_FAILURE(Run("test_burner", "ratio", 600));
  EXPECT_LT(shard().samples.size(), 10u);
  uint64_t summed = 0;
  double weight_ns = 0;
  for (const model::SampleSum& sum : shard().sample_sums) {
    summed += sum.count;
    weight_ns += static_cast<double>(sum.weight_ns);
  }
  EXPECT_GT(summed, 10u);
  EXPECT_EQ(shard().ledger.Get(Loss::kSamplesSummed), summed);
  EXPECT_EQ(OtherRemarks().size(), 1u);
  ExpectCpuMs(SampledMs() + weight_ns / 1e6, 0.05);
}

TEST_P(SamplingChildTest, ThreadsHaveTheirTracksAndNames) {
  ASSERT_NO_FATAL_FAILURE(Run("test_burner", "threads", 400));
  EXPECT_NEAR(ShareOf(shard(), "BurnThree"), 0.5, 0.05) << Summary(shard());
  std::set<std::string> names;
  for (const auto& track : shard().tracks) {
    EXPECT_EQ(track.pid, run_.pid);
    names.insert(NameOf(track.name));
  }
  EXPECT_TRUE(names.count("burner-three")) << Summary(shard());
  EXPECT_TRUE(names.count("burner-one")) << Summary(shard());
}

TEST_P(SamplingChildTest, ForkedChildrenAreFollowed) {
  ASSERT_NO_FATAL_FAILURE(Run("test_burner", "fork", 400));
  EXPECT_NEAR(ShareOf(shard(), "BurnThree"), 0.5, 0.05) << Summary(shard());
  const auto child = std::find_if(
      shard().processes.begin(), shard().processes.end(),
      [&](const model::Process& p) { return p.parent_pid == run_.pid; });
  ASSERT_NE(child, shard().processes.end());
  EXPECT_EQ(NameOf(child->name), "test_burner");
  if (!IsTimer()) {
    EXPECT_GT(child->start_ns, 0);
    EXPECT_GT(child->end_ns, child->start_ns);
  }
}

TEST_P(SamplingChildTest, ExecIsFollowed) {
  ASSERT_NO_FATAL_FAILURE(Run("test_burner", "exec", 400));
  // Half of the time in the first image, then 3:1.
  EXPECT_NEAR(ShareOf(shard(), "BurnThree"), 0.375, 0.05) << Summary(shard());
  EXPECT_NEAR(ShareOf(shard(), "BurnOne"), 0.625, 0.05) << Summary(shard());
}

TEST_P(SamplingChildTest, AStackDeeperThanTheCopyIsCountedAsTruncated) {
  ASSERT_NO_FATAL_FAILURE(Run("test_burner", "deep", 300));
  EXPECT_GT(shard().ledger.Get(Loss::kStacksTruncated),
            shard().samples.size() / 2);
  // Where a whole stack of the thread is known, its outer frames are added.
  EXPECT_GT(ShareOf(shard(), "[truncated]") + ShareOf(shard(), "[cut]"), 0.5)
      << Summary(shard());
  for (const auto& stack : SampledStacks(shard())) {
    for (size_t i = 1; i < stack.size(); ++i)
      EXPECT_NE(stack[i], "[truncated]");
  }
  EXPECT_GT(ShareOf(shard(), "BurnOne"), 0.8) << Summary(shard());
  EXPECT_GT(ShareOf(shard(), "BurnDeep"), 0.8) << Summary(shard());
}

// The kernel's copy of a stack ends where memory was never touched.
TEST_P(SamplingChildTest, CallersAboveUntouchedMemoryAreFound) {
  ASSERT_NO_FATAL_FAILURE(Run("test_burner", "array", 1200));
  EXPECT_GT(ShareOf(shard(), "BurnBelowArray"), 0.8) << Summary(shard());
  EXPECT_GT(ShareOf(shard(), "main"), 0.8) << Summary(shard());
  EXPECT_LT(shard().ledger.Get(Loss::kStacksIncomplete),
            shard().samples.size() / 10);
}

TEST_P(SamplingChildTest, AProgramMayUseSigprofItself) {
  ASSERT_NO_FATAL_FAILURE(Run("test_burner", "prof", 600));
  EXPECT_NEAR(ShareOf(shard(), "BurnThree"), 0.75, 0.05) << Summary(shard());
}

// The children live for 1.2 periods. Events of a process see only what they do
// after the first one, and say so. After 200 samples come events of all
// processes, where they are permitted. Some 300 of 1000 children meet a tick of
// the kernel.
TEST_P(SamplingChildTest, ShortProcessesAreShownRightOrSaidToBeBiased) {
  ASSERT_NO_FATAL_FAILURE(Run("test_burner", "short", 1000));
  const double two = ShareOf(shard(), "ShortTwo");
  const double one = ShareOf(shard(), "ShortOne");
  if (IsTimer() || MaySampleAllProcesses()) {
    // On a busy machine, slices of time begin at ticks, which favours what
    // comes late. If each thread's first period were left out, this would be
    // near 0.
    EXPECT_NEAR(two / (two + one), 2.0 / 3, 0.2) << Summary(shard());
    EXPECT_LE(shard().ledger.Get(Loss::kSamplesBiased), IsTimer() ? 0u : 300u);
  } else {
    EXPECT_GT(shard().ledger.Get(Loss::kSamplesBiased), 500u)
        << Summary(shard());
  }
}

// Most of the children's 0.5 s of CPU time has no samples, since each ends
// within its first period. Nobody asked for one there, so nothing is lost. The
// count says how many periods that is.
TEST_P(SamplingChildTest, ThreadsThatEndWithinAPeriodAreNoLoss) {
  if (IsTimer()) GTEST_SKIP() << "timers have no such count of threads";
  if (!MaySampleKernel()) {
    GTEST_SKIP() << "without samples of the kernel, no count is made";
  }
  options_.settings["sampling_all_processes"] = "never";
  options_.settings["sampling_hz"] = "50";
  constexpr double kPeriodMs = 20;
  ASSERT_NO_FATAL_FAILURE(Record("test_burner", "short", 400));
  EXPECT_EQ(shard().ledger.Get(Loss::kSamplesNotDelivered), 0u)
      << Summary(shard());
  const auto not_due =
      static_cast<double>(shard().ledger.Get(Loss::kSamplesNotDue));
  const double periods = (CpuMs() - SampledMs()) / kPeriodMs;
  EXPECT_GT(periods, 10) << Summary(shard());
  EXPECT_LE(not_due, periods) << Summary(shard());
  // Rounded down, and by the clock of the events. That one lacks what the
  // kernel does for each of the 400 children before and after its event.
  EXPECT_GT(not_due, 0.8 * periods - 1) << Summary(shard());
}

// Nobody is told their CPU time. It is 1.5 s, or 37 periods. A process ends
// within its first one, but the kernel hands what is left of it to the next
// process of the CPU, so that up to half of the periods have a sample.
TEST_P(SamplingChildTest, ProcessesForWhichNobodyWaitsCountToo) {
  if (IsTimer()) GTEST_SKIP() << "timers are not told of ends";
  if (!MaySampleKernel()) {
    GTEST_SKIP() << "without samples of the kernel, no count is made";
  }
  options_.settings["sampling_all_processes"] = "never";
  options_.settings["sampling_hz"] = "25";
  ASSERT_NO_FATAL_FAILURE(Record("test_burner", "orphans", 100));
  const auto not_due =
      static_cast<double>(shard().ledger.Get(Loss::kSamplesNotDue));
  EXPECT_GT(not_due + SampledMs() / 40, 30) << Summary(shard());
  EXPECT_EQ(shard().ledger.Get(Loss::kSamplesNotDelivered), 0u);
}

// The session goes on with events of all processes while threads begin and end.
// A thread that counted as ended twice would take the program's code away with
// it.
TEST_P(SamplingChildTest, ShortThreadsKeepTheCodeOfTheirProcess) {
  constexpr int kThreads = 500;
  ASSERT_NO_FATAL_FAILURE(Run("test_burner", "tiny", kThreads));
  EXPECT_LT(shard().ledger.Get(Loss::kStacksIncomplete), 50u)
      << Summary(shard());
  EXPECT_GT(ShareOf(shard(), "BurnOne"), 0.9) << Summary(shard());
  EXPECT_EQ(OtherRemarks().size(), !IsTimer() && MaySampleAllProcesses());
  // Not even while they end, when the kernel has taken their number back.
  for (const model::Track& track : shard().tracks) EXPECT_LT(track.id, 1 << 30);
}

TEST_P(SamplingChildTest, OtherProgramsAreNotSampledIfTheUserSaysSo) {
  options_.settings["sampling_all_processes"] = "never";
  ASSERT_NO_FATAL_FAILURE(Run("test_burner", "tiny", 100));
  EXPECT_TRUE(OtherRemarks().empty());
  if (!IsTimer()) {
    EXPECT_GT(shard().ledger.Get(Loss::kSamplesBiased), 100u)
        << Summary(shard());
  }
}

// Asks a server, which is another process on the same CPU, for as long as it
// answers.
class Client {
 public:
  Client() {
    sched_getaffinity(0, sizeof(cpus_before_), &cpus_before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int i = 0; CPU_COUNT(&one) == 0; ++i) {
      if (CPU_ISSET(i, &cpus_before_)) CPU_SET(i, &one);
    }
    sched_setaffinity(0, sizeof(one), &one);  // threads and children, too
    int fds[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, fds);
    server_fd_ = fds[0];
    setenv("SERVE_FD", std::to_string(server_fd_).c_str(), 1);
    thread_ = std::thread([fd = fds[1]] {
      char answer = 1;
      while (send(fd, &answer, 1, MSG_NOSIGNAL) == 1 &&
             read(fd, &answer, 1) == 1) {
      }
      close(fd);
    });
  }
  ~Client() {
    shutdown(server_fd_, SHUT_RDWR);
    thread_.join();
    close(server_fd_);
    sched_setaffinity(0, sizeof(cpus_before_), &cpus_before_);
  }

 private:
  cpu_set_t cpus_before_;
  int server_fd_ = -1;
  std::thread thread_;
};

// The CPU time of a run that nobody samples.
double PlainMs(const std::string& mode, const std::string& count) {
  const std::string program = DataFile("test_burner");
  const pid_t pid = fork();
  if (pid == 0) {
    execl(program.c_str(), program.c_str(), mode.c_str(), count.c_str(),
          nullptr);
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  wait4(pid, &status, 0, &usage);
  EXPECT_EQ(status, 0);
  const auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e3 +
           static_cast<double>(t.tv_usec) / 1e3;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

// A server that switches to its client and back for each request. Events of its
// process made each switch three times as expensive, which was half of the
// table.
TEST_P(SamplingChildTest, AServerTakesTheTimeThatItTakesUnsampled) {
  if (!IsTimer() && !MaySampleAllProcesses()) {
    GTEST_SKIP() << "NOT TESTED HERE: sampling of all processes";
  }
  options_.settings["sampling_hz"] = "1000";  // else fewer are taken of it
  constexpr int kRequests = 60'000;
  const auto run_plainly = [&] {
    const Client client;
    return PlainMs("serve", std::to_string(kRequests));
  };
  // The least of some runs is what it takes on a machine that does nothing
  // else, if both kinds of run see the same machine. A busy one takes more.
  double plain_ms = run_plainly();
  ChildRun fastest;
  const auto is_fast = [&] {
    return static_cast<double>(fastest.cpu_time_ns) / kNsPerMs < 1.5 * plain_ms;
  };
  for (int round = 0; round < 3 || (round < 12 && !is_fast()); ++round) {
    {
      const Client client;
      ASSERT_NO_FATAL_FAILURE(Run("test_burner", "serve", kRequests));
    }
    // Not each twice.
    ExpectCpuMs(SampledMs(), 0.4);
    if (round == 0 || run_.cpu_time_ns < fastest.cpu_time_ns) {
      fastest = std::move(run_);
    }
    plain_ms = std::min(plain_ms, run_plainly());
  }
  run_ = std::move(fastest);
  EXPECT_LT(CpuMs(), 1.5 * plain_ms);
  // After the first samples, it was more than half of the time.
  run_.shard.samples.erase(
      run_.shard.samples.begin(),
      run_.shard.samples.begin() +
          static_cast<ptrdiff_t>(run_.shard.samples.size() / 2));
  EXPECT_LT(ShareOf(shard(), "finish_task_switch"), 0.35) << Summary(shard());
  // Timers fire too rarely for a share.
  if (!IsTimer()) {
    EXPECT_GT(ShareOf(shard(), "Serve"), 0.15) << Summary(shard());
  }
}

// Server and client share one CPU, so none is free for it.
TEST_P(SamplingChildTest, OfAServerWithoutAFreeCpuFewerAreTaken) {
  if (IsTimer()) GTEST_SKIP() << "timers take nothing at a switch";
  if (!MaySampleAllProcesses()) {
    GTEST_SKIP() << "NOT TESTED HERE: sampling of all processes";
  }
  // Once more, if the collector had no CPU until the server had ended.
  std::string said;
  for (int round = 0; round < 5 && said.empty(); ++round) {
    {
      const Client client;
      ASSERT_NO_FATAL_FAILURE(Run("test_burner", "serve", 60'000));
    }
    for (const std::string& remark : OtherRemarks()) {
      if (remark.find("100 samples a second instead") != remark.npos) {
        said = remark;
      }
    }
  }
  EXPECT_NE(said, "");
  // Each of the samples after that stands for 10 ms. Whoever reads the files
  // only is told, too.
  const size_t count = shard().samples.size();
  const auto is_rare = [](const model::StackSample& sample) {
    return sample.weight_ns > 5 * kNsPerMs;
  };
  EXPECT_EQ(
      shard().ledger.Get(Loss::kSamplesRare),
      static_cast<uint64_t>(std::ranges::count_if(shard().samples, is_rare)));
  EXPECT_GT(shard().ledger.Get(Loss::kSamplesRare), 0u);
  EXPECT_GT(SampledMs(), static_cast<double>(count) + 8.0);
  EXPECT_LE(SampledMs(), CpuMs() * 1.4 + stolen_ms_);
}

TEST_P(SamplingChildTest, LibrariesThatWereLoadedAtOnePlaceAreApart) {
  ASSERT_NO_FATAL_FAILURE(Run("test_burner", "turns", 1200));
  EXPECT_NEAR(ShareOf(shard(), "test_library_small"), 0.75, 0.05)
      << Summary(shard());
  EXPECT_NEAR(ShareOf(shard(), "test_library_large"), 0.25, 0.05)
      << Summary(shard());
}

TEST_P(SamplingChildTest, StaticProgramsAreSampledFromOutsideOnly) {
  if (IsTimer()) {
    options_.target_path = DataFile("test_burner_static");
    const auto run = ProfileChild(options_, {options_.target_path});
    EXPECT_EQ(run.status().code(), absl::StatusCode::kFailedPrecondition);
    return;
  }
  ASSERT_NO_FATAL_FAILURE(Run("test_burner_static", "ratio", 400));
  EXPECT_NEAR(ShareOf(shard(), "BurnThree"), 0.75, 0.05) << Summary(shard());
  EXPECT_GT(ShareOf(shard(), "main"), 0.9) << Summary(shard());
}

TEST_P(SamplingChildTest, FramePointersAreEnoughWhereTheyAre) {
  options_.settings["sampling_unwind"] = "fp";
  if (IsTimer()) {
    EXPECT_FALSE(ProfileChild(options_, {"/bin/true"}).ok());
    return;
  }
  ASSERT_NO_FATAL_FAILURE(Run("test_burner", "ratio", 400));
  EXPECT_NEAR(ShareOf(shard(), "BurnThree"), 0.75, 0.05) << Summary(shard());
}

TEST_P(SamplingChildTest, AProgramThatEndsAtOnceIsFine) {
  const auto run =
      ProfileChild(options_, {"/bin/true"}, DataFile("libtest_preload.so"));
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_EQ(run->wait_status, 0);
  EXPECT_EQ(run->shard.ledger.Get(Loss::kSamplesNotDelivered), 0u);
}

INSTANTIATE_TEST_SUITE_P(Samplers, SamplingChildTest,
                         ::testing::Values("perf", "timer"),
                         [](const auto& info) {
                           return std::string(info.param);
                         });

}  // namespace
}  // namespace kymo::sampling
