// test_waiter_run.h - runs test_waiter.cc under an off_cpu session.
#ifndef KYMO_BACKENDS_OFF_CPU_TEST_WAITER_RUN_H_
#define KYMO_BACKENDS_OFF_CPU_TEST_WAITER_RUN_H_

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "backends/off_cpu/off_cpu_session.h"
#include "backends/sampling/perf_events.h"
#include "profiler/base/clock.h"
#include "profiler/model/thread_states.h"
#include "profiler/model/trace_shard.h"
#include "profiler/processes/schedstat.h"
#include "tests/support/test_threads.h"

namespace kymo {

// With the work of perf events, on a busy virtual machine. Usually 1 us.
constexpr DurationNs kMostSwitchNs = 25'000;

// What a thread of test_waiter says of itself.
struct Truth {
  struct Counts {
    int64_t cpu_ns = 0;
    int64_t voluntary = 0;
    int64_t involuntary = 0;
    int64_t run_queue_ns = 0;

    Counts Since(const Counts& before) const {
      return {cpu_ns - before.cpu_ns, voluntary - before.voluntary,
              involuntary - before.involuntary,
              run_queue_ns - before.run_queue_ns};
    }

    static Counts OfThisThread() {
      const DurationNs cpu_ns = ThreadCpuNs();
      rusage usage;
      getrusage(RUSAGE_THREAD, &usage);
      int64_t on_cpu_ns = 0, run_queue_ns = 0;
      std::ifstream("/proc/thread-self/schedstat") >> on_cpu_ns >> run_queue_ns;
      return {cpu_ns, usage.ru_nvcsw, usage.ru_nivcsw, run_queue_ns};
    }
  };

  std::string name;
  int64_t tid = 0;
  // Of the program's main thread since before its exec. While it becomes the
  // program, records of it begin.
  Counts counts;
  Counts since_main;    // the same without what it did before main()
  int64_t told_ns = 0;  // MonotonicNs() just before it said so
  int64_t gone_ns = 0;  // and when it was not there any more
};

class TestWaiterRun : public ::testing::Test {
 protected:
  static std::string DataFile(const std::string& name) {
    return std::string(getenv("TEST_SRCDIR")) + "/" + getenv("TEST_WORKSPACE") +
           "/backends/off_cpu/" + name;
  }

  void SetUp() override {
    const absl::Status status = sampling::PerfEvents::ProbeSwitches();
    if (!status.ok()) GTEST_SKIP() << "NOT TESTED HERE: " << status;
  }

  virtual std::unique_ptr<ActivitySession> NewSession() {
    return off_cpu::NewOffCpuSession(source_);
  }

  // Runs test_waiter to its end, as the command does.
  void Run(const std::string& mode, int64_t count, bool polls = true) {
    const std::string program = DataFile(program_);
    const std::string file =
        std::string(getenv("TEST_TMPDIR")) + "/truth-" + mode;
    unlink(file.c_str());
    const std::string number = std::to_string(count);
    const auto session = NewSession();
    TargetSetup setup;
    ASSERT_TRUE(session->Prepare(&setup).ok());
    // What the child uses before its exec is not the program's.
    auto* const before = static_cast<Truth::Counts*>(
        mmap(nullptr, sizeof(Truth::Counts), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(before, MAP_FAILED);
    // Its standard input: a byte after each poll.
    int polled[2];
    ASSERT_EQ(pipe2(polled, O_CLOEXEC), 0);
    fcntl(polled[1], F_SETFL, O_NONBLOCK);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(polled[0], STDIN_FILENO);
      raise(SIGSTOP);
      if (shares_cpu_before_exec_) ShareCpu();
      *before = Truth::Counts::OfThisThread();
      if (!preload_.empty()) {
        for (const auto& [name, value] : setup.environment) {
          setenv(name.c_str(), value.c_str(), 1);
        }
        setenv("LD_PRELOAD", preload_.c_str(), 1);
      }
      execl(program.c_str(), program.c_str(), file.c_str(), mode.c_str(),
            number.c_str(), nullptr);
      _exit(127);
    }
    waitpid(pid_, &wait_status_, WUNTRACED);
    at_start_ = *processes::ReadSchedStat(pid_, pid_);
    const int64_t stolen_before_ns = StolenNs();
    const int64_t start_ns = MonotonicNs();
    const absl::Status started = session->Start(pid_);
    kill(pid_, SIGCONT);
    ASSERT_TRUE(started.ok()) << started;
    std::map<int64_t, int64_t> gone_ns;
    int stop_ms = stop_ms_;
    while (waitpid(pid_, &wait_status_, WNOHANG) == 0) {
      usleep(5'000);
      if (stop_ms > 0 && gone_ns.size() >= 3) {
        kill(pid_, SIGSTOP);
        usleep(static_cast<useconds_t>(std::exchange(stop_ms, 0) * 1'000));
        kill(pid_, SIGCONT);
      }
      NoteThreads(gone_ns);
      if (!polls) continue;
      session->Poll();
      (void)!write(polled[1], "", 1);  // it may be full
    }
    NoteThreads(gone_ns);
    wall_ns_ = MonotonicNs() - start_ns;
    close(polled[0]);
    close(polled[1]);
    stolen_ns_ = StolenSince(stolen_before_ns);
    if (polls) session->Poll();
    ASSERT_TRUE(session->Stop().ok());
    ASSERT_TRUE(session->Collect(shard_).ok());
    std::ifstream truth(file);
    Truth::Counts at_main;
    for (Truth t; truth >> t.name >> t.tid >> t.counts.cpu_ns >>
                  t.counts.run_queue_ns >> t.counts.voluntary >>
                  t.counts.involuntary >> t.told_ns;) {
      if (t.name == "begin") {
        at_main = t.counts;
        continue;
      }
      t.since_main = t.counts;
      if (t.tid == pid_) {
        t.since_main = t.counts.Since(at_main);
        t.counts = t.counts.Since(*before);
      }
      const auto gone = gone_ns.find(t.tid);
      t.gone_ns = gone == gone_ns.end() ? start_ns + wall_ns_ : gone->second;
      truth_.push_back(t);
    }
    before_ = *before;
    munmap(before, sizeof(*before));
  }

  // For each of the program's threads 0, or a time at which it was gone.
  void NoteThreads(std::map<int64_t, int64_t>& gone_ns) const {
    const std::string folder = "/proc/" + std::to_string(pid_) + "/task";
    std::error_code ended;
    for (const auto& thread :
         std::filesystem::directory_iterator(folder, ended)) {
      gone_ns.emplace(atoll(thread.path().filename().c_str()), 0);
    }
    for (auto& [tid, time_ns] : gone_ns) {
      if (time_ns == 0 && !processes::ThreadExists(pid_, tid)) {
        time_ns = MonotonicNs();
      }
    }
  }

  // Waits for its CPU while a child spins on the same one.
  static void ShareCpu() {
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof(all), &all);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof(one), &one);
    const pid_t child = fork();
    const int64_t end_ns = MonotonicNs() + 200 * kNsPerMs;
    while (MonotonicNs() < end_ns) {
    }
    if (child == 0) _exit(0);
    waitpid(child, nullptr, 0);
    sched_setaffinity(0, sizeof(all), &all);
  }

  const model::Track& TrackOf(const model::ThreadTimes& times) const {
    return shard_.tracks[times.track];
  }
  std::string NameOf(const model::ThreadTimes& times) const {
    return std::string(shard_.strings.Get(TrackOf(times).name));
  }
  const model::ThreadTimes* Find(int64_t tid) const {
    for (const model::ThreadTimes& times : shard_.thread_states->threads) {
      if (TrackOf(times).id == tid) return &times;
    }
    return nullptr;
  }

  // The function names of a stack, outermost first.
  std::vector<std::string> NamesOf(model::StackId stack) const {
    std::vector<std::string> names;
    for (const model::FrameId frame : shard_.stacks.Frames(stack)) {
      names.emplace_back(
          shard_.strings.Get(shard_.stacks.frame(frame).function));
    }
    return names;
  }
  // What the thread waited in a function, of that kind.
  DurationNs WaitedIn(const std::string& function, model::WaitKind kind) const {
    DurationNs sum_ns = 0;
    for (const model::Wait& wait : shard_.thread_states->waits) {
      if (wait.kind == kind && IsIn(wait.stack, function)) {
        sum_ns += wait.duration_ns;
      }
    }
    return sum_ns;
  }
  bool IsIn(model::StackId stack, const std::string& function) const {
    return std::ranges::any_of(NamesOf(stack), [&](const auto& name) {
      return name.starts_with(function);
    });
  }
  // The longest wait of a thread.
  model::Wait LongestOf(int64_t tid) const {
    model::Wait longest;
    for (const model::Wait& wait : shard_.thread_states->waits) {
      if (shard_.tracks[wait.track].id != tid) continue;
      if (wait.duration_ns > longest.duration_ns) longest = wait;
    }
    return longest;
  }

  off_cpu::StackSource source_ = off_cpu::StackSource::kSamplesAndLooks;
  std::string program_ = "test_waiter";
  std::string preload_;  // then the program gets the session's variables, too
  pid_t pid_ = 0;
  int wait_status_ = 0;
  // At most, while the program ran. Then a thread is on a CPU for the records,
  // and not for its own clock.
  int64_t stolen_ns_ = 0;
  int64_t wall_ns_ = 0;
  bool shares_cpu_before_exec_ = false;
  // Not 0: so long the program, once it has three threads, and this collector
  // stop together, once.
  int stop_ms_ = 0;
  processes::SchedStat at_start_;  // of the child, stopped, before the session
  Truth::Counts before_;           // of the child, just before its exec
  model::TraceShard shard_;
  std::vector<Truth> truth_;
};

}  // namespace kymo

#endif  // KYMO_BACKENDS_OFF_CPU_TEST_WAITER_RUN_H_
