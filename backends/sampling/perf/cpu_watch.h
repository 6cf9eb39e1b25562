// cpu_watch.h - looks at each sample before the sampled thread goes on.
//
//   CpuWatch watch;
//   watch.Start({{.cpu = 0, .descriptor = fd, .look = [&] { Look(); }}});
//   watch.Stop();                        // no function runs any more
//
// Each CPU has a thread that waits there for the events of that CPU. When a
// sample wakes it, it takes the CPU from the thread that was sampled, which
// stands still meanwhile, where go_first.h can have that. So `look` must take a
// few microseconds.
//
// Threads: Start and Stop from one thread at a time; each `look` on its CPU's.
#ifndef KYMO_BACKENDS_SAMPLING_PERF_CPU_WATCH_H_
#define KYMO_BACKENDS_SAMPLING_PERF_CPU_WATCH_H_

#include <functional>
#include <thread>
#include <vector>

#include "profiler/base/owned_descriptor.h"

namespace kymo::sampling {

class CpuWatch {
 public:
  struct Cpu {
    int cpu = 0;
    int descriptor = -1;  // of an event that wakes at each sample
    std::function<void()> look;
  };

  CpuWatch() = default;
  CpuWatch(const CpuWatch&) = delete;
  CpuWatch& operator=(const CpuWatch&) = delete;
  ~CpuWatch() { Stop(); }

  // Whether there is a thread for each CPU. If not, there is none.
  // REQUIRES: !is_running().
  bool Start(std::vector<Cpu> cpus);
  void Stop();
  bool is_running() const noexcept { return !threads_.empty(); }

 private:
  void Run(const Cpu& cpu) const;

  OwnedDescriptor end_;  // readable: end
  std::vector<std::thread> threads_;
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_PERF_CPU_WATCH_H_
