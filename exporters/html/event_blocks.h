// event_blocks.h - the ranges of a trace as blocks of the page's data.
//
//   EventBlocks events(trace, limits, tables);
//   tables.NumberStacks();
//   KYMO_RETURN_IF_ERROR(events.Write(base_ns, sink));
//   events.WriteMeta(json);
//
// Of more ranges and marks than PageLimits has, a page shows the longest
// (shown_part.h). An event is a start, a length and a path: the names
// of the ranges around it, and its own. Numbers are those of data_block.h:
//
//   paths      number of paths; for each: its number minus its parent's (path 0
//              is the top, and has no entry), name (text), type, flags
//              (ActivityType, EventFlag)
//   starts     for each event, by track: ns since the last start of the track,
//              or since base_ns, the earliest time of the trace
//   lengths    for each event: ns
//   pathids    for each event: its path
//   details    for each event with details: its number minus the last one's,
//              correlation id, sequence number + 1, overload name, inputs
//              (texts), stack, calls, number of arguments; for each of these:
//              key (text), ArgType, and a Signed, a Double or a text
//   flows      for each: from event, to event, 0 if a call launched device work
//              or 1 if a forward operation made a backward one
//
// Threads: one at a time.
// Memory: 4 bytes for each event that is shown, and the paths.
#ifndef KYMO_EXPORTERS_HTML_EVENT_BLOCKS_H_
#define KYMO_EXPORTERS_HTML_EVENT_BLOCKS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "exporters/html/page_limits.h"
#include "exporters/html/used_tables.h"
#include "profiler/base/column.h"
#include "profiler/model/trace.h"
#include "profiler/plugin/sink.h"
#include "profiler/text/json_writer.h"

namespace kymo::html {

class EventBlocks {
 public:
  // Uses the stacks of the events. `trace` and `tables` must outlive the
  // object.
  EventBlocks(const model::Trace& trace, const PageLimits& limits,
              UsedTables& tables);

  absl::Status Write(TimeNs base_ns, ByteSink& sink);

  // How many events of the track are shown.
  uint32_t ShownOf(model::TrackIndex track) const {
    return begins_[track + 1] - begins_[track];
  }
  uint64_t left_out() const { return left_out_; }
  // The members events, events_left_out, least_ns, details_left_out.
  void WriteMeta(json::JsonWriter& json) const;

 private:
  struct Path {
    uint32_t parent = 0;
    model::NameId name = model::kEmptyName;
    uint16_t kind = 0;  // type and flags
    uint32_t last_child = 0;
  };

  void ChooseEvents(uint64_t most);
  void ChooseDetails(uint64_t most);
  uint32_t PathBelow(uint32_t parent, model::EventIndex event);
  absl::Status WritePathIds(ByteSink& sink);
  absl::Status WritePaths(ByteSink& sink);
  absl::Status WriteStarts(TimeNs base_ns, ByteSink& sink) const;
  absl::Status WriteLengths(ByteSink& sink) const;
  absl::Status WriteDetails(ByteSink& sink);
  absl::Status WriteFlows(ByteSink& sink) const;
  // The number of a shown event, or kNoEvent.
  uint32_t NumberOf(model::EventIndex event) const;

  const model::Trace& trace_;
  UsedTables& tables_;
  Column<model::EventIndex> shown_;
  std::vector<uint32_t> begins_;     // of each track, in shown_
  std::vector<uint32_t> described_;  // in shown_
  std::vector<Path> paths_ = {Path()};
  absl::flat_hash_map<std::pair<uint64_t, uint16_t>, uint32_t> path_ids_;
  uint64_t left_out_ = 0;
  DurationNs least_ns_ = 0;
  uint64_t details_left_out_ = 0;
};

}  // namespace kymo::html

#endif  // KYMO_EXPORTERS_HTML_EVENT_BLOCKS_H_
