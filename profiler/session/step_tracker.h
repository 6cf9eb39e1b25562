// step_tracker.h - one count of a process's steps, whoever counts them.
//
//   StepTracker& tracker = StepTracker::Process();
//   tracker.init_step_count("ProfilerStep");
//   tracker.increment_step("ProfilerStep");     // current_step() is 1
//
// Several parts of a program (the profiler's Step(), an optimiser) may count
// the same steps; the process's step is the largest of their counts, so that
// each step counts once. PyTorch's KinetoStepTracker.
//
// Threads: all calls may be concurrent. The hook and warnings run in the thread
//   that increments, without a lock held.
#ifndef KYMO_PROFILER_SESSION_STEP_TRACKER_H_
#define KYMO_PROFILER_SESSION_STEP_TRACKER_H_

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kymo {

class StepTracker {
 public:
  using StepHook = std::function<void()>;
  using Warn = std::function<void(std::string_view)>;

  // `warn` takes the warning about jumps; may be empty.
  explicit StepTracker(Warn warn = {}) : warn_(std::move(warn)) {}

  // The process's own. Warnings go to standard error.
  static StepTracker& Process();

  // A requester begins at the current step.
  void init_step_count(const std::string& requester);
  // Whether it was there.
  bool erase_step_count(const std::string& requester);
  // For a requester whose own count goes on elsewhere, as that of a program
  // that goes on from a checkpoint. Takes effect with the next increment.
  void set_step_count(const std::string& requester, int64_t count);
  // Counts a step of the requester (begun now if it is new) and returns the
  // current step. The hook runs once for each step that the process gains; more
  // than one at a time comes with PyTorch's warning.
  int64_t increment_step(const std::string& requester);
  int64_t current_step() const;

  // Called on every step of the process; replaces the hook before.
  void SetStepHook(StepHook hook);

 private:
  std::string CountsText() const;
  int64_t& CountOf(const std::string& requester);

  const Warn warn_;
  mutable std::mutex mutex_;
  // In the order in which they came, as the warning shows them.
  std::vector<std::pair<std::string, int64_t>> counts_;
  int64_t current_step_ = 0;
  StepHook hook_;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_SESSION_STEP_TRACKER_H_
