#include "profiler/normalize/holder_stacks.h"

#include <algorithm>
#include <utility>

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

}  // namespace

void FindHolderStacks(std::span<const model::StackSample> samples,
                      model::ThreadStates& states) {
  for (model::Wait& wait : states.waits) {
    if (wait.holder == model::kNoTrack ||
        wait.holder_stack != model::kEmptyStack) {
      continue;
    }
    const auto first = std::ranges::lower_bound(
        samples, std::pair(wait.holder, HeldSince(wait, states.waits)), {},
        [](const model::StackSample& sample) {
          return std::pair(sample.track, sample.time_ns);
        });
    if (first != samples.end() && first->track == wait.holder &&
        first->time_ns <= wait.end_ns()) {
      wait.holder_stack = first->stack;
    }
  }
}

}  // namespace kymo
