// raw_events.h - make an EventList of recorded events, by PyTorch's rules.
//
//   std::vector<kymo::RawEvent> raw = {
//       {.name = "matmul", .start_ns = 2000, .end_ns = 5000}};   // by start
//   absl::StatusOr<kymo::ConvertedEvents> converted = kymo::ConvertRawEvents(
//       std::move(raw), {.trace_start_ns = 1000, .profile_memory = true});
//   if (!converted.ok()) return converted.status();
//   std::cout << *converted->events.table();
//
// The rules:
//
// 1. Bookkeeping events (IsFilteredName) and hidden events are left out.
// 2. A memory record ("[memory]") is charged to the CPU events that were
//    running at its time. That includes events of other threads, unless
//    memory_attribution says otherwise.
// 3. A kernel of CUDA, PrivateUse1 or XPU is appended to the CPU event whose id
//    it is linked to. A CPU event with such a link is a call of a device's
//    runtime: it moves to the thread of the event that it is linked to.
//    Work of these devices with a marker_id is also appended to that marker and
//    to all markers around it, as PyTorch's load_nvprof does.
// 4. A memory record that no event was charged with becomes an event without
//    duration and without a trace name. So does every out-of-memory record.
// 5. The list is sorted by start, longer events first, and its tree is built.
//
// Threads: any. Errors: kInternal for a negative linked correlation id, and
//   those of EventList::build_tree().
// Cost:    linear, except for sorting and a binary search for each event.
#ifndef KYMO_PROFILER_EVENTS_RAW_EVENTS_H_
#define KYMO_PROFILER_EVENTS_RAW_EVENTS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/analysis/averages/duplicates.h"
#include "profiler/base/record_scope.h"
#include "profiler/base/time.h"
#include "profiler/events/device_type.h"
#include "profiler/events/event_list.h"
#include "profiler/events/function_event.h"

namespace kymo {

struct RawEvent {
  std::string name;  // may be mangled
  std::optional<std::string> overload_name = {};
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
  int64_t correlation_id = 0;
  // For a device activity or a runtime call, the correlation_id of the
  // operation that it belongs to. 0 for operations.
  int64_t linked_correlation_id = 0;
  // For device work, the correlation_id of the innermost marker that lists the
  // work. For a marker, the correlation_id of the next marker around it. 0:
  // there is no such marker.
  int64_t marker_id = 0;
  int64_t node_id = -1;         // of a distributed program; -1: none
  int64_t start_thread_id = 0;  // logical
  int64_t end_thread_id = 0;
  int64_t fwd_thread_id = 0;
  int64_t sequence_nr = -1;
  DeviceType device_type = DeviceType::kCpu;
  int64_t device_index = 0;
  int64_t device_resource_id = 0;
  RecordScope scope = RecordScope::kFunction;
  bool is_async = false;   // asynchronous even if it ends on the same thread
  bool is_marker = false;  // a range of NVTX
  bool is_user_annotation = false;
  bool is_python_function = false;
  bool is_hidden = false;
  int64_t flops = 0;
  // For how long its thread waited in it; below 0: not recorded.
  DurationNs wait_ns = -1;
  int64_t calls = 1;   // more where an event stands for several
  int64_t nbytes = 0;  // of a memory record; negative: freed
  // Device time that the host measured with pairs of events, without tracing
  // the device; 0: none.
  int64_t cuda_elapsed_us = 0;
  int64_t privateuse1_elapsed_us = 0;
  std::shared_ptr<const InputShapes> input_shapes = {};  // null: empty
  std::shared_ptr<const EventStack> stack = {};          // null: empty
  std::shared_ptr<const EventDetails> details = {};
};

// Which of the operations that run at the time of an allocation it is charged
// to.
enum class MemoryAttribution {
  kAnyThread,   // those of all threads, as in PyTorch
  kSameThread,  // those of the thread that allocated
};

struct ConversionOptions {
  TimeNs trace_start_ns = 0;
  std::optional<std::string> use_device = {};
  // The name that programs use for PrivateUse1.
  std::string custom_backend_name = "privateuseone";
  bool profile_memory = false;
  bool with_flops = false;
  analysis::Duplicates duplicates = analysis::Duplicates::kMerge;
  // kById: by correlation ids.
  NestingOrder order = NestingOrder::kLongerFirst;
  MemoryAttribution memory_attribution = MemoryAttribution::kAnyThread;
  // Stop after this time; the events converted so far are the result. 0 stops
  // at once.
  std::optional<double> timeout_s = {};
  // Returns the seconds since the conversion began; by default a steady clock.
  std::function<double()> elapsed_s = {};
};

struct ConvertedEvents {
  EventList events;
  std::vector<std::string> warnings;  // they say that events are missing
};

absl::StatusOr<ConvertedEvents> ConvertRawEvents(
    std::vector<RawEvent> raw_events, const ConversionOptions& options);

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_RAW_EVENTS_H_
