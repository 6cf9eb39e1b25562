#include "exporters/chrome/call_stacks.h"

#include "profiler/events/trace_events.h"
#include "profiler/text/json_text.h"

namespace kymo::chrome {

using model::StackId;

CallStacks::CallStacks(const model::Trace& trace) : trace_(trace) {
  const model::StackTable& stacks = trace.stacks();
  std::vector<bool> is_seen;  // by stack: all its frames are
  for (const model::Detail& detail : trace.data().details) {
    if (detail.stack == model::kEmptyStack) continue;
    if (entries_.empty()) {
      entries_.resize(stacks.frame_count());
      is_seen.resize(stacks.stack_count());
    }
    for (StackId stack = detail.stack;
         stack != model::kEmptyStack && !is_seen[Index(stack)];
         stack = stacks.parent(stack)) {
      is_seen[Index(stack)] = true;
      const model::FrameId frame = stacks.leaf(stack);
      std::string& entry = entries_[Index(frame)];
      if (!entry.empty()) continue;
      json::AppendJsonString(entry,
                             FrameText(trace, stacks.frame(frame)) + ";");
      entry = entry.substr(1, entry.size() - 2);
    }
  }
}

void CallStacks::Append(std::string& out, StackId stack) const {
  const model::StackTable& stacks = trace_.stacks();
  out += '"';
  for (; stack != model::kEmptyStack; stack = stacks.parent(stack)) {
    out += entries_[Index(stacks.leaf(stack))];
  }
  out += '"';
}

}  // namespace kymo::chrome
