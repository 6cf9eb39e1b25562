// step_tracker.h - one count of a process's steps, for all who count them.
//
//   kymo::StepTracker& tracker = kymo::StepTracker::Process();
//   tracker.init_step_count("ProfilerStep");
//   tracker.increment_step("ProfilerStep");
//   Print(tracker.current_step());   // 1
//
// Several parts of a program may count the same steps, for example the
// profiler's Step() and an optimiser. Each has a name, the requester, and a
// count. The process's step is the largest of these counts, so each step counts
// once. The same as PyTorch's KinetoStepTracker.
//
// Threads: any, concurrently. The hook and warnings run on the thread that
//   increments; no lock is held then.
// Errors:  none.
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

  // `warn` gets a warning when the step jumps by more than one; it may be
  // empty.
  explicit StepTracker(Warn warn = {}) : warn_(std::move(warn)) {}

  // The process's tracker. Its warnings go to the handler of kymo/warning.h.
  // profiler/library/step_tracker.cc defines it; link //:kymo.
  static StepTracker& Process();

  // Adds a requester, whose count begins at the current step.
  void init_step_count(const std::string& requester);
  // Removes a requester. Returns whether it was there.
  bool erase_step_count(const std::string& requester);
  // Sets the requester's count, for a program that continues from a checkpoint.
  // The process's step changes with the next increment.
  void set_step_count(const std::string& requester, int64_t count);
  // Adds one to the requester's count and returns the current step. A new
  // requester is added first. The hook runs once for each step that the process
  // gains. If it gains more than one, there is PyTorch's warning as well.
  int64_t increment_step(const std::string& requester);
  int64_t current_step() const;

  // Sets the function that runs on every step of the process, in place of the
  // one before.
  void SetStepHook(StepHook hook);
  // The same after that hook, for Kymo itself: recordings on demand begin and
  // end with steps.
  void SetStepObserver(StepHook observer);

 private:
  std::string CountsText() const;
  int64_t& CountOf(const std::string& requester);

  const Warn warn_;
  mutable std::mutex mutex_;
  // In the order in which they were added; the warning shows them so.
  std::vector<std::pair<std::string, int64_t>> counts_;
  int64_t current_step_ = 0;
  StepHook hook_;
  StepHook observer_;
};

}  // namespace kymo

#endif  // KYMO_PROFILER_SESSION_STEP_TRACKER_H_
