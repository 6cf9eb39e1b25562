#include "backends/sampling/perf/rate_watch.h"

#include <utility>

#include "profiler/base/time.h"

namespace kymo::sampling {
namespace {

// Where time in the kernel is not sampled, a server has few samples.
constexpr uint32_t kSamplesOfRead = 10;
constexpr DurationNs kWindowNs = 100 * kNsPerMs;
// A switch that programs the timer takes 6 us more: 3 % at so many a second.
constexpr DurationNs kOftenNs = kNsPerSecond / 5'000;
// A server whose clients run on the other CPU waits for 12 % of its CPU time
// on a machine that is idle otherwise, and for 80 % where one more program
// wants a CPU.
constexpr int64_t kWaitedPercent = 30;

bool IsDear(const processes::SchedStat& before,
            const processes::SchedStat& now) {
  const DurationNs on_cpu_ns = now.on_cpu_ns - before.on_cpu_ns;
  const int64_t times = now.times_on_cpu - before.times_on_cpu;
  return times * kOftenNs > on_cpu_ns &&
         (now.waited_ns - before.waited_ns) * 100 > on_cpu_ns * kWaitedPercent;
}

}  // namespace

void RateWatch::OnSample(uint32_t pid, uint32_t tid) {
  if (is_over_) return;
  Thread& thread = threads_[tid];
  if (++thread.samples < kSamplesOfRead) return;
  thread.samples = 0;
  const auto now = read_(pid, tid);
  if (!now || !thread.before) {
    thread.before = now;
    return;
  }
  if (now->on_cpu_ns - thread.before->on_cpu_ns < kWindowNs) return;
  if (IsDear(*thread.before, *now)) {
    is_due_ = is_over_ = true;
  }
  thread.before = now;
}

bool RateWatch::IsDue() { return std::exchange(is_due_, false); }

}  // namespace kymo::sampling
