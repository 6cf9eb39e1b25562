// bias_watch.h - notices, while a program runs, that events of its process
// mislead.
//
//   BiasWatch watch;
//   watch.OnThread();                   // a thread or process begins
//   watch.OnSample(kernel_address);     // none: user code
//   if (watch.IsDue()) ...              // says so once
//
// The two cases of sample_bias.h, as seen in the last 200 samples:
//
// - finish_task_switch, the kernel's function, has more than 15 % of them
// - at least one thread or process began for 10 of them
//
// Threads: one. Cost: the first time that one place of the kernel is that
// frequent, it reads /proc/kallsyms, which takes some 10 ms.
#ifndef KYMO_BACKENDS_SAMPLING_BIAS_WATCH_H_
#define KYMO_BACKENDS_SAMPLING_BIAS_WATCH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace kymo::sampling {

class BiasWatch {
 public:
  void OnThread() { ++threads_; }
  void OnSample(std::optional<uint64_t> kernel_address);

  // True at most once.
  bool IsDue();

 private:
  void EndOfWindow();
  bool SwitchesOften();

  size_t threads_ = 0;
  size_t samples_ = 0;
  // Samples by place: the function enables interrupts at one instruction, and
  // that is where a timer that expired in a switch fires.
  std::unordered_map<uint64_t, size_t> places_;
  std::unordered_set<uint64_t> others_;  // places that are no switch
  bool is_due_ = false;
  bool was_said_ = false;
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_BIAS_WATCH_H_
