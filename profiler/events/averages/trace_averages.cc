#include "profiler/events/averages/trace_averages.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "profiler/analysis/averages/key_averages.h"
#include "profiler/analysis/memory/memory_usage.h"
#include "profiler/analysis/waits.h"
#include "profiler/base/status_macros.h"
#include "profiler/events/event_names.h"

namespace kymo {
namespace {

double ToUs(DurationNs ns) { return static_cast<double>(ns) / 1000; }

bool HasDevices(const model::Trace& trace) {
  return std::any_of(trace.tracks().begin(), trace.tracks().end(),
                     [](const model::Track& track) {
                       return track.kind == model::TrackKind::kStream;
                     });
}

bool HasFilteredNames(const model::Trace& trace) {
  for (uint32_t id = 0; id < trace.strings().size(); ++id) {
    if (IsFilteredName(trace.Name(model::NameId{id}))) return true;
  }
  return false;
}

bool HasNodes(const model::Trace& trace) {
  const auto rare = trace.data().rare_details.all();
  return std::any_of(
      rare.begin(), rare.end(),
      [](const model::RareDetail& detail) { return detail.node_id != -1; });
}

bool HasBackward(const model::Trace& trace) {
  const auto scopes = trace.scope();
  return std::find(scopes.begin(), scopes.end(),
                   RecordScope::kBackwardFunction) != scopes.end();
}

// Whether ranges of a thread overlap, asynchronous ones apart: PyTorch's rule
// for what is inside of what is not that of the trace's parents then.
bool HasOverlaps(const model::Trace& trace) {
  const auto tracks = trace.tracks();
  for (model::TrackIndex t = 1; t < tracks.size(); ++t) {
    const model::Track& a = tracks[t];
    const model::Track& b = tracks[t - 1];
    if (a.kind != b.kind || a.pid != b.pid || a.id != b.id ||
        a.device_index != b.device_index) {
      continue;
    }
    for (auto i = trace.track_begin(t); i < trace.track_end(t); ++i) {
      if (!(trace.flags()[i] & model::kEventAsync)) return true;
    }
  }
  return false;
}

bool IsOfHost(const model::MemoryRecord& record) {
  return record.device_type == 0 && record.device_index == -1;
}

// Whether the columns alone have everything that the averages show: backward
// operations show the stacks of forward ones, and device memory that no
// operation was open for has rows of its own; overlaps see above.
bool ColumnsSuffice(const model::Trace& trace,
                    const TraceEventsOptions& options,
                    const KeyAveragesOptions& grouping,
                    const analysis::MemoryUsage& memory) {
  const bool device_memory =
      std::any_of(memory.unattributed.begin(), memory.unattributed.end(),
                  [&](uint32_t i) { return !IsOfHost(trace.memory()[i]); }) ||
      std::any_of(trace.memory().begin(), trace.memory().end(),
                  [](const model::MemoryRecord& record) {
                    return record.event == model::MemoryEvent::kOutOfMemory &&
                           !IsOfHost(record);
                  });
  return !device_memory && !options.timeout_s && !options.device_elapsed_us &&
         !(grouping.group_by_stack_n != 0 && HasBackward(trace)) &&
         !HasDevices(trace) && !HasFilteredNames(trace) && !HasNodes(trace) &&
         !HasOverlaps(trace);
}

// The innermost `n` entries.
EventStack Innermost(const model::Trace& trace, model::StackId stack,
                     size_t n) {
  EventStack entries = StackEntries(trace, stack);
  if (entries.size() > n) entries.resize(n);
  return entries;
}

FunctionEventAvg AverageOf(const model::Trace& trace,
                           const TraceEventsOptions& options,
                           const KeyAveragesOptions& grouping,
                           const analysis::KeyAverage& row) {
  FunctionEventAvg average;
  average.has_key = true;
  average.key = RewriteName(row.name, StepNames::kWildcard);
  average.overload_name = row.overload_name;
  if (grouping.group_by_input_shape) {
    average.input_shapes = row.input_shapes.empty() ? "[]" : row.input_shapes;
  }
  if (grouping.group_by_stack_n != 0) {
    average.stack = Innermost(trace, row.stack, grouping.group_by_stack_n);
  }
  average.node_id = -1;
  if (trace.parent()[row.first_event] != model::kNoEvent) {
    average.cpu_parent = trace.parent()[row.first_event];
  }
  average.scope = trace.scope()[row.first_event];
  average.is_async = row.is_async;
  average.is_user_annotation = row.is_user_annotation;
  average.use_device = options.use_device;
  average.count = row.count;
  average.cpu_time_total = ToUs(row.cpu_time_total_ns);
  average.self_cpu_time_total = ToUs(row.self_cpu_time_total_ns);
  average.cpu_memory_usage = row.cpu_memory_usage_bytes;
  average.self_cpu_memory_usage = row.self_cpu_memory_usage_bytes;
  average.device_memory_usage = row.device_memory_usage_bytes;
  average.self_device_memory_usage = row.self_device_memory_usage_bytes;
  average.flops = row.flops;
  if (row.wait_time_total_ns) {
    average.wait_time_total = ToUs(*row.wait_time_total_ns);
  }
  return average;
}

// The row of memory records that PyTorch makes an event each of: "[memory]" for
// those that no operation was open for, "[OutOfMemory]".
FunctionEventAvg MemoryRow(const model::Trace& trace,
                           const TraceEventsOptions& options,
                           const KeyAveragesOptions& grouping, const char* name,
                           const std::vector<uint32_t>& records) {
  FunctionEventAvg average;
  average.has_key = true;
  average.key = name;
  if (grouping.group_by_input_shape) average.input_shapes = "[]";
  average.node_id = -1;
  average.scope = RecordScope::kFunction;
  average.use_device = options.use_device;
  average.count = static_cast<int64_t>(records.size());
  for (const uint32_t i : records) {
    // A failed allocation takes no memory.
    if (trace.memory()[i].event == model::MemoryEvent::kOutOfMemory) continue;
    average.cpu_memory_usage += analysis::ChargedBytes(trace, i);
  }
  average.self_cpu_memory_usage = average.cpu_memory_usage;
  return average;
}

TimeNs FirstTime(const model::Trace& trace,
                 const std::vector<uint32_t>& records) {
  TimeNs first = trace.memory()[records.front()].time_ns;
  for (const uint32_t i : records) {
    first = std::min(first, trace.memory()[i].time_ns);
  }
  return first;
}

// Rows in the order of their first event or record.
class RowsInTime {
 public:
  void Add(TimeNs first, FunctionEventAvg row) {
    const auto behind = std::upper_bound(first_.begin(), first_.end(), first);
    rows_.insert(rows_.begin() + (behind - first_.begin()), std::move(row));
    first_.insert(behind, first);
  }
  // Behind those that are there.
  void Append(TimeNs first, FunctionEventAvg row) {
    first_.push_back(first_.empty() ? first : std::max(first, first_.back()));
    rows_.push_back(std::move(row));
  }
  std::vector<FunctionEventAvg> Take() && { return std::move(rows_); }

 private:
  std::vector<TimeNs> first_;  // ascending
  std::vector<FunctionEventAvg> rows_;
};

std::vector<uint32_t> OutOfMemory(const model::Trace& trace) {
  std::vector<uint32_t> records;
  for (uint32_t i = 0; i < trace.memory().size(); ++i) {
    if (trace.memory()[i].event == model::MemoryEvent::kOutOfMemory) {
      records.push_back(i);
    }
  }
  return records;
}

// One number per event.
std::vector<int64_t> FlopsOf(const model::Trace& trace,
                             const TraceEventsOptions& options) {
  std::vector<int64_t> flops;
  if (!options.flops) return flops;
  flops.resize(trace.event_count());
  for (model::EventIndex i = 0; i < flops.size(); ++i) {
    flops[i] = options.flops(i);
  }
  return flops;
}

absl::StatusOr<EventAverages> AveragesOfEvents(
    const std::vector<FunctionEvent>& events, const TraceEventsOptions& options,
    const KeyAveragesOptions& grouping) {
  KYMO_ASSIGN_OR_RETURN(std::vector<FunctionEventAvg> averages,
                        AverageGroups(events, grouping));
  return EventAverages(std::move(averages),
                       {.use_device = options.use_device,
                        .profile_memory = options.profile_memory,
                        .with_flops = options.with_flops});
}

}  // namespace

absl::StatusOr<EventAverages> AveragesOfTrace(
    const model::Trace& trace, const TraceEventsOptions& options,
    const KeyAveragesOptions& grouping, std::span<const uint8_t> counted) {
  analysis::MemoryUsage memory;
  if (options.profile_memory) memory = analysis::MeasureMemoryUsage(trace);
  if (!ColumnsSuffice(trace, options, grouping, memory)) {
    KYMO_ASSIGN_OR_RETURN(const ConvertedEvents converted,
                          EventsOfTrace(trace, options));
    if (counted.empty()) return converted.events.key_averages(grouping);
    return AveragesOfEvents(CountedEvents(converted.events, counted), options,
                            grouping);
  }
  const std::vector<int64_t> flops = FlopsOf(trace, options);
  const std::vector<DurationNs> waits = analysis::WaitTimesOfRanges(trace);
  const analysis::KeyAveragesOptions row_options = {
      .duplicates = options.duplicates,
      .by_overload_name = grouping.group_by_overload_name,
      .by_input_shapes = grouping.group_by_input_shape,
      .by_stack_n = static_cast<uint32_t>(grouping.group_by_stack_n),
      .include_python_functions = grouping.include_python_functions,
      .counted = counted,
      .flops = flops,
      .cpu_memory_bytes = memory.cpu_bytes,
      .device_memory_bytes = memory.device_bytes,
      .wait_ns = waits};
  RowsInTime rows;
  for (const analysis::KeyAverage& row :
       analysis::KeyAverages(trace, row_options)) {
    rows.Append(trace.start()[row.first_event],
                AverageOf(trace, options, grouping, row));
  }
  const auto add_memory = [&](const char* name,
                              const std::vector<uint32_t>& records) {
    if (records.empty()) return;
    rows.Add(FirstTime(trace, records),
             MemoryRow(trace, options, grouping, name, records));
  };
  if (options.profile_memory && counted.empty()) {
    const auto& folded = memory.unattributed_folded;
    if (folded.count != 0) {
      FunctionEventAvg row =
          MemoryRow(trace, options, grouping, "[memory]", memory.unattributed);
      row.count += folded.count;
      row.cpu_memory_usage += folded.bytes;
      row.self_cpu_memory_usage = row.cpu_memory_usage;
      const TimeNs first =
          memory.unattributed.empty()
              ? folded.first_ns
              : std::min(folded.first_ns,
                         FirstTime(trace, memory.unattributed));
      rows.Add(first, std::move(row));
    } else {
      add_memory("[memory]", memory.unattributed);
    }
    add_memory("[OutOfMemory]", OutOfMemory(trace));
  }
  return EventAverages(std::move(rows).Take(),
                       {.use_device = options.use_device,
                        .profile_memory = options.profile_memory,
                        .with_flops = options.with_flops});
}

}  // namespace kymo
