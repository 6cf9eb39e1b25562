#include "profiler/events/raw_events.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/events/event_names.h"
#include "profiler/events/mem_records.h"

namespace kymo {
namespace {

constexpr std::string_view kMemoryName = "[memory]";
constexpr std::string_view kOutOfMemoryName = "[OutOfMemory]";

// Whether PyTorch appends the device's work to the event that it is linked to.
bool IsAppended(DeviceType type) {
  return type == DeviceType::kCuda || type == DeviceType::kPrivateUse1 ||
         type == DeviceType::kXpu;
}

// Stops the work when its time is over, and says so once.
class Deadline {
 public:
  explicit Deadline(const ConversionOptions& options)
      : timeout_s_(options.timeout_s), elapsed_s_(options.elapsed_s) {
    if (elapsed_s_ != nullptr) return;
    elapsed_s_ = [start = std::chrono::steady_clock::now()] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                           start)
          .count();
    };
  }

  bool IsOver(size_t event_count, std::vector<std::string>& warnings) {
    if (!timeout_s_.has_value() || is_over_) return is_over_;
    const double elapsed_s = elapsed_s_();
    if (elapsed_s < *timeout_s_) return false;
    is_over_ = true;
    warnings.push_back(absl::StrFormat(
        "Profiler _parse_kineto_results timed out after %.3f seconds, "
        "returning partial results with %d events",
        elapsed_s, event_count));
    return true;
  }

 private:
  std::optional<double> timeout_s_;
  std::function<double()> elapsed_s_;
  bool is_over_ = false;
};

// The memory records, in one index or in one per thread.
class MemoryIndex {
 public:
  MemoryIndex(const std::vector<RawEvent>& raw, MemoryAttribution attribution)
      : is_per_thread_(attribution == MemoryAttribution::kSameThread) {
    absl::flat_hash_map<int64_t, std::vector<MemRecord>> records;
    for (size_t i = 0; i < raw.size(); ++i) {
      if (raw[i].name != kMemoryName) continue;
      records[Key(raw[i])].push_back({.time_ns = raw[i].start_ns,
                                      .bytes = raw[i].nbytes,
                                      .device_type = raw[i].device_type,
                                      .source = i});
    }
    for (auto& [key, list] : records) {
      by_key_.try_emplace(key, std::move(list));
    }
  }

  MemUsage Claim(const RawEvent& event) {
    const auto found = by_key_.find(Key(event));
    return found == by_key_.end()
               ? MemUsage()
               : found->second.Claim(event.start_ns, event.end_ns);
  }

  // Positions of the raw events that nothing was charged with.
  std::vector<size_t> Unclaimed() const {
    std::vector<size_t> positions;
    for (const auto& [key, records] : by_key_) {
      const std::vector<size_t> some = records.Unclaimed();
      positions.insert(positions.end(), some.begin(), some.end());
    }
    std::sort(positions.begin(), positions.end());
    return positions;
  }

 private:
  int64_t Key(const RawEvent& event) const {
    return is_per_thread_ ? event.start_thread_id : 0;
  }

  bool is_per_thread_;
  absl::flat_hash_map<int64_t, MemRecordsAcc> by_key_;
};

class RawConverter {
 public:
  RawConverter(std::vector<RawEvent> raw, const ConversionOptions& options)
      : raw_(std::move(raw)),
        options_(options),
        memory_(raw_, options.memory_attribution),
        deadline_(options) {}

  absl::StatusOr<ConvertedEvents> Convert() {
    KYMO_RETURN_IF_ERROR(ConvertEvents());
    LinkDeviceWork();
    ListInMarkers();
    AddMemoryEvents();
    raw_ = {};  // make room
    SortEvents();
    ConvertedEvents result;
    result.warnings = std::move(warnings_);
    result.events = EventList(std::move(events_),
                              {.use_device = options_.use_device,
                               .profile_memory = options_.profile_memory,
                               .with_flops = options_.with_flops});
    KYMO_RETURN_IF_ERROR(
        result.events.build_tree(options_.duplicates, options_.order));
    return result;
  }

 private:
  // The position of an event in events_, and the marker around it; 0: none.
  struct InMarker {
    size_t position = 0;
    int64_t marker_id = 0;
  };

  bool IsOver() { return deadline_.IsOver(events_.size(), warnings_); }

  double RelativeUs(TimeNs time_ns) const {
    return static_cast<double>(time_ns - options_.trace_start_ns) / kNsPerUs;
  }

  absl::Status ConvertEvents() {
    events_.reserve(raw_.size());
    for (const RawEvent& raw : raw_) {
      if (IsOver()) break;
      if (IsFilteredName(raw.name) || raw.is_hidden) continue;
      if (raw.linked_correlation_id < 0) {
        return absl::InternalError(absl::StrCat(
            "Got negative correlation id ", raw.linked_correlation_id,
            " in profiler post processing"));
      }
      (raw.linked_correlation_id == 0 ? operations_
                                      : linked_[raw.linked_correlation_id])
          .push_back(events_.size());
      if (raw.is_marker) {
        markers_[raw.correlation_id] = {events_.size(), raw.marker_id};
      } else if (raw.marker_id != 0 && IsAppended(raw.device_type)) {
        in_marker_.push_back({events_.size(), raw.marker_id});
      }
      events_.push_back(ConvertEvent(raw));
    }
    return absl::OkStatus();
  }

  FunctionEvent ConvertEvent(const RawEvent& raw) {
    FunctionEvent e;
    e.id = raw.correlation_id;
    e.trace_name = TraceName(raw.name);
    e.name = RewriteName(*e.trace_name, StepNames::kWildcard);
    e.overload_name = raw.overload_name;
    e.time_range = {RelativeUs(raw.start_ns), RelativeUs(raw.end_ns)};
    e.thread = raw.start_thread_id;
    e.fwd_thread = raw.fwd_thread_id;
    e.device_type = raw.device_type;
    e.device_index = raw.device_index;
    e.device_resource_id = raw.device_resource_id;
    e.node_id = static_cast<int32_t>(raw.node_id);
    e.scope = raw.scope;
    e.is_marker = raw.is_marker;
    e.is_async = raw.is_async || raw.start_thread_id != raw.end_thread_id;
    e.is_user_annotation = raw.is_user_annotation;
    e.is_python_function = raw.is_python_function;
    e.sequence_nr = raw.sequence_nr;
    e.use_device = options_.use_device;
    e.flops = raw.flops;
    if (raw.wait_ns >= 0) {
      e.wait_time_total = static_cast<double>(raw.wait_ns) / kNsPerUs;
    }
    e.count = raw.calls;
    e.input_shapes =
        raw.input_shapes != nullptr ? raw.input_shapes : no_shapes_;
    e.stack = FilteredStack(raw.stack);
    e.details = raw.details;
    if (raw.device_type == DeviceType::kCpu) {
      const MemUsage usage = memory_.Claim(raw);
      e.cpu_memory_usage = usage.cpu_bytes;
      e.device_memory_usage = usage.device_bytes;
      if (!e.is_async) AppendMeasuredTime(raw, e);
    }
    return e;
  }

  // Device time that the host measured stands in for kernels.
  void AppendMeasuredTime(const RawEvent& raw, FunctionEvent& e) const {
    int64_t elapsed_us = 0;
    if (options_.use_device == options_.custom_backend_name) {
      elapsed_us = raw.privateuse1_elapsed_us;
    } else if (options_.use_device == "cuda") {
      elapsed_us = raw.cuda_elapsed_us;
    }
    if (elapsed_us <= 0) return;
    e.kernels.push_back(
        {e.name, e.device_index, static_cast<double>(elapsed_us)});
    e.is_legacy = true;
  }

  // Demangling is slow, and few names are many events'.
  std::string TraceName(const std::string& name) {
    if (!name.starts_with("_Z")) return name;
    std::string& text = demangled_[name];
    if (text.empty()) text = RewriteName(name, StepNames::kKeep);
    return text;
  }

  std::shared_ptr<const EventStack> FilteredStack(
      const std::shared_ptr<const EventStack>& stack) const {
    if (stack == nullptr) return no_stack_;
    if (std::ranges::none_of(*stack, IsFilteredStackEntry)) return stack;
    auto kept = std::make_shared<EventStack>(*stack);
    std::erase_if(*kept, IsFilteredStackEntry);
    return kept;
  }

  void LinkDeviceWork() {
    for (const size_t position : operations_) {
      FunctionEvent& operation = events_[position];
      if (operation.device_type != DeviceType::kCpu || operation.is_async) {
        continue;
      }
      const auto found = linked_.find(operation.id);
      if (found == linked_.end()) continue;
      for (const size_t linked : found->second) {
        Link(operation, events_[linked]);
      }
    }
  }

  // Every marker around the launch lists the work.
  void ListInMarkers() {
    for (const InMarker& work : in_marker_) {
      auto marker = markers_.find(work.marker_id);
      for (; marker != markers_.end();
           marker = markers_.find(marker->second.marker_id)) {
        events_[marker->second.position].kernels.push_back(
            KernelOf(events_[work.position]));
      }
    }
  }

  static Kernel KernelOf(const FunctionEvent& work) {
    return {work.name, work.device_index, work.time_range.elapsed_us()};
  }

  static void Link(FunctionEvent& operation, FunctionEvent& linked) {
    if (IsAppended(linked.device_type)) {
      operation.kernels.push_back(KernelOf(linked));
    } else if (linked.device_type == DeviceType::kCpu) {
      linked.thread = operation.thread;
    }
  }

  void AddMemoryEvents() {
    int64_t id = 0;
    for (const RawEvent& raw : raw_) id = std::max(id, raw.correlation_id);
    for (const size_t position : memory_.Unclaimed()) {
      if (IsOver()) return;
      const RawEvent& raw = raw_[position];
      events_.push_back(MemoryEvent(
          raw, ++id,
          UsageOf({.bytes = raw.nbytes, .device_type = raw.device_type})));
    }
    for (const RawEvent& raw : raw_) {
      if (raw.name != kOutOfMemoryName) continue;
      if (IsOver()) return;
      events_.push_back(MemoryEvent(raw, ++id, {}));
    }
  }

  // By (start, longer first); equal ones as they came. Events are large: their
  // positions are sorted, and only if they do not come in order.
  void SortEvents() {
    const auto is_before = [](const FunctionEvent& a, const FunctionEvent& b) {
      const Interval& x = a.time_range;
      const Interval& y = b.time_range;
      return x.start_us != y.start_us ? x.start_us < y.start_us
                                      : x.end_us > y.end_us;
    };
    if (std::is_sorted(events_.begin(), events_.end(), is_before)) return;
    std::vector<size_t> order(events_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return is_before(events_[a], events_[b]);
    });
    std::vector<FunctionEvent> sorted;
    sorted.reserve(events_.size());
    for (const size_t position : order) {
      sorted.push_back(std::move(events_[position]));
    }
    events_ = std::move(sorted);
  }

  FunctionEvent MemoryEvent(const RawEvent& raw, int64_t id,
                            const MemUsage& usage) const {
    FunctionEvent e;
    e.id = id;
    e.name = raw.name;
    e.time_range = {RelativeUs(raw.start_ns), RelativeUs(raw.start_ns)};
    e.thread = raw.start_thread_id;
    e.fwd_thread = raw.start_thread_id;
    e.node_id = static_cast<int32_t>(raw.node_id);
    e.use_device = options_.use_device;
    e.count = raw.calls;
    e.cpu_memory_usage = usage.cpu_bytes;
    e.device_memory_usage = usage.device_bytes;
    e.input_shapes = no_shapes_;
    e.stack = no_stack_;
    return e;
  }

  std::vector<RawEvent> raw_;
  const ConversionOptions& options_;
  MemoryIndex memory_;
  Deadline deadline_;
  std::vector<std::string> warnings_;
  std::vector<FunctionEvent> events_;
  std::vector<size_t> operations_;  // positions in events_
  absl::flat_hash_map<int64_t, std::vector<size_t>> linked_;  // by operation id
  absl::flat_hash_map<int64_t, InMarker> markers_;            // by id
  std::vector<InMarker> in_marker_;                           // device work
  absl::flat_hash_map<std::string, std::string> demangled_;
  const std::shared_ptr<const InputShapes> no_shapes_ =
      std::make_shared<const InputShapes>();
  const std::shared_ptr<const EventStack> no_stack_ =
      std::make_shared<const EventStack>();
};

}  // namespace

absl::StatusOr<ConvertedEvents> ConvertRawEvents(
    std::vector<RawEvent> raw_events, const ConversionOptions& options) {
  return RawConverter(std::move(raw_events), options).Convert();
}

}  // namespace kymo
