// sustained_target - records plain ranges on some threads for some time, and
// says how many.
//
//   sustained_target THREADS SECONDS [MILLIONS]
//
// MILLIONS of ranges a second, of all threads together, which sleep in between;
// without it, as many as they can.
// Prints the number of ranges and the nanoseconds that they took, from when all
// threads record to when the last one stops.
#include <stdio.h>
#include <stdlib.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "kymo/record_function.h"

namespace {

using Clock = std::chrono::steady_clock;

// Ranges between two looks at the time.
constexpr int kBatch = 10'000;

// `batch_time` 0: without a break.
uint64_t RecordUntil(Clock::time_point end, Clock::duration batch_time) {
  uint64_t count = 0;
  Clock::time_point next = Clock::now();
  while (Clock::now() < end) {
    if (batch_time != Clock::duration::zero()) {
      std::this_thread::sleep_until(next);
      next += batch_time;
    }
    for (int i = 0; i < kBatch; ++i) {
      KYMO_RECORD_FUNCTION("range");
    }
    count += kBatch;
  }
  return count;
}

Clock::duration DurationOf(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(seconds));
}

void Run(int threads, double seconds, double millions) {
  std::atomic<int> ready = 0;
  std::atomic<uint64_t> total = 0;
  const Clock::duration duration = DurationOf(seconds);
  const Clock::duration batch_time =
      DurationOf(millions > 0 ? kBatch * threads / (millions * 1e6) : 0);
  std::vector<std::thread> recorders;
  const auto begin = Clock::now();
  for (int i = 0; i < threads; ++i) {
    recorders.emplace_back([&] {
      ready.fetch_add(1);
      while (ready.load() < threads) std::this_thread::yield();
      total.fetch_add(RecordUntil(Clock::now() + duration, batch_time));
    });
  }
  for (std::thread& recorder : recorders) recorder.join();
  const auto took = std::chrono::duration_cast<std::chrono::nanoseconds>(
      Clock::now() - begin);
  printf("%llu %lld\n", static_cast<unsigned long long>(total.load()),
         static_cast<long long>(took.count()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: sustained_target THREADS SECONDS [MILLIONS]\n");
    return 2;
  }
  Run(atoi(argv[1]), atof(argv[2]), argc > 3 ? atof(argv[3]) : 0);
  return 0;
}
