// event_args.h - the details of an event as debug annotations.
//
//   key                          | written where
//   External id                  | an operation has a correlation id
//   correlation                  | a runtime call, kernel, copy or fill has
//   Concrete Inputs, Input type, | inputs were recorded
//   Input Strides, Input Dims    |
//   flops                        | there is a formula
//                                | (profiler/analysis/flops.h)
//   Sequence number,             | there is a sequence number
//   Fwd thread id                |
//   Call stack                   | a stack was recorded; it is also written as
//                                | the event's call stack for newer readers
//   Module Hierarchy             | a module is around the event
//   finished                     | false, if the event never ended
//   kymo_folded                  | the number of ranges that the event stands
//                                | for (exporters/timeline/fold_ranges.h)
//
// The arguments that the program gave are written too. If the program gave two
// arguments with one key, the last one is written. If an argument has a key of
// this table, it replaces ours. Texts are interned.
//
// Threads: const and safe to call concurrently.
#ifndef KYMO_EXPORTERS_PERFETTO_EVENT_ARGS_H_
#define KYMO_EXPORTERS_PERFETTO_EVENT_ARGS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "exporters/perfetto/interned.h"
#include "exporters/proto/proto_writer.h"
#include "profiler/analysis/module_hierarchy.h"
#include "profiler/model/trace.h"

namespace kymo::perfetto {

class EventArgs {
 public:
  // `trace` must outlive this object.
  explicit EventArgs(const model::Trace& trace);

  // False if Append would add nothing. Cheap.
  bool Has(model::EventIndex event) const {
    return trace_.data().detail[event] != model::kNoDetail ||
           (trace_.flags()[event] & model::kEventOpen) || modules_.Has(event);
  }
  // Adds the annotations to a TrackEvent.
  void Append(proto::ProtoWriter& writer, model::EventIndex event) const;

 private:
  class Annotations;

  uint32_t GivenKeys(model::EventIndex event) const;
  void AppendRecorded(Annotations& to, model::EventIndex event,
                      const model::Detail& detail) const;

  const model::Trace& trace_;
  const analysis::ModuleHierarchy modules_;
  std::vector<int64_t> flops_;  // by event; empty: no inputs
  // Those keys of the table above that are also names of the trace.
  std::vector<std::pair<model::NameId, Key>> own_keys_;
};

}  // namespace kymo::perfetto

#endif  // KYMO_EXPORTERS_PERFETTO_EVENT_ARGS_H_
