#include "profiler/events/averages/function_event_avg.h"

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/text/format.h"
#include "profiler/text/python_text.h"

namespace kymo {
namespace {

double PerCall(double total_us, int64_t count) {
  return count == 0 ? 0.0 : total_us / static_cast<double>(count);
}

absl::Status CheckKey(const std::string& own, const std::string& other) {
  if (own == other) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("Expected keys to match, but got ", other, " vs ", own));
}

void AddWait(const std::optional<double>& from, std::optional<double>& into) {
  if (from) into = into.value_or(0) + *from;
}

}  // namespace

double FunctionEventAvg::cpu_time() const noexcept {
  return PerCall(cpu_time_total, count);
}

double FunctionEventAvg::device_time() const noexcept {
  return PerCall(device_time_total, count);
}

absl::Status FunctionEventAvg::add(const FunctionEvent& event) {
  if (has_key) KYMO_RETURN_IF_ERROR(CheckKey(key, event.name));
  KYMO_RETURN_IF_ERROR(event.CheckDeviceTime());
  if (!has_key) Describe(event);
  AddTotals(event);
  return absl::OkStatus();
}

absl::Status FunctionEventAvg::add(const FunctionEventAvg& average) {
  if (has_key) KYMO_RETURN_IF_ERROR(CheckKey(key, average.key));
  if (!has_key) Describe(average);
  AddTotals(average);
  return absl::OkStatus();
}

void FunctionEventAvg::AddTotals(const FunctionEvent& event) {
  cpu_time_total += event.cpu_time_total();
  self_cpu_time_total += event.self_cpu_time_total();
  device_time_total += event.device_time_total();
  self_device_time_total += event.self_device_time_total();
  cpu_memory_usage += event.cpu_memory_usage;
  self_cpu_memory_usage += event.self_cpu_memory_usage();
  device_memory_usage += event.device_memory_usage;
  self_device_memory_usage += event.self_device_memory_usage();
  count += event.count;
  flops += event.flops.value_or(0);
  AddWait(event.wait_time_total, wait_time_total);
}

void FunctionEventAvg::AddTotals(const FunctionEventAvg& average) {
  cpu_time_total += average.cpu_time_total;
  self_cpu_time_total += average.self_cpu_time_total;
  device_time_total += average.device_time_total;
  self_device_time_total += average.self_device_time_total;
  cpu_memory_usage += average.cpu_memory_usage;
  self_cpu_memory_usage += average.self_cpu_memory_usage;
  device_memory_usage += average.device_memory_usage;
  self_device_memory_usage += average.self_device_memory_usage;
  count += average.count;
  flops += average.flops;
  AddWait(average.wait_time_total, wait_time_total);
}

void FunctionEventAvg::Describe(const FunctionEvent& event) {
  has_key = true;
  key = event.name;
  overload_name = event.overload_name.value_or("");
  input_shapes =
      event.input_shapes != nullptr ? PythonList(*event.input_shapes) : "None";
  stack = event.stack != nullptr ? *event.stack : EventStack();
  node_id = event.node_id;
  device_type = event.device_type;
  scope = event.scope;
  is_async = event.is_async;
  is_remote = event.is_remote;
  is_legacy = event.is_legacy;
  is_user_annotation = event.is_user_annotation;
  use_device = event.use_device;
  cpu_parent = event.cpu_parent;
}

void FunctionEventAvg::Describe(const FunctionEventAvg& average) {
  has_key = true;
  key = average.key;
  overload_name = average.overload_name;
  input_shapes = average.input_shapes;
  stack = average.stack;
  node_id = average.node_id;
  device_type = average.device_type;
  scope = average.scope;
  is_async = average.is_async;
  is_remote = average.is_remote;
  is_legacy = average.is_legacy;
  is_user_annotation = average.is_user_annotation;
  use_device = average.use_device;
  cpu_parent = average.cpu_parent;
}

std::string ToString(const FunctionEventAvg& average) {
  const std::string device = average.use_device.value_or("cuda");
  // A sum to which nothing was added has no description.
  const bool is_described = average.scope.has_value();
  return absl::StrCat(
      "<FunctionEventAvg key=", average.has_key ? average.key : "None",
      " self_cpu_time=", FormatTime(average.self_cpu_time_total),
      " cpu_time=", FormatTime(average.cpu_time()), "  self_", device,
      "_time=", FormatTime(average.self_device_time_total), " ", device,
      "_time=", FormatTime(average.device_time()),
      " input_shapes=", is_described ? average.input_shapes : "None",
      " cpu_memory_usage=", average.cpu_memory_usage, " ", device,
      "_memory_usage=", average.device_memory_usage, ">");
}

std::ostream& operator<<(std::ostream& out, const FunctionEventAvg& average) {
  return out << ToString(average);
}

}  // namespace kymo
