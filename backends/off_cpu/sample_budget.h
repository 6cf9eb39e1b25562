// sample_budget.h - bounds how many samples of switches a CPU gives.
//
//   SampleBudget budget;
//   budget.Take();                       // for each sample
//   if (!budget.Update(now_ns)) ...      // no samples for now
//
// Every switch is sampled while threads leave their CPU 16,000 times a second
// or less. Beyond that, samples stop when the budget is used up, and begin
// again when it is full. So what they cost is bounded, and those that there are
// come from stretches of time in which nothing is missing.
//
// Threads: none. Times are of any clock.
#ifndef KYMO_BACKENDS_OFF_CPU_SAMPLE_BUDGET_H_
#define KYMO_BACKENDS_OFF_CPU_SAMPLE_BUDGET_H_

#include <algorithm>
#include <cstdint>

namespace kymo::off_cpu {

class SampleBudget {
 public:
  static constexpr int64_t kPerSecond = 16000;
  static constexpr int64_t kMost = 1600;  // a tenth of a second's

  void Take() { left_ns_ -= kCostNs; }

  // Adds what has come due. Whether there are to be samples from now on.
  bool Update(uint64_t now_ns) {
    const auto passed_ns = std::min<uint64_t>(now_ns - last_ns_, kMostNs);
    last_ns_ = now_ns;
    left_ns_ = std::min(left_ns_ + static_cast<int64_t>(passed_ns), kMostNs);
    if (left_ns_ <= 0) is_open_ = false;
    if (left_ns_ == kMostNs) is_open_ = true;
    return is_open_;
  }

 private:
  static constexpr int64_t kCostNs = 1'000'000'000 / kPerSecond;
  static constexpr int64_t kMostNs = kMost * kCostNs;

  int64_t left_ns_ = kMostNs;
  uint64_t last_ns_ = 0;
  bool is_open_ = true;
};

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_SAMPLE_BUDGET_H_
