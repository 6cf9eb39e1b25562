// pprof_profiles.h - writes the profiles of a trace for pprof.
//
//   file                  | sample types                        | where
//   stacks.pb.gz          | samples/count, cpu/nanoseconds      | samples
//                         | wall/nanoseconds,                   | waits
//                         | off_cpu/nanoseconds                 |
//                         | operations/count,                   | ranges
//                         | self_time/nanoseconds               |
//   stacks.memory.pb.gz   | alloc_objects/count,                | memory with
//                         | alloc_space/bytes,                  | stacks
//                         | inuse_objects/count,                |
//                         | inuse_space/bytes                   |
//
// "wall" is CPU time and waits together. A stack of a wait ends with a location
// that says what the thread waited for (WaitFrame in folded.h). Stacks of
// samples and paths of ranges have nothing in common, so a stack has zeros for
// the types of the other kind. Stacks deeper than max_frames are
// folded (frame_tree.h), with a location for "[N frames folded]". pprof first
// shows CPU time; without samples, waits; without both, self time. For memory
// it shows allocated bytes. Memory in use is memory that was not freed
// (memory_stacks.h).
//
// Labels: process ("xz (12)"), thread ("worker (13)") or stream, and the device
//   of device memory. -tagfocus and -tagroot use them.
#ifndef KYMO_EXPORTERS_STACKS_PPROF_PROFILES_H_
#define KYMO_EXPORTERS_STACKS_PPROF_PROFILES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "exporters/stacks/memory_stacks.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/sink.h"

namespace kymo::stacks {

inline constexpr char kPprofFile[] = "stacks.pb.gz";
inline constexpr char kPprofMemoryFile[] = "stacks.memory.pb.gz";

// `memory` is the trace's. Adds the names of the files that it
// writes to `names`.
absl::Status WritePprof(const model::Trace& trace,
                        const MemoryStackSums& memory, uint32_t max_frames,
                        OutputDirectory& out, std::vector<std::string>& names);

}  // namespace kymo::stacks

#endif  // KYMO_EXPORTERS_STACKS_PPROF_PROFILES_H_
