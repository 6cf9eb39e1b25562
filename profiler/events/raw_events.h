// raw_events.h - from what was recorded to an EventList, by PyTorch's rules.
//
//   std::vector<RawEvent> raw = ...;   // in start order
//   KYMO_ASSIGN_OR_RETURN(
//       ConvertedEvents converted,
//       ConvertRawEvents(std::move(raw), {.trace_start_ns = start,
//                                         .profile_memory = true}));
//   converted.events.table();
//
// 1. Bookkeeping (IsFilteredName) and hidden events are left out.
// 2. A CPU event is charged with the memory records ("[memory]") at whose time
//    it was running, those of other threads included unless asked otherwise.
// 3. Kernels are appended to the CPU event whose id they are linked to: those
//    of CUDA, PrivateUse1 and XPU. CPU events with such a link are calls of a
//    device's runtime: they move to the thread of that event.
// 4. Memory records that no event was charged with, and out-of-memory records,
//    become events of no duration, without a trace name.
// 5. The list is sorted by (start, longer first) and its tree is built.
//
// Errors: a negative linked correlation id is kInternal; else those of
//   EventList::build_tree().
// Cost: linear, sorting and a binary search per event aside.
#ifndef KYMO_PROFILER_EVENTS_RAW_EVENTS_H_
#define KYMO_PROFILER_EVENTS_RAW_EVENTS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "profiler/base/record_scope.h"
#include "profiler/base/time.h"
#include "profiler/events/device_type.h"
#include "profiler/events/event_list.h"
#include "profiler/events/function_event.h"

namespace kymo {

struct RawEvent {
  std::string name;  // may be mangled
  std::optional<std::string> overload_name;
  TimeNs start_ns = 0;
  TimeNs end_ns = 0;
  int64_t correlation_id = 0;
  // Of a device activity or runtime call, the correlation_id of the operation
  // that it belongs to; 0 for operations themselves.
  int64_t linked_correlation_id = 0;
  int64_t start_thread_id = 0;  // logical
  int64_t end_thread_id = 0;
  int64_t fwd_thread_id = 0;
  int64_t sequence_nr = -1;
  DeviceType device_type = DeviceType::kCpu;
  int64_t device_index = 0;
  int64_t device_resource_id = 0;
  RecordScope scope = RecordScope::kFunction;
  bool is_async = false;  // said to be so, whatever the threads
  bool is_user_annotation = false;
  bool is_python_function = false;
  bool is_hidden = false;
  int64_t flops = 0;
  int64_t nbytes = 0;  // of a memory record; negative: freed
  // Device time measured by the host's own event pairs, where there is no
  // tracing of devices; 0: none.
  int64_t cuda_elapsed_us = 0;
  int64_t privateuse1_elapsed_us = 0;
  std::shared_ptr<const InputShapes> input_shapes;  // null: empty
  std::shared_ptr<const EventStack> stack;          // null: empty
  std::shared_ptr<const EventDetails> details;
};

enum class MemoryAttribution {
  kAnyThread,   // to every operation running at that time, as PyTorch
  kSameThread,  // only to operations of the thread that allocated
};

struct ConversionOptions {
  TimeNs trace_start_ns = 0;
  std::optional<std::string> use_device;
  // The name under which programs know PrivateUse1.
  std::string custom_backend_name = "privateuseone";
  bool profile_memory = false;
  bool with_flops = false;
  MemoryAttribution memory_attribution = MemoryAttribution::kAnyThread;
  // When it is over, the events converted so far are the result; 0 stops at
  // once.
  std::optional<double> timeout_s;
  // Seconds since the conversion began; by default a steady clock's.
  std::function<double()> elapsed_s;
};

struct ConvertedEvents {
  EventList events;
  std::vector<std::string> warnings;  // that events are missing
};

absl::StatusOr<ConvertedEvents> ConvertRawEvents(
    std::vector<RawEvent> raw_events, const ConversionOptions& options);

}  // namespace kymo

#endif  // KYMO_PROFILER_EVENTS_RAW_EVENTS_H_
