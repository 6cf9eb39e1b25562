// Long, because it has the tests of small headers, too: undelivered.h and
// target_pids.h.
#include "backends/sampling/sampling_backend.h"

#include <errno.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/sampling/perf_events.h"
#include "backends/sampling/process_table.h"
#include "backends/sampling/running/target_pids.h"
#include "backends/sampling/sampling_settings.h"
#include "backends/sampling/timer_session.h"
#include "backends/sampling/undelivered.h"

namespace kymo::sampling {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

SessionOptions Options() {
  SessionOptions options;
  options.target = TargetKind::kChildProcess;
  return options;
}

std::string ErrorOf(const SessionOptions& options) {
  return std::string(ParseSettings(options).status().message());
}

TEST(SamplingBackendTest, SaysWhatItIs) {
  const auto backend = NewSamplingBackend();
  EXPECT_EQ(backend->info().name, "sampling");
  EXPECT_EQ(backend->info().settings.size(), 7u);
  EXPECT_EQ(backend->activity_types(),
            std::vector{model::ActivityType::kCpuSample});
}

TEST(SamplingBackendTest, OfThisProcessItIsOnRequestAndWithoutTimers) {
  SessionOptions options;
  ASSERT_EQ(options.target, TargetKind::kThisProcess);
  const auto backend = NewSamplingBackend();
  EXPECT_FALSE(backend->IsWanted({}, options));
  EXPECT_TRUE(backend->IsWanted({"sampling"}, options));
  EXPECT_TRUE(backend->IsWanted({}, Options()));
  options.settings["sampling_sampler"] = "timer";
  EXPECT_NE(backend->Availability(options).message().find(
                "leave out sampling_sampler=timer"),
            absl::string_view::npos);
  EXPECT_FALSE(backend->NewSession(options).ok());
}

TEST(SamplingBackendTest, OneOfTheSamplersWorksHere) {
  SessionOptions options = Options();
  options.target_path = "/proc/self/exe";
  EXPECT_TRUE(NewSamplingBackend()->Availability(options).ok())
      << NewSamplingBackend()->Availability(options);
}

TEST(SamplingBackendTest, SaysHowFastTimersAre) {
  SessionOptions options = Options();
  options.settings["sampling_sampler"] = "timer";
  options.settings["sampling_hz"] = "19999";
  const std::string text = NewSamplingBackend()->Limitation(options);
  EXPECT_NE(text.find("at most"), std::string::npos) << text;
  // Who asked for timers needs no advice against them.
  EXPECT_EQ(text.find("perf_event"), std::string::npos) << text;
  EXPECT_GE(KernelTickHz(), 100);
  EXPECT_LE(KernelTickHz(), 1000);
}

TEST(SamplingBackendTest, TimersNeedADynamicProgramOfTheSameUser) {
  EXPECT_TRUE(CheckTimerTarget("/proc/self/exe").ok());
  EXPECT_TRUE(CheckTimerTarget("/does/not/exist").ok());
  const absl::Status linked = CheckTimerTarget("/sbin/ldconfig");
  if (access("/sbin/ldconfig", X_OK) == 0) {
    EXPECT_NE(linked.message().find("statically"), absl::string_view::npos)
        << linked;
  }
}

TEST(SamplingBackendTest, TimersNeedAProgramOfGlibc) {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(self), {});
  constexpr std::string_view kLoader = "/ld-linux-";
  const size_t loader = bytes.find(kLoader);
  ASSERT_NE(loader, std::string::npos);
  bytes.replace(loader, kLoader.size(), "/ld-musl--");
  SessionOptions options = Options();
  options.target_path = testing::TempDir() + "/of_musl";
  std::ofstream(options.target_path, std::ios::binary) << bytes;
  options.settings["sampling_sampler"] = "timer";
  EXPECT_EQ(NewSamplingBackend()->Availability(options).message(),
            options.target_path +
                " is run by musl, into which no timer can be loaded: link it "
                "with glibc, or sample it with --sampling_sampler=perf");
}

TEST(SamplingSettingsTest, HasDefaults) {
  const auto settings = ParseSettings(Options());
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(settings->period_ns, kNsPerMs);
  EXPECT_EQ(settings->stack_bytes, 0u);
  EXPECT_EQ(settings->sampler, Sampler::kAuto);
  EXPECT_EQ(settings->all_processes, AllProcesses::kAuto);
  EXPECT_EQ(settings->unwind, UnwindMode::kDwarf);
}

TEST(SamplingSettingsTest, ErrorsNameTheSetting) {
  SessionOptions options = Options();
  options.settings["sampling_hz"] = "0";
  EXPECT_EQ(ErrorOf(options),
            "sampling_hz is '0'; it takes a whole number from 1 to 20000");
  options = Options();
  options.settings["sampling_sampler"] = "magic";
  EXPECT_EQ(ErrorOf(options),
            "sampling_sampler is 'magic'; it takes one of: auto, perf, timer");
  options = Options();
  options.settings["sampling_all_processes"] = "always";
  EXPECT_EQ(ErrorOf(options),
            "sampling_all_processes is 'always'; it takes one of: auto, never");
  options = Options();
  options.settings["sampling_unwind"] = "guess";
  EXPECT_EQ(ErrorOf(options),
            "sampling_unwind is 'guess'; it takes one of: dwarf, fp");
  for (const char* const bytes : {"0", "1001", "65536", "x", "2048x", "-8"}) {
    options = Options();
    options.settings["sampling_stack_bytes"] = bytes;
    EXPECT_NE(ErrorOf(options).find("multiple of 8"), std::string::npos);
  }
}

TEST(SamplingSettingsTest, HaveBounds) {
  const auto parse = [](const char* name, const char* value) {
    SessionOptions options = Options();
    options.settings[name] = value;
    return ParseSettings(options);
  };
  EXPECT_EQ(parse("sampling_hz", "1")->period_ns, kNsPerSecond);
  EXPECT_EQ(parse("sampling_hz", "20000")->period_ns, 50'000);
  EXPECT_FALSE(parse("sampling_hz", "20001").ok());
  EXPECT_EQ(parse("sampling_stack_bytes", "1024")->stack_bytes, 1024u);
  EXPECT_EQ(parse("sampling_stack_bytes", "65528")->stack_bytes, 65528u);
  EXPECT_FALSE(parse("sampling_stack_bytes", "1016").ok());
  SessionOptions timer = Options();
  timer.settings = {{"sampling_sampler", "timer"}, {"sampling_unwind", "fp"}};
  EXPECT_EQ(ErrorOf(timer),
            "sampling_unwind is 'fp'; with sampling_sampler=timer it takes "
            "dwarf");
}

// perf_event_mlock_kb is 516 by default: so a user without rights gets rings of
// 512 KiB, and root gets 8 MiB.
TEST(SamplingSettingsTest, CopiesAreAsLargeAsTheRingAllows) {
  SessionOptions options = Options();
  options.settings["sampling_stack_bytes"] = "auto";
  EXPECT_EQ(ParseSettings(options)->stack_bytes, 0u);
  EXPECT_EQ(AutoStackBytes(8u << 20), 65528u);
  EXPECT_EQ(AutoStackBytes(2u << 20), 65528u);
  EXPECT_EQ(AutoStackBytes(1u << 20), 34952u);
  EXPECT_EQ(AutoStackBytes(512u << 10), 17472u);
  EXPECT_EQ(AutoStackBytes(128u << 10), 16384u);
}

TEST(UndeliveredTest, CountsFromFivePerCentOn) {
  static_assert(UndeliveredSamples(1000 * kNsPerMs, 960 * kNsPerMs, kNsPerMs) ==
                0);
  static_assert(UndeliveredSamples(1000 * kNsPerMs, 900 * kNsPerMs, kNsPerMs) ==
                100);
  static_assert(UndeliveredSamples(10 * kNsPerMs, 0, kNsPerMs) == 0);
  static_assert(UndeliveredSamples(10 * kNsPerMs, 20 * kNsPerMs, kNsPerMs) ==
                0);
}

// Each thread leaves out up to one period, its last.
TEST(UndeliveredTest, TheEndsOfThreadsAreNoLoss) {
  constexpr auto kOf = [](int64_t ran_ms, int64_t got_ms, uint64_t threads) {
    return UndeliveredSamples(ran_ms * kNsPerMs, got_ms * kNsPerMs, kNsPerMs,
                              threads);
  };
  EXPECT_EQ(kOf(72, 30, 62), (Undelivered{.lost = 0, .at_ends = 42}));
  EXPECT_EQ(kOf(72, 30, 35), (Undelivered{.lost = 0, .at_ends = 42}));
  EXPECT_EQ(kOf(72, 30, 20), (Undelivered{.lost = 22, .at_ends = 20}));
  for (const uint64_t n : {0, 500}) EXPECT_EQ(kOf(1000, 960, n), Undelivered());
  EXPECT_EQ(kOf(1000, 0, 1), (Undelivered{.lost = 999, .at_ends = 1}));
}

TEST(UndeliveredTest, LessIsToldAsTimeWhereTheClockIsExact) {
  EXPECT_EQ(UnsampledTimeText(20'000 * kNsPerMs, 19'985 * kNsPerMs, kNsPerMs),
            "");
  EXPECT_EQ(UnsampledTimeText(1'000 * kNsPerMs, 990 * kNsPerMs, kNsPerMs), "");
  EXPECT_THAT(
      UnsampledTimeText(10'000 * kNsPerMs, 9'975 * kNsPerMs, kNsPerMs),
      StartsWith("sampling: 25 ms of 10000 ms of CPU time have no samples"));
}

TEST(UndeliveredTest, LostRecordsAreSamplesAsFarAsTimeIsMissing) {
  EXPECT_EQ(LostSamples(100, 50 * kNsPerMs, kNsPerMs), 50u);
  EXPECT_EQ(LostSamples(100, 500 * kNsPerMs, kNsPerMs), 100u);
  EXPECT_EQ(LostSamples(100, 4'100 * kNsPerUs, kNsPerMs), 5u);
  EXPECT_EQ(LostSamples(100, -5 * kNsPerMs, kNsPerMs), 1u);
  EXPECT_EQ(LostSamples(0, 50 * kNsPerMs, kNsPerMs), 0u);
}

TEST(UndeliveredTest, TimeInTheKernelIsToldAsTime) {
  const auto text = [](uint64_t threads) {
    return KernelTimeText(1'500'000'000, 1'200'000'000, 1'000'000, threads);
  };
  EXPECT_THAT(text(30), EndsWith("time in the kernel is not sampled"));
  EXPECT_THAT(text(31), EndsWith("31 threads that ended ran last, for less "
                                 "than a period"));
}

TEST(UndeliveredTest, LostRecordsAreTheTargetsByItsShare) {
  static_assert(LostOfTarget(100, 1, 4) == 25);
  static_assert(LostOfTarget(1, 1, 1000) == 1);  // perhaps the target's
  static_assert(LostOfTarget(100, 0, 1000) == 0);
  static_assert(LostOfTarget(100, 0, 0) == 100);  // nobody knows
  static_assert(LostOfTarget(0, 5, 10) == 0);
}

class TargetPidsTest : public ::testing::Test {
 protected:
  std::map<uint32_t, uint32_t> parents_;  // what /proc says
  int look_ups_ = 0;
  std::vector<std::pair<uint32_t, uint32_t>> found_;
  TargetPids pids_{[this](uint32_t pid, uint32_t parent) {
                     found_.push_back({pid, parent});
                   },
                   [this](uint32_t pid) {
                     ++look_ups_;
                     return parents_[pid];
                   }};
};

TEST_F(TargetPidsTest, ANumberThatIsUsedAgainIsAStrangers) {
  pids_.Add(10);
  EXPECT_TRUE(pids_.OnFork(11, 10));
  EXPECT_TRUE(pids_.Has(11));
  pids_.OnExit(11);
  pids_.ForgetEnded();
  EXPECT_TRUE(pids_.Has(11));
  pids_.ForgetEnded();
  EXPECT_FALSE(pids_.Has(11));
  pids_.OnFork(11, 10);
  pids_.OnExit(11);
  pids_.OnFork(11, 10);  // one of ours has the number again
  for (int i = 0; i < 3; ++i) pids_.ForgetEnded();
  EXPECT_TRUE(pids_.Has(11));
  EXPECT_TRUE(pids_.OnFork(12, 10));
  EXPECT_FALSE(pids_.OnFork(12, 5));  // its end was lost
  EXPECT_FALSE(pids_.Has(12));
  EXPECT_EQ(look_ups_, 0);  // nothing was lost
}

TEST_F(TargetPidsTest, ProcessesWhoseBeginWasLostAreFound) {
  pids_.Add(10);
  parents_ = {{13, 12}, {12, 10}, {20, 1}};
  EXPECT_FALSE(pids_.Has(13));
  pids_.OnLost();
  EXPECT_TRUE(pids_.Has(13));
  const std::vector<std::pair<uint32_t, uint32_t>> expected = {{12, 10},
                                                               {13, 12}};
  EXPECT_EQ(found_, expected);  // the parent first
  EXPECT_TRUE(pids_.OnFork(14, 13));
  EXPECT_EQ(look_ups_, 2);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(pids_.Has(20));
  EXPECT_EQ(look_ups_, 3);  // once
}

TEST_F(TargetPidsTest, ProcTellsTheParent) {
  EXPECT_EQ(ParentOf(static_cast<uint32_t>(getpid())),
            static_cast<uint32_t>(getppid()));
}

TEST(ProcessTableTest, FollowsForkExecAndExit) {
  ProcessTable table;
  table.OnName(10, 10, "shell", /*is_exec=*/true);
  table.Process(10).space.Map({.start = 100, .end = 200, .module = 3});
  table.OnFork(11, 11, 10, 10, 5000);
  EXPECT_NE(table.Process(11).space.Find(150), nullptr);
  table.OnName(11, 11, "worker", /*is_exec=*/true);
  EXPECT_EQ(table.Process(11).space.Find(150), nullptr);
  EXPECT_NE(table.Process(10).space.Find(150), nullptr);
  table.OnFork(11, 12, 11, 11, 5500);
  table.OnName(11, 12, "pool", /*is_exec=*/false);
  table.Track(11, 12);
  EXPECT_FALSE(table.OnExit(11, 12, 6000));
  EXPECT_EQ(table.Process(11).end_ns, 0);
  EXPECT_TRUE(table.OnExit(11, 11, 7000));

  model::TraceShard shard;
  table.Describe(shard);
  ASSERT_EQ(shard.processes.size(), 2u);
  EXPECT_EQ(shard.processes[1].pid, 11);
  EXPECT_EQ(shard.processes[1].parent_pid, 10);
  EXPECT_EQ(shard.processes[1].start_ns, 5000);
  EXPECT_EQ(shard.processes[1].end_ns, 7000);
  EXPECT_EQ(shard.strings.Get(shard.processes[1].name), "worker");
  ASSERT_EQ(shard.tracks.size(), 1u);
  EXPECT_EQ(shard.tracks[0].id, 12);
  EXPECT_EQ(shard.strings.Get(shard.tracks[0].name), "pool");
}

TEST(ProcessTableTest, ACopyHasItsParentsNamesUntilItsExec) {
  ProcessTable table;
  const pid_t self = getpid();
  table.OnName(self, self, "program", /*is_exec=*/true);
  const std::string command_line = table.Process(self).command_line;
  EXPECT_FALSE(command_line.empty());
  EXPECT_NE(command_line.back(), '\0');
  EXPECT_NE(command_line.find(program_invocation_short_name),
            std::string::npos);
  table.OnFork(self, 7, self, self, 4000);  // a thread
  EXPECT_EQ(table.Thread(self, 7).name, "program");
  table.OnName(self, 7, "worker", /*is_exec=*/false);
  EXPECT_EQ(table.Process(self).name, "program");
  table.OnFork(-5, -5, self, 7, 5000);  // a process
  EXPECT_EQ(table.Thread(-5, -5).name, "worker");
  EXPECT_EQ(table.Process(-5).name, "program");
  EXPECT_EQ(table.Process(-5).command_line, command_line);
  EXPECT_EQ(table.Process(-5).parent_pid, self);
  EXPECT_EQ(table.Process(-5).start_ns, 5000);
  EXPECT_EQ(table.Process(-5).live_threads, std::set<int64_t>{-5});
  table.Process(-5).maps_read_ns = 9;
  table.Process(-5).live_threads.insert(-6);
  table.OnName(-5, -5, "other", /*is_exec=*/true);
  EXPECT_EQ(table.Process(-5).name, "other");
  EXPECT_EQ(table.Process(-5).command_line, "");  // nobody can read it
  EXPECT_EQ(table.Process(-5).maps_read_ns, 0);
  EXPECT_EQ(table.Process(-5).live_threads, std::set<int64_t>{-5});
  // The first name is the process's, where there was no exec.
  table.OnName(-8, -8, "first", /*is_exec=*/false);
  table.OnName(-8, -8, "second", /*is_exec=*/false);
  EXPECT_EQ(table.Process(-8).name, "first");
  EXPECT_EQ(table.Process(-8).live_threads, std::set<int64_t>{-8});
  EXPECT_EQ(table.Track(-8, -8), 0u);
  EXPECT_EQ(table.Track(-8, -9), 1u);
  EXPECT_EQ(table.Track(-8, -8), 0u);
}

TEST(ProcessTableTest, ATimersSampleNamesItsProcess) {
  ProcessTable table;
  const pid_t self = getpid();
  table.OnTimerSample(self, self, 3, /*image_ns=*/77, "thread");
  EXPECT_EQ(table.Process(self).parent_pid, 3);
  EXPECT_EQ(table.Process(self).image_ns, 77);
  EXPECT_NE(table.Process(self).command_line, "");
  std::string name(16, '\0');
  prctl(PR_GET_NAME, name.data());
  EXPECT_EQ(table.Process(self).name, name.c_str());
  table.Process(self).files = {true};
  table.Process(self).maps_read_ns = 9;
  table.OnTimerSample(self, self, 4, /*image_ns=*/77, "renamed");
  EXPECT_EQ(table.Process(self).parent_pid, 3);
  EXPECT_EQ(table.Thread(self, self).name, "renamed");
  EXPECT_EQ(table.Process(self).maps_read_ns, 9);
  EXPECT_FALSE(table.Process(self).files.empty());
  table.OnTimerSample(self, self, 4, /*image_ns=*/78, "renamed");
  EXPECT_EQ(table.Process(self).maps_read_ns, 0);
  EXPECT_TRUE(table.Process(self).files.empty());
  // Of one that is gone, the thread's name is all that there is.
  table.OnTimerSample(-5, -6, 3, /*image_ns=*/77, "thread");
  EXPECT_EQ(table.Process(-5).name, "thread");
}

// Two sets of events that follow each other may both see one end of a thread.
TEST(ProcessTableTest, AThreadThatEndsTwiceEndsNoProcess) {
  ProcessTable table;
  table.OnName(10, 10, "shell", /*is_exec=*/true);
  table.Process(10).space.Map({.start = 100, .end = 200, .module = 3});
  table.OnFork(10, 11, 10, 10, 5000);
  EXPECT_FALSE(table.OnExit(10, 11, 6000));
  EXPECT_FALSE(table.OnExit(10, 11, 6001));
  EXPECT_FALSE(table.OnExit(10, 12, 6002));  // its begin was lost
  EXPECT_NE(table.Process(10).space.Find(150), nullptr);
  EXPECT_EQ(table.Process(10).end_ns, 0);
}

TEST(ProcessTableTest, ATimersSampleTellsOfAnExec) {
  ProcessTable table;
  table.OnTimerSample(10, 10, 1, /*image_ns=*/77, "one");
  table.Process(10).space.Map({.start = 100, .end = 200, .module = 3});
  table.OnTimerSample(10, 10, 1, /*image_ns=*/77, "one");
  EXPECT_NE(table.Process(10).space.Find(150), nullptr);
  table.OnTimerSample(10, 10, 1, /*image_ns=*/78, "two");
  EXPECT_EQ(table.Process(10).space.Find(150), nullptr);
}

}  // namespace
}  // namespace kymo::sampling
