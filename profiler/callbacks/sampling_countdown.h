// sampling_countdown.h - when a sampled callback runs next.
//
//   SamplingRandom random(seed);
//   int64_t countdown = random.DrawCountdown(0.01);   // 100 on average
//   if (--countdown == 0) { Run(); countdown = random.DrawCountdown(0.01); }
//
// A coin of probability p, tossed for every operation, comes up for the first
// time at toss n with probability (1-p)^(n-1) p. Drawing n once and counting
// down gives the same runs of luck for a decrement per operation. From a u
// evenly distributed in (0, 1]:
//
//   n = floor(log u / log(1-p)) + 1,   as P(n > k) = P(u <= (1-p)^k) = (1-p)^k
//
// Threads: an object is its thread's. Errors: none.
#ifndef KYMO_PROFILER_CALLBACKS_SAMPLING_COUNTDOWN_H_
#define KYMO_PROFILER_CALLBACKS_SAMPLING_COUNTDOWN_H_

#include <cstdint>
#include <limits>

namespace kymo::internal {

// More operations than a process performs.
inline constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 2;

class SamplingRandom {
 public:
  // Any seed will do; equal seeds give equal numbers.
  explicit SamplingRandom(uint64_t seed) noexcept : state_(seed) {}

  // Operations up to and with the next one that is sampled: at least 1, at
  // most kNever. 1 for a probability of 1 or more, kNever for one of 0 or less.
  int64_t DrawCountdown(double probability) noexcept;

 private:
  uint64_t Next() noexcept;

  uint64_t state_;
};

}  // namespace kymo::internal

#endif  // KYMO_PROFILER_CALLBACKS_SAMPLING_COUNTDOWN_H_
