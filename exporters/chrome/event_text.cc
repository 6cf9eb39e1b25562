#include "exporters/chrome/event_text.h"

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/strings.h"
#include "profiler/text/json_text.h"

namespace kymo::chrome {
namespace {

using model::ActivityType;
using model::EventIndex;
using model::NameId;
using model::Trace;

// Flows are bound to slices alone.
bool IsSlice(const Trace& trace, EventIndex event) {
  return model::IsRange(trace.flags()[event]);
}

std::string Quoted(std::string_view text) {
  std::string json;
  json::AppendJsonString(json, text);
  return json;
}

}  // namespace

EventText::EventText(const Trace& trace, const Rows& rows, TimeNs base_ns)
    : trace_(trace),
      rows_(rows),
      base_ns_(base_ns),
      names_(trace),
      launches_(trace),
      args_(trace, names_, launches_),
      flows_(timeline::FindForwardBackwardFlows(trace)),
      messages_(trace) {
  for (size_t i = 0; i < kTypes; ++i) {
    const std::string cat(
        model::ActivityTypeName(static_cast<ActivityType>(i)));
    range_heads_[i] =
        absl::StrCat("{\"ph\":\"X\",\"cat\":\"", cat, "\",\"name\":");
    instant_heads_[i] = absl::StrCat("{\"ph\":\"i\",\"cat\":\"", cat,
                                     "\",\"s\":\"t\",\"name\":");
  }
  FindSharedCounters();
}

void EventText::AppendEvent(std::string& out, EventIndex event) const {
  const uint8_t flags = trace_.flags()[event];
  if (flags & model::kEventAsync) {
    AppendAsync(out, event);
  } else {
    // Columns and names are read first: their cache misses then overlap.
    std::string scratch;
    const std::string_view name = NameOf(event, scratch);
    const size_t type = FileType(event);
    const std::string& ids = rows_.tracks[trace_.track()[event]].ids;
    const DurationNs ts = Relative(trace_.start()[event]);
    const DurationNs duration = trace_.end()[event] - trace_.start()[event];
    const bool has_args = args_.Has(event);
    const bool is_instant = (flags & model::kEventInstant) != 0;
    out += is_instant ? instant_heads_[type] : range_heads_[type];
    out += name;
    out += ids;
    static constexpr std::string_view kDuration = ",\"dur\":";
    static constexpr std::string_view kEnd = "},\n";
    char times[2 * json::kMaxNumberLength + kDuration.size() + kEnd.size()];
    char* end = json::WriteMicroseconds(times, ts);
    if (!is_instant) {
      end += kDuration.copy(end, kDuration.size());
      end = json::WriteMicroseconds(end, duration);
    }
    if (!has_args) end += kEnd.copy(end, kEnd.size());
    out.append(times, end);
    if (has_args) {
      args_.Append(out, event);
      out += kEnd;
    }
  }
  AppendFlowEnds(out, event);
}

// "name.overload" where the overload was kept, as in PyTorch's files.
std::string_view EventText::NameOf(EventIndex event,
                                   std::string& scratch) const {
  const std::string_view name = names_.Get(trace_.name()[event], scratch);
  const model::Detail* const detail = trace_.detail(event);
  if (detail == nullptr || detail->overload_name == model::kEmptyName) {
    return name;
  }
  std::string joined(name);
  joined.back() = '.';  // the closing quote
  std::string quoted;
  joined += names_.Get(detail->overload_name, quoted).substr(1);
  scratch = std::move(joined);
  return scratch;
}

size_t EventText::FileType(EventIndex event) const {
  const ActivityType type = trace_.type()[event];
  // PyTorch's TensorBoard plugin links only calls of the runtime to kernels.
  return static_cast<size_t>(type == ActivityType::kCudaDriver &&
                                     launches_.IsLauncher(event)
                                 ? ActivityType::kCudaRuntime
                                 : type);
}

// An asynchronous event may overlap any other, so it gets a pair of elements.
void EventText::AppendAsync(std::string& out, EventIndex event) const {
  const DurationNs ts = Relative(trace_.start()[event]);
  const DurationNs duration = trace_.end()[event] - trace_.start()[event];
  std::string tail = absl::StrCat(",\"id\":", event + 1, ",\"name\":");
  std::string scratch;
  tail += NameOf(event, scratch);
  tail += rows_.tracks[trace_.track()[event]].ids;
  const std::string cat(model::ActivityTypeName(trace_.type()[event]));
  absl::StrAppend(&out, "{\"ph\":\"b\",\"cat\":\"", cat, "\"", tail);
  json::AppendMicroseconds(out, ts);
  if (args_.Has(event)) args_.Append(out, event);
  absl::StrAppend(&out, "},\n{\"ph\":\"e\",\"cat\":\"", cat, "\"", tail);
  json::AppendMicroseconds(out, ts + duration);
  out += "},\n";
}

void EventText::AppendFlowEnds(std::string& out, EventIndex event) const {
  if (!flows_.empty() && flows_[event].id != 0) {
    const timeline::FlowEnd flow = flows_[event];
    AppendFlowEnd(out, event, "fwdbwd", flow.id, flow.is_start);
  }
  for (const timeline::MessageEnd& end : messages_.Of(event)) {
    AppendFlowEndAt(out, event, end.time_ns, "mpi", end.id, end.is_start);
  }
  if (!IsSlice(trace_, event)) return;
  if (launches_.IsLauncher(event)) {
    AppendFlowEnd(out, event, "ac2g", launches_.FileId(event), true);
  }
  const EventIndex launcher = launches_.LauncherOf(event);
  if (launcher != model::kNoEvent && IsSlice(trace_, launcher)) {
    AppendFlowEnd(out, event, "ac2g", launches_.FileId(event), false);
  }
}

void EventText::AppendFlowEnd(std::string& out, EventIndex event,
                              std::string_view name, uint64_t id,
                              bool is_start) const {
  AppendFlowEndAt(out, event, trace_.start()[event], name, id, is_start);
}

void EventText::AppendFlowEndAt(std::string& out, EventIndex event, TimeNs time,
                                std::string_view name, uint64_t id,
                                bool is_start) const {
  absl::StrAppend(&out, "{\"ph\":\"", is_start ? "s" : "f", "\",\"id\":", id,
                  rows_.tracks[trace_.track()[event]].ids);
  json::AppendMicroseconds(out, Relative(time));
  absl::StrAppend(&out, ",\"cat\":\"", ToAbsl(name), "\",\"name\":\"",
                  ToAbsl(name), is_start ? "\"},\n" : "\",\"bp\":\"e\"},\n");
}

void EventText::AppendSlices(
    std::string& out, const Row& row,
    std::span<const timeline::FlameSlice> slices) const {
  const std::string& head =
      range_heads_[static_cast<size_t>(ActivityType::kCpuSample)];
  // Slices that begin together often end together, too.
  std::string times;
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
  std::string scratch;
  for (const timeline::FlameSlice& slice : slices) {
    if (times.empty() || slice.start_ns != start_ns || slice.end_ns != end_ns) {
      start_ns = slice.start_ns;
      end_ns = slice.end_ns;
      times = row.ids;
      json::AppendMicroseconds(times, Relative(start_ns));
      times += ",\"dur\":";
      json::AppendMicroseconds(times, end_ns - start_ns);
    }
    const model::Frame& frame = trace_.stacks().frame(slice.frame);
    out += head;
    out += frame.function == model::kEmptyName
               ? std::string_view("\"[unknown]\"")
               : names_.Get(frame.function, scratch);
    out += times;
    if (slice.is_leaf) AppendArgsOfLeaf(out, frame);
    out += "},\n";
  }
}

void EventText::AppendArgsOfLeaf(std::string& out,
                                 const model::Frame& frame) const {
  std::string_view separator = ",\"args\":{";
  if (frame.file != model::kEmptyName) {
    std::string place(trace_.Name(frame.file));
    if (frame.line != 0) absl::StrAppend(&place, ":", frame.line);
    out += separator;
    out += "\"file\":";
    json::AppendJsonString(out, place);
    separator = ",";
  }
  if (frame.module != model::kEmptyName) {
    out += separator;
    out += "\"module\":";
    names_.Append(out, frame.module);
    separator = ",";
  }
  if (separator == ",") out += '}';
}

void EventText::FindSharedCounters() {
  const auto counters = trace_.counters();
  is_shared_counter_.resize(counters.size());
  // Viewers keep one counter per process and name.
  std::map<std::pair<int64_t, NameId>, std::pair<model::TrackIndex, bool>> seen;
  const auto key = [&](const model::CounterSample& counter) {
    return std::pair(rows_.tracks[counter.track].pid, counter.name);
  };
  for (const model::CounterSample& counter : counters) {
    const auto [it, is_new] =
        seen.try_emplace(key(counter), counter.track, false);
    if (it->second.first != counter.track) it->second.second = true;
  }
  for (size_t i = 0; i < counters.size(); ++i) {
    is_shared_counter_[i] = seen[key(counters[i])].second;
  }
}

void EventText::AppendCounter(std::string& out, size_t index) const {
  const model::CounterSample& counter = trace_.counters()[index];
  const Row& row = rows_.tracks[counter.track];
  out += "{\"ph\":\"C\",\"name\":";
  names_.Append(out, counter.name);
  if (is_shared_counter_[index]) absl::StrAppend(&out, ",\"id\":", row.tid);
  out += row.ids;
  json::AppendMicroseconds(out, Relative(counter.time_ns));
  out += ",\"args\":{\"value\":";
  json::AppendDouble(out, counter.value);
  out += "}},\n";
}

void EventText::AppendMetadata(std::string& out, std::string_view name,
                               std::string_view ids, std::string_view key,
                               std::string_view json_value) const {
  absl::StrAppend(&out, "{\"ph\":\"M\",\"name\":\"", ToAbsl(name), "\"",
                  ToAbsl(ids));
  json::AppendMicroseconds(out, Relative(trace_.start_ns()));
  absl::StrAppend(&out, ",\"args\":{\"", ToAbsl(key), "\":", ToAbsl(json_value),
                  "}},\n");
}

void EventText::AppendProcess(std::string& out, const ProcessRow& row) const {
  const std::string ids =
      absl::StrCat(",\"pid\":", row.pid, ",\"tid\":0,\"ts\":");
  AppendMetadata(out, "process_name", ids, "name", Quoted(row.name));
  AppendMetadata(out, "process_labels", ids, "labels", Quoted(row.labels));
  AppendMetadata(out, "process_sort_index", ids, "sort_index",
                 std::to_string(row.sort_index));
}

void EventText::AppendThread(std::string& out, const Row& row) const {
  AppendMetadata(out, "thread_name", row.ids, "name", Quoted(row.name));
  AppendMetadata(out, "thread_sort_index", row.ids, "sort_index",
                 std::to_string(row.sort_index));
}

void EventText::AppendMarks(std::string& out) const {
  // Readers of Kineto's dialect look for these texts: torch-tb takes the range
  // of the whole trace from the first, and knows the other two.
  std::string start;
  json::AppendMicroseconds(start, Relative(trace_.start_ns()));
  std::string end;
  json::AppendMicroseconds(end, Relative(trace_.end_ns()));
  std::string duration;
  json::AppendMicroseconds(duration, trace_.end_ns() - trace_.start_ns());
  absl::StrAppend(
      &out,
      "{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"PyTorch Profiler (0)\","
      "\"pid\":\"Spans\",\"tid\":\"PyTorch Profiler\",\"ts\":",
      start, ",\"dur\":", duration,
      ",\"args\":{\"Op count\":", trace_.event_count(), "}},\n");
  AppendMetadata(out, "process_sort_index",
                 ",\"pid\":\"Spans\",\"tid\":0,\"ts\":", "sort_index",
                 "536870912");
  absl::StrAppend(&out,
                  "{\"ph\":\"i\",\"s\":\"g\","
                  "\"name\":\"Iteration Start: PyTorch Profiler\","
                  "\"pid\":\"Traces\",\"tid\":\"Trace PyTorch Profiler\","
                  "\"ts\":",
                  start, "},\n",
                  "{\"ph\":\"i\",\"s\":\"g\",\"name\":\"Record Window End\","
                  "\"pid\":\"\",\"tid\":\"\",\"ts\":",
                  end, "}\n");
}

}  // namespace kymo::chrome
