// call_stacks.h - call stacks and module hierarchies as traces write them.
//
//   const CallStacks stacks(trace);
//   stacks.Append(out, detail.stack);   // "mm.cc(7): mm;main.cc(90): main;"
//   const Modules modules(trace);
//   modules.Append(out, event);         // "Net.Conv."
//
// JSON strings, with quotes. As in PyTorch a separator follows every entry, and
// a call stack begins with the innermost frame; a frame is the text of
// FrameText in events/trace_events.h. A hierarchy is that of the module ranges
// around an event, outermost first.
//
// Threads: const and safe to call concurrently. Cost: each frame is made once;
//   nothing where no event has a stack, and where there are no modules.
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
  // By frame: its entry, escaped, without quotes. Empty: no event has it.
  std::vector<std::string> entries_;
};

class Modules {
 public:
  // `trace` must outlive the object.
  explicit Modules(const model::Trace& trace);

  bool Has(model::EventIndex event) const {
    return !module_.empty() && module_[event] != model::kNoEvent;
  }
  // REQUIRES: Has(event).
  void Append(std::string& out, model::EventIndex event) const;

 private:
  const model::Trace& trace_;
  std::vector<model::EventIndex> module_;  // the innermost; empty: no modules
};

}  // namespace kymo::chrome

#endif  // KYMO_EXPORTERS_CHROME_CALL_STACKS_H_
