// node_id.h - tell which node of a distributed program this process is.
//
//   kymo::SetDefaultNodeId(rank);
//
// Ranges of the process that begin afterwards carry the number: operations,
// modules, captured NVTX and ITT. FunctionEvent::node_id has it, and tables
// show it ("Node ID"). The same as PyTorch's RecordFunction::setDefaultNodeId.
//
// Threads: any. Errors: a number that is negative or above 2147483647 gives a
//   warning (warning.h), where PyTorch raises.
// Cost:    nothing while nobody records. While somebody does, a range with a
//   literal name takes 64 bytes instead of 32.
#ifndef KYMO_PROFILER_API_NODE_ID_H_
#define KYMO_PROFILER_API_NODE_ID_H_

#include <cstdint>

namespace kymo {

// Sets the number for the whole process. A number that is out of range changes
// nothing and gives a warning.
void SetDefaultNodeId(int64_t node_id);

// The number that was set last; -1 before the first.
int64_t DefaultNodeId() noexcept;

}  // namespace kymo

#endif  // KYMO_PROFILER_API_NODE_ID_H_
