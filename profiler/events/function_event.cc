#include "profiler/events/function_event.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "profiler/base/status_macros.h"
#include "profiler/base/strings.h"
#include "profiler/events/compensated_sum.h"
#include "profiler/text/format.h"
#include "profiler/text/python_text.h"

namespace kymo {
namespace {

absl::Status ExpectCpu(const FunctionEvent& event) {
  if (event.device_type == DeviceType::kCpu) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("Expected device_type to be CPU, but got ",
                   DeviceTypeText(event.device_type)));
}

double KernelTime(const FunctionEvent& event) {
  CompensatedSum sum;
  for (const Kernel& kernel : event.kernels) sum.Add(kernel.duration_us);
  return sum.Total();
}

double PerCall(double total_us, int64_t count) {
  return count == 0 ? 0.0 : total_us / static_cast<double>(count);
}

bool CountsDeviceTime(const FunctionEvent& event) {
  return !event.is_async && event.use_device.has_value();
}

bool HasSelf(const FunctionEvent& event) {
  return !event.is_async && event.device_type == DeviceType::kCpu;
}

std::string OrNone(const std::optional<std::string>& text) {
  return text.value_or("None");
}

}  // namespace

absl::Status FunctionEvent::append_kernel(Kernel kernel) {
  KYMO_RETURN_IF_ERROR(ExpectCpu(*this));
  kernels.push_back(std::move(kernel));
  return absl::OkStatus();
}

absl::Status FunctionEvent::append_cpu_child(size_t position,
                                             const FunctionEvent& child) {
  KYMO_RETURN_IF_ERROR(ExpectCpu(*this));
  KYMO_RETURN_IF_ERROR(ExpectCpu(child));
  cpu_children.push_back(position);
  return absl::OkStatus();
}

absl::Status FunctionEvent::set_cpu_parent(size_t position,
                                           const FunctionEvent& parent) {
  KYMO_RETURN_IF_ERROR(ExpectCpu(*this));
  KYMO_RETURN_IF_ERROR(ExpectCpu(parent));
  cpu_parent = position;
  return absl::OkStatus();
}

double FunctionEvent::cpu_time_total() const noexcept {
  return device_type == DeviceType::kCpu ? time_range.elapsed_us() : 0;
}

double FunctionEvent::self_cpu_time_total() const noexcept {
  return HasSelf(*this) ? cpu_time_total() - child_totals.cpu_time_us : 0;
}

double FunctionEvent::device_time_total() const noexcept {
  if (!CountsDeviceTime(*this)) return 0;
  if (device_type == DeviceType::kCpu) {
    const double kernels_us = KernelTime(*this);
    return is_legacy || is_marker ? kernels_us
                                  : kernels_us + child_totals.device_time_us;
  }
  return HasDeviceTime(device_type) ? time_range.elapsed_us() : 0;
}

double FunctionEvent::self_device_time_total() const noexcept {
  if (!CountsDeviceTime(*this)) return 0;
  return device_type == DeviceType::kCpu
             ? device_time_total() - child_totals.device_time_us
             : device_time_total();
}

double FunctionEvent::cpu_time() const noexcept {
  return PerCall(cpu_time_total(), count);
}

double FunctionEvent::device_time() const noexcept {
  return PerCall(device_time_total(), count);
}

int64_t FunctionEvent::self_cpu_memory_usage() const noexcept {
  return HasSelf(*this) ? cpu_memory_usage - child_totals.cpu_memory_bytes : 0;
}

int64_t FunctionEvent::self_device_memory_usage() const noexcept {
  return HasSelf(*this) ? device_memory_usage - child_totals.device_memory_bytes
                        : 0;
}

absl::Status FunctionEvent::CheckDeviceTime() const {
  if (!CountsDeviceTime(*this) || device_type == DeviceType::kCpu ||
      HasDeviceTime(device_type)) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(
      absl::StrCat("Expected device_type to be CUDA, PrivateUse1, MTIA, HPU or "
                   "XPU, but got ",
                   DeviceTypeText(device_type)));
}

std::string ToString(const FunctionEvent& event,
                     std::span<const FunctionEvent> events) {
  std::string children;
  for (const size_t child : event.cpu_children) {
    absl::StrAppend(&children, children.empty() ? "" : ", ", events[child].id);
  }
  const std::string device = OrNone(event.use_device);
  return absl::StrCat(
      "<FunctionEvent id=", event.id, " name=", event.name,
      " overload_name=", OrNone(event.overload_name),
      " device_type=", DeviceTypeText(event.device_type),
      " node_id=", event.node_id, " cpu_time=", FormatTime(event.cpu_time()),
      " start_us=", PythonFloat(event.time_range.start_us),
      " end_us=", PythonFloat(event.time_range.end_us), " cpu_children=[",
      children, "] ", device, "_time=", FormatTime(event.device_time()),
      " name=", event.name, " thread=", event.thread, " input_shapes=",
      event.input_shapes != nullptr ? PythonList(*event.input_shapes) : "None",
      " cpu_memory_usage=", event.cpu_memory_usage, " ", device,
      "_memory_usage=", event.device_memory_usage,
      " is_async=", ToAbsl(PythonBool(event.is_async)),
      " is_remote=", ToAbsl(PythonBool(event.is_remote)),
      " seq_nr=", event.sequence_nr,
      " is_legacy=", ToAbsl(PythonBool(event.is_legacy)), ">");
}

}  // namespace kymo
