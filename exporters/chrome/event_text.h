// event_text.h - single elements of traceEvents, each followed by ",\n".
//
// Threads: const and safe to call concurrently. Views and references given to
//   the constructor must outlive the object.
#ifndef KYMO_EXPORTERS_CHROME_EVENT_TEXT_H_
#define KYMO_EXPORTERS_CHROME_EVENT_TEXT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exporters/chrome/escaped_names.h"
#include "exporters/chrome/event_args.h"
#include "exporters/chrome/rows.h"
#include "exporters/timeline/flame_slices.h"
#include "exporters/timeline/forward_backward.h"
#include "exporters/timeline/message_flows.h"
#include "profiler/analysis/device/launches.h"
#include "profiler/base/time.h"
#include "profiler/model/activity_type.h"
#include "profiler/model/trace.h"

namespace kymo::chrome {

class EventText {
 public:
  // `base_ns` is the zero of the file's times.
  EventText(const model::Trace& trace, const Rows& rows, TimeNs base_ns);
  EventText(const EventText&) = delete;
  EventText& operator=(const EventText&) = delete;

  // Appends a range (X; b and e when asynchronous) or an instant (i). Then it
  // appends the ends of flows at this event: fwdbwd, ac2g from a launching call
  // to the work that it launched, and mpi from where a message was sent to
  // where it was complete.
  void AppendEvent(std::string& out, model::EventIndex event) const;
  // Slices of a thread's flame chart.
  void AppendSlices(std::string& out, const Row& row,
                    std::span<const timeline::FlameSlice> slices) const;
  void AppendCounter(std::string& out, size_t counter) const;

  // Process and thread names and their order.
  void AppendProcess(std::string& out, const ProcessRow& row) const;
  void AppendThread(std::string& out, const Row& row) const;

  // The profiler's own marks; the last one ends without a comma.
  void AppendMarks(std::string& out) const;

  DurationNs Relative(TimeNs time_ns) const {
    return time_ns > base_ns_ ? time_ns - base_ns_ : 0;
  }

 private:
  static constexpr size_t kTypes =
      static_cast<size_t>(model::ActivityType::kCount);

  // With quotes. A view of a kept text, or of `scratch`, which it then fills.
  std::string_view NameOf(model::EventIndex event, std::string& scratch) const;
  void AppendAsync(std::string& out, model::EventIndex event) const;
  // The category that the event has in the file.
  size_t FileType(model::EventIndex event) const;
  void AppendFlowEnds(std::string& out, model::EventIndex event) const;
  void AppendFlowEnd(std::string& out, model::EventIndex event,
                     std::string_view name, uint64_t id, bool is_start) const;
  void AppendFlowEndAt(std::string& out, model::EventIndex event, TimeNs time,
                       std::string_view name, uint64_t id, bool is_start) const;
  void AppendArgsOfLeaf(std::string& out, const model::Frame& frame) const;
  void AppendMetadata(std::string& out, std::string_view name,
                      std::string_view ids, std::string_view key,
                      std::string_view json_value) const;
  void FindSharedCounters();

  const model::Trace& trace_;
  const Rows& rows_;
  const TimeNs base_ns_;
  const EscapedNames names_;
  const analysis::Launches launches_;
  const EventArgs args_;
  const std::vector<timeline::FlowEnd> flows_;
  const timeline::MessageFlows messages_;
  std::array<std::string, kTypes> range_heads_;  // `{"ph":"X",...,"name":`
  std::array<std::string, kTypes> instant_heads_;
  std::vector<bool> is_shared_counter_;  // by counter sample
};

}  // namespace kymo::chrome

#endif  // KYMO_EXPORTERS_CHROME_EVENT_TEXT_H_
