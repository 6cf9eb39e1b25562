// forward_backward.h - flows from forward operations to their backward ones.
//
//   const Flows flows = FindForwardBackwardFlows(trace);
//   flows.at(event).id             // the same at both ends, from 1
//   flows.at(event).is_start       // the forward end
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
#ifndef KYMO_EXPORTERS_CHROME_FORWARD_BACKWARD_H_
#define KYMO_EXPORTERS_CHROME_FORWARD_BACKWARD_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "profiler/model/trace.h"

namespace kymo::chrome {

struct FlowEnd {
  uint32_t id = 0;
  bool is_start = false;
};

using Flows = absl::flat_hash_map<model::EventIndex, FlowEnd>;

Flows FindForwardBackwardFlows(const model::Trace& trace);

}  // namespace kymo::chrome

#endif  // KYMO_EXPORTERS_CHROME_FORWARD_BACKWARD_H_
