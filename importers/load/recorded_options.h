// recorded_options.h - tells with which options of PyTorch a trace was
// recorded.
//
//   const RecordedOptions recorded = RecordedOptionsOf(trace);
//   events.profile_memory = recorded.profile_memory;
//
// Kineto and Kymo write them into the trace's metadata. For traces of other
// tools, what the trace holds tells them.
#ifndef KYMO_IMPORTERS_LOAD_RECORDED_OPTIONS_H_
#define KYMO_IMPORTERS_LOAD_RECORDED_OPTIONS_H_

#include <string>

#include "profiler/model/trace.h"

namespace kymo {

struct RecordedOptions {
  bool profile_memory = false;
  bool with_flops = false;
  bool with_stack = false;
  // The device whose streams did something: "cuda", unless the metadata have
  // another name. Empty: no stream did.
  std::string use_device;
};

RecordedOptions RecordedOptionsOf(const model::Trace& trace);

}  // namespace kymo

#endif  // KYMO_IMPORTERS_LOAD_RECORDED_OPTIONS_H_
