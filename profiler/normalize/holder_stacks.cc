#include "profiler/normalize/holder_stacks.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "profiler/base/time.h"
#include "profiler/model/shared_objects.h"
#include "profiler/model/stack_table.h"
#include "profiler/model/waits.h"

namespace kymo {
namespace {

// Since when the holder had the lock: since its own wait for it, if it waited.
TimeNs HeldSince(const model::Wait& wait, std::span<const model::Wait> waits) {
  TimeNs since_ns = wait.begin_ns;
  auto own = std::ranges::lower_bound(
      waits, std::pair(wait.holder, wait.begin_ns), {},
      [](const model::Wait& w) { return std::pair(w.track, w.end_ns()); });
  for (; own != waits.end() && own->track == wait.holder &&
         own->end_ns() <= wait.end_ns();
       ++own) {
    if (own->kind == model::WaitKind::kLock && own->object == wait.object) {
      since_ns = own->end_ns();
    }
  }
  return since_ns;
}

// Where the holder itself was blocked for the longest time meanwhile, among its
// first thousand waits.
model::StackId BlockedStack(const model::Wait& wait, TimeNs since_ns,
                            std::span<const model::Wait> waits) {
  auto own = std::ranges::upper_bound(
      waits, std::pair(wait.holder, since_ns), {},
      [](const model::Wait& w) { return std::pair(w.track, w.end_ns()); });
  model::StackId stack = model::kEmptyStack;
  DurationNs longest_ns = 0;
  for (int left = 1'000;
       left > 0 && own != waits.end() && own->track == wait.holder &&
       own->begin_ns < wait.end_ns();
       ++own, --left) {
    const bool is_for_it =
        own->kind == model::WaitKind::kLock && own->object == wait.object;
    const DurationNs common_ns = std::min(own->end_ns(), wait.end_ns()) -
                                 std::max(own->begin_ns, since_ns);
    if (is_for_it || common_ns <= longest_ns ||
        own->stack == model::kEmptyStack) {
      continue;
    }
    longest_ns = common_ns;
    stack = own->stack;
  }
  return stack;
}

model::StackId WithoutHooks(const model::TraceData& data,
                            model::StackId stack) {
  for (; stack != model::kEmptyStack; stack = data.stacks.parent(stack)) {
    const std::string_view file =
        data.strings.Get(data.stacks.frame(data.stacks.leaf(stack)).module);
    const std::string_view name = file.substr(file.rfind('/') + 1);
    if (!name.starts_with("libkymo_runtime")) break;
  }
  return stack;
}

// The thread's last sample before the time, if that is from between its last
// blocked wait and then.
model::StackId StackBefore(const model::Wait& wait,
                           std::span<const model::StackSample> samples,
                           TimeNs blocked_until_ns) {
  constexpr DurationNs kMostNs = 20 * kNsPerMs;
  auto after =
      std::ranges::upper_bound(samples, std::pair(wait.track, wait.begin_ns),
                               {}, [](const model::StackSample& sample) {
                                 return std::pair(sample.track, sample.time_ns);
                               });
  if (after == samples.begin()) return model::kEmptyStack;
  const model::StackSample& last = *--after;
  const bool is_near = last.track == wait.track &&
                       last.time_ns >= blocked_until_ns &&
                       last.time_ns + kMostNs >= wait.begin_ns;
  return is_near ? last.stack : model::kEmptyStack;
}

bool IsStopped(const model::Wait& wait, const model::TraceData& data) {
  return wait.kind == model::WaitKind::kOther &&
         data.strings.Get(wait.object_name) == "stopped";
}

// Whether the program's functions are not in the stack.
bool IsOnlyClock(model::StackId stack, const model::TraceData& data) {
  for (; stack != model::kEmptyStack; stack = data.stacks.parent(stack)) {
    const model::Frame& frame = data.stacks.frame(data.stacks.leaf(stack));
    if (!frame.is_kernel && data.strings.Get(frame.module) != "[vdso]") {
      return false;
    }
  }
  return true;
}

// Whether a thread of the parent process had the lock when that forked. What
// that thread does since then is not for this lock.
bool HeldAtFork(const model::Wait& wait, const model::TraceData& data) {
  return data.tracks[wait.holder].pid != data.tracks[wait.track].pid &&
         !model::IsShared(data.strings.Get(wait.object_name));
}

}  // namespace

void FindHolderStacks(std::span<const model::StackSample> samples,
                      const model::TraceData& data,
                      model::ThreadStates& states) {
  for (model::Wait& wait : states.waits) {
    if (wait.holder == model::kNoTrack ||
        wait.holder_stack != model::kEmptyStack || HeldAtFork(wait, data)) {
      continue;
    }
    const TimeNs since_ns = HeldSince(wait, states.waits);
    const auto first = std::ranges::lower_bound(
        samples, std::pair(wait.holder, since_ns), {},
        [](const model::StackSample& sample) {
          return std::pair(sample.track, sample.time_ns);
        });
    if (first != samples.end() && first->track == wait.holder &&
        first->time_ns <= wait.end_ns()) {
      wait.holder_stack = WithoutHooks(data, first->stack);
    } else {
      wait.holder_stack = BlockedStack(wait, since_ns, states.waits);
    }
  }
}

void FindBusyStacks(std::span<const model::StackSample> samples,
                    const model::TraceData& data, model::ThreadStates& states) {
  TimeNs blocked_until_ns = 0;
  model::TrackIndex track = model::kNoTrack;
  for (model::Wait& wait : states.waits) {
    if (wait.track != track) blocked_until_ns = 0;
    track = wait.track;
    if (wait.kind != model::WaitKind::kCpuBusy) {
      if (IsStopped(wait, data) && IsOnlyClock(wait.stack, data)) {
        const auto stack = StackBefore(wait, samples, blocked_until_ns);
        if (stack != model::kEmptyStack) wait.stack = stack;
      }
      blocked_until_ns = wait.end_ns();
    } else if (wait.stack == model::kEmptyStack) {
      wait.stack = StackBefore(wait, samples, blocked_until_ns);
    }
  }
}

}  // namespace kymo
