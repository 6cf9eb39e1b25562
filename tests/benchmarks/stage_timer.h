// stage_timer.h - what one stage costs, on a machine that others use, too.
//
//   StageTimer timer(state, ranges);
//   for (auto _ : state) {
//     Prepare();
//     timer.Time([&] { Stage(); });      // only this counts
//   }
//
// Counters of the benchmark, of the iterations the smallest each, per range:
//   ns_per_range         wall time; says nothing while others use the cores
//   cpu_ns_per_range     CPU time of all threads, the kernel's included
//   kernel_ns_per_range  of that, the kernel's: mostly new pages
// The benchmark's time is the wall time (UseManualTime).
#ifndef KYMO_TESTS_BENCHMARKS_STAGE_TIMER_H_
#define KYMO_TESTS_BENCHMARKS_STAGE_TIMER_H_

#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>

namespace kymo::benchmarks {

class StageTimer {
 public:
  StageTimer(benchmark::State& state, size_t ranges)
      : state_(state), ranges_(static_cast<double>(ranges)) {}
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;
  ~StageTimer() {
    state_.counters["ns_per_range"] = best_.wall * 1e9 / ranges_;
    state_.counters["cpu_ns_per_range"] = best_.cpu * 1e9 / ranges_;
    state_.counters["kernel_ns_per_range"] = best_.kernel * 1e9 / ranges_;
  }

  template <typename Stage>
  void Time(Stage&& stage) {
    const Times before = Now();
    stage();
    const Times after = Now();
    best_.wall = std::min(best_.wall, after.wall - before.wall);
    best_.cpu = std::min(best_.cpu, after.cpu - before.cpu);
    best_.kernel = std::min(best_.kernel, after.kernel - before.kernel);
    state_.SetIterationTime(after.wall - before.wall);
  }

 private:
  // Seconds.
  struct Times {
    double wall = std::numeric_limits<double>::max();
    double cpu = std::numeric_limits<double>::max();
    double kernel = std::numeric_limits<double>::max();
  };

  static double Seconds(const timeval& time) {
    return static_cast<double>(time.tv_sec) +
           static_cast<double>(time.tv_usec) * 1e-6;
  }

  static Times Now() {
    rusage used;
    getrusage(RUSAGE_SELF, &used);
    const std::chrono::duration<double> wall =
        std::chrono::steady_clock::now().time_since_epoch();
    return {.wall = wall.count(),
            .cpu = Seconds(used.ru_utime) + Seconds(used.ru_stime),
            .kernel = Seconds(used.ru_stime)};
  }

  benchmark::State& state_;
  const double ranges_;
  Times best_;
};

}  // namespace kymo::benchmarks

#endif  // KYMO_TESTS_BENCHMARKS_STAGE_TIMER_H_
