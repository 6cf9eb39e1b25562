// benchmark_main.cc - the main of Google Benchmark, whose rows also say what a
// benchmark allocates, and how it waits:
//
//   cc_binary(name = "bench", srcs = ["bench.cc"], testonly = True,
//             deps = ["@kymo//:benchmark_main"])
//
//   Benchmark          Time       CPU  Iterations UserCounters...
//   BM_Parse        1204 ns   1203 ns      581234 allocs=3 bytes=96 ...
//
// Counters are of one iteration. They come from 16 further iterations, which
// are recorded and not timed: so the times are those without Kymo.
//
//   allocs, bytes, peak_bytes   the heap; peak_bytes of all 16
//   ranges                      annotated ranges
//   waits, wait_ns              not of a thread that waits for work
//
// Google Benchmark 1.7 does not say where the iterations begin. So what a
// benchmark takes before them counts, too. Since 1.9 it is left out.
//
// All flags of Google Benchmark hold, --benchmark_out, too.
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "benchmark/benchmark.h"
#include "profiler/testing/test_session.h"

#ifdef __clang__
// Recorder's Stop(Result*).
#pragma clang diagnostic ignored "-Winconsistent-missing-override"
#endif

namespace benchmark {
class ProfilerManager;  // since 1.9; before, this is all of it
}  // namespace benchmark

namespace kymo {
namespace {

template <typename Manager>
concept IsDefined = requires {
  sizeof(Manager);
};
constexpr bool kHasProfilerManager = IsDefined<benchmark::ProfilerManager>;

constexpr int64_t kRecordedIterations = 16;  // as Google Benchmark has it

// Google Benchmark calls it around iterations that it does not time. If it has
// a ProfilerManager, it then runs the benchmark once more, and says where the
// iterations begin: what was taken since is what the recorded run took before
// its iterations.
class Recorder final : public benchmark::MemoryManager {
 public:
  ~Recorder() override { EndSetup(); }

  void Start() override {
    EndSetup();  // a benchmark that gave up has no iterations
    session_.Start();
  }
  // Overrides what Google Benchmark 1.7 calls and 1.9 does not have.
  void Stop(Result* result) { Stop(*result); }
  void Stop(Result& result) override {
    last_ = session_.Stop(kHasProfilerManager ? EnclosingBlock::kCount
                                              : EnclosingBlock::kLeaveOut);
    if (kHasProfilerManager) {
      session_.Start();
      is_in_setup_ = true;
    }
    result.num_allocs = last_.allocations;
    result.max_bytes_used = last_.peak_bytes;
    result.total_allocated_bytes = last_.allocated_bytes;
    result.net_heap_growth = last_.alive_bytes;
  }

  void EndSetup() {
    if (!is_in_setup_) return;
    is_in_setup_ = false;
    const TestAmounts setup = session_.Stop();
    if (!setup.error.empty()) return;
    last_.allocations -= setup.allocations;
    last_.allocated_bytes -= setup.allocated_bytes;
    last_.peak_bytes -= setup.alive_bytes;
    last_.ranges -= setup.ranges;
    last_.waits -= setup.waits;
    last_.wait_ns -= setup.wait_ns;
  }

  const TestAmounts& last() const { return last_; }

 private:
  TestSession session_;
  TestAmounts last_;
  bool is_in_setup_ = false;
};

// REQUIRES: Manager is Google Benchmark's, and defined.
template <typename Manager>
class SetupEnd final : public Manager {
 public:
  explicit SetupEnd(Recorder& recorder) : recorder_(recorder) {
    RegisterProfilerManager(static_cast<Manager*>(this));
  }
  ~SetupEnd() { RegisterProfilerManager(static_cast<Manager*>(nullptr)); }

  void AfterSetupStart() override { recorder_.EndSetup(); }
  void BeforeTeardownStop() override {}

 private:
  Recorder& recorder_;
};

template <typename Manager>
auto NewSetupEnd(Recorder& recorder) {
  if constexpr (IsDefined<Manager>) {
    return std::make_unique<SetupEnd<Manager>>(recorder);
  } else {
    return nullptr;
  }
}

// A reporter whose rows have the counters, too. Base is one of Google
// Benchmark's.
template <typename Base>
class WithCounters final : public Base {
 public:
  template <typename... Arguments>
  explicit WithCounters(const Recorder& recorder, Arguments... arguments)
      : Base(arguments...), recorder_(recorder) {}

  void ReportRuns(
      const std::vector<benchmark::BenchmarkReporter::Run>& runs) override {
    using Run = benchmark::BenchmarkReporter::Run;
    std::vector<Run> counted = runs;
    for (Run& run : counted) {
      if (run.run_type == Run::RT_Iteration && run.memory_result != nullptr) {
        Add(run);
      }
    }
    Base::ReportRuns(counted);
  }

 private:
  void Add(benchmark::BenchmarkReporter::Run& run) const {
    const TestAmounts& amounts = recorder_.last();
    const auto iterations = static_cast<double>(
        std::clamp<int64_t>(run.iterations / std::max<int64_t>(1, run.threads),
                            1, kRecordedIterations));
    const auto each = [&](const char* name, int64_t amount) {
      run.counters[name] =
          benchmark::Counter(static_cast<double>(amount) / iterations);
    };
    each("allocs", amounts.allocations);
    each("bytes", amounts.allocated_bytes);
    each("ranges", amounts.ranges);
    each("waits", amounts.waits);
    each("wait_ns", amounts.wait_ns);
    run.counters["peak_bytes"] =
        benchmark::Counter(static_cast<double>(amounts.peak_bytes));
  }

  const Recorder& recorder_;
};

// The value of a flag that Google Benchmark reads, too; the last one counts.
std::string FlagOf(int argc, char** argv, const std::string& name,
                   std::string value) {
  const std::string word = "--" + name;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == word) value = "true";
    if (argument.starts_with(word + "="))
      value = argument.substr(word.size() + 1);
  }
  return value;
}

// How the table looks, by --benchmark_color and --benchmark_counters_tabular.
benchmark::ConsoleReporter::OutputOptions TableOptions(int argc, char** argv) {
  using Console = benchmark::ConsoleReporter;
  const std::string color = FlagOf(argc, argv, "benchmark_color", "auto");
  const std::string tabular =
      FlagOf(argc, argv, "benchmark_counters_tabular", "false");
  const auto is_on = [](const std::string& value) {
    return value == "true" || value == "1" || value == "yes";
  };
  int options = Console::OO_None;
  if (is_on(color) || (color == "auto" && isatty(STDOUT_FILENO) != 0)) {
    options |= Console::OO_Color;
  }
  if (is_on(tabular)) options |= Console::OO_Tabular;
  return static_cast<Console::OutputOptions>(options);
}

std::unique_ptr<benchmark::BenchmarkReporter> NewReporter(
    const std::string& format, const Recorder& recorder,
    benchmark::ConsoleReporter::OutputOptions options) {
  if (format == "json") {
    return std::make_unique<WithCounters<benchmark::JSONReporter>>(recorder);
  }
  return std::make_unique<WithCounters<benchmark::ConsoleReporter>>(recorder,
                                                                    options);
}

int Main(int argc, char** argv) {
  const std::string format = FlagOf(argc, argv, "benchmark_format", "console");
  const std::string out = FlagOf(argc, argv, "benchmark_out", "");
  const std::string out_format =
      FlagOf(argc, argv, "benchmark_out_format", "json");
  const auto options = TableOptions(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  if (format == "csv" || out_format == "csv") {
    fputs(
        "kymo: Google Benchmark gives up its CSV, and Kymo has none; use "
        "json\n",
        stderr);
    return 1;
  }
  Recorder recorder;
  benchmark::RegisterMemoryManager(&recorder);
  [[maybe_unused]] const auto setup_end =
      NewSetupEnd<benchmark::ProfilerManager>(recorder);
  const auto shown = NewReporter(format, recorder, options);
  const auto written =
      NewReporter(out_format, recorder, benchmark::ConsoleReporter::OO_None);
  // A file's reporter without a file is an error of Google Benchmark's.
  benchmark::RunSpecifiedBenchmarks(shown.get(),
                                    out.empty() ? nullptr : written.get());
  benchmark::RegisterMemoryManager(nullptr);
  benchmark::Shutdown();
  return 0;
}

}  // namespace
}  // namespace kymo

int main(int argc, char** argv) { return kymo::Main(argc, argv); }
