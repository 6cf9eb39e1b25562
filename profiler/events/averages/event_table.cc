#include "profiler/events/averages/event_table.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "profiler/base/status_macros.h"
#include "profiler/text/python_text.h"

namespace kymo {
namespace {

using report::RowDevice;
using report::TableRow;

RowDevice DeviceOf(DeviceType type) {
  return type == DeviceType::kCpu ? RowDevice::kCpu : RowDevice::kDevice;
}

TableRow RowOf(const FunctionEvent& e) {
  TableRow row;
  row.key = e.name;
  row.overload_name = e.overload_name.value_or("");
  row.device = DeviceOf(e.device_type);
  row.is_legacy = e.is_legacy;
  row.is_user_annotation = e.is_user_annotation;
  row.is_async = e.is_async;
  row.has_parent = e.cpu_parent.has_value();
  row.node_id = e.node_id;
  row.count = e.count;
  row.cpu_time_total_us = e.cpu_time_total();
  row.self_cpu_time_total_us = e.self_cpu_time_total();
  row.device_time_total_us = e.device_time_total();
  row.self_device_time_total_us = e.self_device_time_total();
  row.cpu_memory_usage_bytes = e.cpu_memory_usage;
  row.self_cpu_memory_usage_bytes = e.self_cpu_memory_usage();
  row.device_memory_usage_bytes = e.device_memory_usage;
  row.self_device_memory_usage_bytes = e.self_device_memory_usage();
  row.flops = static_cast<double>(e.flops.value_or(0));
  row.wait_time_total_us = e.wait_time_total;
  row.input_shapes =
      e.input_shapes != nullptr ? PythonList(*e.input_shapes) : "None";
  if (e.stack != nullptr) row.stack = *e.stack;
  return row;
}

TableRow RowOf(const FunctionEventAvg& a) {
  TableRow row;
  row.key = a.key;
  row.overload_name = a.overload_name;
  row.device = DeviceOf(a.device_type);
  row.is_legacy = a.is_legacy;
  row.is_user_annotation = a.is_user_annotation;
  row.is_async = a.is_async;
  row.has_parent = a.cpu_parent.has_value();
  row.node_id = a.node_id;
  row.count = a.count;
  row.cpu_time_total_us = a.cpu_time_total;
  row.self_cpu_time_total_us = a.self_cpu_time_total;
  row.device_time_total_us = a.device_time_total;
  row.self_device_time_total_us = a.self_device_time_total;
  row.cpu_memory_usage_bytes = a.cpu_memory_usage;
  row.self_cpu_memory_usage_bytes = a.self_cpu_memory_usage;
  row.device_memory_usage_bytes = a.device_memory_usage;
  row.self_device_memory_usage_bytes = a.self_device_memory_usage;
  row.flops = static_cast<double>(a.flops);
  row.wait_time_total_us = a.wait_time_total;
  row.input_shapes = a.input_shapes;
  row.stack = a.stack;
  return row;
}

template <typename T>
std::vector<TableRow> RowsOf(std::span<const T> items) {
  std::vector<TableRow> rows;
  rows.reserve(items.size());
  for (const T& item : items) rows.push_back(RowOf(item));
  return rows;
}

template <typename T>
absl::StatusOr<std::string> Format(std::span<const T> items,
                                   const EventListOptions& list,
                                   report::TableOptions options) {
  options.profile_memory = list.profile_memory;
  options.with_flops = list.with_flops;
  options.use_device =
      items.empty() ? "" : items.front().use_device.value_or("");
  return report::FormatTable(RowsOf(items), options);
}

}  // namespace

absl::StatusOr<std::string> FormatEventTable(
    std::span<const FunctionEvent> events, const EventListOptions& list,
    report::TableOptions options) {
  for (const FunctionEvent& event : events) {
    KYMO_RETURN_IF_ERROR(event.CheckDeviceTime());
  }
  return Format(events, list, std::move(options));
}

absl::StatusOr<std::string> FormatEventTable(
    std::span<const FunctionEventAvg> averages, const EventListOptions& list,
    report::TableOptions options) {
  return Format(averages, list, std::move(options));
}

std::vector<TableRow> EventTableRows(std::span<const FunctionEvent> events) {
  return RowsOf(events);
}

std::vector<TableRow> EventTableRows(
    std::span<const FunctionEventAvg> averages) {
  return RowsOf(averages);
}

}  // namespace kymo
