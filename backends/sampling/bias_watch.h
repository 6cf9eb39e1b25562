// bias_watch.h - notices, while a program runs, that events of its process
// mislead.
//
//   BiasWatch watch;
//   watch.OnSample(tid, kernel_address);   // none: user code
//   watch.OnThreadEnd(tid);
//   if (watch.IsDue()) ...                 // says so once
//
// The two cases of sample_bias.h, as seen within 200 samples:
//
// - finish_task_switch, the kernel's function, has more than 15 % of them
// - 20 threads ended that had fewer than 10 samples each. This shows before the
//   200 samples are there: the shortest processes have no sample at all.
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
  void OnSample(uint32_t tid, std::optional<uint64_t> kernel_address);
  void OnThreadEnd(uint32_t tid);

  // True at most once.
  bool IsDue();

 private:
  void EndOfWindow();
  bool SwitchesOften();

  size_t short_threads_ = 0;
  size_t samples_ = 0;
  // Samples by place: the function enables interrupts at one instruction, and
  // that is where a timer that expired in a switch fires.
  std::unordered_map<uint64_t, size_t> places_;
  std::unordered_map<uint32_t, size_t> per_thread_;  // of those that live
  std::unordered_set<uint64_t> others_;  // places that are no switch
  bool is_due_ = false;
  bool was_said_ = false;
};

}  // namespace kymo::sampling

#endif  // KYMO_BACKENDS_SAMPLING_BIAS_WATCH_H_
