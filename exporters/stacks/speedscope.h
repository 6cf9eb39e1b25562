// speedscope.h - writes speedscope's own JSON, for speedscope.app.
//
// stacks.speedscope.json has one profile for each thread or stream and kind:
//
//   "app 4243 worker"           ranges in the order of time (evented)
//   "app 4243 worker samples"   sampled stacks and their CPU time (sampled)
//
// Values are ns. Times of ranges count from the earliest range of the trace.
// Instants, asynchronous ranges and arguments are left out, because speedscope
// cannot show them. A trace without ranges and samples has one empty profile,
// because speedscope does not open a file without profiles. A sample of more
// than max_frames frames keeps the outermost ones and the innermost one, and
// "[N frames folded]" stands between them; 0: all frames.
#ifndef KYMO_EXPORTERS_STACKS_SPEEDSCOPE_H_
#define KYMO_EXPORTERS_STACKS_SPEEDSCOPE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/sink.h"

namespace kymo::stacks {

// The caller commits the sink.
absl::Status WriteSpeedscope(const model::Trace& trace, uint32_t max_frames,
                             ByteSink& sink);

}  // namespace kymo::stacks

#endif  // KYMO_EXPORTERS_STACKS_SPEEDSCOPE_H_
