// node_id.h - which node of a distributed program this process is.
//
//   kymo::SetDefaultNodeId(rank);
//
// Operations that begin from then on carry the number, and so do their rows in
// tables ("Node ID"). What PyTorch's RecordFunction::setDefaultNodeId does.
//
// Threads: any. Errors: a negative number is a warning (warning.h).
#ifndef KYMO_PROFILER_API_NODE_ID_H_
#define KYMO_PROFILER_API_NODE_ID_H_

#include <cstdint>

namespace kymo {

// REQUIRES: node_id >= 0; else a warning, and nothing changes.
void SetDefaultNodeId(int64_t node_id);

// -1 until one is set.
int64_t DefaultNodeId() noexcept;

}  // namespace kymo

#endif  // KYMO_PROFILER_API_NODE_ID_H_
