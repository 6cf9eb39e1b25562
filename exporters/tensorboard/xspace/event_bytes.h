// event_bytes.h - writes events of a trace as events of an XLine.
//
//   EventBytes events(context, ids, ActivityType::kCpuOp);
//   events.InternTexts(begin, end);       // once for each track of the plane
//   events.Append(out, event);            // field `events` of the line
//
// The details of an event become statistics:
//
//   statistic                          | written where
//   _r, step_num                       | steps: XProf groups the events inside
//   correlation_id                     | launches and what they launched
//   device_id                          | launches whose activity is known
//   tf_op                              | device activities of known operations
//   kernel_details, memcpy_details,    | device activities
//   Memset_details                     |
//   flow                               | forward and backward operations
//   _a                                 | asynchronous ranges, with a flow
//   shape                              | inputs: "float[64,32], int[8]"
//   source, source_stack               | a stack was recorded
//   External id, Sequence number,      | as in Chrome traces
//   Fwd thread id                      |
//   finished                           | 0, if the range never ended
//   kymo_folded                        | the number of ranges that the event
//                                      | stands for (fold_ranges.h)
//
// The arguments that the program gave follow them. A plain range has no
// statistics and takes about 20 bytes.
//
// Threads: Append is safe to call concurrently.
#ifndef KYMO_EXPORTERS_TENSORBOARD_XSPACE_EVENT_BYTES_H_
#define KYMO_EXPORTERS_TENSORBOARD_XSPACE_EVENT_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "exporters/proto/proto_writer.h"
#include "exporters/tensorboard/xplane.pb.h"
#include "exporters/tensorboard/xspace/op_names.h"
#include "exporters/tensorboard/xspace/plane_ids.h"
#include "exporters/tensorboard/xspace/stat_writer.h"
#include "exporters/tensorboard/xspace/time_base.h"
#include "exporters/timeline/forward_backward.h"
#include "profiler/analysis/device/launches.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/trace.h"

namespace kymo::tensorboard {

// The data that all planes of a trace share. The references must outlive all
// users.
struct TraceContext {
  const model::Trace& trace;
  const StepNames& steps;
  const OperationNames& operations;
  const analysis::Launches& launches;
  // By the event of a call: the device that ran what the call launched.
  const absl::flat_hash_map<model::EventIndex, int32_t>& launch_devices;
  const std::vector<timeline::FlowEnd>& flows;
  const TimeBase& base;
};

// Appends an event without statistics. REQUIRES: end_ps >= start_ps.
inline void AppendPlainEvent(std::string& out, uint64_t id, uint64_t start_ps,
                             uint64_t end_ps) {
  using proto::ShortTag;
  using proto::WireType;
  using schema::XEvent;
  char bytes[2 + 3 * (1 + proto::kMaxVarintBytes)];
  char* to = bytes + 2;
  *to++ = ShortTag<XEvent::kMetadataIdFieldNumber>(WireType::kVarint);
  to = proto::PutVarint(to, id);
  *to++ = ShortTag<XEvent::kOffsetPsFieldNumber>(WireType::kVarint);
  to = proto::PutVarint(to, start_ps);
  if (end_ps != start_ps) {
    *to++ = ShortTag<XEvent::kDurationPsFieldNumber>(WireType::kVarint);
    to = proto::PutVarint(to, end_ps - start_ps);
  }
  bytes[0] = ShortTag<schema::XLine::kEventsFieldNumber>(WireType::kBytes);
  bytes[1] = static_cast<char>(to - bytes - 2);
  out.append(bytes, static_cast<size_t>(to - bytes));
}

class EventBytes {
 public:
  // InternTexts stops at this size. Later texts are written in full with every
  // event that has them.
  static constexpr size_t kMaxInternedBytes = size_t{16} << 20;

  // Events of the type `special` get the special form of their names, unless
  // they are asynchronous.
  EventBytes(const TraceContext& context, PlaneIds& ids,
             model::ActivityType special)
      : context_(context),
        trace_(context.trace),
        ids_(ids),
        special_(special) {}

  // Interns the texts of the events [begin, end). Call this before any Append.
  void InternTexts(model::EventIndex begin, model::EventIndex end);

  void Append(std::string& out, model::EventIndex event) const {
    const model::NameId name = trace_.name()[event];
    // XProf's self times are of ranges that nest.
    const bool is_special = trace_.type()[event] == special_ &&
                            !(trace_.flags()[event] & model::kEventAsync);
    const uint64_t id =
        ids_.Event(name, is_special ? NameForm::kSpecial : NameForm::kPlain);
    const uint64_t start_ps = context_.base.OffsetPs(trace_.start()[event]);
    const uint64_t end_ps = context_.base.OffsetPs(trace_.end()[event]);
    const bool is_plain = trace_.data().detail[event] == model::kNoDetail &&
                          (trace_.flags()[event] &
                           (model::kEventOpen | model::kEventAsync)) == 0 &&
                          !ids_.IsStep(name) && context_.flows.empty() &&
                          special_ == model::ActivityType::kCpuOp;
    if (is_plain) {
      AppendPlainEvent(out, id, start_ps, end_ps);
    } else {
      AppendFullEvent(out, event, id, start_ps, end_ps);
    }
  }

 private:
  struct StackTexts {
    uint64_t source = 0;  // interned; 0: no text
    uint64_t stack = 0;
  };

  void AppendFullEvent(std::string& out, model::EventIndex event, uint64_t id,
                       uint64_t start_ps, uint64_t end_ps) const;
  void AppendStep(StatWriter& stats, model::EventIndex event) const;
  void AppendFlow(StatWriter& stats, model::EventIndex event) const;
  void AppendLaunch(StatWriter& stats, model::EventIndex event) const;
  void AppendRecorded(StatWriter& stats, const model::Detail& detail) const;
  void AppendGiven(StatWriter& stats, model::EventIndex event) const;
  void AppendText(StatWriter& stats, StatName name,
                  const std::string& text) const;
  std::string DetailsText(model::EventIndex event) const;
  // The operation that launched a device's activity; empty if it is not known.
  std::string OperationText(model::EventIndex event) const;

  const TraceContext context_;
  const model::Trace& trace_;
  PlaneIds& ids_;
  const model::ActivityType special_;
  absl::flat_hash_map<uint32_t, uint64_t> shapes_;  // by name of the inputs
  absl::flat_hash_map<uint32_t, StackTexts> stacks_;
};

}  // namespace kymo::tensorboard

#endif  // KYMO_EXPORTERS_TENSORBOARD_XSPACE_EVENT_BYTES_H_
