// forward_backward.h - flows from forward operations to their backward ones.
//
//   const std::vector<FlowEnd> flows = FindForwardBackwardFlows(trace);
//   flows[event].id         // the same at both ends, from 1; 0: no end
//   flows[event].is_start   // the forward end
//
// PyTorch's rule. Operations with a sequence number are taken in the order in
// which they end. One without a forward thread is a forward operation: of those
// of a thread and number the last to start counts, which is the innermost. One
// with a forward thread takes the forward operation of that thread and number,
// which no later one gets. Threads are logical ids; a track without one takes
// part in no flow, and neither do asynchronous operations, which have no slice
// that a flow could end at. Ends at the same time: inner operations first.
//
// Cost: nothing where no operation has a number, else that of sorting them.
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

// By event; empty where there are no flows.
std::vector<FlowEnd> FindForwardBackwardFlows(const model::Trace& trace);

}  // namespace kymo::timeline

#endif  // KYMO_EXPORTERS_TIMELINE_FORWARD_BACKWARD_H_
