// Benchmarks: what a reading of the counters costs the thread that reads them.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "backends/host/counter_log.h"
#include "backends/host/file_reader.h"
#include "backends/host/machine_counters.h"
#include "backends/host/process_counters.h"
#include "backends/host/process_tree.h"
#include "profiler/base/time.h"

namespace kymo::host {
namespace {

constexpr size_t kMostValues = 1 << 20;

void BM_ReadMachine(benchmark::State& state) {
  MachineCounters machine({}, getpid(), /*per_core=*/true);
  FileReader reader;
  CounterLog log(kMostValues);
  TimeNs now_ns = 0;
  for (auto _ : state) machine.Read(now_ns += kNsPerMs, reader, log);
}
BENCHMARK(BM_ReadMachine);

// This process with `range(0)` threads.
void BM_ReadProcess_Threads(benchmark::State& state) {
  std::mutex mutex;
  std::condition_variable ending;
  bool is_ending = false;
  std::vector<std::thread> threads;
  for (int64_t i = 1; i < state.range(0); ++i) {
    threads.emplace_back([&] {
      std::unique_lock lock(mutex);
      ending.wait(lock, [&] { return is_ending; });
    });
  }
  ProcessTree tree("/proc", getpid(), /*is_new=*/false, 1);
  FileReader reader;
  CounterLog log(kMostValues);
  TimeNs now_ns = 0;
  for (auto _ : state) tree.Read(now_ns += kNsPerMs, reader, log);
  {
    const std::lock_guard lock(mutex);
    is_ending = true;
  }
  ending.notify_all();
  for (std::thread& thread : threads) thread.join();
}
BENCHMARK(BM_ReadProcess_Threads)->Arg(1)->Arg(16)->Arg(64);

// A folder of descriptors that the kernel lists; since 6.2 it is not listed.
void BM_CountDescriptors_Listed(benchmark::State& state) {
  std::vector<int> files;
  for (int64_t i = 0; i < state.range(0); ++i) {
    files.push_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  // The size of this folder is 0, and its entries are those of fd.
  for (auto _ : state) {
    benchmark::DoNotOptimize(CountDescriptors("/proc/self/fdinfo"));
  }
  for (const int file : files) close(file);
}
BENCHMARK(BM_CountDescriptors_Listed)->Arg(100)->Arg(1000);

}  // namespace
}  // namespace kymo::host
