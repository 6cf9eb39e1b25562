// rate_watch.h - notices that samples cost a program more than they should.
//
//   RateWatch watch;
//   watch.OnSample(pid, tid);              // each
//   watch.OnThreadEnd(tid);
//   if (watch.IsDue()) TakeFewer();        // says so once
//
// The kernel programs the CPU's timer whenever a thread with a perf event gets
// its CPU, which takes microseconds of a virtual machine (docs/overhead.md). A
// thread that switches often pays that many times for each sample. Where no CPU
// is free, it does less work by as much.
//
// Both are told by the scheduler's counts of the thread, over 100 ms of its CPU
// time.
//
// Threads: one. Cost: one read of a file for each 10 samples.
#ifndef KYMO_BACKENDS_SAMPLING_PERF_RATE_WATCH_H_
#define KYMO_BACKENDS_SAMPLING_PERF_RATE_WATCH_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "profiler/processes/schedstat.h"

namespace kymo::sampling {

class RateWatch {
 public:
  using Read = std::function<std::optional<processes::SchedStat>(int64_t pid,
                                                                 int64_t tid)>;

  explicit RateWatch(Read read = processes::ReadSchedStat)
      : read_(std::move(read)) {}

  void OnSample(uint32_t pid, uint32_t tid);
  void OnThreadEnd(uint32_t tid) { threads_.erase(tid); }

  // Whether some thread switches often and waits for CPUs. True at most once.
  bool IsDue();

 private:
  struct Thread {
    uint32_t samples = 0;  // since the last read
    std::optional<processes::SchedStat> before;
  };

  const Read read_;
  std::unordered_map<uint32_t, Thread> threads_;
  bool is_due_ = false;
  bool is_over_ = false;
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PERF_RATE_WATCH_H_
