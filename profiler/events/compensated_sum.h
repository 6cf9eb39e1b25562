// compensated_sum.h - the sum that Python's sum() makes of doubles.
//
//   CompensatedSum sum;
//   for (const Kernel& kernel : kernels) sum.Add(kernel.duration_us);
//   return sum.Total();
//
// Neumaier's variant of Kahan's sum, as in Python 3.12 and later. It differs
// from `+=` in the last bits only, but those can reach a printed digit: texts
// agree with PyTorch's only if what PyTorch adds with sum() is added so here,
// and what it adds with `+=` plainly.
#ifndef KYMO_PROFILER_EVENTS_COMPENSATED_SUM_H_
#define KYMO_PROFILER_EVENTS_COMPENSATED_SUM_H_

#include <cmath>

namespace kymo {

class CompensatedSum {
 public:
  void Add(double x) noexcept {
    const double total = high_ + x;
    low_ += std::abs(high_) >= std::abs(x) ? (high_ - total) + x
                                           : (x - total) + high_;
    high_ = total;
  }

  double Total() const noexcept {
    return low_ != 0 && std::isfinite(low_) ? high_ + low_ : high_;
  }

 private:
  double high_ = 0;
  double low_ = 0;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_COMPENSATED_SUM_H_
