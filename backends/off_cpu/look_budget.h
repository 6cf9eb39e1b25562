// look_budget.h - bounds what looks at blocked threads cost.
//
//   LookBudget budget;
//   budget.Begin(now_ns);                // of a round of looks
//   while (budget.MayLook()) {
//     ...
//     budget.Pay(now_ns);                // for the look that ends now
//   }
//
// Looks take one part in 25 of the time. What they do not need is saved, up to
// 20 ms, because many threads may begin to wait together. A round may always
// take 16: on a busy machine a look takes long because it waits for a CPU.
//
// Threads: none. Times are of any clock that does not go back.
#ifndef KYMO_BACKENDS_OFF_CPU_LOOK_BUDGET_H_
#define KYMO_BACKENDS_OFF_CPU_LOOK_BUDGET_H_

#include <algorithm>
#include <cstdint>

namespace kymo::off_cpu {

class LookBudget {
 public:
  static constexpr int kFewest = 16;  // of a round
  static constexpr uint64_t kMostNs = 20'000'000;

  void Begin(uint64_t now_ns) {
    left_ns_ = std::min(left_ns_ + (now_ns - begun_ns_) / kPart, kMostNs);
    begun_ns_ = last_ns_ = now_ns;
    looks_ = 0;
  }

  bool MayLook() const { return looks_ < kFewest || left_ns_ > 0; }

  // The look began when the one before ended, or with the round.
  void Pay(uint64_t now_ns) {
    ++looks_;
    left_ns_ -= std::min(now_ns - last_ns_, left_ns_);
    last_ns_ = now_ns;
  }

 private:
  static constexpr uint64_t kPart = 25;

  uint64_t left_ns_ = 0;
  uint64_t begun_ns_ = 0;  // when time was last added
  uint64_t last_ns_ = 0;   // up to when looks are paid for
  int looks_ = 0;          // of this round
};

}  // namespace kymo::off_cpu

#endif  // KYMO_BACKENDS_OFF_CPU_LOOK_BUDGET_H_
