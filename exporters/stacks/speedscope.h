// speedscope.h - speedscope's own JSON, for speedscope.app.
//
// stacks.speedscope.json has a profile per thread or stream and kind:
//
//   "app 4243 worker"           ranges as they followed one another (evented)
//   "app 4243 worker samples"   sampled stacks and their CPU time (sampled)
//
// Values are ns; ranges count from the earliest of the trace. Instants and
// asynchronous ranges, which speedscope has no notion of, are left out, and so
// are arguments. A trace without ranges and samples has one empty profile,
// because speedscope does not open a file without any.
#ifndef KYMO_EXPORTERS_STACKS_SPEEDSCOPE_H_
#define KYMO_EXPORTERS_STACKS_SPEEDSCOPE_H_

#include "absl/status/status.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/sink.h"

namespace kymo::stacks {

// The sink is left to be committed.
absl::Status WriteSpeedscope(const model::Trace& trace, ByteSink& sink);

}  // namespace kymo::stacks

#endif  // KYMO_EXPORTERS_STACKS_SPEEDSCOPE_H_
