// event_args.h - the `args` of an event, in Kineto's words.
//
//   key                          | written where
//   External id                  | operations; calls of the runtime and what
//                                | they launched: the operation around the
//                                | call; other events with a correlation id
//   Record function id, Ev Idx   | operations
//   Concrete Inputs, Input type, | inputs were recorded
//   Input Strides, Input Dims    |
//   Sequence number,             | there is a sequence number
//   Fwd thread id                |
//   Call stack                   | a stack was recorded
//   Module Hierarchy             | a module is around the event
//   device, stream               | events of a device's stream
//   correlation                  | those with an id, and calls of the runtime
//   finished                     | false, where the event never ended
//   kymo_folded                  | the number of ranges that the event stands
//                                | for (exporters/timeline/fold_ranges.h)
//
// These keys come besides the arguments that the program gave. An operation is
// a cpu_op or user_annotation of which the trace has more than name and time.
// If devices worked, every one is an operation, since a device's work may name
// it. Other events have no args, which keeps them cheap. If a trace has no
// correlation ids, an operation's id is its position, from 1, as in lists of
// events. If a key comes twice, the last argument counts, and it counts before
// a key of this table.
//
// Threads: const and safe to call concurrently.
#ifndef KYMO_EXPORTERS_CHROME_EVENT_ARGS_H_
#define KYMO_EXPORTERS_CHROME_EVENT_ARGS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "exporters/chrome/call_stacks.h"
#include "exporters/chrome/escaped_names.h"
#include "exporters/chrome/input_texts.h"
#include "profiler/analysis/device/launches.h"
#include "profiler/analysis/module_hierarchy.h"
#include "profiler/model/trace.h"

namespace kymo::chrome {

class EventArgs {
 public:
  // All must outlive the object.
  EventArgs(const model::Trace& trace, const EscapedNames& names,
            const analysis::Launches& launches);

  // Whether Append may write anything. Cheap.
  bool Has(model::EventIndex event) const {
    return trace_.data().detail[event] != model::kNoDetail ||
           (trace_.flags()[event] & model::kEventOpen) || modules_.Has(event) ||
           IsOnStream(event) || MayBeNamed(event);
  }
  // `,"args":{...}`, or nothing.
  void Append(std::string& out, model::EventIndex event) const;

 private:
  class Members;

  void AppendIds(Members& members, model::EventIndex event) const;
  void AppendDriverIds(Members& members, model::EventIndex event) const;
  // The id that the file gives to the operation; 0: none.
  uint64_t OperationId(model::EventIndex event) const;
  void AppendRecorded(Members& members, const model::Detail& detail) const;
  void AppendGiven(Members& members, model::EventIndex event) const;
  bool IsOperation(model::EventIndex event) const;
  bool IsOnStream(model::EventIndex event) const {
    return has_streams_ && trace_.tracks()[trace_.track()[event]].kind ==
                               model::TrackKind::kStream;
  }
  // Whether a device's work may name the operation by its position.
  bool MayBeNamed(model::EventIndex event) const {
    return has_streams_ && !has_operation_ids_ && IsOperation(event);
  }
  uint32_t GivenKeys(model::EventIndex event) const;

  const model::Trace& trace_;
  const EscapedNames& names_;
  const analysis::Launches& launches_;
  const InputTexts inputs_;
  const CallStacks stacks_;
  const analysis::ModuleHierarchy modules_;
  bool has_operation_ids_ = false;
  bool has_streams_ = false;
  // Keys of the table above that are names of the trace, with their bits.
  std::vector<std::pair<model::NameId, uint32_t>> own_keys_;
};

}  // namespace kymo::chrome

#endif  // KYMO_EXPORTERS_CHROME_EVENT_ARGS_H_
