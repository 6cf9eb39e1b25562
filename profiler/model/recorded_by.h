// recorded_by.h - tells traces of PyTorch from all others.
//
//   MarkAsPyTorchs(shard);            // an importer, of a file of PyTorch
//   if (IsOfPyTorch(trace)) ...
//
// PyTorch counts recursion in its own way, and its users expect its numbers for
// its traces. The mark is an entry of the metadata, so that it survives an
// export and the import of the result.
//
// Threads: those of the shard or trace. Errors: none.
#ifndef KYMO_PROFILER_MODEL_RECORDED_BY_H_
#define KYMO_PROFILER_MODEL_RECORDED_BY_H_

#include "profiler/model/trace.h"
#include "profiler/model/trace_shard.h"

namespace kymo::model {

void MarkAsPyTorchs(TraceShard& shard);

bool IsOfPyTorch(const TraceShard& shard);
bool IsOfPyTorch(const Trace& trace);

// Takes the mark away: the shard is joined with those of other programs.
void UnmarkAsPyTorchs(TraceShard& shard);

}  // namespace kymo::model

#endif  // KYMO_PROFILER_MODEL_RECORDED_BY_H_
