// forward_backward.h - flows from forward operations to their backward ones.
//
//   const std::vector<FlowEnd> flows = FindForwardBackwardFlows(trace);
//   flows[event].id         // the same at both ends, from 1; 0: no end
//   flows[event].is_start   // the forward end
//
// The rule is PyTorch's. It goes through the operations with a sequence number
// in the order in which they end; of operations that end together, inner ones
// come first. An operation without a forward thread is a forward operation. If
// several of one thread have the same number, the one that started last counts;
// it is the innermost. An operation with a forward thread is a backward
// operation. It takes the forward operation of that thread and number. No later
// operation gets the same one.
//
// Threads are logical ids. A track without a logical id takes part in no flow.
// Neither do asynchronous operations: they have no slice at which a flow could
// end.
//
// Cost: that of sorting the operations with a number; nothing if there are
//   none.
#ifndef KYMO_EXPORTERS_TIMELINE_FORWARD_BACKWARD_H_
#define KYMO_EXPORTERS_TIMELINE_FORWARD_BACKWARD_H_

#include <cstdint>
#include <vector>

#include "profiler/model/trace.h"

namespace kymo::timeline {

struct FlowEnd {
  uint32_t id : 31 = 0;
  uint32_t is_start : 1 = 0;
};

// One entry for each event. Empty if there are no flows.
std::vector<FlowEnd> FindForwardBackwardFlows(const model::Trace& trace);

}  // namespace kymo::timeline

#endif  // KYMO_EXPORTERS_TIMELINE_FORWARD_BACKWARD_H_
