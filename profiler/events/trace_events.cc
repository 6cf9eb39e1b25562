#include "profiler/events/trace_events.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "profiler/analysis/device/launches.h"
#include "profiler/analysis/memory/memory_usage.h"
#include "profiler/analysis/module_hierarchy.h"
#include "profiler/analysis/waits.h"
#include "profiler/base/strings.h"
#include "profiler/events/device_type.h"
#include "profiler/model/event_calls.h"
#include "profiler/model/folded_memory.h"
#include "profiler/model/lanes.h"
#include "profiler/model/op_inputs.h"

namespace kymo {
namespace {

using model::ActivityType;
using model::EventIndex;
using model::Trace;
using model::Track;
using model::TrackKind;

bool IsAnnotation(ActivityType type) {
  return type == ActivityType::kUserAnnotation ||
         type == ActivityType::kGpuUserAnnotation;
}

// The id in a list of events of an event of the trace; 0 is no event.
int64_t IdOf(EventIndex event) {
  return event == model::kNoEvent ? 0 : int64_t{event} + 1;
}

class TraceConverter {
 public:
  TraceConverter(const Trace& trace, const TraceEventsOptions& options)
      : trace_(trace),
        options_(options),
        stream_type_(DeviceTypeOf(options.use_device.value_or("cuda"))),
        launches_(trace),
        modules_(trace),
        waits_(analysis::WaitTimesOfRanges(trace)) {}

  absl::StatusOr<ConvertedEvents> Run() {
    raw_.reserve(trace_.event_count() + trace_.memory().size());
    NumberThreads();
    for (EventIndex i = 0; i < trace_.event_count(); ++i) {
      if (!(trace_.flags()[i] & model::kEventInstant)) AddEvent(i);
    }
    AddMemory();
    std::stable_sort(raw_.begin(), raw_.end(),
                     [](const RawEvent& a, const RawEvent& b) {
                       return a.start_ns < b.start_ns;
                     });
    return ConvertRawEvents(
        std::move(raw_),
        {.trace_start_ns = trace_.start_ns(),
         .use_device = options_.use_device,
         .custom_backend_name = stream_type_ == DeviceType::kPrivateUse1
                                    ? *options_.use_device
                                    : std::string(),
         .profile_memory = options_.profile_memory,
         .with_flops = options_.with_flops,
         .duplicates = options_.duplicates,
         .order = NestingOrder::kById,
         .memory_attribution = MemoryAttribution::kSameThread,
         .timeout_s = options_.timeout_s});
  }

 private:
  int64_t ThreadOf(model::TrackIndex track) const { return threads_[track]; }

  // Lanes of one thread stand one behind the other in a trace.
  void NumberThreads() {
    const auto tracks = trace_.tracks();
    for (size_t t = 0; t < tracks.size(); ++t) {
      if (t > 0 && IsLaneOf(tracks[t], tracks[t - 1])) {
        threads_.push_back(threads_.back());
        continue;
      }
      const uint64_t logical_id = tracks[t].logical_id;
      threads_.push_back(
          static_cast<int64_t>(logical_id != 0 ? logical_id : t + 1));
    }
  }

  void AddEvent(EventIndex i) {
    const model::TrackIndex track_index = trace_.track()[i];
    const Track& track = trace_.tracks()[track_index];
    const bool on_device = track.kind == TrackKind::kStream;
    RawEvent raw;
    raw.name = std::string(trace_.EventName(i));
    raw.start_ns = trace_.start()[i];
    raw.end_ns = trace_.end()[i];
    raw.correlation_id = IdOf(i);
    if (on_device) {
      LinkWork(i, raw);
    } else if (trace_.type()[i] == ActivityType::kNvtxRange) {
      raw.is_marker = true;
      raw.marker_id = IdOf(MarkerAround(i));
    }
    raw.start_thread_id = raw.end_thread_id = ThreadOf(track_index);
    raw.node_id = NodeOf(i);
    raw.is_async = (trace_.flags()[i] & model::kEventAsync) != 0;
    raw.scope = trace_.scope()[i];
    raw.device_type = on_device ? stream_type_ : DeviceType::kCpu;
    raw.device_index = on_device ? track.device_index : track.pid;
    raw.device_resource_id = track.id;
    raw.is_user_annotation = IsAnnotation(trace_.type()[i]);
    raw.is_python_function = trace_.type()[i] == ActivityType::kPythonFunction;
    if (options_.flops) raw.flops = options_.flops(i);
    if (!waits_.empty()) raw.wait_ns = waits_[i];
    raw.overload_name = "";  // as PyTorch; only its memory events have None
    if (options_.device_elapsed_us) {
      raw.cuda_elapsed_us = options_.device_elapsed_us(i);
      raw.privateuse1_elapsed_us = raw.cuda_elapsed_us;
    }
    if (const model::Detail* const detail = trace_.detail(i)) {
      raw.calls = model::Calls(trace_, i);
      raw.sequence_nr = detail->sequence_nr;
      raw.fwd_thread_id =
          static_cast<int64_t>(trace_.rare(*detail).forward_thread);
      raw.overload_name = std::string(trace_.Name(detail->overload_name));
      raw.input_shapes = Shapes(detail->inputs);
      raw.stack = Stack(detail->stack);
      raw.details = Details(*detail, i);
    }
    if (modules_.Has(i)) {
      auto details = raw.details ? std::make_shared<EventDetails>(*raw.details)
                                 : std::make_shared<EventDetails>();
      const std::vector<std::string_view> modules = modules_.Names(i);
      details->module_hierarchy.assign(modules.begin(), modules.end());
      raw.details = std::move(details);
    }
    raw_.push_back(std::move(raw));
  }

  // Sets the operation that launched the work, and the marker that lists it. An
  // operation lists its waits too, as in PyTorch, and so do the markers around
  // it. Otherwise a marker's time could be less than that of its operations. A
  // wait that no operation began is listed nowhere: load_nvprof lists kernels.
  void LinkWork(EventIndex work, RawEvent& raw) const {
    const EventIndex operation = launches_.OperationOf(work);
    if (operation != model::kNoEvent) {
      raw.linked_correlation_id = IdOf(operation);
    }
    const EventIndex call = launches_.LauncherOf(work);
    if (call == model::kNoEvent) return;
    if (operation != model::kNoEvent) {
      raw.marker_id = IdOf(MarkerAround(operation));
    } else if (!analysis::IsWait(trace_.type()[work])) {
      EventIndex marker = MarkerAround(call);
      while (marker != model::kNoEvent && !EnclosesStrictly(marker, call)) {
        marker = MarkerAround(marker);
      }
      raw.marker_id = IdOf(marker);
    }
  }

  // The innermost range of NVTX around an event, or kNoEvent.
  EventIndex MarkerAround(EventIndex event) const {
    do {
      event = trace_.parent()[event];
    } while (event != model::kNoEvent &&
             trace_.type()[event] != ActivityType::kNvtxRange);
    return event;
  }

  bool EnclosesStrictly(EventIndex outer, EventIndex inner) const {
    return trace_.start()[outer] < trace_.start()[inner] &&
           trace_.end()[inner] < trace_.end()[outer];
  }

  // The number of the node. Calls and overheads carry none, and only captured
  // instants do. All three get the number of the range around them.
  int64_t NodeOf(EventIndex event) const {
    const auto has_own = [&](EventIndex i) {
      return !analysis::IsRuntimeCall(trace_.type()[i]) &&
             trace_.type()[i] != ActivityType::kOverhead &&
             !(trace_.flags()[i] & model::kEventInstant);
    };
    while (!has_own(event) && trace_.parent()[event] != model::kNoEvent) {
      event = trace_.parent()[event];
    }
    const model::Detail* const detail = trace_.detail(event);
    return detail == nullptr ? -1 : trace_.rare(*detail).node_id;
  }

  // The number of the track's last event that began by then. The event may have
  // ended. -1: no event began.
  int64_t NodeAt(model::TrackIndex track, TimeNs time_ns) const {
    const auto begin = trace_.start().begin();
    const auto after =
        std::upper_bound(begin + trace_.track_begin(track),
                         begin + trace_.track_end(track), time_ns);
    const auto count = static_cast<EventIndex>(after - begin);
    return count == trace_.track_begin(track) ? -1 : NodeOf(count - 1);
  }

  // Counts the host's memory once: see profiler/analysis/memory/memory_usage.h.
  void AddMemory() {
    const model::MemorySource host_source = analysis::HostSource(trace_);
    for (model::MemoryIndex i = 0; i < trace_.memory().size(); ++i) {
      const model::MemoryRecord& record = trace_.memory()[i];
      if (record.source == host_source || !analysis::IsHostMemory(record) ||
          record.event == model::MemoryEvent::kOutOfMemory) {
        AddMemory(i);
      }
    }
    if (trace_.folded_memory() == nullptr) return;
    for (const model::FoldedHeap& heap : trace_.folded_memory()->heaps) {
      for (const model::FoldedThread& thread : heap.threads) AddFolded(thread);
      if (!heap.threads.empty()) continue;
      // There are no events that could be charged.
      AddMemory("[memory]", {.track = heap.track, .time_ns = heap.first_ns},
                heap.allocated.bytes - heap.freed.bytes, heap.record_count());
    }
  }

  // One event stands for all changes between two bounds: they are charged to
  // the same events, and there may be millions of them.
  void AddFolded(const model::FoldedThread& thread) {
    const std::vector<TimeNs> bounds = BoundsOf(ThreadOf(thread.track));
    auto next = bounds.begin();
    bool is_first = true;  // behind the last bound
    thread.changes.ForEach([&](const model::FoldedChange& change) {
      if (change.kind == model::FoldedChangeKind::kUnseen) return;
      for (; next != bounds.end() && *next <= change.time_ns; ++next) {
        is_first = true;
      }
      if (is_first) {
        AddMemory("[memory]",
                  {.track = thread.track, .time_ns = change.time_ns}, 0, 0);
        is_first = false;
      }
      raw_.back().nbytes += change.bytes;
      ++raw_.back().calls;
    });
  }

  // From each of these times on, another set of the thread's events is open, or
  // another one began last. Ascending.
  std::vector<TimeNs> BoundsOf(int64_t thread) const {
    std::vector<TimeNs> bounds;
    for (model::TrackIndex t = 0; t < threads_.size(); ++t) {
      if (threads_[t] != thread) continue;
      for (auto i = trace_.track_begin(t); i < trace_.track_end(t); ++i) {
        bounds.push_back(trace_.start()[i]);
        bounds.push_back(trace_.end()[i] + 1);  // it is open at its end, too
      }
    }
    std::sort(bounds.begin(), bounds.end());
    return bounds;
  }

  void AddMemory(model::MemoryIndex index) {
    const model::MemoryRecord& record = trace_.memory()[index];
    AddMemory(record.event == model::MemoryEvent::kAllocation ? "[memory]"
                                                              : "[OutOfMemory]",
              record, analysis::ChargedBytes(trace_, index));
  }

  void AddMemory(const char* name, const model::MemoryRecord& record,
                 int64_t charged_bytes, int64_t calls = 1) {
    RawEvent raw;
    raw.name = name;
    raw.start_ns = raw.end_ns = record.time_ns;
    raw.start_thread_id = raw.end_thread_id = ThreadOf(record.track);
    raw.device_type = static_cast<DeviceType>(record.device_type);
    raw.device_index = record.device_index;
    raw.node_id = NodeAt(record.track, record.time_ns);
    raw.calls = calls;
    raw.nbytes = charged_bytes;
    raw_.push_back(std::move(raw));
  }

  std::shared_ptr<const InputShapes> Shapes(model::NameId inputs) {
    if (inputs == model::kEmptyName) return nullptr;
    auto& shapes = shapes_[Index(inputs)];
    if (shapes == nullptr) {
      shapes = std::make_shared<const InputShapes>(
          model::InputShapes(trace_.Name(inputs)));
    }
    return shapes;
  }

  std::shared_ptr<const EventStack> Stack(model::StackId stack) {
    if (stack == model::kEmptyStack) return nullptr;
    auto& entries = stacks_[Index(stack)];
    if (entries == nullptr) {
      entries = std::make_shared<const EventStack>(StackEntries(trace_, stack));
    }
    return entries;
  }

  // Concrete and keyword inputs, shared where an event has no keywords.
  std::shared_ptr<const EventDetails> Details(const model::Detail& detail,
                                              EventIndex event) {
    const std::span<const model::Arg> args = trace_.args(event);
    if (detail.inputs == model::kEmptyName && args.empty()) return nullptr;
    auto& shared = details_[Index(detail.inputs)];
    if (shared == nullptr) {
      auto made = std::make_shared<EventDetails>();
      if (detail.inputs != model::kEmptyName) {
        const std::string_view encoded = trace_.Name(detail.inputs);
        made->concrete_inputs = model::ConcreteInputs(encoded);
        made->input_dtypes = model::InputDTypes(encoded);
        made->structured_input_shapes = model::InputDimsJson(encoded);
        made->structured_input_strides = model::InputStridesJson(encoded);
      }
      shared = std::move(made);
    }
    if (args.empty()) return shared;
    auto with_args = std::make_shared<EventDetails>(*shared);
    for (const model::Arg& arg : args) {
      with_args->kwinputs[std::string(trace_.Name(arg.key))] = ArgText(arg);
    }
    return with_args;
  }

  std::string ArgText(const model::Arg& arg) const {
    switch (arg.type) {
      case model::ArgType::kInt:
        return absl::StrCat(arg.int_value());
      case model::ArgType::kDouble:
        return absl::StrCat(arg.double_value());
      case model::ArgType::kString:
      case model::ArgType::kJson:
        return std::string(trace_.Name(arg.string_value()));
    }
    return {};
  }

  const Trace& trace_;
  const TraceEventsOptions& options_;
  const DeviceType stream_type_;  // of the events on streams
  const analysis::Launches launches_;
  const analysis::ModuleHierarchy modules_;
  const std::vector<DurationNs> waits_;  // by event; empty: not recorded
  std::vector<RawEvent> raw_;
  std::vector<int64_t> threads_;  // by track
  // By id.
  std::unordered_map<uint32_t, std::shared_ptr<const InputShapes>> shapes_;
  std::unordered_map<uint32_t, std::shared_ptr<const EventStack>> stacks_;
  std::unordered_map<uint32_t, std::shared_ptr<const EventDetails>> details_;
};

}  // namespace

std::string FrameText(const Trace& trace, const model::Frame& frame) {
  const std::string_view function = trace.Name(frame.function);
  if (frame.file == model::kEmptyName) {
    if (frame.module == model::kEmptyName) return std::string(function);
    return absl::StrCat(ToAbsl(trace.Name(frame.module)), ": ",
                        ToAbsl(function));
  }
  return absl::StrCat(ToAbsl(trace.Name(frame.file)), "(", frame.line,
                      "): ", ToAbsl(function));
}

EventStack StackEntries(const Trace& trace, model::StackId stack) {
  EventStack entries;
  const model::StackTable& stacks = trace.stacks();
  for (; stack != model::kEmptyStack; stack = stacks.parent(stack)) {
    entries.push_back(FrameText(trace, stacks.frame(stacks.leaf(stack))));
  }
  return entries;
}

absl::StatusOr<ConvertedEvents> EventsOfTrace(
    const Trace& trace, const TraceEventsOptions& options) {
  return TraceConverter(trace, options).Run();
}

std::vector<FunctionEvent> CountedEvents(const EventList& events,
                                         std::span<const uint8_t> counted) {
  std::vector<FunctionEvent> some;
  for (const FunctionEvent& event : events) {
    // Memory outside of operations has ids behind those of all events.
    const auto position = static_cast<size_t>(event.id - IdOf(0));
    if (position < counted.size() && counted[position] != 0) {
      some.push_back(event);
    }
  }
  return some;
}

}  // namespace kymo
