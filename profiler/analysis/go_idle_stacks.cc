#include "profiler/analysis/go_idle_stacks.h"

#include <algorithm>
#include <string_view>

namespace kymo::analysis {
namespace {

// Where threads wait for goroutines that can run, and the monitor, which only
// sleeps.
constexpr std::string_view kGoScheduler[] = {
    "runtime.findRunnable", "runtime.findrunnable", "runtime.stopm",
    "runtime.stoplockedm", "runtime.sysmon"};

// What these are called by where a program has lost its tables of frames: a
// goroutine that runs does not wait for long in them.
constexpr std::string_view kGoCalls[] = {"runtime.epollwait", "runtime.futex",
                                         "runtime.usleep"};

}  // namespace

GoIdleStacks::GoIdleStacks(const model::Trace& trace) : trace_(trace) {
  for (const std::string_view function : kGoScheduler) {
    const auto id = trace.strings().Find(function);
    if (id) functions_.push_back(*id);
  }
  for (const std::string_view call : kGoCalls) {
    const auto id = trace.strings().Find(call);
    if (id) calls_.push_back(*id);
  }
}

bool GoIdleStacks::Has(model::StackId stack) {
  if (functions_.empty() && calls_.empty()) return false;
  const auto [at, is_new] = known_.try_emplace(Index(stack));
  if (is_new) at->second = Look(stack);
  return at->second;
}

bool GoIdleStacks::Look(model::StackId stack) const {
  const model::StackTable& stacks = trace_.stacks();
  for (; stack != model::kEmptyStack; stack = stacks.parent(stack)) {
    const model::NameId function = stacks.frame(stacks.leaf(stack)).function;
    if (std::ranges::count(functions_, function) > 0) return true;
    if (stacks.parent(stack) == model::kEmptyStack &&
        std::ranges::count(calls_, function) > 0) {
      return true;
    }
  }
  return false;
}

}  // namespace kymo::analysis
