// pprof_profiles.h - the profiles of a trace for pprof.
//
//   file                  | sample types                        | where
//   stacks.pb.gz          | samples/count, cpu/nanoseconds      | samples
//                         | operations/count,                   | ranges
//                         | self_time/nanoseconds               |
//   stacks.memory.pb.gz   | alloc_objects/count,                | memory with
//                         | alloc_space/bytes,                  | stacks
//                         | inuse_objects/count,                |
//                         | inuse_space/bytes                   |
//
// Stacks of samples, paths of ranges and stacks of allocations have nothing in
// common, so that a stack has zeros for the types of others. What is shown
// first is CPU time, or without samples self time, and bytes allocated. In use
// is what was not freed (memory_stacks.h).
//
// Labels: process ("xz (12)"), thread ("worker (13)") or stream, and device of
// device memory, for -tagfocus and -tagroot.
#ifndef KYMO_EXPORTERS_STACKS_PPROF_PROFILES_H_
#define KYMO_EXPORTERS_STACKS_PPROF_PROFILES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/sink.h"

namespace kymo::stacks {

// Adds the names of the files to `names`.
absl::Status WritePprof(const model::Trace& trace, OutputDirectory& out,
                        std::vector<std::string>& names);

}  // namespace kymo::stacks

#endif  // KYMO_EXPORTERS_STACKS_PPROF_PROFILES_H_
