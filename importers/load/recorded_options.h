// recorded_options.h - with which of PyTorch's options a trace was recorded.
//
//   const RecordedOptions recorded = RecordedOptionsOf(trace);
//   events.profile_memory = recorded.profile_memory;
//
// From the trace's metadata, where Kineto and Kymo say so, and from what the
// trace holds, whoever wrote it.
#ifndef KYMO_IMPORTERS_LOAD_RECORDED_OPTIONS_H_
#define KYMO_IMPORTERS_LOAD_RECORDED_OPTIONS_H_

#include "profiler/model/trace.h"

namespace kymo {

struct RecordedOptions {
  bool profile_memory = false;
  bool with_flops = false;
  bool with_stack = false;
  bool use_device = false;  // a stream of a device did something
};

RecordedOptions RecordedOptionsOf(const model::Trace& trace);

}  // namespace kymo

#endif  // KYMO_IMPORTERS_LOAD_RECORDED_OPTIONS_H_
