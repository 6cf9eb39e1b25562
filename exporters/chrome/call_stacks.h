// call_stacks.h - call stacks as Chrome traces write them.
//
//   const CallStacks stacks(trace);
//   stacks.Append(out, detail.stack);   // "mm.cc(7): mm;main.cc(90): main;"
//
// The text is a JSON string with its quotes. It begins with the innermost
// frame, and a semicolon follows every frame, as in PyTorch. FrameText in
// profiler/events/trace_events.h makes the text of a frame.
//
// Threads: const and safe to call concurrently. Cost: the constructor makes
//   each frame's text once. It makes nothing if no event has a stack.
#ifndef KYMO_EXPORTERS_CHROME_CALL_STACKS_H_
#define KYMO_EXPORTERS_CHROME_CALL_STACKS_H_

#include <string>
#include <vector>

#include "profiler/model/stack_table.h"
#include "profiler/model/trace.h"

namespace kymo::chrome {

class CallStacks {
 public:
  // `trace` must outlive the object.
  explicit CallStacks(const model::Trace& trace);

  // REQUIRES: `stack` is that of some event's detail.
  void Append(std::string& out, model::StackId stack) const;

 private:
  const model::Trace& trace_;
  // Entries by frame, escaped, without quotes. Empty if no event has the frame.
  std::vector<std::string> entries_;
};

}  // namespace kymo::chrome

#endif  // KYMO_EXPORTERS_CHROME_CALL_STACKS_H_
