#include "profiler/session/step_tracker.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "profiler/text/python_text.h"

namespace kymo {

// A new requester's count begins at the current step.
int64_t& StepTracker::CountOf(const std::string& requester) {
  for (auto& [name, count] : counts_) {
    if (name == requester) return count;
  }
  return counts_.emplace_back(requester, current_step_).second;
}

void StepTracker::init_step_count(const std::string& requester) {
  const std::lock_guard lock(mutex_);
  CountOf(requester) = current_step_;
}

void StepTracker::set_step_count(const std::string& requester, int64_t count) {
  const std::lock_guard lock(mutex_);
  CountOf(requester) = count;
}

bool StepTracker::erase_step_count(const std::string& requester) {
  const std::lock_guard lock(mutex_);
  return std::erase_if(counts_, [&](const auto& entry) {
           return entry.first == requester;
         }) != 0;
}

int64_t StepTracker::increment_step(const std::string& requester) {
  int64_t gained = 0;
  int64_t current = 0;
  std::string warning;
  StepHook hook;
  StepHook observer;
  {
    const std::lock_guard lock(mutex_);
    ++CountOf(requester);
    int64_t largest = 0;
    for (const auto& [name, steps] : counts_) {
      largest = std::max(largest, steps);
    }
    gained = std::max<int64_t>(largest - current_step_, 0);
    if (gained > 1) {
      warning = absl::StrCat(
          "Profiler step count has increased more than 1 - current_step = ",
          current_step_, " step dict =  ", CountsText());
    }
    current_step_ += gained;
    current = current_step_;
    hook = hook_;
    observer = observer_;
  }
  if (!warning.empty() && warn_) warn_(warning);
  const bool is_new = gained > 0;
  for (; gained > 0 && hook; --gained) hook();
  if (is_new && observer) observer();
  return current;
}

int64_t StepTracker::current_step() const {
  const std::lock_guard lock(mutex_);
  return current_step_;
}

void StepTracker::SetStepHook(StepHook hook) {
  const std::lock_guard lock(mutex_);
  hook_ = std::move(hook);
}

void StepTracker::SetStepObserver(StepHook observer) {
  const std::lock_guard lock(mutex_);
  observer_ = std::move(observer);
}

std::string StepTracker::CountsText() const {
  std::string text = "defaultdict(<class 'int'>, {";
  const char* separator = "";
  for (const auto& [name, count] : counts_) {
    absl::StrAppend(&text, separator, PythonString(name), ": ", count);
    separator = ", ";
  }
  return text + "})";
}

}  // namespace kymo
