// device_collectives.h - the collective operations that devices of ranks ran:
// kernels of NCCL and its like.
//
//   AddDeviceCollectives(trace, calls);   // calls.ranks are known
//
// A kernel of NCCL runs from when its rank has launched it, and all but the
// last one first wait for the others, as in a collective call of MPI. So each
// kernel becomes a call of that kind. PyTorch says of a kernel to which process
// group it belongs and, in later versions, its number in it ("Seq"). Without a
// group, the streams of a rank with such kernels stand for groups, in their
// order.
//
// Kernels without numbers are counted. If ranks have different numbers of them
// in a group, or two that should belong together do not run at the same time,
// it is not known which ones belong together, and none of that group is added.
// Neither are sends and receives between two ranks.
//
// Threads: values.
#ifndef KYMO_PROFILER_ANALYSIS_RANKS_DEVICE_COLLECTIVES_H_
#define KYMO_PROFILER_ANALYSIS_RANKS_DEVICE_COLLECTIVES_H_

#include "profiler/analysis/ranks/mpi_calls.h"
#include "profiler/model/trace.h"

namespace kymo::analysis {

void AddDeviceCollectives(const model::Trace& trace, RankCalls& calls);

}  // namespace kymo::analysis

#endif  // KYMO_PROFILER_ANALYSIS_RANKS_DEVICE_COLLECTIVES_H_
