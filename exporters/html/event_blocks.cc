#include "exporters/html/event_blocks.h"

#include <algorithm>
#include <string>

#include "exporters/html/data_block.h"
#include "exporters/html/shown_part.h"
#include "exporters/timeline/forward_backward.h"
#include "profiler/analysis/device/launches.h"
#include "profiler/base/status_macros.h"
#include "profiler/model/thread_states.h"

namespace kymo::html {

using model::EventIndex;
using model::TrackIndex;

EventBlocks::EventBlocks(const model::Trace& trace, const PageLimits& limits,
                         UsedTables& tables)
    : trace_(trace), tables_(tables) {
  ChooseEvents(limits.ranges);
  ChooseDetails(limits.details);
}

void EventBlocks::ChooseEvents(uint64_t most) {
  const size_t events = trace_.event_count();
  ShownPart part(most);
  for (EventIndex i = 0; i < events; ++i) {
    part.Count(trace_.end()[i] - trace_.start()[i]);
  }
  part.Decide();
  left_out_ = part.left_out();
  least_ns_ = part.least_ns();
  shown_.reserve(events - left_out_);
  for (TrackIndex t = 0; t < trace_.tracks().size(); ++t) {
    begins_.push_back(static_cast<uint32_t>(shown_.size()));
    for (EventIndex i = trace_.track_begin(t); i < trace_.track_end(t); ++i) {
      if (part.Shows(trace_.end()[i] - trace_.start()[i])) shown_.push_back(i);
    }
  }
  begins_.push_back(static_cast<uint32_t>(shown_.size()));
}

void EventBlocks::ChooseDetails(uint64_t most) {
  ShownPart part(most);
  for (const EventIndex i : shown_) {
    if (trace_.detail(i)) part.Count(trace_.end()[i] - trace_.start()[i]);
  }
  part.Decide();
  details_left_out_ = part.left_out();
  for (uint32_t n = 0; n < shown_.size(); ++n) {
    const EventIndex i = shown_[n];
    const model::Detail* const detail = trace_.detail(i);
    if (detail == nullptr) continue;
    if (!part.Shows(trace_.end()[i] - trace_.start()[i])) continue;
    described_.push_back(n);
    tables_.UseStack(detail->stack);
  }
}

uint32_t EventBlocks::PathBelow(uint32_t parent, EventIndex event) {
  const model::NameId name = trace_.name()[event];
  const auto kind = static_cast<uint16_t>(
      static_cast<unsigned>(trace_.type()[event]) << 8 | trace_.flags()[event]);
  // Most events are like the last one at their place.
  const uint32_t last = paths_[parent].last_child;
  if (last != 0 && paths_[last].name == name && paths_[last].kind == kind) {
    return last;
  }
  const auto [path, is_new] =
      path_ids_.try_emplace({uint64_t{parent} << 32 | model::Index(name), kind},
                            static_cast<uint32_t>(paths_.size()));
  if (is_new) paths_.push_back({parent, name, kind});
  paths_[parent].last_child = path->second;
  return path->second;
}

absl::Status EventBlocks::Write(TimeNs base_ns, ByteSink& sink) {
  KYMO_RETURN_IF_ERROR(WritePathIds(sink));
  KYMO_RETURN_IF_ERROR(WritePaths(sink));
  KYMO_RETURN_IF_ERROR(WriteStarts(base_ns, sink));
  KYMO_RETURN_IF_ERROR(WriteLengths(sink));
  KYMO_RETURN_IF_ERROR(WriteDetails(sink));
  return WriteFlows(sink);
}

absl::Status EventBlocks::WritePathIds(ByteSink& sink) {
  DataBlock block("pathids", sink);
  struct Open {
    EventIndex event;
    uint32_t path;  // 0: nothing that is shown is in it yet
  };
  std::vector<Open> open;
  const auto path_of_innermost = [&] {
    size_t known = open.size();
    while (known > 0 && open[known - 1].path == 0) --known;
    uint32_t path = known == 0 ? 0 : open[known - 1].path;
    for (; known < open.size(); ++known) {
      path = open[known].path = PathBelow(path, open[known].event);
    }
    return path;
  };
  size_t next = 0;
  for (EventIndex i = 0; i < trace_.event_count() && next < shown_.size();
       ++i) {
    const bool is_shown = shown_[next] == i;
    const bool is_async = (trace_.flags()[i] & model::kEventAsync) != 0;
    if (!is_async) {
      const EventIndex parent = trace_.parent()[i];
      while (!open.empty() && open.back().event != parent) open.pop_back();
      open.push_back({i, 0});
    }
    if (!is_shown) continue;
    block.Unsigned(is_async ? PathBelow(0, i) : path_of_innermost());
    ++next;
  }
  return block.End();
}

absl::Status EventBlocks::WritePaths(ByteSink& sink) {
  DataBlock block("paths", sink);
  block.Unsigned(paths_.size() - 1);
  for (size_t i = 1; i < paths_.size(); ++i) {
    const Path& path = paths_[i];
    block.Unsigned(i - path.parent);
    block.Unsigned(tables_.TextOf(path.name));
    block.Unsigned(path.kind >> 8);
    block.Unsigned(path.kind & 0xFF);
  }
  return block.End();
}

absl::Status EventBlocks::WriteStarts(TimeNs base_ns, ByteSink& sink) const {
  DataBlock block("starts", sink);
  for (TrackIndex t = 0; t + 1 < begins_.size(); ++t) {
    TimeNs last = base_ns;
    for (uint32_t n = begins_[t]; n < begins_[t + 1]; ++n) {
      const TimeNs start = trace_.start()[shown_[n]];
      block.Unsigned(static_cast<uint64_t>(start - last));
      last = start;
    }
  }
  return block.End();
}

absl::Status EventBlocks::WriteLengths(ByteSink& sink) const {
  DataBlock block("lengths", sink);
  for (const EventIndex i : shown_) {
    block.Unsigned(static_cast<uint64_t>(trace_.end()[i] - trace_.start()[i]));
  }
  return block.End();
}

absl::Status EventBlocks::WriteDetails(ByteSink& sink) {
  DataBlock block("details", sink);
  block.Unsigned(described_.size());
  uint32_t last = 0;
  for (const uint32_t n : described_) {
    const EventIndex i = shown_[n];
    const model::Detail& detail = *trace_.detail(i);
    block.Unsigned(n - last);
    last = n;
    block.Unsigned(detail.correlation_id);
    block.Unsigned(static_cast<uint64_t>(detail.sequence_nr) + 1);
    block.Unsigned(tables_.TextOf(detail.overload_name));
    block.Unsigned(tables_.InputsOf(detail.inputs));
    block.Unsigned(tables_.StackOf(detail.stack));
    block.Unsigned(trace_.rare(detail).calls);
    block.Unsigned(trace_.args(i).size());
    for (const model::Arg& arg : trace_.args(i)) {
      block.Unsigned(tables_.TextOf(arg.key));
      block.Unsigned(static_cast<uint64_t>(arg.type));
      if (arg.has_text()) {
        block.Unsigned(tables_.TextOf(arg.string_value()));
      } else if (arg.type == model::ArgType::kDouble) {
        block.Double(arg.double_value());
      } else {
        block.Signed(arg.int_value());
      }
    }
  }
  return block.End();
}

uint32_t EventBlocks::NumberOf(EventIndex event) const {
  const auto found = std::lower_bound(shown_.begin(), shown_.end(), event);
  return found == shown_.end() || *found != event
             ? model::kNoEvent
             : static_cast<uint32_t>(found - shown_.begin());
}

absl::Status EventBlocks::WriteFlows(ByteSink& sink) const {
  struct Flow {
    uint32_t from = model::kNoEvent;
    uint32_t to = model::kNoEvent;
    uint32_t kind = 0;
  };
  std::vector<Flow> flows;
  const analysis::Launches launches(trace_);
  const auto forward_backward = timeline::FindForwardBackwardFlows(trace_);
  std::vector<Flow> by_id;
  for (uint32_t n = 0; n < shown_.size(); ++n) {
    const EventIndex i = shown_[n];
    if (const EventIndex launcher = launches.LauncherOf(i);
        launcher != model::kNoEvent) {
      flows.push_back({NumberOf(launcher), n, 0});
    }
    if (forward_backward.empty() || forward_backward[i].id == 0) continue;
    const timeline::FlowEnd end = forward_backward[i];
    if (by_id.size() <= end.id) by_id.resize(end.id + 1, {.kind = 1});
    (end.is_start ? by_id[end.id].from : by_id[end.id].to) = n;
  }
  flows.insert(flows.end(), by_id.begin(), by_id.end());
  std::erase_if(flows, [](const Flow& flow) {
    return flow.from == model::kNoEvent || flow.to == model::kNoEvent;
  });
  DataBlock block("flows", sink);
  block.Unsigned(flows.size());
  for (const Flow& flow : flows) {
    block.Unsigned(flow.from);
    block.Unsigned(flow.to);
    block.Unsigned(flow.kind);
  }
  return block.End();
}

void EventBlocks::WriteMeta(json::JsonWriter& json) const {
  json.Member("events", static_cast<int64_t>(shown_.size()));
  json.Member("events_left_out", static_cast<int64_t>(left_out_));
  json.Member("least_ns", least_ns_);
  json.Member("details_left_out", static_cast<int64_t>(details_left_out_));
}

}  // namespace kymo::html
